# SPDX-License-Identifier: Apache-2.0
"""The rows of a recursive relation with the iteration that first derived each, and the number of
its proofs in that iteration [Elastic 4].

The join kernel sees a relation of one more column, the row's iteration, which comes last in every
key order because the row determines it. So it is a value of the tree, not part of the key: a row
that moves to another iteration is overwritten in place. Only the identity order has the proof
counts; the others need not change with them.

No join of an update needs to read the identity order; each iteration reads it to look up the
iterations of rows. So it lags behind: look-ups read it together with the changes since, and these
are applied at once for several iterations, and several updates, each page being copied once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeGuard

import numpy as np

from lftj.join.rent_or_buy import Rent
from lftj.maintenance.counting.apply_iteration_kernels import GONE, amend, follow
from lftj.maintenance.counting.derivation_count import (
    PROOF_BITS,
    iterations_of,
    proofs_of,
    standing,
    without_proofs,
)
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.scantree.columns import as_matrix
from lftj.scantree.reorder import reordered
from lftj.scantree.rows import difference, sort_rows, sorted_matrix
from lftj.storage.delta import Columns, Delta, stored_width
from lftj.storage.index import OrderElsewhere
from lftj.storage.relation import Known, Order, RelationVersion
from lftj.types import INT
from lftj.types.sources import Role, Source

_ITERATED = (Role.ITERATED, Role.BEFORE_MOVE, Role.BEFORE_UPDATE, Role.MOVED)
_LATE_ORDER = 1
"""Times all rows that changes may be gone through while they wait for the identity order: a row is
gone through in the time that a 256th of a page takes.
"""
_LATE_SHARE = 16
"""Part of the rows that may wait so from one update to the next."""
_LATE_ROWS = 1 << 13
"""Rows that may wait so at most."""


def is_iterated(name: str) -> TypeGuard[Source]:
    """True for rows that have the iterations which they are derived in."""
    return isinstance(name, Source) and name.role in _ITERATED


def iterated_schema(schema: RelationSchema, role: Role = Role.ITERATED) -> RelationSchema:
    """The schema with the standing as last column. A nullary relation has the column of zeros that
    it is stored with before it.
    """
    columns = schema.columns or (("none", INT),)
    return replace(
        schema,
        name=Source(schema.name, role),
        columns=(*columns, ("standing", INT)),
        key=None,
        functional=False,
    )


class _Late(NamedTuple):
    """Lag of the identity order: an earlier `tree` of it and `changes` since, rows in ascending
    order with their derivation counts or GONE, as a matrix of columns × rows. `gone_through`: the
    number of changes that iterations have gone through so far, each time counted.
    """

    tree: Tree
    changes: np.ndarray
    gone_through: int


class IteratedRelation(RelationVersion):
    """One immutable version. Key orders are permutations of the row's columns followed by the
    standing.

    Versions made in an update know the one that the update `began` with: what one of them lacks is
    made there once, for all of them.
    """

    __slots__ = ("_began", "_late")

    def __init__(
        self,
        schema: RelationSchema,
        arena: Arena,
        trees: dict[Order, Tree],
        began: IteratedRelation | None = None,
        late: _Late | None = None,
    ):
        """`schema`: with the standing. `late`: instead of the identity order, where there are
        others. O(1).
        """
        super().__init__(schema, arena, trees)
        self._began = began
        self._late = late

    @staticmethod
    def of(
        schema: RelationSchema,
        arena: Arena,
        rows: Columns,
        iterations: np.ndarray,
        proofs: np.ndarray,
    ) -> IteratedRelation:
        """Build a relation of this schema from these rows, sorted and distinct. O(n)."""
        width = stored_width(schema.arity)
        tree = (
            Tree.build(arena, rows, [standing(iterations, proofs)])
            if len(iterations)
            else Tree.empty(arena, width, 1)
        )
        return IteratedRelation.of_tree(schema, arena, tree)

    @staticmethod
    def of_tree(schema: RelationSchema, arena: Arena, tree: Tree) -> IteratedRelation:
        """Build a relation from a tree of rows with their derivation counts. O(1)."""
        return IteratedRelation(
            iterated_schema(schema), arena, {tuple(range(tree.key_width + 1)): tree}
        )

    def counted(self) -> tuple[Columns, np.ndarray, np.ndarray]:
        """All rows, ascending, their iterations and their proof counts. O(n)."""
        *rows, words = self.columns()
        return rows, iterations_of(words), proofs_of(words)

    def rows(self) -> Columns:
        """The rows alone, ascending. O(n)."""
        return self.columns()[:-1]

    @property
    def identity(self) -> Tree:
        """The key order with the proof counts. O(δ log n) where it lagged behind by δ rows, then
        O(1).
        """
        return self.tree(self._identity_order)

    def tree(self, order: Order) -> Tree:
        """See `RelationVersion.tree`."""
        if self._late is not None and order not in self._trees:
            super().tree(self._identity_order)  # others are made from it
            self._late = None
        return super().tree(order)

    def unordered(self, order: Order) -> int:
        """Number of rows that have to be sorted to have this key order. O(1)."""
        began = self if self._began is None else self._began
        return 0 if order in self._trees or order in began._trees else self.count

    def standings(self, rows: Columns) -> tuple[np.ndarray, np.ndarray]:
        """Look up these rows, in ascending order: a mask of those that are here, and their
        derivation counts. O(m log n).
        """
        if (late := self._late) is None:
            present, (words,) = self.identity.lookup(rows)
            return present, words
        sought = as_matrix(rows, len(rows))
        present, (words,) = late.tree.lookup(sought)
        amend(sought, late.changes, present, words)
        return present, words

    def _made(self, order: Order) -> Tree:
        """O(n log n) for the version that the update began with, O(δ log n) for one that differs
        from it in δ rows.
        """
        if (late := self._late) is not None:
            return _applied(late)
        if self._began is None:
            return reordered(self.identity, order[:-1], PROOF_BITS)
        return self._carried(order, self._began, *self.changes_since(self._began))

    def _carried(
        self, order: Order, before: IteratedRelation, inserted: Columns, erased: Columns
    ) -> Tree:
        """A key order from that of another version and the changes since."""
        tree = before.tree(order)
        return (
            tree.apply(_permuted(_uncounted(inserted), order), _permuted(erased[:-1], order[:-1]))
            if inserted
            else tree
        )

    def followed_by(self, trees: dict[Order, Tree], late: _Late | None = None) -> IteratedRelation:
        """A later version in the same update, which has these trees. O(1)."""
        return IteratedRelation(self.schema, self._arena, trees, self._began or self, late)

    def moved(
        self, found: Columns, lost: Columns, changes: np.ndarray | None = None
    ) -> IteratedRelation:
        """The next version. Rows `found` go to their new iteration, the standing behind the row;
        `lost` are rows alone. Both are sorted.

        `changes`: these and the rows that are recounted in theirs, as `_Late` has them; without,
        none are. O(δ log n) a key order, the identity order put off.
        """
        if changes is None:
            pieces = zip(found, [*lost, np.full(len(lost[0]), GONE)], strict=True)
            changes = as_matrix(
                sort_rows([np.concatenate(columns) for columns in pieces]), len(found)
            )
        if not changes.shape[1]:
            return self
        identity = self._identity_order
        late = self._later(changes)
        trees: dict[Order, Tree] = {}
        for order, tree in self._trees.items():
            if order != identity:
                trees[order] = tree.apply(
                    _permuted(_uncounted(found), order), _permuted(lost, order[:-1])
                )
        # A row is gone through in the time that a 256th of a page takes: to apply scattered changes
        # costs about as much as to go through all rows. They wait until that much was spent on
        # waiting.
        if trees and not Rent(late.gone_through).due(_LATE_ORDER * self.count):
            return self.followed_by(trees, late)
        return self.followed_by({identity: _applied(late), **trees})

    def _later(self, changes: np.ndarray) -> _Late:
        late = self._late
        if late is None:
            return _Late(self.identity, changes, changes.shape[1])
        together = np.empty((len(changes), late.changes.shape[1] + changes.shape[1]), np.int64)
        size = int(follow(late.changes, changes, together))
        return _Late(late.tree, np.ascontiguousarray(together[:, :size]), late.gone_through + size)

    def plain_trees(self) -> Known:
        """The rows without their standing in the same key orders, on the same pages, an identity
        that lags behind when asked for. O(1).
        """
        found: dict[Order, Tree | OrderElsewhere] = {
            order[:-1]: tree.without_values() for order, tree in self._trees.items()
        }
        if self._late is not None:
            found[self._identity_order[:-1]] = OrderElsewhere(
                lambda: self.identity.without_values(), self.count
            )
        return found

    @property
    def _identity_order(self) -> Order:
        return tuple(range(len(self.schema.columns)))

    def changes_since(self, before: IteratedRelation) -> tuple[Columns, Columns]:
        """Rows (with their standing) that this version has and `before` has not in the same way,
        and the reverse.
        """
        if self.identity is before.identity:
            return [], []
        return self.identity.diff(before.identity)

    def rows_since(self, before: IteratedRelation) -> Delta:
        """The net change of the rows alone from an earlier version to this one."""
        inserted, erased = self.changes_since(before)
        if not inserted:
            return Delta.empty(self.identity.key_width)
        new, old = inserted[:-1], erased[:-1]
        return Delta(difference(new, old), difference(old, new))

    def with_orders_of(self, before: IteratedRelation) -> IteratedRelation:
        """Give this version every key order of the one that the update began with, which it need
        not know any more. O(δ log n).
        """
        if self is before:
            return self
        missing = [order for order in before.orders() if order not in self.orders()]
        changes = self.changes_since(before) if missing else ([], [])
        carried = {order: self._carried(order, before, *changes) for order in missing}
        if self._late is not None and self._late.changes.shape[1] > min(
            _LATE_ROWS, self.count // _LATE_SHARE
        ):
            self.tree(self._identity_order)
        return IteratedRelation(self.schema, self._arena, self._trees | carried, late=self._late)


def _applied(late: _Late) -> Tree:
    """The identity order brought up to date."""
    gone = late.changes[-1] == GONE
    if not gone.any():
        return late.tree.apply(late.changes)
    return late.tree.apply(late.changes[:, ~gone], late.changes[:-1, gone])


def _uncounted(rows: Columns) -> Columns:
    return [*rows[:-1], without_proofs(rows[-1])]


def _permuted(rows: Sequence[np.ndarray], order: Order) -> np.ndarray:
    return sorted_matrix(np.array([rows[i] for i in order]))


__all__ = ["IteratedRelation", "is_iterated", "iterated_schema"]
