# SPDX-License-Identifier: Apache-2.0
"""Relations without key orders of their own: rows that are read once or twice, and relations looked
at as if every order existed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import permutations

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.scantree.rows import sort_rows, sorted_matrix
from lftj.storage.delta import Columns
from lftj.storage.relation import Bounds, Order, RelationVersion, build_tree

_PERMUTED = 4  # up to this width every key order is offered


def every_order(width: int) -> tuple[Order, ...]:
    """All key orders of so many columns; only the columns' own order when there are too many to
    look at.
    """
    return tuple(permutations(range(width))) if width <= _PERMUTED else (tuple(range(width)),)


class TransientRelation(RelationVersion):
    """Distinct rows in any order, of a change or of one round of a fixpoint: no key order exists
    until one is asked for.

    `rows` may be a matrix of columns × rows.
    """

    __slots__ = ("_matrix", "_rows", "_tested")

    def __init__(self, schema: RelationSchema, arena: Arena, rows: Columns | np.ndarray):
        super().__init__(schema, arena, {})
        self._matrix = rows if isinstance(rows, np.ndarray) else None
        self._rows = list(rows)
        self._tested: dict[tuple[tuple[int, int], ...], bool] = {}

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self._rows[0])

    def columns(self, only: Sequence[int] | None = None) -> Columns:
        """All rows, in no particular order, or these columns of them."""
        return self._rows if only is None else [self._rows[column] for column in only]

    def blocks(
        self, rows: int, only: Sequence[int], first: int = 0, last: int | None = None
    ) -> Iterator[np.ndarray]:
        """Yield these columns of all rows, or some, so many rows at a time; rows have numbers, but
        are in no particular order.
        """
        columns, end = self.columns(only), self.count if last is None else last
        for begin in range(first, end, rows):
            many = min(rows, end - begin)
            yield np.array([column[begin : begin + many] for column in columns], np.int64).reshape(
                len(columns), many
            )

    def extremes(self, only: Sequence[int]) -> list[Bounds]:
        """The least and the greatest code in each of these columns; no rows have none."""
        return (
            [(int(column.min()), int(column.max())) for column in self.columns(only)]
            if self.count
            else []
        )

    def holds(self, constants: tuple[tuple[int, int], ...]) -> bool:
        """Test for a row with these codes, each with its column; of no constants it holds. O(n)
        once for the same constants.
        """
        held = self._tested.get(constants)
        if held is None:
            columns = self.columns()
            alike = [columns[column] == code for column, code in constants]
            held = not alike or bool(reduce(np.logical_and, alike).any())
            self._tested[constants] = held
        return held

    def orders(self) -> tuple[Order, ...]:
        """Every key order, since none has to be kept."""
        return every_order(len(self._rows))

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        return [column[:: max(1, len(column) // rows)] for column in self._rows]

    def _made(self, order: Order) -> Tree:
        return build_tree(self._arena, self._ascending(order))

    def _ascending(self, order: Order) -> Columns | np.ndarray:
        """The rows with their columns in this order, sorted; as a list of columns or a matrix."""
        if self._matrix is None:
            columns = self.columns()
            return sort_rows([columns[i] for i in order])
        return sorted_matrix(
            self._matrix if order == tuple(range(len(order))) else self._matrix.take(order, axis=0)
        )

    def side_by_side(self) -> None:
        """Rows side by side tell nothing, as the rows are in no order."""


class PickedRows(TransientRelation):
    """Some rows of a relation, by their numbers: a column is read when it is asked for."""

    __slots__ = ("_found", "_numbers", "_whole")

    def __init__(
        self, schema: RelationSchema, arena: Arena, whole: RelationVersion, numbers: np.ndarray
    ):
        """`numbers`: of rows of `whole`, ascending."""
        super().__init__(schema, arena, [])
        self._whole, self._numbers = whole, numbers
        self._found: dict[int, np.ndarray] = {}

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._numbers.size

    def columns(self, only: Sequence[int] | None = None) -> Columns:
        """All rows, or these columns of them, in the order of the relation."""
        wanted = range(self.schema.arity) if only is None else only
        missing = [column for column in dict.fromkeys(wanted) if column not in self._found]
        if missing:
            self._found |= zip(missing, self._whole.numbered(self._numbers, missing), strict=True)
        return [self._found[column] for column in wanted]

    def blocks(
        self, rows: int, only: Sequence[int], first: int = 0, last: int | None = None
    ) -> Iterator[np.ndarray]:
        """See `TransientRelation`; nothing is kept."""
        end = self.count if last is None else last
        for begin in range(first, end, rows):
            numbers = self._numbers[begin : min(begin + rows, end)]
            yield np.array(self._whole.numbered(numbers, only)).reshape(len(only), numbers.size)

    def orders(self) -> tuple[Order, ...]:
        """Every key order, since none has to be kept."""
        return every_order(self.schema.arity)

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        numbers = np.ascontiguousarray(self._numbers[:: max(1, self.count // rows)])
        return self._whole.numbered(numbers, range(self.schema.arity))


class OneRow(TransientRelation):
    """One row of which another takes the place, without new pages: for searches that come one after
    the other, each for one row. Nobody else may read it meanwhile.
    """

    __slots__ = ()

    def put(self, row: Sequence[int]) -> None:
        """Take this row instead."""
        for place, column in enumerate(self._rows):
            column[0] = row[place]
        for order, tree in self._trees.items():
            tree.overwrite([row[place] for place in order])


class AnyOrder(RelationVersion):
    """A relation as if it had every key order, for choosing a plan: an order made in one round
    serves all later ones.
    """

    __slots__ = ("_relation",)

    def __init__(self, relation: RelationVersion):
        super().__init__(relation.schema, relation.identity.arena, {})
        self._relation = relation

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._relation.count

    def orders(self) -> tuple[Order, ...]:
        """Every key order."""
        return every_order(max(1, self.schema.arity))

    def sample(self, rows: int) -> Columns:
        """About `rows` rows at equal distances."""
        return self._relation.sample(rows)

    def side_by_side(self) -> tuple[float, Sequence[float]] | None:
        """See `RelationVersion.side_by_side`."""
        return self._relation.side_by_side()
