"""Losses are borne until they exceed the price."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lftj.join.rent_or_buy import NOTHING_LOST, Rent


def test_a_price_is_due_once_losses_exceed_it():
    rent = NOTHING_LOST.plus(60).plus(40)
    assert not rent.due(100)
    assert rent.plus(1).due(100)


def test_a_gain_does_not_count():
    assert NOTHING_LOST.plus(50).plus(-40) == Rent(50)


def test_each_purchase_doubles_the_next_price():
    rent = Rent(101).paid()
    assert not rent.plus(200).due(100)
    assert rent.plus(201).due(100)
    assert rent.plus(401).paid().plus(400).due(100) is False


def test_what_ended_is_paid_for_anew_at_the_same_price():
    assert Rent(80, 1).ended() == Rent(0, 1)


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(1, 500))
def test_all_costs_are_at_most_about_twice_the_best(losses: list[int], price: int):
    rent, cost = NOTHING_LOST, 0
    for loss in losses:
        if rent.due(price):
            cost += price
            break
        cost, rent = cost + loss, rent.plus(loss)
    assert cost <= 2 * min(sum(losses), price) + max(losses, default=0)
