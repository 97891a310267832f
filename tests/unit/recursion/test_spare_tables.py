"""Tables that are used again are empty, have the size asked for, and are nobody else's."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.maintenance.semi_naive import row_set
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.scantree import buffer_pool, word_sort
from lftj.scantree.buffer_pool import give_back, unfilled, zeroed
from tests.retuning import constants

SLOTS = 1 << 16


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """No table of another test is at hand, and none stays."""
    monkeypatch.setattr(buffer_pool, "_spare", {})
    monkeypatch.setattr(buffer_pool, "_kept", 0)


@pytest.mark.parametrize("word", [np.int64, np.uint32])
def test_a_table_that_was_given_back_is_used_again_and_empty(
    word: type[np.int64 | np.uint32],
) -> None:
    table = zeroed(SLOTS, np.int64)
    table[:] = -1
    give_back(table)
    slots = table.nbytes // np.dtype(word).itemsize
    again = zeroed(slots, word)
    assert np.shares_memory(again, table)
    assert again.dtype == word
    assert len(again) == slots
    assert not again.any()
    assert not np.shares_memory(zeroed(slots, word), table)


@pytest.mark.parametrize("words", [SLOTS, SLOTS - 1, SLOTS // 2 + 1])
def test_a_buffer_is_as_long_as_asked_for_and_lies_in_what_was_given_back(words: int) -> None:
    table = zeroed(SLOTS, np.int64)
    give_back(table)
    buffer = unfilled(words)
    assert len(buffer) == words
    assert np.shares_memory(buffer, table)
    give_back(buffer)
    assert np.shares_memory(zeroed(2 * SLOTS, np.uint32), table)


def test_no_more_is_kept_than_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffer_pool, "_MOST", 3 * SLOTS * 8)
    tables = [zeroed(SLOTS, np.int64) for _ in range(5)]
    for table in tables:
        give_back(table)
    taken = [zeroed(SLOTS, np.int64) for _ in range(5)]
    assert sum(any(np.shares_memory(one, table) for table in tables) for one in taken) == 3


@pytest.mark.parametrize("rows", [1 << 14, 1 << 17])
def test_what_words_are_moved_to_serves_the_next_sort(rows: int) -> None:
    for seed in (1, 2):
        words = np.random.default_rng(seed).integers(0, 1 << 40, rows)
        expected = np.sort(words)
        word_sort.sort_words(words, 40)
        assert (words == expected).all()
    kept = [table for tables in buffer_pool._spare.values() for table in tables]
    assert len(kept) == (0 if word_sort.numpy_is_faster() and rows < 1 << 17 else 1)


@pytest.mark.parametrize("high", [(1 << 16) - 2, (1 << 16) - 1, 1 << 16])
@constants(row_set, _DENSE_BITS=1)
def test_rows_at_the_end_of_half_a_word_are_told_apart(high: int) -> None:
    rows = RowSet(2, np.zeros(2), np.full(2, high))
    ends = np.array([[high, high, high - 1, 0, 0, high], [high, high - 1, high, 0, 1, high]])
    rows.add(ends, np.arange(2))
    assert list(zip(*(column.tolist() for column in rows.columns()), strict=True)) == sorted(
        set(map(tuple, ends.T.tolist()))
    )
