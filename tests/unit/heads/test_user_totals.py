"""Totals in slots: those that lie in a tree are those that were added."""

from __future__ import annotations

import random

import numpy as np
import pytest

from lftj.distributed.partitioning.partials import verbs
from lftj.heads.user_totals import Slots
from lftj.scantree import Arena

WIDTHS = (36, 1, 2)


def totals(count: int, seed: int = 1) -> list[tuple[int, ...]]:
    draw = random.Random(seed)
    numbers = [0, 1, -1, 2**63 - 1, -(2**63), 2**63, 10**12]
    large = [*numbers, 2**64, -(2**127) + 1, 3**70]
    huge = [*large, 2**2300 - 1, -(7**800), 1 << 1074]
    return [(draw.choice(huge), draw.choice(numbers), draw.choice(large)) for _ in range(count)]


def test_totals_come_back_from_a_tree_and_go_on() -> None:
    arena, expected = Arena(1 << 30), totals(300)
    slots = Slots()
    for first, last in ((0, 0), (0, 1), (1, 100), (100, 100), (100, 250)):
        slots.extend(expected[first:last])
        tree, count = slots.in_tree(arena, WIDTHS)
        assert count == last
        again = Slots(tree, count, WIDTHS)
        assert again.take(np.arange(last)) == expected[:last]
    again.extend(expected[250:])
    assert len(again) == 300
    places = np.array([299, 3, 250, 3, 0])
    assert again.take(places) == [expected[place] for place in places]
    assert Slots(*again.in_tree(arena, WIDTHS), WIDTHS).take(np.arange(300)) == expected


def test_few_are_read_one_by_one() -> None:
    arena, expected = Arena(1 << 30), totals(2000, 2)
    slots = Slots()
    slots.extend(expected)
    again = Slots(*slots.in_tree(arena, WIDTHS), WIDTHS)
    assert again.take(np.array([1999, 7])) == [expected[1999], expected[7]]


def test_a_later_tree_shares_the_pages_of_the_one_before() -> None:
    arena, slots = Arena(1 << 32), Slots()
    slots.extend(totals(20_000, 3))
    first, _ = slots.in_tree(arena, WIDTHS)
    before = arena.bytes_in_use
    slots.extend(totals(1))
    second, _ = slots.in_tree(arena, WIDTHS)
    assert arena.bytes_in_use - before < 50_000
    assert second.count >= first.count


def test_what_is_too_large_is_told() -> None:
    slots = Slots()
    slots.extend([(2**64,)])
    with pytest.raises(OverflowError):
        slots.in_tree(Arena(1 << 28), (1,))


def test_the_verbs_of_parts_say_how_many_words_their_states_take() -> None:
    for verb in verbs().values():
        assert verb.words is not None
        assert len(verb.words) == len(verb.zero)
        state = verb.zero
        worst = [1.7e308, -(2.0**1023)] if verb.argument_types[0].name == "float" else []
        for value in worst:
            state = verb.combine(state, verb.repeated(verb.lift(value), 2**40))
        slots = Slots()
        slots.extend([state])
        assert Slots(*slots.in_tree(Arena(1 << 28), verb.words), verb.words).take(
            np.zeros(1, np.int64)
        ) == [state]
