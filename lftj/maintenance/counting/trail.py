# SPDX-License-Identifier: Apache-2.0
"""Trail of a recursive stratum: the rows that each iteration found, in order.

Iterations have their rows packed, so a trail takes no time, and a word for each row. The first
deletion that needs ranks makes them from the trail. Until then each commit adds to the trail the
rows that it deleted and the rows that its iterations found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from lftj.maintenance.counting.derivation_count import PROOF_BITS, uncounted
from lftj.maintenance.semi_naive.packed_rows import Iteration, Packed
from lftj.scantree import Arena, Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import difference, equal_runs, sort_rows, sort_with
from lftj.storage.delta import Columns, no_rows
from lftj.storage.relation import RelationVersion

_OUTGROWN = 2
"""Times the rows that a trail may have become: changes took away and brought back as many."""
_BYTES = 8


class _Piece(NamedTuple):
    """Rows that iterations with these numbers found, so many each."""

    rows: Columns | Packed
    numbers: np.ndarray
    counts: np.ndarray

    @property
    def size(self) -> int:
        return int(self.counts.sum())

    def columns(self) -> Columns:
        return list(self.rows.columns()) if isinstance(self.rows, Packed) else self.rows

    def ranks(self) -> np.ndarray:
        return np.repeat(self.numbers, self.counts)


Pieces = tuple[_Piece, ...]


@frozen
class Trail:
    """Rows that iterations `found` of each relation, rows that commits have `taken` since the first
    ones, and a number that no iteration has.
    """

    found: Mapping[str, Pieces]
    taken: Mapping[str, Pieces]
    height: int

    @staticmethod
    def of(names: Iterable[str], iterations: Sequence[Iteration], first: int = 0) -> Trail:
        """The trail of an evaluation, whose iterations are numbered from `first`. O(n)."""
        found = {name: _pieces(name, iterations, first) for name in names}
        return Trail(found, dict.fromkeys(found, ()), first + len(iterations))

    def after(
        self, taken: Mapping[str, Columns], iterations: Sequence[Iteration], rows: int
    ) -> Trail | None:
        """The trail after a commit that may have taken rows away, and whose iterations found rows;
        None where it has outgrown the number of `rows`. O(δ) amortized.
        """
        more = Trail.of(self.found, iterations, self.height)
        less = Trail.of(self.found, [taken])
        found = {name: _with(each, more.found[name]) for name, each in self.found.items()}
        gone = {name: _with(each, less.found[name]) for name, each in self.taken.items()}
        noted = sum(piece.size for each in found.values() for piece in each)
        return None if noted > _OUTGROWN * rows else Trail(found, gone, more.height)

    def tree(self, name: str, width: int, arena: Arena, now: RelationVersion) -> Tree:
        """The rows of a relation, as they are `now`, and the derivation count of each: its rank is
        the number of the last iteration that found it. O(n log n).
        """
        first, *later = self.found[name] or (_Piece(no_rows(width), *no_rows(2)),)
        tree = _tree(first, arena)
        gone = _unordered(self.taken[name], width + 1)[:-1]
        came = sort_rows(_unordered(later, width + 1))
        if not len(gone[0]) and not len(came[0]):
            return tree
        last = np.append(equal_runs(came, width)[1:], len(came[0])) - 1
        came = [column[last[last >= 0]] for column in came]
        there = now.contains(came[:-1])
        *rows, ranks = (column[there] for column in came)
        gone = difference(sort_rows(gone), rows)
        went = tree.lookup(gone)[0]
        return tree.apply([*rows, uncounted(ranks)], [column[went] for column in gone])

    @property
    def bytes(self) -> int:
        """Bytes of the rows."""
        return sum(
            _BYTES * piece.size * (1 if isinstance(piece.rows, Packed) else len(piece.rows))
            for pieces in (*self.found.values(), *self.taken.values())
            for piece in pieces
        )


def _count(rows: Columns | Packed) -> int:
    return rows.words.size if isinstance(rows, Packed) else len(rows[0])


def _pieces(name: str, iterations: Sequence[Iteration], first: int) -> Pieces:
    """Rows that iterations found of a relation: those in a row that are packed alike as one."""
    found = [
        (number, each[name])
        for number, each in enumerate(iterations, first)
        if name in each and _count(each[name])
    ]
    alike = groupby(found, key=lambda each: _packing(each[1]))
    return tuple(_joined(list(some)) for _, some in alike)


def _packing(rows: Columns | Packed) -> int:
    return id(rows.lows) if isinstance(rows, Packed) else 0


def _joined(found: list[tuple[int, Columns | Packed]]) -> _Piece:
    numbers = np.array([number for number, _ in found])
    counts = np.array([_count(rows) for _, rows in found])
    packed = [rows for _, rows in found if isinstance(rows, Packed)]
    if packed:
        words = np.concatenate([each.words for each in packed])
        return _Piece(packed[0]._replace(words=words, ordered=False), numbers, counts)
    columns = zip(*(rows for _, rows in found), strict=True)
    return _Piece([np.concatenate(some) for some in columns], numbers, counts)


def _with(pieces: Pieces, more: Pieces) -> Pieces:
    """Pieces and more of them: the first as it is, each later one at least twice as large as the
    next, so that there are few.
    """
    for new in more:
        while len(pieces) > 1 and pieces[-1].size < 2 * new.size:
            last = pieces[-1]
            columns = zip(last.columns(), new.columns(), strict=True)
            new = _Piece(
                [np.concatenate(some) for some in columns],
                np.concatenate((last.numbers, new.numbers)),
                np.concatenate((last.counts, new.counts)),
            )
            pieces = pieces[:-1]
        pieces = (*pieces, new)
    return pieces


def _unordered(pieces: Sequence[_Piece], width: int) -> Columns:
    found = [[*piece.columns(), piece.ranks()] for piece in pieces]
    return [np.concatenate(some) for some in zip(*found, strict=True)] if found else no_rows(width)


def _tree(piece: _Piece, arena: Arena) -> Tree:
    """The rows of a piece with their derivation counts in order; where there is room for a rank in
    the words that they are packed in, these are sorted.
    """
    if isinstance(packed := piece.rows, Packed):
        # 2 · rank, of which a tree makes (2 · rank + 1) · UNCOUNTED
        numbers, bits = 2 * piece.numbers, PROOF_BITS - 1
        tree = packed.tree_with_values(arena, numbers, piece.counts, 1, bits)
        if tree is not None:
            return tree
    rows, words = sort_with(piece.columns(), uncounted(piece.ranks()))
    width = len(rows)
    return Tree.build(arena, rows, [words]) if len(words) else Tree.empty(arena, width, 1)
