# SPDX-License-Identifier: Apache-2.0
"""Key orders that are brought forward when someone reads them, not before.

Which key orders a commit reads depends on what changed, so at most commits some orders of a
relation are not read. Such an order waits: it remembers the tree it comes from and the changes
since. What waits is sorted and applied at once, which costs less than commit by commit; and it is
never much (`WAITING`, or a share of the rows, in some hundred changes), so that no reader pays for
a long past. An order that no one reads goes once bringing it forward has taken as long as building
it would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lftj.scantree import Tree
from lftj.scantree.rows import net_rows
from lftj.storage.delta import Columns, Delta
from lftj.storage.fork_safe_lock import Making

WAITING = 4096
"""Changed rows that may wait in any case; of a large relation as many as a `_PART` of its rows."""
_PART = 8
_CHANGES = 256  # changes that may wait
_FORWARD = 8  # times as long as building an order takes a row, one takes that is brought forward


class LazyIndex:
    """One version's key order that no one has read yet: an earlier one and the net change since.
    Any number of threads may read it.
    """

    __slots__ = (
        "_asked",
        "_before",
        "_change",
        "_first",
        "_making",
        "_tree",
        "_unread",
        "changes",
        "count",
        "order",
        "rows",
    )

    def __init__(self, before: Tree | LazyIndex, change: Delta, order: tuple[int, ...]):
        """`before`: the key order before `change`. O(1)."""
        self._before: Tree | LazyIndex | None = before
        self._change: Delta | None = change
        self._tree: Tree | None = None
        self._asked = False
        self._unread = len(change)  # and with what came before, once it is brought forward
        self.order = order
        self.count = before.count + change.inserted - change.erased
        known = before if isinstance(before, LazyIndex) else None
        self._first: int = before._first if isinstance(before, LazyIndex) else len(before)
        self._making = known._making if known is not None else Making()
        self.rows = len(change) + (known.rows if known is not None else 0)
        """Changed rows that wait, and below, in how many changes."""
        self.changes = 1 + (known.changes if known is not None else 0)

    @property
    def full(self) -> bool:
        """True when no more changes should wait."""
        return self.rows > max(WAITING, self._first // _PART) or self.changes > _CHANGES

    @property
    def worth_keeping(self) -> bool:
        """True when applying the changes since someone read it takes less than building it anew."""
        return _FORWARD * self.unread() < self._first

    def unread(self) -> int:
        """Changed rows since someone read it: this version or one before."""
        rows = 0
        at: Tree | LazyIndex | None = self
        with self._making.lock:
            while isinstance(at, LazyIndex) and not at._asked:
                rows += at._unread
                at = at._before
        return rows

    def tree(self) -> Tree:
        """The tree of this version. O(waiting · log n) at first, then O(1)."""
        self._asked = True
        return self._brought()

    def bring_forward(self) -> None:
        """Apply what waits, though no one reads it: it goes on counting what changes."""
        self._brought()

    def _brought(self) -> Tree:
        if self._tree is None:
            with self._making.lock:
                if self._tree is None:
                    start, changes = self.since_read()
                    self._unread = self.unread()
                    self._tree = start.apply(*_together(changes, self.order))
                    self._before = self._change = None
                    self._first = len(self._tree)
                    self.rows = self.changes = 0
        return self._tree

    def since_read(self) -> tuple[Tree, list[Delta]]:
        """The last version before this one that has a tree, and the changes since, the latest
        first.
        """
        changes: list[Delta] = []
        at: Tree | LazyIndex = self
        with self._making.lock:  # once a tree is made, what it was made from is let go
            while isinstance(at, LazyIndex):
                if at._tree is not None:
                    return at._tree, changes
                assert at._before is not None
                assert at._change is not None
                changes.append(at._change)
                at = at._before
        return at, changes


class OrderElsewhere(Making):
    """A key order of the same rows that someone else keeps and has not brought forward yet. Any
    number of threads may read it.
    """

    __slots__ = ("_find", "_tree", "count", "rows")

    def __init__(self, find: Callable[[], Tree], count: int):
        """`find` gives the tree, of `count` rows, the first time that someone asks. O(1)."""
        self._find: Callable[[], Tree] | None = find
        self._tree: Tree | None = None
        self._held = None
        self.count = count
        self.rows = 0
        """Changed rows that wait here: they do so where the order is kept."""

    def tree(self) -> Tree:
        """The tree, and whoever keeps it is let go."""
        with self.lock:
            if self._tree is None:
                assert self._find is not None
                self._tree, self._find = self._find(), None
            return self._tree

    def since_read(self) -> tuple[Tree, list[Delta]]:
        """See `LazyIndex.since_read`: the tree has every change."""
        return self.tree(), []


class OrdersOfOrigin:
    """Key orders of an earlier version that others have too, so that a later one need not make its
    own: it brings theirs forward.
    """

    __slots__ = ("_find", "_identity")

    def __init__(self, identity: Tree, find: Callable[[tuple[int, ...]], Tree | None]):
        """`identity`: the rows of the earlier version. `find` gives them in another key order, or
        None where there is none to be had. O(1).
        """
        self._identity, self._find = identity, find

    def forward(self, rows: Tree, order: tuple[int, ...]) -> Tree | None:
        """The rows of a later version in a key order; None where so many changed since that it is
        better made anew, or none is to be had. O(changes · log n), and what `find` takes.
        """
        change = Delta(*rows.diff(self._identity))
        if _PART * len(change) > len(rows) or (tree := self._find(order)) is None:
            return None
        return tree.apply(*_together([change], order))


Waiting = dict[tuple[int, ...], LazyIndex | OrderElsewhere]
"""Key orders that no one has read yet."""


def _together(changes: Sequence[Delta], order: Sequence[int]) -> tuple[Columns, Columns]:
    """The rows that net changes, one after another, insert and erase together, in a key order."""
    if len(changes) == 1:
        one = changes[0].reordered(order)
        return one.inserts, one.erases
    # an insert was not there before and an erased row was, so all that is said of one row adds up
    # to −1, 0 or 1
    pieces = [rows for change in changes for rows in (change.inserts, change.erases)]
    sizes = [len(rows[0]) for rows in pieces]
    signs = np.repeat(np.tile(np.array([1, -1], np.int64), len(changes)), sizes)
    rows, net = net_rows(
        [np.concatenate([piece[column] for piece in pieces]) for column in order], signs
    )
    return list(rows[:, net > 0]), list(rows[:, net < 0])
