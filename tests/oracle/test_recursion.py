"""Random histories over recursive strata: facts, rules, negation, rollbacks; after each step views,
changes and the counted states.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.ladder import STRATA
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, History, TakeSnapshot, read_by, transactions
from tests.strategies.histories import Transact as Transaction
from tests.strategies.programs import Program, View, rule_for
from tests.strategies.schemas import BASES, Spec, databases
from tests.strategies.terms import Draw
from tests.unit.recursion.stratum import check, counted_at_once


@st.composite
def recursive_programs(draw: Draw) -> Program:
    """One or two levels of mutually recursive views, and a plain view that reads them."""
    found: list[View] = []
    for level in range(1, draw(st.integers(1, 2)) + 1):
        for place in range(draw(st.integers(1, 2))):
            types = draw(st.sampled_from([("int",), ("int", "int"), ("int", "int")]))
            found.append(View(Spec(f"v{level}{'ab'[place]}", types), level, recursive=True))
    found.append(View(Spec("v3", ("int",)), 3))
    views = tuple(found)
    rules = [
        rule_for(draw, view, views)
        for view in views
        for _ in range(draw(st.integers(1, 2)) + view.recursive)
    ]
    return Program(views, tuple(rules))


@st.composite
def recursive_histories(draw: Draw, max_steps: int = 6) -> History:
    """A recursive program with rows, then steps."""
    program = draw(recursive_programs())
    steps = st.one_of(*[transactions(program, read_by(program))] * 8, st.just(TakeSnapshot()))
    return History(
        program, draw(databases()), tuple(draw(st.lists(steps, min_size=2, max_size=max_steps)))
    )


@given(recursive_histories())
@settings(max_examples=2 * settings().max_examples)
def test_oracle_states_of_recursive_strata_equal_a_bootstrap(history: History):
    with counted_at_once():
        _follow(history)


@given(recursive_histories())
def test_oracle_states_by_an_update_from_nothing_equal_a_bootstrap(history: History):
    _follow(history, tuning=lftj.Tuning(chain_iterations=1, chain_rows=1 << 30, chain_rest=0))


@given(recursive_histories())
def test_oracle_supports_are_those_of_a_recount(history: History):
    ways = frozenset(each.name for each in STRATA if not each.needed) - {"counting", "rederivation"}
    _follow(history, tuning=lftj.Tuning(without=ways), elastic=1e9)


def _follow(history: History, **options: Any) -> None:
    pair = Pair((*BASES, *history.program.specs), lftj.connect(**options))
    pair.step(
        Transaction(
            tuple(
                Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows
            )
        )
    )
    for rule in history.program.rules:
        pair.step(Transaction((AddRule(rule),)))
        check(pair.workspace)
    for step in history.steps:
        pair.step(step)
        check(pair.workspace)
    assert pair.workspace.verify() == []
