"""A body's atom as the choice of an order sees it: its variables, how many values columns have, which key orders there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lftj.join.statistics import RelationStatistics
from lftj.program.normal_form import Ref, Value
from lftj.storage.relation import Order


@dataclass(frozen=True)
class AtomStatistics:
    """`columns`: variable → its columns; `constants`: the columns that hold one; `key_orders`: those that exist, preferred ones first."""

    relation: str
    statistics: RelationStatistics
    columns: dict[int, frozenset[int]]
    constants: frozenset[int]
    arity: int
    key_orders: tuple[Order, ...]

    @staticmethod
    def of(relation: str, args: tuple[Ref | Value, ...], statistics: RelationStatistics, key_orders: Iterable[Order]) -> AtomStatistics:
        """An atom over a relation with these statistics."""
        columns: dict[int, frozenset[int]] = {}
        for column, argument in enumerate(args):
            if isinstance(argument, Ref):
                columns[argument.variable] = columns.get(argument.variable, frozenset()) | {column}
        constants = frozenset(column for column, argument in enumerate(args) if isinstance(argument, Value))
        return AtomStatistics(relation, statistics, columns, constants, len(args), tuple(key_orders))

    def variables_along(self, order: Order) -> list[int]:
        """The variables in the order in which a key order has their first columns."""
        variable = {column: v for v, its in self.columns.items() for column in its}
        return list(dict.fromkeys(variable[column] for column in order if column in variable))

    def key_order(self, place: Mapping[int, int]) -> Order:
        """The key order needed when variables are bound by their `place`: constants first, then by the place of each column's."""
        variable = {column: v for v, its in self.columns.items() for column in its}
        return tuple(sorted(range(self.arity), key=lambda c: (-1, c) if c in self.constants else (place[variable[c]], c)))

    def fits(self, bound: Order) -> bool:
        """Whether a key order exists that serves when variables are bound in an order that begins so."""
        prefix = (*sorted(self.constants), *(column for v in bound if v in self.columns for column in sorted(self.columns[v])))
        return any(known[: len(prefix)] == prefix for known in self.key_orders)
