"""Stretches of levels are what their levels are one after the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.sensitivity.level_stretches import NOTHING, Stretch, Stretches, first_missing

numbers = st.integers(0, 8).map(float)
levels = st.lists(st.builds(Stretch, numbers, numbers), max_size=20)


def one_by_one(some: list[Stretch]) -> Stretch:
    alive, steps = 1.0, 0.0
    for level in some:
        steps += alive * level.steps
        alive *= level.matches
    return Stretch(steps, alive)


@given(levels, st.data())
def test_a_stretch_is_its_levels_one_after_the_other(some: list[Stretch], data: st.DataObject):
    begin = data.draw(st.integers(0, len(some)))
    end = data.draw(st.integers(begin, len(some)))
    assert Stretches(some).between(begin, end) == pytest.approx(one_by_one(some[begin:end]))


@given(levels, st.data())
def test_levels_can_be_replaced(some: list[Stretch], data: st.DataObject):
    others = data.draw(
        st.dictionaries(st.integers(0, max(0, len(some) - 1)), st.builds(Stretch, numbers, numbers))
        if some
        else st.just({})
    )
    expected = one_by_one([others.get(number, level) for number, level in enumerate(some)])
    replaced = Stretches(some).replaced(0, len(some), sorted(others.items()))
    assert replaced == pytest.approx(expected)


def test_what_is_beyond_all_numbers_has_a_value_still():
    endless = [Stretch(2.0, 1e10)] * 100
    assert Stretches(endless).between(0, 100) == (1e300, 1e300)
    assert Stretches([*endless, Stretch(1.0, 0.0)]).between(0, 101).matches == 0.0
    assert Stretches([]).between(0, 0) == NOTHING


@given(st.sets(st.integers(0, 12)), st.integers(0, 12))
def test_the_first_number_that_is_missing(some: set[int], begin: int):
    assert first_missing(sorted(some), begin) == next(
        number for number in range(begin, 30) if number not in some
    )
