"""The rows of a recursive relation with the iteration that first derived each, and the number of its proofs in that iteration [Elastic 4].

The join kernel sees a relation of one column more, the row's standing, which comes last in every key order because the row determines it.
So it is kept as a value, not as part of the key: a row that moves to another iteration is overwritten in place. Only the identity order has
the proof counts; the others need not change with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.recursion.standing import PROOF_BITS, iterations_of, proofs_of, standing, without_proofs
from lftj.storage.delta import Columns, Delta, stored_width
from lftj.storage.relation import Order, RelationVersion
from lftj.types import INT
from scantree import Arena, Tree
from scantree.reorder import reordered
from scantree.rows import difference, sort_rows

ITERATED = "#iterated"
"""Behind a relation's name: its rows with their iterations."""


def iterated_schema(schema: RelationSchema, suffix: str = ITERATED) -> RelationSchema:
    """The schema with the standing as last column. A nullary relation has the column of zeros that it is stored with before it."""
    columns = schema.columns or (("none", INT),)
    return replace(schema, name=schema.name + suffix, columns=(*columns, ("standing", INT)), key=None, functional=False)


class IteratedRelation(RelationVersion):
    """One immutable version. Key orders are permutations of the row's columns followed by the standing.

    Versions made in an update know the one that the update `began` with: what one of them lacks is made there once, for all of them.
    """

    __slots__ = ("_began",)

    def __init__(self, schema: RelationSchema, arena: Arena, trees: dict[Order, Tree], began: IteratedRelation | None = None):
        """`schema`: with the standing. O(1)."""
        super().__init__(schema, arena, trees)
        self._began = began

    @staticmethod
    def of(schema: RelationSchema, arena: Arena, rows: Columns, iterations: np.ndarray, proofs: np.ndarray) -> IteratedRelation:
        """These sorted, distinct rows of a relation of this schema. O(n)."""
        width = stored_width(schema.arity)
        tree = Tree.build(arena, rows, [standing(iterations, proofs)]) if len(iterations) else Tree.empty(arena, width, 1)
        return IteratedRelation(iterated_schema(schema), arena, {tuple(range(width + 1)): tree})

    def counted(self) -> tuple[Columns, np.ndarray, np.ndarray]:
        """All rows, ascending, their iterations and their proof counts. O(n)."""
        *rows, words = self.columns()
        return rows, iterations_of(words), proofs_of(words)

    def rows(self) -> Columns:
        """The rows alone, ascending. O(n)."""
        return self.columns()[:-1]

    def _made(self, order: Order) -> Tree:
        """O(n log n) for the version that the update began with, O(δ log n) for one that differs from it in δ rows."""
        if self._began is None:
            return reordered(self.identity, order[:-1], PROOF_BITS)
        return self._carried(order, self._began, *self.changes_since(self._began))

    def _carried(self, order: Order, before: IteratedRelation, inserted: Columns, erased: Columns) -> Tree:
        """A key order from that of another version and the changes since."""
        tree = before.tree(order)
        return tree.apply(_permuted(_uncounted(inserted), order), _permuted(erased[:-1], order[:-1])) if inserted else tree

    def followed_by(self, trees: dict[Order, Tree]) -> IteratedRelation:
        """A later version in the same update, which has these trees. O(1)."""
        return IteratedRelation(self.schema, self._arena, trees, self._began or self)

    def moved(self, found: Columns, recounted: Columns, lost: Columns) -> IteratedRelation:
        """The next version. `found` and `recounted` have the standing behind the row; `lost` are rows alone.

        All sorted and distinct. Rows found go to their new iteration; rows recounted stay in theirs. O(δ log n) a key order.
        """
        identity = self._identity_order
        inserts = found if not len(recounted[0]) else sort_rows([np.concatenate(pair) for pair in zip(found, recounted, strict=True)])
        trees = {identity: self.identity.apply(inserts, lost)}
        if not len(found[0]) and not len(lost[0]):
            return self.followed_by({**self._trees, **trees})
        for order, tree in self._trees.items():
            if order != identity:
                trees[order] = tree.apply(_permuted(_uncounted(found), order), _permuted(lost, order[:-1]))
        return self.followed_by(trees)

    def plain_trees(self) -> dict[Order, Tree]:
        """The rows without their standing in the same key orders, on the same pages. O(1)."""
        return {order[:-1]: tree.without_values() for order, tree in self._trees.items()}

    @property
    def _identity_order(self) -> Order:
        return tuple(range(self.identity.key_width + 1))

    def changes_since(self, before: IteratedRelation) -> tuple[Columns, Columns]:
        """Rows (with their standing) that this version has and `before` has not in the same way, and the reverse."""
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
        """This version with every key order of the one that the update began with, which it need not know any more. O(δ log n)."""
        if self is before:
            return self
        missing = [order for order in before.orders() if order not in self._trees]
        changes = self.changes_since(before) if missing else ([], [])
        carried = {order: self._carried(order, before, *changes) for order in missing}
        return IteratedRelation(self.schema, self._arena, self._trees | carried)


def _uncounted(rows: Columns) -> Columns:
    return [*rows[:-1], without_proofs(rows[-1])]


def _permuted(rows: Sequence[np.ndarray], order: Order) -> Columns:
    return sort_rows([rows[i] for i in order])


__all__ = ["ITERATED", "IteratedRelation", "iterated_schema"]
