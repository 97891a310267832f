# SPDX-License-Identifier: Apache-2.0
"""The built-in functions of rules, one record each.

Parser, checks, inference, kernels, columns, SQL, the pages and `lftj.fn` read these records; the
naive engine in `lftj.proofs` has an implementation of its own, on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lftj.functions.aggregates import (
    AGGREGATES,
    COUNTS,
    EXTREMES,
    GREATEST,
    TOTALS,
    StateKind,
    written_over,
)
from lftj.functions.bits import BITS
from lftj.functions.conditional import IF
from lftj.functions.conditions import CONDITIONS
from lftj.functions.conversions import CONVERSIONS
from lftj.functions.dates import DATES
from lftj.functions.floats import FLOATS
from lftj.functions.fold import State, negated, summed
from lftj.functions.in_order import AtShare
from lftj.functions.nulls import COALESCE, IS_NULL
from lftj.functions.numbers import NUMBERS
from lftj.functions.patterns import translated
from lftj.functions.ranges import RANGE
from lftj.functions.record import Conversion, Function, Functor, Operator, Sql
from lftj.functions.texts import TEXTS
from lftj.types import Type

FUNCTIONS: Mapping[str, Function] = {
    each.name: each
    for each in (
        *NUMBERS,
        *BITS,
        *TEXTS,
        *CONDITIONS,
        *CONVERSIONS,
        *FLOATS,
        *DATES,
        RANGE,
        IF,
        IS_NULL,
        COALESCE,
    )
}
"""All functions and operators of rules, by the names that a syntax tree has."""

OPERATORS: Mapping[str, Operator] = {
    operator.name: operator for each in FUNCTIONS.values() for operator in each.operators
}
"""The operators of the normal form that a rule can write, by name."""

FUNCTORS: Mapping[str, Functor] = {
    functor.name: functor for each in FUNCTIONS.values() for functor in each.functors
}
"""The functors of the normal form, by name."""


USERS = Functor(
    name="", types=(None,), result=None, evaluate=lambda *_: None, variadic=True, partial=True
)
"""The record of every function of a user: it may fail."""


def functor_named(name: str) -> Functor:
    """The functor of this name; a name that no built-in one has is a function of the user's."""
    return FUNCTORS.get(name, USERS)


def functor_of(name: str, type: Type | None) -> Functor | None:
    """The functor that a function is of arguments of this type, None where that is not known; None
    where it is an operator, or there is no such function.
    """
    function = FUNCTIONS.get(name)
    if function is None or not function.functors:
        return None
    same = [each for each in function.functors if each.types[0] == type]
    if same or function.precedence is not None or (function.operators and not function.conversions):
        return same[0] if same else None
    return function.functors[0]


def conversion_of(name: str, type: Type) -> Conversion | None:
    """The operator of one argument that a function is of this type, with its result."""
    function = FUNCTIONS.get(name)
    kind = "unsigned" if type.unsigned else type.name
    return None if function is None else function.conversions.get(kind)


def call(functor: str, values: tuple[object, ...]) -> Any:
    """The functor on Python values: its result, or whether the predicate holds. Raises
    ValueTypeError or ValueRangeError.
    """
    return FUNCTORS[functor].evaluate(*values)


__all__ = [
    "AGGREGATES",
    "COUNTS",
    "EXTREMES",
    "FUNCTIONS",
    "FUNCTORS",
    "GREATEST",
    "OPERATORS",
    "TOTALS",
    "USERS",
    "AtShare",
    "Conversion",
    "Function",
    "Functor",
    "Operator",
    "Sql",
    "State",
    "StateKind",
    "call",
    "conversion_of",
    "functor_named",
    "functor_of",
    "negated",
    "summed",
    "translated",
    "written_over",
]
