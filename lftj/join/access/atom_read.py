# SPDX-License-Identifier: Apache-2.0
"""One atom as its rows lie: which of them pass the tests that need no other atom, and in which
column each variable is.

A search would want a key order that begins with what is compared. To make one takes longer than to
look at every row once, and it stays: where rows are wide it is most of the memory that a view
takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lftj.join.access.column_expressions import COMPARE
from lftj.join.context import Context
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import (
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    Value,
    is_null,
)
from lftj.storage.relation import RelationVersion
from lftj.types import encode_constant

Side = int | Value
"""A column of the relation, or a constant."""

CodeTest = tuple[str, int, Side]
"""A comparison: operator, column (or variable), column (or variable) or constant."""


class AtomRead(NamedTuple):
    """An atom: the tests that its rows have to pass by themselves, and in which column each of its
    variables is.
    """

    relation: str
    tests: tuple[CodeTest, ...]
    place: Mapping[int, int]

    @staticmethod
    def of(rule: NormalRule, atom: PositiveAtom) -> AtomRead:
        """An atom with its own constants, and those comparisons of the rule that need no more than
        its codes.
        """
        place, tests = _arguments(atom)
        for condition in rule.filters:
            read = variables_of(condition.left) | variables_of(condition.right)
            if read <= place.keys() and (test := code_test(condition, rule)) is not None:
                operator, left, right = test
                tests.append(
                    (operator, place[left], place[right] if isinstance(right, int) else right)
                )
        return AtomRead(atom.relation, tuple(tests), place)

    @staticmethod
    def absent(atom: NegatedAtom) -> AtomRead:
        """A negated atom, its wildcards left out."""
        place, tests = _arguments(atom)
        return AtomRead(atom.relation, tuple(tests), place)

    @property
    def tested(self) -> list[int]:
        """The columns that tests look at, which may repeat."""
        return [side for _, *sides in self.tests for side in sides if isinstance(side, int)]

    def columns(self, variables: Sequence[int]) -> tuple[int, ...]:
        """The columns that these variables and the tests are in."""
        mine = [self.place[variable] for variable in variables if variable in self.place]
        return tuple(dict.fromkeys([*mine, *self.tested]))

    def searched_for(self, relation: RelationVersion, lasting: bool) -> bool:
        """Test for rows that are better searched for than looked at one by one. `lasting`: the
        answer is kept, so the question will not come again.

        A key order that begins with a column that a constant bounds is there to be searched; for
        questions with an equation one is worth making.
        """
        bounding = {
            left: operator
            for operator, left, right in self.tests
            if isinstance(right, Value) and operator != "!="
        }
        if not lasting and "=" in bounding.values():
            return True
        return any(order and order[0] in bounding for order in relation.orders())


def _arguments(atom: PositiveAtom | NegatedAtom) -> tuple[dict[int, int], list[CodeTest]]:
    """The first column of each variable, and tests for constants and what occurs again."""
    place: dict[int, int] = {}
    tests: list[CodeTest] = []
    for column, argument in enumerate(atom.args):
        if isinstance(argument, Value):
            tests.append(("=", column, argument))
        elif argument is not None and place.setdefault(argument.variable, column) != column:
            tests.append(("=", column, place[argument.variable]))
    return place, tests


def code_test(condition: Filter, rule: NormalRule) -> CodeTest | None:
    """A comparison that needs no more than codes, as (operator, variable, variable or constant);
    None for others.
    """
    condition = condition.turned if isinstance(condition.left, Value) else condition
    left, right, operator = condition.left, condition.right, condition.operator
    if not isinstance(left, Ref) or not isinstance(right, Ref | Value):
        return None
    of_codes = operator in ("=", "!=") or is_null(right)
    if not of_codes and rule.variables[left.variable].type.name == "str":
        return None  # numbers of strings do not ascend as strings do
    return operator, left.variable, right.variable if isinstance(right, Ref) else right


def passing(
    tests: Iterable[CodeTest], columns: Mapping[int, np.ndarray], context: Context
) -> np.ndarray:
    """Mark the rows that pass all tests of columns, or of variables, of which there is one at
    least.
    """
    found: list[np.ndarray] = []
    for operator, left, right in tests:
        other = (
            columns[right]
            if isinstance(right, int)
            else encode_constant(right.type, right.value, context.resources.dictionary)
        )
        found.append(COMPARE[operator](columns[left], other))
    return np.logical_and.reduce(found)
