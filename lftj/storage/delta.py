# SPDX-License-Identifier: Apache-2.0
"""Delta: the rows that a relation won and lost between two versions.

Rows are lists of int64 code columns, as in `lftj.scantree.rows`. A nullary relation is stored with
one column of zeros, and so are its changes; `stored_width` gives the number of columns that a
relation of some arity has in storage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lftj.scantree import Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import difference, equal_runs, sort_order, sort_rows, union

Columns = list[np.ndarray]


def stored_width(arity: int) -> int:
    """Number of columns that a relation of this arity has in storage: a nullary one has a single
    column of zeros.
    """
    return max(1, arity)


_NOTHING = np.empty(0, dtype=np.int64)  # one for all: thousands of views may not change at a commit


def no_rows(arity: int) -> Columns:
    """Zero rows of a relation of this arity, as stored."""
    return [_NOTHING] * stored_width(arity)


@frozen(slots=True)
class Delta:
    """A net change. `inserts` and `erases` are sorted distinct rows and share none; whoever makes a
    Delta by hand sees to that.
    """

    inserts: Columns
    erases: Columns

    @staticmethod
    def empty(arity: int) -> Delta:
        """No change to a relation of this arity."""
        return Delta(no_rows(arity), no_rows(arity))

    @staticmethod
    def insertion(rows: Sequence[np.ndarray]) -> Delta:
        """The insertion of these rows, in any order, repeated or not. O(n log n)."""
        return Delta(sort_rows(rows), [column[:0] for column in rows])

    @staticmethod
    def deletion(rows: Sequence[np.ndarray]) -> Delta:
        """The deletion of these rows, in any order, repeated or not. O(n log n)."""
        return Delta([column[:0] for column in rows], sort_rows(rows))

    @property
    def inserted(self) -> int:
        """Number of rows won."""
        return len(self.inserts[0])

    @property
    def erased(self) -> int:
        """Number of rows lost."""
        return len(self.erases[0])

    def __len__(self) -> int:
        return len(self.inserts[0]) + len(self.erases[0])

    def signed(self) -> tuple[Columns, np.ndarray]:
        """Copy the rows lost, then those won, and give the sign of each: −1 or 1. O(n)."""
        rows = [np.concatenate(pair) for pair in zip(self.erases, self.inserts, strict=True)]
        return rows, np.repeat(np.array([-1, 1], np.int64), [self.erased, self.inserted])

    def signed_matrix(self, arity: int) -> np.ndarray:
        """The same as one matrix: a line of signs, then the columns of a relation of this arity."""
        erased, inserted = self.erased, self.inserted
        rows = np.empty((1 + arity, erased + inserted), np.int64)
        if erased:
            rows[0, :erased], rows[1:, :erased] = -1, self.erases
        if inserted:
            rows[0, erased:], rows[1:, erased:] = 1, self.inserts
        return rows

    def then(self, later: Delta) -> Delta:
        """Compose this change with `later`, which decides about the rows of both. O(n + m)."""
        if not len(self):
            return later
        if not len(later):
            return self
        inserts = union(difference(self.inserts, later.erases), later.inserts)
        erases = union(difference(self.erases, later.inserts), later.erases)
        return Delta(inserts, erases)

    def reordered(self, order: Sequence[int]) -> Delta:
        """The same change with its columns in another order, sorted anew. O(n log n)."""
        if tuple(order) == tuple(range(len(self.inserts))):
            return self
        return Delta(
            sort_rows([self.inserts[i] for i in order]), sort_rows([self.erases[i] for i in order])
        )


def paired(delta: Delta, by: Sequence[int]) -> tuple[Columns, Columns, Delta]:
    """The rows lost and the rows won that take their places, which agree in columns `by`: in
    ascending order, as many as there are of both; and the other rows. O(n log n).
    """
    erased, many = delta.erased, len(delta)
    if not erased or not delta.inserted:
        return no_rows(len(delta.erases)), no_rows(len(delta.erases)), delta
    if erased == delta.inserted and all(
        np.array_equal(delta.erases[place], delta.inserts[place]) for place in by
    ):
        return delta.erases, delta.inserts, Delta.empty(len(delta.erases))
    order = [*by, *(place for place in range(len(delta.erases)) if place not in by)]
    rows, _ = delta.signed()
    sorted_by = sort_order([rows[place] for place in order])
    starts = equal_runs([rows[place].take(sorted_by) for place in by], len(by)) if by else [0]
    run = np.zeros(many, np.int64)
    run[starts] = 1
    run = np.cumsum(run) - 1
    won = sorted_by >= erased
    place = np.where(won, *(np.cumsum(side) - 1 for side in (won, ~won)))
    first = np.array([np.add.reduceat(side.astype(np.int64), starts) for side in (~won, won)])
    before = np.cumsum(first, axis=1) - first
    place -= before[won.astype(np.int64), run]
    both = place < first.min(axis=0)[run]
    gone, come = sorted_by[both & ~won], sorted_by[both & won]
    lost, new = np.sort(sorted_by[~both & ~won]), np.sort(sorted_by[~both & won])
    (gone_rows, come_rows, lost_rows, new_rows) = (
        [column.take(places) for column in rows] for places in (gone, come, lost, new)
    )
    return gone_rows, come_rows, Delta(new_rows, lost_rows)


class Load(Delta):
    """The insertion of many rows into a relation without rows, as the tree that they are in. Its
    columns are read when someone asks for them: most commits never do.
    """

    __slots__ = ("_rows", "tree")

    _rows: Columns
    tree: Tree

    def __init__(self, tree: Tree):
        object.__setattr__(self, "tree", tree)
        object.__setattr__(self, "erases", [_NOTHING] * tree.key_width)
        object.__setattr__(self, "_rows", list[np.ndarray]())

    @property
    def inserts(self) -> Columns:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows. O(n) at first."""
        if not self._rows:
            self._rows[:] = self.tree.columns()
        return self._rows

    @property
    def inserted(self) -> int:
        """Number of rows won."""
        return self.tree.count

    def __len__(self) -> int:
        return self.tree.count


class Rewritten(Delta):
    """A change of so many rows that each become another one, which is read when someone asks for
    it: most commits never do.
    """

    __slots__ = ("_count", "_found", "_read")

    _count: int
    _read: Callable[[], Delta]
    _found: list[Delta]

    def __init__(self, count: int, read: Callable[[], Delta]):
        object.__setattr__(self, "_count", count)
        object.__setattr__(self, "_read", read)
        object.__setattr__(self, "_found", list[Delta]())

    def _delta(self) -> Delta:
        if not self._found:
            self._found.append(self._read())
        return self._found[0]

    @property
    def inserts(self) -> Columns:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows won. O(n) at first."""
        return self._delta().inserts

    @property
    def erases(self) -> Columns:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows lost. O(n) at first."""
        return self._delta().erases

    @property
    def inserted(self) -> int:
        """Number of rows won."""
        return self._count

    @property
    def erased(self) -> int:
        """Number of rows lost."""
        return self._count

    def __len__(self) -> int:
        return 2 * self._count
