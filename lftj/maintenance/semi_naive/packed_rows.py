# SPDX-License-Identifier: Apache-2.0
"""The rows of one iteration as their row set has them, one word each: brought into a key order by
sorting words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.maintenance.semi_naive.row_set_kernels import append_numbers, reordered, unpack
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.scantree.buffer_pool import give_back, unfilled
from lftj.scantree.reorder import columns_to_sort
from lftj.scantree.rows import sort_rows
from lftj.scantree.word_sort import sort_words
from lftj.storage.delta import Columns
from lftj.storage.relation import Order
from lftj.storage.transient_relation import TransientRelation, every_order

PACKED_BITS = 62
"""Bits of a row that is packed into a word."""
_FEW = 1 << 10
"""Rows of which columns are made on the way to a tree: fewer calls, and all stays in the cache."""


class Packed(NamedTuple):
    """Distinct rows (c₀, c₁, …) as words Σ (cᵢ − lowᵢ) · 2^shiftᵢ, column i taking widthᵢ bits;
    `ordered`: in ascending order.
    """

    words: np.ndarray
    lows: np.ndarray
    shifts: np.ndarray
    widths: tuple[int, ...]
    ordered: bool

    def columns(self) -> np.ndarray:
        """The columns of the rows as a matrix, in the order of the words."""
        out = np.empty((self.lows.size, self.words.size), np.int64)
        unpack(self.words, self.lows, self.shifts, out)
        return out

    def tree(self, arena: Arena, order: Order | None = None) -> Tree:
        """A tree of the rows whose columns are those of `order`. O(n log n)."""
        order = tuple(range(self.lows.size)) if order is None else order
        packed = self.sorted_by(order)
        if packed.words.size < _FEW:
            return Tree.build(arena, packed.columns())
        widths, whole = np.array(packed.widths, np.int64), np.zeros(len(order), np.int64)
        return Tree.empty(arena, len(order)).with_packed(packed.words, packed.lows, widths, whole)

    def tree_with_values(
        self, arena: Arena, numbers: np.ndarray, counts: np.ndarray, low: int, bits: int
    ) -> Tree | None:
        """A tree of the rows. The first `counts[0]` of them have the value (low + numbers[0]) ·
        2^bits, the next `counts[1]` (low + numbers[1]) · 2^bits, and so on; numbers are at least 0.
        None where words have no room for them. O(n log n).
        """
        width = int(numbers.max(initial=0)).bit_length()
        widths = np.array([*self.widths, width], np.int64)
        if (size := int(widths.sum())) > PACKED_BITS:
            return None
        words = unfilled(self.words.size)
        append_numbers(self.words, numbers, counts, width, words)
        sort_words(words, size)
        dropped = np.append(np.zeros(self.lows.size, np.int64), bits)
        empty = Tree.empty(arena, self.lows.size, 1)
        tree = empty.with_packed(words, np.append(self.lows, low), widths, dropped)
        give_back(words)
        return tree

    def sorted_by(self, order: Order) -> Packed:
        """Rows whose columns are those of `order`, ascending. O(n log n), by sorting plain
        integers.
        """
        if order == tuple(range(self.lows.size)):
            return self if self.ordered else self._sorted(self.words.copy())
        widths = tuple(self.widths[column] for column in order)
        shifts = np.array([sum(widths[place + 1 :]) for place in range(len(order))], np.int64)
        words = np.empty_like(self.words)
        reordered(self.words, self.shifts, np.array(order, np.int64), shifts, words)
        in_order = sum(widths[columns_to_sort(order) :]) if self.ordered else 0
        return Packed(words, self.lows[list(order)], shifts, widths, False)._sorted(words, in_order)

    def like(self, other: Packed) -> bool:
        """Test for rows that are packed alike."""
        return self.lows is other.lows

    def having(self, words: np.ndarray) -> Packed:
        """Other rows that are packed alike, as their words, in ascending order; these are sorted in
        place.
        """
        return self._sorted(words)

    def _sorted(self, words: np.ndarray, in_order: int = 0) -> Packed:
        sort_words(words, sum(self.widths), in_order)
        return self._replace(words=words, ordered=True)


Iteration = Mapping[str, Columns | Packed]
"""The rows that an iteration found, by relation."""


def sorted_together(pieces: Sequence[Columns | Packed]) -> Columns:
    """The rows of some pieces, of which there is one, in ascending order. O(n log n)."""
    first = pieces[0]
    if isinstance(first, Packed):
        alike = [each.words for each in pieces if isinstance(each, Packed) and each.like(first)]
        if len(alike) == len(pieces):
            return list(first.having(np.concatenate(alike)).columns())
    columns = [list(each.columns()) if isinstance(each, Packed) else each for each in pieces]
    return sort_rows([np.concatenate(some) for some in zip(*columns, strict=True)])


def noted(rows: TransientRelation) -> Columns | Packed:
    """The rows as they lie."""
    return rows.packed if isinstance(rows, PackedRows) else rows.columns()


class PackedRows(TransientRelation):
    """Loose rows that are packed until a key order, or their columns, are asked for."""

    __slots__ = ("packed",)

    def __init__(self, schema: RelationSchema, arena: Arena, packed: Packed):
        super().__init__(schema, arena, [])
        self.packed = packed

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.packed.words.size

    def orders(self) -> tuple[Order, ...]:
        """Every key order, since none has to be kept."""
        return every_order(self.packed.lows.size)

    def columns(self, only: Sequence[int] | None = None) -> Columns:
        """All rows, in ascending order if their words are, or these columns of them."""
        if not self._rows:
            self._rows = list(self.packed.columns())
        return super().columns(only)

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        return list(
            self.packed._replace(
                words=self.packed.words[:: max(1, self.count // rows)].copy()
            ).columns()
        )

    def _made(self, order: Order) -> Tree:
        return self.packed.tree(self._arena, order)
