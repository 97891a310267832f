"""A body's atom as the choice of an order sees it: its variables, how many values columns have,
which key orders there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lftj.join.plan.statistics import RelationStatistics
from lftj.program.normal_form import Ref, Value
from lftj.storage.relation import Order

_UNKNOWN: Mapping[int, float] = MappingProxyType({})


@dataclass(slots=True)
class AtomStatistics:
    """`columns`: variable → its columns; `constants`: the columns that hold one; `key_orders`:
    those that exist, preferred ones first.

    Columns ascend. It does not change, but is made too often to be frozen.
    """

    relation: str
    statistics: RelationStatistics
    columns: dict[int, Order]
    constants: Order
    arity: int
    key_orders: tuple[Order, ...]

    @staticmethod
    def of(
        relation: str,
        args: tuple[Ref | Value, ...],
        statistics: RelationStatistics,
        key_orders: Iterable[Order],
    ) -> AtomStatistics:
        """An atom over a relation with these statistics."""
        columns: dict[int, Order] = {}
        constants: Order = ()
        for column, argument in enumerate(args):
            if isinstance(argument, Ref):
                columns[argument.variable] = (*columns.get(argument.variable, ()), column)
            else:
                constants = (*constants, column)
        return AtomStatistics(
            relation, statistics, columns, constants, len(args), tuple(key_orders)
        )

    def variables_along(self, order: Order) -> list[int]:
        """The variables in the order in which a key order has their first columns."""
        variable = {column: v for v, its in self.columns.items() for column in its}
        return list(dict.fromkeys(variable[column] for column in order if column in variable))

    def values(self, variable: int) -> float:
        """Distinct values of a variable in the column that has most."""
        return max([self.statistics.distinct[column] for column in self.columns[variable]])

    def frequent(self, variable: int) -> Mapping[int, float]:
        """The codes that many rows have in a variable's first column, and their shares of the rows,
        as far as known.
        """
        sample = self.statistics.sample
        return _UNKNOWN if sample is None else sample.frequent(self.columns[variable][0])

    def spread(self, variable: int) -> Sequence[int]:
        """Codes at equal distances in the ascending order of a variable's first column, as far as
        known.
        """
        sample = self.statistics.sample
        return () if sample is None else sample.spread(self.columns[variable][0])

    def key_order(self, bound: Order) -> Order:
        """The key order needed when variables are bound in this order, or what it begins with:
        constants, then the columns of each.
        """
        needed = self.constants
        for variable in bound:
            if variable in self.columns:
                needed += self.columns[variable]
        return needed

    def fits(self, bound: Order) -> bool:
        """Whether a key order exists that serves when variables are bound in an order that begins
        so.
        """
        prefix = self.key_order(bound)
        return any(known[: len(prefix)] == prefix for known in self.key_orders)
