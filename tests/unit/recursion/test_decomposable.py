"""Recursive rules that fall apart into parts, and the column that divides them."""

from __future__ import annotations

import pytest

from lftj.maintenance.separable.decomposable import Decomposition, decompose
from lftj.program.normal_form import NormalRule
from lftj.program.program import Program
from lftj.syntax.parser import parse
from tests.unit.program.listing import list_rule

DECLARATIONS = """
.decl e(x: int, y: int)
.decl e3(x: int, y: int, z: int)
.decl n(x: int)
.decl go()
.decl t(x: int, y: int)
.decl t1(x: int)
.decl t3(x: int, y: int, z: int)
"""


def shape(text: str) -> Decomposition | None:
    program, _ = Program().add(parse(DECLARATIONS + text))
    (stratum,) = (each for each in program.stratified.strata if each.recursive)
    schemas = {name: program.stratified.relations[name] for name in stratum.relations}
    return decompose(schemas, [rule for rule in stratum.rules if isinstance(rule, NormalRule)])


@pytest.mark.parametrize(
    ("text", "changing"),
    [
        ("t(x, z) :- t(x, y), e(y, z).", 1),
        ("t(x, z) :- e(y, z), t(x, y).", 1),
        ("t(x, z) :- t(x, y), e(z, y).", 1),
        ("t(x, z) :- e(x, y), t(y, z).", 0),
        ("t1(y) :- t1(x), e(x, y).", 0),
        ("t3(x, z, w) :- t3(x, y, w), e(y, z).", 1),
        ("t(x, z) :- t(x, y), e(y, z), y < z, z != 7.", 1),
        ("t(x, z) :- t(x, y), e(y, z), n(z), !n(y), go().", 1),
        ("t(x, z) :- t(x, y), e3(y, w, z), e(w, y).", 1),
        ("t(x, z) :- t(x, y), e3(y, 3, z).", 1),
        ("t(x, z) :- t(x, y), e3(y, _, z).", 1),
        ("t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z). t(x, z) :- t(x, y), e3(_, y, z).", 1),
    ],
)
def test_rules_that_change_one_column_fall_apart(text: str, changing: int):
    found = shape(text)
    assert found is not None
    assert found.changing == changing


@pytest.mark.parametrize(
    "text",
    [
        "t(x, z) :- t(x, y), t(y, z).",  # two recursive atoms
        "t(y, x) :- t(x, y), n(x).",  # two columns change
        "t(x, y) :- t(x, y), e(x, y).",  # none does
        "t(x, z) :- t(x, y), e(y, z). t(x, z) :- e(x, y), t(y, z).",  # not always the same one
        "t(x, z) :- t(x, y), e3(x, y, z).",  # the steps depend on the part
        "t(x, z) :- t(x, y), e(y, z), x != z.",
        "t(x, z) :- t(x, y), e(y, z), !e(x, z).",
        "t(x, z) :- t(x, y), e(y, w), e(w, z).",  # the steps are a join
        "t(x, z) :- t(x, y), n(y), n(z).",
        "t(x, z) :- t(x, y), e(y, z), 10 / z > 1.",  # may fail for steps that are never taken
        "t(x, z) :- t(x, y), e(y, w), z = w + 1, z < 9.",
        "t(x, z) :- t(x, x), e(x, z).",
        "t(x, z) :- t(x, 3), e(x, z).",
        "t(x, x) :- t(x, y), e(y, x).",
        "t(x, z) :- t1(x), e(x, z). t1(y) :- t(_, y).",  # two relations
    ],
)
def test_other_rules_do_not(text: str):
    assert shape(text) is None


def test_the_steps_are_what_a_rule_says_without_the_recursive_atom():
    found = shape("t(x, z) :- t(x, y), e3(y, 3, z), !n(z), y < z.")
    assert found is not None
    (rule,) = found.steps
    assert [variable.name for variable in rule.variables] == ["z", "y"] or [
        variable.name for variable in rule.variables
    ] == ["y", "z"]
    assert list_rule(rule) == "t(y, z) :- e3(y, 3, z), !n(z), y < z."
