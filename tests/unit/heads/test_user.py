"""The verbs of a user's aggregate taken one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.heads.user import UserAggregate

CHAIN = UserAggregate("chain", "", str, lambda a, b: a + b)
SUM = UserAggregate(
    "sum", 0, int, lambda a, b: a + b, inverse=lambda a: -a, finish=lambda a: a * 10
)


@given(st.text(max_size=3), st.integers(0, 40))
def test_repeating_is_combining_again_and_again(text: str, times: int) -> None:
    assert CHAIN.repeated(text, times) == text * times


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-5, 5))))
def test_a_group_takes_out_what_it_took_in(rows: list[tuple[int, int]]) -> None:
    state = SUM.fold([(value,) for value, _ in rows], [times for _, times in rows])
    assert SUM.result(state) == 10 * sum(value * times for value, times in rows)
    assert SUM.invertible


def test_a_semigroup_cannot() -> None:
    assert not CHAIN.invertible
    with pytest.raises(ValueError, match="chain has no inverse"):
        CHAIN.repeated("a", -1)


def test_huge_counts_take_few_steps() -> None:
    steps = []
    counting = UserAggregate("counting", 0, int, lambda a, b: steps.append(1) or a + b)
    assert counting.fold([(3,)], [2**60]) == 3 * 2**60
    assert len(steps) < 130
