# SPDX-License-Identifier: Apache-2.0
"""One version of one relation: the same rows in as many key orders as the rules ask for.

A key order is a permutation of the columns; its tree holds the rows with their columns permuted.
The identity is always there; the others are built when first asked for, kept, and brought forward
when next asked for (`index`), so a commit of a few rows never costs O(n).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.scantree.reorder import reordered
from lftj.scantree.rows import difference, sort_rows, union
from lftj.scantree.tree import Arena, Tree
from lftj.storage.delta import Columns, Delta, Load, no_rows, stored_width
from lftj.storage.fork_safe_lock import Making
from lftj.storage.index import WAITING, LazyIndex, OrderElsewhere, OrdersOfOrigin, Waiting

Order = tuple[int, ...]
Bounds = tuple[int, int]
Known = Mapping[Order, Tree | OrderElsewhere]
NONE_KNOWN: Known = MappingProxyType({})
_NONE_WAITING: Waiting = {}  # one for all, never changed
# inserts into so many times as many rows are merged with them in less time than put in page by page
_DENSE = 3
_AT_HAND = 32
"""The same where all rows are at hand and are only to be written: most pages change."""
_PAIRS = 256  # of rows, which tell how often columns differ between a row and the next
_DIFFERING = 16
"""Pairs that differ, from which on they tell how many do."""
_FURTHER = 16
"""Times as far apart the rows of a pair are where fewer differ."""


class RelationVersion(Making):
    """An immutable set of rows. Any number of threads may read it; trees built on demand are added
    under a lock.
    """

    __slots__ = ("_arena", "_bounds", "_origin", "_trees", "_waiting", "schema")

    def __init__(
        self,
        schema: RelationSchema,
        arena: Arena,
        trees: dict[Order, Tree],
        bounds: list[Bounds] | None = None,
        waiting: Waiting | None = None,
        origin: OrdersOfOrigin | None = None,
    ):
        self.schema = schema
        self._arena = arena
        self._origin = origin
        self._trees = trees
        self._waiting = waiting or _NONE_WAITING
        self._bounds = bounds
        # taken again by who holds it: another order is made from the identity, which may have to be
        # made first
        self._held = None

    @staticmethod
    def build(
        schema: RelationSchema, arena: Arena, columns: Sequence[np.ndarray]
    ) -> RelationVersion:
        """A relation of these rows, in any order, repeated or not; one column of zeros for a
        nullary one. O(n log n), O(n) when sorted.
        """
        tree = build_tree(arena, sort_rows(columns))
        return RelationVersion(schema, arena, {_identity(schema): tree})

    @staticmethod
    def empty(schema: RelationSchema, arena: Arena) -> RelationVersion:
        """A relation without rows. O(1)."""
        return RelationVersion(
            schema, arena, {_identity(schema): Tree.empty(arena, stored_width(schema.arity))}
        )

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    @property
    def arena(self) -> Arena:
        """The memory of its pages."""
        return self._arena

    @property
    def identity(self) -> Tree:
        """The tree whose key order is the order of the columns."""
        return self.tree(())

    @property
    def count(self) -> int:
        """Number of rows. O(1)."""
        return next(iter(self._trees.values() if self._trees else self._waiting.values())).count

    def columns(self, only: Sequence[int] | None = None) -> Columns:
        """All rows in ascending order of their codes, as stored (a nullary relation has one
        column), or these columns of them. O(n).
        """
        return self.identity.columns(only)

    def blocks(
        self, rows: int, only: Sequence[int], first: int = 0, last: int | None = None
    ) -> Iterator[np.ndarray]:
        """Yield these columns of the rows numbered [first, last), by default all, so many rows at a
        time: matrices, each of which overwrites the one before. O(n).
        """
        return self.identity.blocks(rows, only, first, last)

    def extremes(self, only: Sequence[int]) -> list[Bounds]:
        """The least and the greatest code in each of these columns; no rows have none. O(n)."""
        return self.identity.extremes(only)

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances. O(rows · log n)."""
        return self.identity.sample(rows)

    def numbered(self, numbers: np.ndarray, only: Sequence[int]) -> Columns:
        """Read these columns of the rows with these numbers, ascending. O(n · log) at most."""
        return self.identity.numbered(numbers, only)

    def side_by_side(self) -> tuple[float, Sequence[float]] | None:
        """Numbers of distinct values as rows side by side tell them: about how many the first
        column has, and per column how many it hardly exceeds, as a column has no more values than
        it has runs. None: not known.

        Where the first column hardly differs between a row and the next, one further behind tells:
        its values stand in order. O(log n): some hundred pairs of rows are looked at, for each of a
        few distances.
        """
        if self.count <= _PAIRS:
            return None
        here, behind = self.identity.sample(_PAIRS), self.identity.sample(_PAIRS, behind=1)
        differ = [int(np.count_nonzero(a != b)) for a, b in zip(here, behind, strict=True)]
        most = [self._hardly_exceeded(each) for each in differ]
        first, apart = differ[0], 1
        while first < _DIFFERING and apart * _FURTHER * _PAIRS <= self.count:
            apart *= _FURTHER
            first = int(np.count_nonzero(here[0] != self.identity.sample(_PAIRS, behind=apart)[0]))
        most[0] = self._hardly_exceeded(first) / apart
        return max(1.0, self.count / apart * (first / _PAIRS)), most

    def _hardly_exceeded(self, differ: int) -> float:
        """Pairs of all rows that differ, where so many do of those looked at."""
        return self.count * min(1.0, (differ + 2 * (differ + 1) ** 0.5) / _PAIRS)

    def contains(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Mark those of these rows (sorted) that are here. O(m log n); O(m + log n) where all of
        them come after the last one here.
        """
        rows = len(columns[0])
        if not rows or (rows > 1 and self.identity.ends_before([int(each[0]) for each in columns])):
            return np.zeros(rows, np.bool_)
        return self.identity.contains(columns)

    def tree(self, order: Order) -> Tree:
        """The rows in this key order, a permutation of the columns. O(1) once it exists; the first
        call builds it in O(n log n).
        """
        order = order or _identity(self.schema)
        if (tree := self._trees.get(order)) is None:
            with self.lock:
                if (tree := self._trees.get(order)) is None:
                    waiting = self._waiting.get(order)
                    tree = self._made(order) if waiting is None else waiting.tree()
                    self._trees = {**self._trees, order: tree}
        return tree

    def _made(self, order: Order) -> Tree:
        """A key order that does not exist yet. O(n log n)."""
        found = None if self._origin is None else self._origin.forward(self.identity, order)
        return reordered(self.identity, order) if found is None else found

    def orders(self) -> tuple[Order, ...]:
        """The key orders that exist now, the identity first."""
        identity, trees, waiting = _identity(self.schema), self._trees, self._waiting
        if identity in trees and len(trees) + len(waiting) == 1:
            return (identity,)
        others = [*trees, *[order for order in waiting if order not in trees]]
        return (identity, *[order for order in others if order != identity])

    def at_hand(self, order: Order) -> bool:
        """Tell whether this key order exists and has all but some thousand changed rows."""
        late = None if order in self._trees else self._waiting.get(order)
        return order in self.orders() and (late is None or late.rows <= WAITING)

    def bounds(self) -> list[Bounds]:
        """Bounds of each column: two codes that all its codes lie between; no rows have none. O(n)
        at first, then carried along by changes.

        Deletions do not narrow them.
        """
        if self._bounds is None and self.count:
            self._bounds = self.extremes(range(stored_width(self.schema.arity)))
        return self._bounds if self._bounds is not None and self.count else []

    def kept_orders(self, waiting: int) -> dict[Order, tuple[Tree, list[Delta]]]:
        """Each key order that exists, as a tree and the changes that it does not have yet, the
        latest first: `waiting` rows at most.

        O(changes · log n) for an order for which more wait.
        """
        found: dict[Order, tuple[Tree, list[Delta]]] = {}
        for order in self.orders():
            late = self._waiting.get(order)
            if order not in self._trees and late is not None and late.rows <= waiting:
                found[order] = late.since_read()
            else:
                found[order] = self.tree(order), []
        return found

    @staticmethod
    def of_orders(
        schema: RelationSchema,
        arena: Arena,
        orders: Mapping[Order, tuple[Tree, list[Delta]]],
        bounds: list[Bounds] | None,
    ) -> RelationVersion:
        """The relation that had these `kept_orders`, the identity first. O(1)."""
        trees: dict[Order, Tree] = {}
        waiting: Waiting = {}
        for order, (tree, changes) in orders.items():
            late: Tree | LazyIndex = tree
            for change in reversed(changes):
                late = LazyIndex(late, change, order)
            if isinstance(late, LazyIndex):
                waiting[order] = late
            else:
                trees[order] = late
        return RelationVersion(schema, arena, trees, bounds, waiting)

    def with_origin(self, origin: OrdersOfOrigin) -> RelationVersion:
        """The same relation, which brings key orders of an earlier one forward. O(1)."""
        return RelationVersion(
            self.schema, self._arena, self._trees, self._bounds, self._waiting, origin
        )

    @property
    def known_bounds(self) -> list[Bounds] | None:
        """`bounds` where they are known."""
        return self._bounds

    def memory(self) -> dict[Order, int]:
        """Bytes of the rows in each key order, without the pages' free room, which the arena's
        figures include.
        """
        return {order: 8 * self.count * len(order) for order in self.orders()}

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def apply(
        self, delta: Delta, known: Known = NONE_KNOWN, rows: Columns | None = None
    ) -> RelationVersion:
        """The relation after a net change; this version stays as it is. `rows`: all rows after it,
        ascending, where they are at hand.

        O(δ log n) now, and as much for every other key order when it is read, but for orders whose
        trees after the change are `known`: someone keeps the same rows. An order that no one read
        while many rows changed goes: it is built again on demand. A change larger than the
        relation, of inserts alone that changes every page, or that leaves a third of the rows,
        builds the identity anew and leaves the other orders to be built on demand, which is cheaper
        then.
        """
        changed, count = len(delta), self.count
        if not changed and not known:
            return self
        fewer, dense = delta.erased, _DENSE * changed > count > _PAIRS
        anew = changed > count or (dense and (not fewer or _DENSE * fewer > 2 * count))
        whole = rows if anew or _AT_HAND * changed > count else None
        trees: dict[Order, Tree] = {}
        waiting: Waiting = {}
        for order in self.orders()[:1] if anew else self.orders():
            after = known[order] if order in known else self._order_after(order, delta, anew, whole)
            if isinstance(after, Tree):
                trees[order] = after
            elif after is not None:
                waiting[order] = after
        return RelationVersion(
            self.schema,
            self._arena,
            trees,
            None if anew else _widened(self._bounds, delta.inserts),
            waiting,
            None if anew else self._origin,
        )

    def _order_after(
        self, order: Order, delta: Delta, anew: bool, rows: Columns | None = None
    ) -> Tree | LazyIndex | None:
        """A key order after a change, the identity `anew` or not; None where it goes."""
        if anew and isinstance(delta, Load) and not self.count:
            return delta.tree
        if anew:
            if rows is None:
                rows = union(difference(self.columns(), delta.erases), delta.inserts)
            return build_tree(self._arena, rows)
        if order == _identity(self.schema):
            if rows is not None:
                return build_tree(self._arena, rows)
            return self.identity.apply(delta.inserts, delta.erases)
        before = self._trees[order] if order in self._trees else self._waiting[order]
        if isinstance(before, OrderElsewhere):
            before = before.tree()
        if not len(delta):
            return before
        after = LazyIndex(before, delta, order)
        if not after.full:
            return after
        if not after.worth_keeping:
            return None
        after.bring_forward()
        return after

    def since(self, old: RelationVersion, delta: Delta) -> RelationVersion:
        """The same rows, which came from `old` in many changes: by this net change, as far as key
        orders are concerned that no one read meanwhile. O(δ log n) for each of the others.
        """
        if self is old:
            return self
        trees: dict[Order, Tree] = {}
        waiting: Waiting = {}
        for order in self.orders():
            read = order in self._trees or self._read_since(old, order)
            after = self.tree(order) if read else old._order_after(order, delta, False)
            if isinstance(after, Tree):
                trees[order] = after
            elif after is not None:
                waiting[order] = after
        return RelationVersion(self.schema, self._arena, trees, self._bounds, waiting, self._origin)

    def _read_since(self, old: RelationVersion, order: Order) -> bool:
        """Test if a key order that waits was read, or made, after the version `old`."""
        if order in old._trees:
            before = old._trees[order]
        elif order in old._waiting:
            before = old._waiting[order].since_read()[0]
        else:
            return True
        return self._waiting[order].since_read()[0] is not before

    def renamed(self, schema: RelationSchema) -> RelationVersion:
        """The same rows and trees under another schema of the same columns. O(1)."""
        return RelationVersion(
            schema, self._arena, self._trees, self._bounds, self._waiting, self._origin
        )

    def change_to(self, rows: Columns) -> Delta:
        """The net change from this version to these rows, sorted and distinct. O(n + m)."""
        if not self.count:
            return Delta(rows, [column[:0] for column in rows])
        return Delta(*self.identity.differences(rows))

    def net(self, delta: Delta) -> Delta:
        """The net change of one that may insert rows that are here, and erase others that are not.
        O(δ log n).
        """
        if self.count:
            new, gone = ~self.contains(delta.inserts), self.contains(delta.erases)
            inserts = [column[new] for column in delta.inserts]
            return Delta(inserts, [column[gone] for column in delta.erases])
        if not delta.erased:
            return delta
        return Delta(delta.inserts, [column[:0] for column in delta.erases])

    def difference(self, old: RelationVersion) -> Delta:
        """The net change from `old` to this version. O(δ log n) when one came from the other, as
        shared pages are skipped. Where most rows differ anyway, columns are compared: pages take
        five times as long.
        """
        if self.identity is old.identity:
            return Delta.empty(self.schema.arity)
        if 2 * abs(self.count - old.count) > max(self.count, old.count):
            return old.change_to(self.columns())
        inserts, erases = self.identity.diff(old.identity)
        return Delta(inserts, erases)


def _widened(bounds: list[Bounds] | None, inserts: Columns) -> list[Bounds] | None:
    if bounds is None or not len(inserts[0]):
        return bounds
    ends = ((int(column.min()), int(column.max())) for column in inserts)
    return [
        (min(low, least), max(high, most))
        for (low, high), (least, most) in zip(bounds, ends, strict=True)
    ]


def key_and_rest(schema: RelationSchema) -> tuple[Order, Order]:
    """The positions of the key columns and those of the others, both ascending."""
    key = tuple(sorted(schema.key or range(schema.arity)))
    return key, tuple(i for i in range(schema.arity) if i not in key)


def _identity(schema: RelationSchema) -> Order:
    return _columns_in_order(len(schema.columns))


@cache
def _columns_in_order(arity: int) -> Order:
    return tuple(range(stored_width(arity)))


def build_tree(arena: Arena, rows: Columns | np.ndarray) -> Tree:
    """A tree of these sorted, distinct rows, as a list of columns or a matrix. O(n)."""
    return Tree.build(arena, rows) if len(rows[0]) else Tree.empty(arena, len(rows))


__all__ = ["Order", "RelationVersion", "key_and_rest", "no_rows"]
