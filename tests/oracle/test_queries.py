"""Questions: the answers to a random body are the assignments that the reference finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lftj.proofs.nested_loops import direct
from tests.differential.build import workspace_with
from tests.oracle.pair import typed
from tests.reference import evaluate
from tests.reference.trees import atom, rule
from tests.strategies.bodies import BodyDrawer
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import BASES, Row, databases
from tests.strategies.terms import Draw


@st.composite
def questions(draw: Draw) -> tuple[Program, object]:
    """A program and a body over all its relations."""
    program = draw(programs(max_levels=2, functions=False))
    specs = (*BASES, *program.specs)
    return program, BodyDrawer(draw, specs, specs).body(max_atoms=2)


@given(questions(), databases())
def test_oracle_answers_equal_the_reference(
    question: tuple[Program, object], facts: dict[str, list[Row]]
):
    program, body = question
    answers = workspace_with(program, facts).query(body)
    assert set(answers.columns) == direct(body.literals)  # type: ignore[attr-defined]
    goal = rule(atom("goal", *answers.columns), *body.literals)  # type: ignore[attr-defined]
    expected = evaluate((*program.declarations, *program.rules, goal), facts)["goal"]
    assert typed(answers.fetchall()) == typed(expected)
