# SPDX-License-Identifier: Apache-2.0
"""The shape of an aggregated head, by positions: the group, the calls, and the source of each head
column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress

import numpy as np

from lftj.functions.aggregates import AGGREGATES
from lftj.heads.user import NO_VALUE, UserAggregate
from lftj.heads.values import group_name
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref, Value
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.types import FLOAT, Type
from lftj.types.dictionary import Dictionary


def optional_columns(args: Iterable[int], types: Iterable[Type]) -> tuple[int, ...]:
    """The columns of optional types among those of some arguments, ascending."""
    return tuple(sorted({a for a, type in zip(args, types, strict=True) if type.optional}))


@frozen(slots=True)
class CallShape:
    """One aggregated head column: the function, the positions of its arguments among the columns,
    their types, the type of the result.

    `constant`: the argument that is one for all rows, such as the separator of a `concat`.
    """

    function: str
    args: tuple[int, ...]
    types: tuple[Type, ...]
    result: Type
    constant: object = None

    @property
    def optional(self) -> tuple[int, ...]:
        """The columns, ascending, that may have NULL: an assignment with it has no part here."""
        return optional_columns(self.args, self.types)


@frozen(slots=True)
class AggregateCall:
    """One aggregated head column: the function, its argument columns (codes) with their types, and
    the type of the result.
    """

    function: str
    args: list[np.ndarray]
    types: Sequence[Type]
    result: Type


@frozen(slots=True)
class HeadColumns:
    """Sources of a head's columns: `places` in (group columns, results of the calls); the first
    `width` are the group. `floats`: the places of calls that a group may have no value of.
    """

    places: tuple[int, ...]
    width: int
    floats: frozenset[int]

    @property
    def leads(self) -> bool:
        """True when the head begins with the group columns in the order of the state, so that rows
        in order of their group are in order.
        """
        return self.places[: self.width] == tuple(range(self.width))

    @property
    def calls(self) -> tuple[int, ...]:
        """The numbers of the calls whose results the head publishes."""
        return tuple(sorted({place - self.width for place in self.places if place >= self.width}))

    def valued(self, results: Sequence[np.ndarray]) -> np.ndarray:
        """Mark the groups that have all values of the head, of whose calls some are floats."""
        return np.logical_and.reduce([results[p - self.width] != NO_VALUE for p in self.floats])

    def rows(self, groups: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Head columns from group columns and results, in the order of the groups."""
        columns = [*groups[: self.width], *results]
        return [columns[place] for place in self.places]

    def sorted_rows(
        self, groups: Sequence[np.ndarray], results: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """The rows of the head, sorted: those of groups that have all its values."""
        rows = self.rows(groups, results)
        if self.floats:
            valued = self.valued(results)
            rows = [column[valued] for column in rows]
        return sort_rows(rows)


@frozen(slots=True)
class AggregateShape:
    """The shape of a head. Its rows come in columns, one per needed variable: the distinct
    variables of the group, then the other arguments.

    `needed`: the rule's variables in the order of the columns; `types`: theirs; `width`: how many
    columns are the group; `group`: the head's group columns as positions, repeated ones included;
    `calls`: the aggregated head columns; `head`: for each head column its place in (group columns,
    results of the calls); `floats`: those of calls of floats.
    """

    needed: tuple[int, ...]
    types: tuple[Type, ...]
    width: int
    group: tuple[int, ...]
    calls: tuple[CallShape, ...]
    head: tuple[int, ...]
    floats: frozenset[int] = frozenset()

    @staticmethod
    def of(rule: NormalRule) -> AggregateShape:
        """The shape of a rule's head, some term of which is an aggregate."""
        group = rule.group
        terms = [term for term in rule.head if isinstance(term, AggregateTerm)]
        needed = tuple(
            dict.fromkeys(
                [*group, *(argument.variable for term in terms for argument in term.args)]
            )
        )
        types = tuple(rule.variables[variable].type for variable in needed)
        place = {variable: position for position, variable in enumerate(needed)}
        width = len(set(group))
        constants = {
            each.variable: each.expression.value
            for each in rule.assignments
            if isinstance(each.expression, Value)
        }
        calls = tuple(_call(term, place, types, constants) for term in terms)
        places = range(width, width + len(calls))
        floats = frozenset(compress(places, [call.result.required == FLOAT for call in calls]))
        results = iter(places)
        head = tuple(
            place[term.variable] if isinstance(term, Ref) else next(results) for term in rule.head
        )
        return AggregateShape(
            needed, types, width, tuple(place[variable] for variable in group), calls, head, floats
        )

    @property
    def columns(self) -> HeadColumns:
        """The head's own columns."""
        return HeadColumns(self.head, self.width, self.floats)

    def head_rows(
        self, groups: Sequence[np.ndarray], results: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Head columns from group columns and results, sorted."""
        return self.columns.sorted_rows(groups, results)

    def name(self, groups: Sequence[np.ndarray], dictionary: Dictionary, group: int) -> str:
        """Name a group for messages."""
        codes = [groups[position][group : group + 1] for position in self.group]
        return group_name(codes, [self.types[position] for position in self.group], dictionary)


@frozen(slots=True)
class Surroundings:
    """Interpretation of codes and names: the dictionary, and the users' aggregates."""

    dictionary: Dictionary
    user: Mapping[str, UserAggregate]


def _call(
    term: AggregateTerm,
    place: Mapping[int, int],
    types: Sequence[Type],
    constants: Mapping[int, object],
) -> CallShape:
    args = tuple(place[argument.variable] for argument in term.args)
    known = AGGREGATES.get(term.function)
    fixed = None if known is None else known.constant
    constant = None
    if fixed is not None and len(args) > fixed:
        constant = constants.get(term.args[fixed].variable)
    return CallShape(term.function, args, tuple(types[arg] for arg in args), term.type, constant)
