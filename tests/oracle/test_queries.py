"""Questions: the answers to a random body are the assignments that the reference finds, whatever
was asked before of other versions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.proofs.nested_loops import direct
from tests.differential.build import workspace_with
from tests.oracle.pair import declare, typed
from tests.reference import evaluate
from tests.reference.trees import atom, rule
from tests.strategies.bodies import BodyDrawer
from tests.strategies.histories import relations_of
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import BASES, Row, Spec, Value, constants, databases
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


READ = [spec for spec in BASES if spec.types and not spec.functional]


class Version(NamedTuple):
    """A version to ask, and what it holds."""

    reader: Any
    clauses: tuple[Any, ...]
    facts: dict[str, list[Row]]


def versions(program: Program, facts: dict[str, list[Row]], workspace: Any) -> list[Version]:
    """Versions of one workspace, as it gets base relations, rows, and view after view. The last one
    is the workspace itself.
    """
    found: list[Version] = []
    clauses: tuple[Any, ...] = ()
    known: dict[str, list[Row]] = {}

    def note() -> None:
        found.append(Version(workspace.snapshot(), clauses, dict(known)))

    note()
    for spec in BASES:
        declare(workspace, spec)
        clauses += (spec.declaration,)
    note()
    for name, rows in facts.items():
        workspace.load(name, rows)
    known = facts
    for view in program.views:
        declare(workspace, view.spec)
        clauses += (view.spec.declaration,)
    note()
    for rule_ in program.rules:
        workspace.add_rule(rule_)
        clauses += (rule_,)
    return [*found, Version(workspace, clauses, known)]


def asked(version: Version, body: Any, ask: Any) -> None:
    """Ask a version, and compare with the reference."""
    declared = {each.name for each in version.clauses if hasattr(each, "columns")}
    if not relations_of(body) <= declared:
        with pytest.raises(lftj.ProgramErrors, match="unknown relation"):
            ask()
        return
    answers = ask()
    goal = rule(atom("goal", *answers.columns), *body.literals)
    expected = evaluate((*version.clauses, goal), version.facts)["goal"]
    assert typed(answers.fetchall()) == typed(expected)


def asked_with_a_value(version: Version, spec: Spec, value: Value) -> None:
    """Ask a version for the rows of a relation with a value in its first column, twice."""
    names = [f"x{place}" for place in range(1, len(spec.types))]
    question = f"{spec.name}({', '.join(['?', *names])})"
    expected = evaluate(version.clauses, version.facts).get(spec.name, ())
    wanted = typed({row[1:] for row in expected if row[0] == value})
    for _ in range(2):
        assert typed(version.reader.query(question, value).fetchall()) == wanted


@given(questions(), databases(), st.data())
@settings(max_examples=max(2, settings().max_examples // 3))
def test_oracle_a_text_is_answered_by_the_program_of_the_version_that_is_asked(
    question: tuple[Program, Any], facts: dict[str, list[Row]], data: st.DataObject
):
    program, body = question
    with lftj.connect() as workspace:
        there = versions(program, facts, workspace)
        prepared = workspace.prepare_query(str(body))
        asked(there[-1], body, prepared)
        for _ in range(6):
            version = data.draw(st.sampled_from(there))
            asked(version, body, lambda: version.reader.query(str(body)))  # noqa: B023 - asked now
        views = [spec for spec in program.specs if spec.types]
        spec = data.draw(st.sampled_from([*views, *READ]))
        value = data.draw(constants(spec.types[0]))
        for version in there[2:]:
            asked_with_a_value(version, spec, value)
        asked(there[-1], body, prepared)
