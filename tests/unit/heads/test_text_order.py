"""Labels order as texts do, however these arrive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.heads import text_order
from lftj.heads.text_order import TextOrder
from lftj.scantree import Arena
from lftj.types.dictionary import Dictionary

texts = st.text(st.sampled_from("ab\0é\uffff\U0001f600"), max_size=4)


def check(order: TextOrder, dictionary: Dictionary, expected: set[str]) -> None:
    """Labels ascend with the texts, and both trees say the same."""
    ascending = [dictionary.encode_one(text) for text in sorted(expected)]
    labels, codes = order.codes.columns()
    assert codes.tolist() == ascending
    assert order.labelled(np.array(ascending, dtype=np.int64)).tolist() == labels.tolist()
    assert bool((np.diff(labels) > 0).all())


@pytest.mark.parametrize("room", [2**40, 2])
@given(first=st.lists(texts, max_size=6), then=st.lists(st.lists(texts, max_size=4), max_size=12))
def test_random_arrivals(room: int, first: list[str], then: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_order, "_BEYOND", room)
        patch.setattr(text_order, "_ALONG", room // 2)
        dictionary = Dictionary()
        codes = dictionary.encode(first) if first else np.empty(0, dtype=np.int64)
        order, known = TextOrder.of(Arena(1 << 28), dictionary, codes), set(first)
        check(order, dictionary, known)
        for batch in then:
            older, before = order, set(known)
            order = order.admitting(
                np.array([dictionary.encode_one(text) for text in batch], dtype=np.int64)
            )
            known |= set(batch)
            check(order, dictionary, known)
            check(older, dictionary, before)


@pytest.mark.parametrize("backwards", [False, True])
def test_rows_that_arrive_in_order_use_a_gap_up_from_its_end(backwards: bool) -> None:
    dictionary = Dictionary()
    order = TextOrder.of(Arena(1 << 28), dictionary, dictionary.encode(["a", "z"]))
    names = [f"m{i:04}" for i in range(600)]
    for name in reversed(names) if backwards else names:
        order = order.admitting(np.array([dictionary.encode_one(name)]))
    assert order.epoch == 0
    check(order, dictionary, {"a", "z", *names})


def test_where_no_room_is_left_all_are_labelled_anew() -> None:
    dictionary = Dictionary()
    order = TextOrder.of(Arena(1 << 28), dictionary, dictionary.encode(["a", "b"]))
    low, high = "a", "b"
    known = {low, high}
    for i in range(80):  # every text between the last two that arrived on either side
        low, high = (low + "a", high) if i % 2 else (low, low + "b")
        known |= {low, high}
        order = order.admitting(np.array([dictionary.encode_one(low), dictionary.encode_one(high)]))
    assert order.epoch > 0
    check(order, dictionary, known)


def test_many_at_once_are_labelled_together() -> None:
    dictionary = Dictionary()
    order = TextOrder.of(Arena(1 << 28), dictionary, dictionary.encode(["m"]))
    names = [str(i) for i in range(3000)]
    order = order.admitting(dictionary.encode(names))
    assert order.epoch == 1
    check(order, dictionary, {"m", *names})
    assert order.memory == 32 * 3001
