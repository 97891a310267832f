# SPDX-License-Identifier: Apache-2.0
"""Loading rows in any order into a tree, column by column: beside the pages there are a word or two
for each row, and one column at a time.

Rows whose columns, each as wide as its range, fit into one word are sorted as such words, and the
pages are made of these. Of wider rows the places are sorted by what comes first in them; then each
column is moved to its pages in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.arena import Arena, Words
from lftj.scantree.packing_kernels import KEY_BITS
from lftj.scantree.place_sort import Field, add_column, beginnings, spread_of
from lftj.scantree.rows import sort_order
from lftj.scantree.sharing import Threads
from lftj.scantree.tree import Tree
from lftj.scantree.word_sort import sort_words
from lftj.scantree.word_sort_kernels import ascending

Column = Callable[[], Words]
"""Gives a column as a contiguous array of int64 that nobody writes to, as often as it is asked:
once to sort by it, once to read it.
"""


def load(arena: Arena, columns: Sequence[Column]) -> Tree:
    """A tree of the rows with these columns, in any order, repeated or not, of which there are
    some; all columns are of the key.

    O(n) when sorted, else O(n · bits of a row). Takes the pages, two words for each row and what
    the columns take one at a time.
    """
    again = _repeated(columns)
    if again is None and (found := _by_words(arena, columns)) is not None:
        return found
    like = Tree.empty(arena, len(columns))
    if again is None:
        return like.with_columns(columns, _places(columns, arena.threads))
    if not again.size:
        return like.with_columns(columns, None)
    return like.with_columns(columns, np.delete(np.arange(len(columns[0]())), again))


def _repeated(columns: Sequence[Column]) -> NDArray[np.int64] | None:
    """The places of ascending rows that are equal to the row before; None for rows out of order.
    Stops at the first of these, and at the column in which no rows are alike.
    """
    alike: NDArray[np.int64] | None = None
    for column in columns:
        values = column()
        if alike is None:
            if not ascending(values):
                return None
            alike = np.flatnonzero(values[1:] == values[:-1]) + 1
        else:
            here, before = values.take(alike), values.take(alike - 1)
            if (here < before).any():
                return None
            alike = alike[here == before]
        if not alike.size:
            break
    return alike


def _by_words(arena: Arena, columns: Sequence[Column]) -> Tree | None:
    """The tree by packed rows; None where these take more than a word."""
    lows, widths = list[int](), list[int]()
    for column in columns:
        low, high, _ = spread_of(column(), arena.threads)
        lows.append(low)
        widths.append((high - low).bit_length())
        if sum(widths) > KEY_BITS:
            return None
    words = np.zeros(len(columns[0]()), np.int64)
    for column, low, width in zip(columns, lows, widths, strict=True):
        add_column(words, column(), Field(low, width, 0), arena.threads)
    sort_words(words, sum(widths), threads=arena.threads)
    words = _distinct(words)
    zeros = np.zeros(len(columns), np.int64)
    return Tree.empty(arena, len(columns)).with_packed(
        words, np.array(lows, np.int64), np.array(widths, np.int64), zeros
    )


def _distinct(words: Words) -> Words:
    """Ascending words, each once."""
    fresh = np.empty(words.size, np.bool_)
    fresh[0] = True
    np.not_equal(words[1:], words[:-1], out=fresh[1:])
    return words if fresh.all() else words[fresh]


def _places(columns: Sequence[Column], threads: Threads) -> Words:
    """The places of the distinct rows in ascending order."""
    words, bits, fields = beginnings(columns, threads)
    places = words & ((1 << bits) - 1)
    tied = np.empty(words.size + 1, np.bool_)  # row i begins as row i − 1 does
    tied[0] = tied[-1] = False
    words >>= bits
    np.equal(words[1:], words[:-1], out=tied[1:-1])
    del words
    some = np.flatnonzero(tied[:-1] | tied[1:])
    if not some.size:
        return places
    runs, rows = np.cumsum(~tied[some]), places[some]
    behind = [column().take(rows) for column in columns[fields - 1 :]]
    order = sort_order([runs, *behind])
    places[some] = rows.take(order)
    again = np.ones(some.size - 1, np.bool_)
    for column in (runs, *behind):
        ordered = column.take(order)
        again &= ordered[1:] == ordered[:-1]
    return np.delete(places, some[1:][again]) if again.any() else places
