# SPDX-License-Identifier: Apache-2.0
"""Statistics that the form of a rule may depend on: the keys of relations, and how many rows and
values they have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from math import prod
from types import MappingProxyType
from typing import NamedTuple

from lftj.program.alteration import Alteration
from lftj.program.bindings import Variables, of_expressions
from lftj.program.checked import CheckedAtom
from lftj.program.normal_form import Ref, RelationSchema, Value
from lftj.scantree.frozen import frozen


class Size(NamedTuple):
    """Estimated numbers of a relation's rows, of the values of each column, and of the rows that
    have the value there of a row drawn at random. `few`: too few rows to tell how it will be.
    """

    rows: int
    distinct: tuple[float, ...]
    crowds: tuple[float, ...]
    few: bool = False

    def matching(self, args: Sequence[object]) -> float:
        """The rows of an atom that has constants among these arguments."""
        constants = [self.distinct[at] for at, arg in enumerate(args) if isinstance(arg, Value)]
        return max(1.0, self.rows / max(1.0, prod(constants)))

    def combinations(self, args: Sequence[object], variables: Collection[int]) -> float:
        """The combinations of values of some variables that an atom with these arguments may have.

        A sample shows that values are repeated, and hardly how many there are if they are not.
        """
        rows, columns = self.matching(args), dict[int, int]()
        for place, arg in enumerate(args):
            if isinstance(arg, Ref) and arg.variable in variables:
                columns.setdefault(arg.variable, place)
        values = [
            max(1.0, self.distinct[at], rows / max(1.0, self.crowds[at])) for at in columns.values()
        ]
        return prod(values)

    def share_in(
        self, args: Sequence[object], other: Size, there: Sequence[object], of: Collection[int]
    ) -> float:
        """The share of the combinations of some variables in an atom, of these arguments, that
        another one of the arguments `there` has, where all that it has may be among them.
        """
        found = min(other.matching(there), other.combinations(there, of))
        return found / self.combinations(args, of)


NO_SIZE = Size(-1, (), ())
"""The size of a relation that nobody may ask for."""

Sizes = Callable[[str], Size | None]
"""Function that gives the size of a relation; None where it has no rows, or no relation yet."""
Recursive = Callable[[str, Collection[str]], bool]
"""Test for a relation that depends on some others."""


def altered_sizes(sizes: Sizes, alteration: Alteration, before: RelationSchema) -> Sizes:
    """The sizes that relations have after an alteration of one whose schema was `before`, by those
    that they had: a column that came has one value, or as many as rows where they are computed.
    """

    def after(relation: str) -> Size | None:
        if relation != alteration.name:
            return sizes(relation)
        size = sizes(alteration.relation)
        if size is None or size.rows < 0:
            return size
        if alteration.kind == "add":
            values = float(size.rows) if alteration.expression else 1.0
            distinct, crowds = (*size.distinct, values), (*size.crowds, size.rows / max(1, values))
        elif alteration.kind == "drop":
            place = [name for name, _ in before.columns].index(alteration.column)
            distinct = (*size.distinct[:place], *size.distinct[place + 1 :])
            crowds = (*size.crowds[:place], *size.crowds[place + 1 :])
        else:
            return size
        return size._replace(distinct=distinct, crowds=crowds)

    return after


def never(relation: str) -> Size | None:
    """Answer where no part of a body is to be derived by itself."""
    return NO_SIZE


def unknown(relation: str, others: Collection[str]) -> bool:
    """Answer for a relation of which no rule is known."""
    return False


@frozen(slots=True)
class Answers:
    """Answers about relations that were given before: `Sizes` as it was, and those that were found
    to be `recursive`.
    """

    given: Mapping[str, Size | None] = field(default_factory=dict)
    recursive: Collection[str] = frozenset()

    def __call__(self, relation: str) -> Size | None:
        """The answer that was given before; `NO_SIZE` where there was no question."""
        return self.given.get(relation, NO_SIZE)

    def depends(self, relation: str, others: Collection[str]) -> bool:
        """The answer that was given before; see `Recursive`."""
        return relation in self.recursive

    @property
    def unsure(self) -> frozenset[str]:
        """The relations that had too few rows to tell."""
        return frozenset(
            name for name, answer in self.given.items() if answer is None or answer.few
        )


class Asking:
    """Passes questions on, and remembers the answers."""

    def __init__(self, sizes: Sizes, recursive: Recursive):
        self._sizes, self._recursive = sizes, recursive
        self._given: dict[str, Size | None] = {}
        self._found: set[str] = set()
        self.answers = Answers(self._given, self._found)
        """All that were given so far."""

    def __call__(self, relation: str) -> Size | None:
        """See `Sizes`."""
        if relation not in self._given:
            self._given[relation] = self._sizes(relation)
        return self._given[relation]

    def depends(self, relation: str, others: Collection[str]) -> bool:
        """See `Recursive`."""
        if relation not in self._found and self._recursive(relation, others):
            self._found.add(relation)
        return relation in self._found


class Known(NamedTuple):
    """Known facts about relations: the `schemas` of users' ones, their rows, who depends on whom,
    and those that several rules add up, with the column and the aggregate.
    """

    schemas: Mapping[str, RelationSchema]
    sizes: Sizes = never
    recursive: Recursive = unknown
    adding: Mapping[str, tuple[int, str]] = MappingProxyType({})

    def chooses(self, relation: str) -> bool:
        """Test for a relation with a choice domain."""
        return relation in self.schemas and bool(self.schemas[relation].choice)

    def keyed(self, atom: CheckedAtom, variables: Variables) -> bool:
        """Test for an atom of which no two rows have the same values of these variables and the
        same constants.
        """
        schema = self.schemas.get(atom.relation)
        keys = (
            ()
            if schema is None
            else schema.choice
            if schema.key is None
            else (*schema.choice, schema.key)
        )
        return any(of_expressions(atom.args[column] for column in key) <= variables for key in keys)


NOTHING = Known({})
