# SPDX-License-Identifier: Apache-2.0
"""A body's atoms as the choice of an order sees them: their variables, how many values columns
have, which key orders there are, and which values many rows of two atoms have at once.

Where a few users wrote most posts and have most friends, a post has far more friends of its author
beside it than users have on average: a value that comes from a row is one that many rows have. What
the mean says is right of values that are bound by themselves, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from operator import or_
from types import MappingProxyType

from lftj.join.plan.cardinality import RelationStatistics
from lftj.join.plan.variable_orders import bits
from lftj.program.normal_form import Ref, Value
from lftj.scantree.frozen import record
from lftj.storage.relation import Order
from lftj.types import code_of

_UNKNOWN: Mapping[int, float] = MappingProxyType({})

Skew = Mapping[tuple[int, int], Sequence[tuple[int, float]]]
"""Skew by the numbers of an atom and a variable, as a bit: for other atoms, their other variables
as bits, and the number of rows of the atom with a value of the variable that rows of the other
have, where these are more than the mean. Once one of those variables is bound too, it is such rows
that bindings come from.
"""
NO_SKEW: Skew = MappingProxyType({})


@record(slots=True)
class AtomStatistics:
    """`columns`: variable → its columns; `constants`: the columns that hold one; `rows`: about how
    many have all of these; `agreeing`: for each variable in several columns, about the share of
    them in which these agree; `key_orders`: those that exist, preferred ones first.

    Columns ascend. It does not change, but is made too often to be frozen.
    """

    relation: str
    statistics: RelationStatistics
    columns: dict[int, Order]
    constants: Order
    rows: float
    agreeing: dict[int, float]
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
        agreeing: dict[int, float] = {}
        rows, sample = float(statistics.rows), statistics.sample
        for column, argument in enumerate(args):
            share = None
            if isinstance(argument, Value):
                constants = (*constants, column)
                if sample is not None and argument.type.name != "str":
                    share = sample.having(column, code_of(argument.type, argument.value))
                known = 1.0 / max(1.0, statistics.distinct[column]) if share is None else share
                rows = min(rows, max(1.0, rows * known))
                continue
            variable = argument.variable
            if variable in columns:
                first = columns[variable][0]
                if sample is not None:
                    share = sample.agreeing(first, column)
                if share is None:  # the fewer values of one column are among those of the other
                    values = statistics.distinct
                    share = 1.0 / max(1.0, values[first], values[column])
                agreeing[variable] = agreeing.get(variable, 1.0) * share
            columns[variable] = (*columns.get(variable, ()), column)
        return AtomStatistics(
            relation,
            statistics,
            columns,
            constants,
            rows,
            agreeing,
            len(args),
            tuple(key_orders),
        )

    def variables_along(self, order: Order) -> list[int]:
        """The variables in the order in which a key order has their first columns."""
        variable = {column: v for v, its in self.columns.items() for column in its}
        return list(dict.fromkeys(variable[column] for column in order if column in variable))

    def values(self, variable: int) -> float:
        """Distinct values of a variable in the column that has most."""
        return max([self.statistics.distinct[column] for column in self.columns[variable]])

    def combinations(self, variables: int) -> float:
        """Distinct values of some of its variables, as bits, together, in rows with its
        constants.
        """
        product, rows = 1.0, self.rows
        for variable, its in self.columns.items():
            if variables >> variable & 1:
                product *= min([self.statistics.distinct[column] for column in its])
                rows *= self.agreeing.get(variable, 1.0)
        return min(product, rows)

    def looked_at(self, variable: int, bound: int) -> float:
        """Values of a variable in several columns that a search looks at behind the bound ones, as
        bits: those of its first column, which need not agree with the others.
        """
        before = self.combinations(bound)
        return min(
            self.statistics.distinct[self.columns[variable][0]],
            self.rows / max(1.0, before) if bound else self.rows,
        )

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
        """Test for an existing key order that serves when variables are bound in an order that
        begins so.
        """
        prefix = self.key_order(bound)
        return any(known[: len(prefix)] == prefix for known in self.key_orders)


def skew_of(atoms: Sequence[AtomStatistics], at: Sequence[Sequence[int]], crowded: float) -> Skew:
    """Known skew of a body's atoms. `at`: by variable, the numbers of the atoms that have it;
    `crowded`: as of `Tuning`.
    O(atoms + kinds² · frequent values), where atoms are of a kind that have a variable in the same
    column of one relation.
    """
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for variable, numbers in enumerate(at):
        kinds: dict[tuple[str, int], list[int]] = {}
        for number in numbers if len(numbers) > 1 else ():
            kind = atoms[number].relation, atoms[number].columns[variable][0]
            kinds.setdefault(kind, []).append(number)
        for here in kinds.values():
            for there in kinds.values():
                for number, others, rows in _crowded(atoms, variable, here, there, crowded):
                    found.setdefault((number, 1 << variable), []).append((others, rows))
    return found or NO_SKEW


def _crowded(
    atoms: Sequence[AtomStatistics],
    variable: int,
    here: Sequence[int],
    there: Sequence[int],
    crowded: float,
) -> Iterator[tuple[int, int, float]]:
    """Yield for each atom of a kind: the other variables, as bits, of the other atoms of another
    kind or its own, and the number of its rows with a value that their rows have.
    """
    one, other = atoms[here[0]], atoms[there[0]]
    mine, theirs = one.frequent(variable), other.frequent(variable)
    shares = [mine[value] * theirs[value] for value in mine.keys() & theirs.keys()]
    rows = one.statistics.rows * sum(shares)
    together = [bits(atoms[number].columns) & ~(1 << variable) for number in there]
    but_one = _unions_but_one(together) if here is there else [reduce(or_, together)] * len(here)
    for number, others in zip(here, but_one, strict=True):
        even = one.statistics.rows / max(1.0, atoms[number].values(variable))
        if others and rows > crowded * even:
            yield number, others, rows


def _unions_but_one(sets: Sequence[int]) -> list[int]:
    """Unite, for each of these sets, as bits, all others."""
    before = list(accumulate(sets, or_, initial=0))
    behind = list(accumulate(reversed(sets), or_, initial=0))[::-1]
    return [before[place] | behind[place + 1] for place in range(len(sets))]
