"""Orders for which no key order is missing go before those that are cheaper by less than estimates
are wrong.
"""

from __future__ import annotations

import lftj
from bench.graphs import rmat
from lftj.join.plan.cardinality import RelationStatistics
from lftj.join.plan.order_choice import Choice, OrderSearch
from lftj.join.plan.order_costs import KEPT_ORDER, NEW_ORDER
from lftj.tuning import DEFAULT, Tuning
from tests.unit.join.bodies import Body

CLIQUE = Body(
    "a b c d",
    [("e", "ab"), ("e", "ac"), ("e", "bc"), ("e", "ad"), ("e", "bd"), ("e", "cd")],
)
SKEWED = RelationStatistics(281_231, (12_687.9, 13_789.3))
"""A power-law graph of edges from the lesser to the greater node."""


def chosen(
    building: float, *kept: tuple[int, int], tuning: Tuning = DEFAULT
) -> tuple[Choice, float]:
    """The choice for cliques, and what the key orders cost that are missing."""
    search = OrderSearch(
        CLIQUE.rule, lambda _: SKEWED, lambda _: kept, frozenset(), building, tuning=tuning
    )
    choice = search.choose()
    return choice, search.costs.needed(choice.order).missing


def test_a_second_key_order_is_not_made_for_a_hundredth_of_the_cost() -> None:
    choice, missing = chosen(NEW_ORDER, (0, 1))
    cheapest, price = chosen(NEW_ORDER, (0, 1), tuning=Tuning(present_order=1.0))
    assert (choice.order, missing) == ((0, 1, 2, 3), 0)
    assert cheapest.order != choice.order
    assert price > 0
    assert cheapest.cost < choice.cost < 1.1 * cheapest.cost


def test_the_cheapest_order_is_taken_where_its_key_orders_are_there_or_serve_many_runs() -> None:
    far = Tuning(present_order=1.0)
    cheapest, _ = chosen(NEW_ORDER, (0, 1), tuning=far)
    assert chosen(NEW_ORDER, (0, 1), (1, 0))[0].order == cheapest.order
    assert chosen(KEPT_ORDER, (0, 1))[0].order == cheapest.order


def test_no_key_order_is_made_for_questions_that_gain_next_to_nothing_by_it() -> None:
    """However many of them are asked; with it they would take a third more steps than without."""
    workspace = lftj.connect(executor=lftj.ThreadExecutor(1))
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", list(zip(*(ends.tolist() for ends in rmat(20_000, 11, 1)), strict=True)))
    taken: list[int] = []
    for n in range(4):
        workspace.add_rules(
            f".decl c{n}(n: number) "
            f"c{n}(count()) :- e(a, b), e(a, c), e(b, c), e(a, d), e(b, d), e(c, d), a >= {n}."
        )
        taken.append(int(workspace.profile(last=1)["steps"].sum()))
    orders = workspace.memory().df()
    assert len(set(orders.loc[orders["relation"] == "e", "key_order"])) == 1
    assert max(taken) == taken[0]
