"""A program and its normal form mean the same: both are evaluated by the reference. There NULL is a
code like any other (decision 117), which the reference does not know, so these programs have none:
`tests/unit/program/test_meaning.py` has them, over an evaluator of normal forms.
"""

from __future__ import annotations

from hypothesis import given, settings

from lftj.program.program import Program as CheckedProgram
from lftj.syntax import tree
from tests.differential.lifted import lifted
from tests.reference import evaluate
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import Row, databases


@given(programs(functions=False, nulls=False), databases())
@settings(max_examples=3 * settings().max_examples)
def test_differential_normal_form_means_the_same(program: Program, facts: dict[str, list[Row]]):
    normal, _ = CheckedProgram().add(tree.ParsedProgram((*program.declarations, *program.rules)))
    derived = evaluate(lifted(normal.stratified), facts)
    expected = evaluate((*program.declarations, *program.rules), facts)
    assert {name: derived[name] for name in expected} == expected
