"""Arithmetic that fails: never a wrong value, and never for what a comparison of the operands
rejects, in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import ValueRangeError
from lftj.syntax import tree
from tests.differential.orders import force_order
from tests.reference import ArithmeticFailure, evaluate
from tests.reference.trees import atom, call, compare, rule, without
from tests.strategies.schemas import Row
from tests.strategies.terms import Draw

TOP = 2**63 - 1
PAIRS = st.lists(st.tuples(*[st.sampled_from([0, 1, 2, 3, TOP])] * 2), max_size=6, unique=True)
ORDERS = st.one_of(st.none(), st.randoms(use_true_random=False))
OTHERS: tuple[Callable[[], tree.Literal], ...] = (
    lambda: compare("x", "!=", "y"),
    lambda: compare("y", "<", 3),
    lambda: compare("z", "!=", 1),
    lambda: without(atom("f", "y", "_")),
    lambda: atom("f", "z", "x"),
    lambda: atom("f", "y", "_"),
    lambda: compare("v", "<", "w"),
)


@st.composite
def rules(draw: Draw, guarded: bool) -> tree.Rule:
    """A rule that divides and adds what it joins; `guarded`: by comparisons that keep the
    arithmetic from failing.
    """
    divisor, summand = draw(st.sampled_from("xyz")), draw(st.sampled_from("xyz"))
    computed = [compare("v", "=", call("/", 6, divisor)), compare("w", "=", call("+", summand, 10))]
    guards = [compare(divisor, "!=", 0), compare(summand, "<", 100)] if guarded else []
    others = draw(st.lists(st.sampled_from(OTHERS), max_size=3, unique=True))
    literals = [
        atom("e", "x", "y"),
        atom("e", "y", "z"),
        *computed,
        *guards,
        *(each() for each in others),
    ]
    return rule(atom("r", "v", "w"), *draw(st.permutations(literals)))


def outcomes(
    made: tree.Rule, edges: list[Row], others: list[Row], order: random.Random | None
) -> tuple[set[Row] | None, set[Row] | None]:
    """Rows that the reference and the engine derive, None for a failure; the engine with this
    variable order, if there is one.
    """
    workspace = lftj.connect()
    for name in ("e", "f", "r"):
        workspace.relation(name, {"c0": int, "c1": int})
    handle = workspace.add_rule(made)
    if order:
        force_order(workspace, handle, order)
    workspace.load("f", others)
    try:
        workspace.load("e", edges)
        found = set(workspace["r"].fetchall())
    except ValueRangeError:
        assert not workspace["e"]
        found = None
    try:
        return evaluate([made], {"e": edges, "f": others})["r"], found
    except ArithmeticFailure:
        return None, found


@given(rules(guarded=True), PAIRS, PAIRS, ORDERS)
@settings(max_examples=2 * settings().max_examples)
def test_differential_guards_hold_in_any_order(
    made: tree.Rule, edges: list[Row], others: list[Row], order: random.Random | None
):
    expected, found = outcomes(made, edges, others, order)
    assert expected is not None
    assert found == expected


@given(rules(guarded=False), PAIRS, PAIRS, ORDERS)
@settings(max_examples=2 * settings().max_examples)
def test_differential_failures_are_never_values(
    made: tree.Rule, edges: list[Row], others: list[Row], order: random.Random | None
):
    expected, found = outcomes(made, edges, others, order)
    assert found == expected
