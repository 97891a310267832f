"""Prices of steps by the bytes behind them, and what they make of orders."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.join.plan.cardinality import RelationStatistics, Statistics
from lftj.join.plan.order_costs import NEW_ORDER, OrderCosts
from lftj.join.plan.prices import WAITS, wait
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from tests.unit.join.bodies import Body

TWO = RelationSchema("t", (("x", INT), ("y", INT)))
PATHS = Body("x y z", [("e", "xy"), ("s", "yz")])


def costs(body: Body, sizes: dict[str, RelationStatistics]) -> OrderCosts:
    return OrderCosts(
        body.rule,
        sizes.__getitem__,
        lambda _: ((0, 1),),
        frozenset(),
        NEW_ORDER,
        None,
        {},
        keeping=False,
    )


def even(rows: int) -> RelationStatistics:
    return RelationStatistics(rows, (float(rows), float(rows)))


def test_a_jump_waits_the_longer_the_larger_the_tree_and_not_at_all_in_a_small_one():
    sizes = [1, *(size for size, _ in WAITS), 1 << 40]
    waits = [wait(size) for size in sizes] + [wait(3 * size) for size in sizes]
    assert wait(WAITS[0][0]) == 0
    assert sorted(waits[: len(sizes)]) == waits[: len(sizes)]
    assert wait(1 << 40) == wait(WAITS[-1][0])
    assert wait(WAITS[1][0]) < wait(2 * WAITS[1][0]) < wait(WAITS[2][0])


@pytest.mark.parametrize(("rows", "waits"), [(2_000, False), (1_000_000, True)])
def test_what_comes_back_to_a_large_relation_waits(rows: int, waits: bool):
    found = costs(PATHS, {"e": even(1_000), "s": even(rows)})
    x, y = 0, 1
    assert found.level(0, x).waits == 0
    assert (found.level(1 << x, y).waits > 0) == waits


def test_values_one_after_the_other_do_not_wait():
    found = costs(Body("x y", [("s", "xy")]), {"s": even(1_000_000)})
    assert found.level(0, 0).waits == found.level(1, 1).waits == 0


def test_values_of_a_variable_in_two_columns_are_those_of_the_first_and_few_agree():
    found = costs(Body("x", [("s", "xx")]), {"s": RelationStatistics(90_000, (300.0, 900.0))})
    assert found.level(0, 0)[:3] == pytest.approx((300, 1, 100))


def test_rows_that_agree_and_rows_with_a_constant_are_counted_in_a_sample():
    by = np.random.default_rng(2)
    rows = by.integers(0, 50_000, (2, 40_000))
    rows[1, ::4] = rows[0, ::4]
    rows[0, 1::2] = 7
    relation = RelationVersion.build(TWO, Arena(), list(rows))
    sizes = {"s": Statistics().of(relation)}
    assert costs(Body("x", [("s", "xx")]), sizes).level(0, 0).kept == pytest.approx(10_000, rel=0.2)
    assert costs(Body("y", [("s", [7, "y"])]), sizes).atoms[0].rows == pytest.approx(
        20_000, rel=0.2
    )
