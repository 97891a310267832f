"""Aggregated rules that range over the same assignments in the same groups, whatever their
variables are called.
"""

from __future__ import annotations

import pytest

import lftj
from lftj.program.canonical_head import CanonicalHead, canonical_head
from lftj.program.normal_form import NormalRule

DECLARED = """
.decl e(x: number, y: number, v: number, t: symbol)
.decl f(x: number, y: number, w: number)
.decl r(x: number, n: number)
.decl s(x: number, n: symbol)
"""
PLAIN = "r(x, min(v)) :- e(x, y, v, _), f(x, y, _)."


def head_of(rule: str) -> CanonicalHead:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + rule)
    rules = [
        each
        for stratum in workspace._backend.state.program.stratified.strata
        for each in stratum.rules
    ]
    (found,) = [rule for rule in rules if isinstance(rule, NormalRule) and rule.aggregates]
    return canonical_head(found)


@pytest.mark.parametrize(
    "rule",
    [
        "r(a, max(c)) :- f(a, b, _), e(a, b, c, _).",
        "r(x, sum(v + x)) :- e(x, y, v, _), f(x, y, w).",
        "r(x, count()) :- e(x, y, _, t), f(x, y, w).",
        's(x, concat(t, ",", v)) :- e(x, y, v, t), f(x, y, _).',
    ],
)
def test_one_core_and_grouping(rule: str) -> None:
    assert head_of(rule).key == head_of(PLAIN).key


@pytest.mark.parametrize(
    "rule",
    [
        "r(y, min(v)) :- e(x, y, v, _), f(x, y, _).",
        "r(x, min(v)) :- e(x, y, v, _), f(x, _, y).",
        "r(x, min(v)) :- e(x, y, v, _), f(x, y, _), v > 3.",
        "r(x, min(v)) :- e(x, y, v, _), f(x, y, y).",
        "r(x, min(v)) :- e(x, y, v, _), f(x, y, 1).",
        "r(x, min(v)) :- e(x, y, v, _), !f(x, y, _).",
        "r(x, min(v)) :- e(x, y, v, _), f(x, y, _), f(y, x, _).",
        "r(1, min(v)) :- e(x, y, v, _), f(x, y, _).",
    ],
)
def test_another_core_or_grouping(rule: str) -> None:
    assert head_of(rule).key != head_of(PLAIN).key


def test_values_of_different_atoms_are_not_multiplied_with_each_other() -> None:
    one, other = (
        head_of("r(y, sum(v)) :- e(x, y, v, _), f(x, y, w)."),
        head_of("r(y, sum(w)) :- e(x, y, v, _), f(x, y, w)."),
    )
    assert one.body == other.body
    assert one.key != other.key


def test_what_is_computed_for_the_head_alone_is_no_part_of_the_core() -> None:
    one, other = (
        head_of('s(x, concat(t, ",")) :- e(x, _, _, t).'),
        head_of('s(p, concat(q, ";")) :- e(p, _, _, q).'),
    )
    assert one.key == other.key
    assert one.calls[0].text != other.calls[0].text
    assert one.core.assignments == ()


def test_what_nobody_asks_for_stays_in_the_core_as_computing_it_may_fail() -> None:
    failing = head_of("r(x, count()) :- e(x, y, v, _), w = v / y.")
    assert len(failing.core.assignments) == 1
    assert failing.key != head_of("r(x, count()) :- e(x, y, v, _).").key
