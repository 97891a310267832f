"""A body's atom as the choice of an order sees it: which variables stand where, and how many values its columns have."""

from __future__ import annotations

from dataclasses import dataclass

from lftj.join.statistics import RelationStatistics
from lftj.program.normal_form import Ref, Value
from lftj.storage.relation import Order


@dataclass(frozen=True)
class AtomStatistics:
    """`columns`: variable → its columns; `constants`: the columns that hold one."""

    relation: str
    statistics: RelationStatistics
    columns: dict[int, frozenset[int]]
    constants: frozenset[int]
    arity: int

    @staticmethod
    def of(relation: str, args: tuple[Ref | Value, ...], statistics: RelationStatistics) -> AtomStatistics:
        """An atom over a relation with these statistics."""
        columns: dict[int, frozenset[int]] = {}
        for column, argument in enumerate(args):
            if isinstance(argument, Ref):
                columns[argument.variable] = columns.get(argument.variable, frozenset()) | {column}
        constants = frozenset(column for column, argument in enumerate(args) if isinstance(argument, Value))
        return AtomStatistics(relation, statistics, columns, constants, len(args))

    def variables_along(self, order: Order) -> list[int]:
        """The variables in the order in which a key order has their first columns."""
        variable = {column: v for v, its in self.columns.items() for column in its}
        return list(dict.fromkeys(variable[column] for column in order if column in variable))
