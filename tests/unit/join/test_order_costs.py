"""Costs of levels where a variable stands in several columns, or beside a constant."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.join.plan.cardinality import RelationStatistics, Statistics
from lftj.join.plan.order_costs import NEW_ORDER, OrderCosts
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from tests.unit.join.bodies import Body

TWO = RelationSchema("t", (("x", INT), ("y", INT)))


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


@pytest.mark.parametrize("values", [(300.0, 900.0), (900.0, 300.0)])
def test_values_of_a_variable_in_two_columns_are_those_of_the_first_and_few_agree(
    values: tuple[float, float],
):
    found = costs(Body("x", [("s", "xx")]), {"s": RelationStatistics(90_000, values)})
    assert found.level(0, 0)[:3] == pytest.approx((values[0], 1, 100))


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
