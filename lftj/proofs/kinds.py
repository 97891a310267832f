# SPDX-License-Identifier: Apache-2.0
"""Kinds of values: what a column or a term holds, and the nodes of a tree that say so.

A constant is written alike in several types: `1` is an int, an unsigned, a float or a decimal, by
what stands beside it. So a term of a typed tree has a *slot*, which the terms share that have to be
of one kind (`lftj.proofs.inference`).
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from lftj.syntax import tree
from lftj.syntax.user_function import UserFunction

Value = Any
"""An int, float, str, bool, date, datetime or Decimal."""

EXACT = decimal.Context(prec=400)
"""Wide enough for whatever is computed with decimals, whatever the caller's own context rounds."""

_DIGITS = 18
_NAMES = {"number": "int", "symbol": "str", "string": "str"}
_NAMES |= {name: name for name in ("int", "unsigned", "float", "str", "bool", "date", "timestamp")}
_DECIMAL = re.compile(r"\s*decimal\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)\s*")


class ArithmeticFailure(ArithmeticError):
    """A result that its type cannot hold, a division by zero, or a text that is no number."""


@dataclass(frozen=True)
class Kind:
    """A type by its name; of decimals with the places behind the point, and the digits in all."""

    name: str
    scale: int = 0
    digits: int = _DIGITS
    optional: bool = False

    def wide(self) -> Kind:
        """The kind of what is computed with such values: decimals have all digits there are."""
        return Kind(self.name, self.scale)


INT, UNSIGNED, FLOAT, STR, BOOL, DATE, TIMESTAMP = (
    Kind(name) for name in ("int", "unsigned", "float", "str", "bool", "date", "timestamp")
)


def kind_named(name: str) -> Kind | None:
    """The kind of a column declared with this type; None where there is no such type."""
    if name[-1:] == "?":
        known = kind_named(name[:-1])
        return known and replace(known, optional=True)
    if found := _DECIMAL.fullmatch(name):
        return Kind("decimal", int(found[2]), int(found[1]))
    return Kind(_NAMES[name.strip()]) if name.strip() in _NAMES else None


def kind_of_constant(value: Value) -> Kind | None:
    """The kind that a constant has by itself."""
    match value:
        case bool():
            return BOOL
        case int():  # `1u` is of a class of its own
            return INT if type(value) is int else UNSIGNED
        case float():
            return FLOAT
        case str():
            return STR
        case datetime.datetime():
            return TIMESTAMP
        case datetime.date():
            return DATE
        case decimal.Decimal():
            exponent = value.as_tuple().exponent
            return Kind("decimal", -exponent) if isinstance(exponent, int) else None
    return None


def held(value: Value, kind: Kind | None) -> Value:
    """The value as one of its kind, which it may be too large for. Raises ArithmeticFailure."""
    if isinstance(value, bool) or not isinstance(value, int | float | decimal.Decimal):
        return value
    if kind is not None and kind.name == "float":
        value = float(value)
    if isinstance(value, float):
        if math.isnan(value):
            raise ArithmeticFailure("the result is not a number")
        return value + 0.0
    if kind is not None and kind.name == "decimal":
        return _scaled(decimal.Decimal(value), kind)
    if isinstance(value, int):
        least = -(2**63)
        if kind is not None:
            least = 0 if kind.name == "unsigned" else least + kind.optional
        if not least <= value < 2**63:
            raise ArithmeticFailure(f"{value} leaves {'unsigned' if least == 0 else 'int64'}")
    return value


def _scaled(value: decimal.Decimal, kind: Kind) -> decimal.Decimal:
    with decimal.localcontext(EXACT):
        whole = value.scaleb(kind.scale)
        if whole != whole.to_integral_value() or abs(whole) >= 10**kind.digits:
            raise ArithmeticFailure(f"{value} leaves decimal({kind.digits},{kind.scale})")
        return value.quantize(decimal.Decimal(1).scaleb(-kind.scale)) + 0  # −0.00 is no value


# ── typed trees ───────────────────────────────────────────────────────────────────────────────────
class Slot:
    """Terms of one kind, which is None as long as nothing tells it. `soft`: kinds of the constants
    among them that may be of another one.
    """

    def __init__(self, kind: Kind | None = None, soft: Kind | None = None):
        self._kind, self._joined = kind, None
        self._soft = [] if soft is None else [soft]

    _joined: Slot | None

    def _root(self) -> Slot:
        root = self
        while root._joined is not None:
            root = root._joined
        return root

    @property
    def kind(self) -> Kind | None:
        """The kind, once it is known."""
        return self._root()._kind

    @property
    def soft(self) -> list[Kind]:
        """Kinds that the constants here have by themselves."""
        return self._root()._soft

    def take(self, kind: Kind) -> None:
        """Give the terms this kind, unless they have one."""
        root = self._root()
        root._kind = root._kind or kind

    def join(self, other: Slot) -> None:
        """Make the terms of two slots ones of one kind."""
        one, two = self._root(), other._root()
        if one is not two:
            two._joined = one
            one._kind = one._kind or two._kind
            one._soft += two._soft


@tree.frozen(eq=False)
class TypedConstant(tree.Constant):
    """A constant whose kind is known from its place."""

    slot: Slot


@tree.frozen(eq=False)
class TypedCall(tree.Call):
    """A functor with the kind of its result."""

    slot: Slot


@tree.frozen(eq=False)
class UserCall(TypedCall):
    """A call of a user's function, and the function."""

    function: Callable[..., Value]


class OfUser(NamedTuple):
    """A user's function: the kinds that it takes and gives, and what it gives for values."""

    arguments: Sequence[Kind | None]
    result: Kind | None
    call: Callable[..., Value]


@tree.frozen(eq=False)
class TypedAggregate(tree.Aggregate):
    """An aggregate of a body with the kind of its result."""

    slot: Slot


@tree.frozen(eq=False)
class TypedHeadAggregate(tree.HeadAggregate):
    """An aggregate of a head with the kind of its result."""

    slot: Slot


def kind_of(term: tree.Term) -> Kind | None:
    """The kind of a term of a typed tree; None where nothing is known."""
    typed = isinstance(term, TypedConstant | TypedCall | TypedAggregate | TypedHeadAggregate)
    return term.slot.kind if typed else None


OfUsers = Mapping[str, OfUser]
"""Functions of users, by name."""


def of_users(functions: Iterable[UserFunction]) -> dict[str, OfUser]:
    """Functions of users, which are called for each value that is asked for."""
    return {
        each.name: OfUser(
            [kind_named(str(type)) for type in each.argument_types],
            kind_named(str(each.result_type)),
            each.of_values,
        )
        for each in functions
    }
