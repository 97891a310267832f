# SPDX-License-Identifier: Apache-2.0
"""A relation that gained columns with one value in all rows: the rows without these columns, and a
row of the values. Nothing is written for a row until some row differs.

Reading rows supplies the values. A key order is made when a search first asks for one, O(n), and is
this version's; the next version has key orders of its own from then on. The values lie in a page of
their own, by which strings that no row has are known to be in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.scantree.tree import Arena, Tree
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import (
    NONE_KNOWN,
    Bounds,
    Known,
    Order,
    RelationVersion,
    build_tree,
)


class WidenedRelation(RelationVersion):
    """Rows of a `narrow` relation, at least one, each with the `values` behind it."""

    __slots__ = ("narrow", "values")

    def __init__(self, schema: RelationSchema, narrow: RelationVersion, values: Tree):
        super().__init__(schema, values.arena, {})
        self.narrow = narrow
        self.values = values

    @staticmethod
    def widened(
        schema: RelationSchema, relation: RelationVersion, arena: Arena, code: int
    ) -> RelationVersion:
        """A relation with one more column, which has one code in all rows. O(1)."""
        if not relation.count or not relation.schema.arity:
            columns = [*relation.columns()[: relation.schema.arity]]
            more = np.full(relation.count, code, np.int64)
            return RelationVersion.build(schema, arena, [*columns, more])
        codes = [code]
        if isinstance(relation, WidenedRelation):
            relation, codes = relation.narrow, [*relation.codes, code]
        row = [np.array([each], np.int64) for each in codes]
        return WidenedRelation(schema, relation, build_tree(arena, row))

    @property
    def codes(self) -> list[int]:
        """The values as codes."""
        return [int(column[0]) for column in self.values.columns()]

    @property
    def _width(self) -> int:
        """Number of columns before the values."""
        return self.narrow.schema.arity

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    @property
    def count(self) -> int:
        """Number of rows. O(1)."""
        return self.narrow.count

    def _made(self, order: Order) -> Tree:
        """A key order that does not exist yet. O(n log n)."""
        if order != tuple(range(self.schema.arity)):
            return super()._made(order)
        return build_tree(self._arena, self.columns())

    def _beside(self, columns: Columns, rows: int, only: Sequence[int] | None) -> Columns:
        """The columns asked for, of which the narrow ones are `columns` in the order asked for."""
        codes, narrow = self.codes, iter(columns)
        wanted = range(self.schema.arity) if only is None else only
        return [
            next(narrow)
            if place < self._width
            else np.full(rows, codes[place - self._width], np.int64)
            for place in wanted
        ]

    def _narrow(self, only: Sequence[int] | None) -> list[int]:
        wanted = range(self.schema.arity) if only is None else only
        return [place for place in wanted if place < self._width]

    def columns(self, only: Sequence[int] | None = None) -> Columns:
        """All rows in ascending order, or these columns of them. O(n)."""
        narrow = self._narrow(only)
        found = self.narrow.columns(narrow) if narrow else []
        return self._beside(found, self.count, only)

    def blocks(
        self, rows: int, only: Sequence[int], first: int = 0, last: int | None = None
    ) -> Iterator[np.ndarray]:
        """Yield these columns of some rows, so many rows at a time; see `RelationVersion`."""
        for block in self.narrow.blocks(rows, self._narrow(only) or [0], first, last):
            yield np.stack(self._beside(list(block), block.shape[1], only))

    def extremes(self, only: Sequence[int]) -> list[Bounds]:
        """The least and the greatest code in each of these columns. O(n)."""
        narrow, codes = self._narrow(only), self.codes
        found = iter(self.narrow.extremes(narrow) if narrow else [])
        ends = [(code, code) for code in codes]
        return [next(found) if place < self._width else ends[place - self._width] for place in only]

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances. O(rows · log n)."""
        found = self.narrow.sample(rows)
        return self._beside(found, len(found[0]), None)

    def numbered(self, numbers: np.ndarray, only: Sequence[int]) -> Columns:
        """Read these columns of the rows with these numbers, ascending."""
        narrow = self._narrow(only)
        found = self.narrow.numbered(numbers, narrow) if narrow else []
        return self._beside(found, len(numbers), only)

    def side_by_side(self) -> tuple[float, Sequence[float]] | None:
        """See `RelationVersion.side_by_side`."""
        if (narrow := self.narrow.side_by_side()) is None:
            return None
        about, most = narrow
        return about, [*most, *[1.0] * len(self.codes)]

    def contains(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Mark those of these rows (sorted) that are here. O(m log n)."""
        here = self._alike(columns)
        found = np.zeros(len(here), np.bool_)
        if here.any():
            asked = [column[here] for column in columns[: self._width]]
            found[here] = self.narrow.contains(asked)
        return found

    def _alike(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Mark the rows that have the values."""
        here = np.ones(len(columns[0]), np.bool_)
        for column, code in zip(columns[self._width :], self.codes, strict=True):
            here &= column == code
        return here

    def bounds(self) -> list[Bounds]:
        """Bounds of each column; see `RelationVersion.bounds`."""
        narrow = self.narrow.bounds()
        return [*narrow, *((code, code) for code in self.codes)] if narrow else []

    def memory(self) -> dict[Order, int]:
        """Bytes of the rows in each key order, by the columns that these have."""
        return {**self.narrow.memory(), **{o: 8 * self.count * len(o) for o in self._trees}}

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def plain(self) -> RelationVersion:
        """The same rows, with all columns in pages. O(n) at first."""
        trees = {tuple(range(self.schema.arity)): self.identity, **self._trees}
        return RelationVersion(self.schema, self._arena, trees, self.bounds() or None)

    def apply(
        self, delta: Delta, known: Known = NONE_KNOWN, rows: Columns | None = None
    ) -> RelationVersion:
        """The relation after a net change; see `RelationVersion.apply`. Where all rows that come
        have the values and no key order was asked for, the values stay apart.
        """
        if not len(delta) and not known:
            return self
        if self._trees or known or not self._alike(delta.inserts).all():
            return self.plain().apply(delta, known, rows)
        erases = self._alike(delta.erases)
        narrow = self.narrow.apply(
            Delta(
                delta.inserts[: self._width],
                [column[erases] for column in delta.erases[: self._width]],
            )
        )
        if not narrow.count:
            return RelationVersion.empty(self.schema, self._arena)
        return WidenedRelation(self.schema, narrow, self.values)

    def since(self, old: RelationVersion, delta: Delta) -> RelationVersion:
        """See `RelationVersion.since`."""
        return self

    def renamed(self, schema: RelationSchema) -> RelationVersion:
        """The same rows under another schema of the same columns. O(1)."""
        made = WidenedRelation(schema, self.narrow, self.values)
        made._trees = self._trees
        return made

    def difference(self, old: RelationVersion) -> Delta:
        """The net change from `old` to this version. O(δ log n) where one came from the other and
        no row of either differs.
        """
        if self is old:
            return Delta.empty(self.schema.arity)
        if (
            isinstance(old, WidenedRelation)
            and old._width == self._width
            and old.codes == self.codes
        ):
            delta = self.narrow.difference(old.narrow)
            return Delta(self._whole(delta.inserts), self._whole(delta.erases))
        return super().difference(old)

    def _whole(self, rows: Columns) -> Columns:
        return self._beside(rows, len(rows[0]), None)
