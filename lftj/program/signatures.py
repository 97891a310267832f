# SPDX-License-Identifier: Apache-2.0
"""Signatures: the types that operators, functors and aggregates take and give.

| operator                     | operands                         | result                        |
|------------------------------|----------------------------------|-------------------------------|
| `+ - * / % ^`, unary `-`     | two ints, unsigneds or floats    | the same                      |
| `+ -`, unary `-`             | two decimals of one scale        | decimal of that scale         |
| `*`                          | decimals, or one and an int      | decimal: the scales added     |
| `-`                          | two dates / two timestamps       | int: days / microseconds      |
| `+ -`                        | date and int / timestamp and int | date / timestamp              |
| `band bor … lor lxor lnot`   | two ints or unsigneds            | the same                      |
| `min max`                    | values of one type, not bool     | the same                      |
| `+`                          | strs                             | str: one behind the other     |
| `= !=`                       | values of one type               |                               |
| `< <= > >=`                  | values of one type, not bool     |                               |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from lftj.functions import FUNCTIONS
from lftj.functions.aggregates import AGGREGATES
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.functors import FUNCTORS, WORD_FUNCTORS, unknown_hint
from lftj.types import (
    BOOL,
    FLOAT,
    INT,
    MAX_DECIMAL_PRECISION,
    STR,
    UNSIGNED,
    Type,
    Unsigned,
    decimal,
)

ARITHMETIC = frozenset("+-*/%^")
BITWISE = frozenset(WORD_FUNCTORS)
"""`band bor bxor bnot bshl bshr bshru land lor lxor lnot`: ints only."""

KNOWN_FUNCTORS = frozenset(
    each.name for each in FUNCTIONS.values() if each.of_values and not each.condition
)
_TEMPORAL = ("date", "timestamp")
_EXACT = frozenset(("int", "decimal"))


@frozen(slots=True)
class Guess:
    """A type found so far; not `firm` when it comes from constants only, which may yet become float
    or decimal.
    """

    type: Type
    firm: bool


def same_type(left: Type, right: Type) -> bool:
    """True when codes of the two types mean the same: equal types, or decimals of one scale."""
    return left == right or (left.name == right.name == "decimal" and left.scale == right.scale)


def common_type(guesses: list[Guess | None]) -> Type | None:
    """The type that operands of one type have: a firm one if there is one, else the widest of the
    constants; None if nothing is known.
    """
    known = [guess for guess in guesses if guess is not None]
    if firm := [guess.type for guess in known if guess.firm]:
        return firm[0]
    decimals = [guess.type for guess in known if guess.type.name == "decimal"]
    if decimals:
        scale = max(each.scale or 0 for each in decimals)
        return decimal(MAX_DECIMAL_PRECISION, scale)
    return known[0].type if known else None


def widest(guesses: Sequence[Guess | None]) -> Type | None:
    """The decimal that both sides of a comparison are exactly, where they are decimals, or one and
    an int, with different numbers of places; None where nothing has to become it.
    """
    known = [guess for guess in guesses if guess is not None]
    if len(known) < 2 or not all(each.type.name in _EXACT for each in known):
        return None
    firm = [each.type.scale or 0 for each in known if each.firm]
    places = max(each.type.scale or 0 for each in known)
    decimals = any(each.type.name == "decimal" for each in known)
    if not decimals or not firm or (len(firm) < 2 and firm[0] >= places):
        return None
    if same_type(known[0].type, known[1].type):
        return None
    return decimal(MAX_DECIMAL_PRECISION, places)


# ── operators ─────────────────────────────────────────────────────────────────────────────────────
def operand_types(
    operator: str, left: Guess | None, right: Guess | None
) -> tuple[Type, Type] | None:
    """The types that the two operands of an operator should have; None when too little is known."""
    if operator in BITWISE:
        bits = (
            UNSIGNED
            if any(guess is not None and guess.type == UNSIGNED for guess in (left, right))
            else INT
        )
        return bits, bits
    if left and left.type.name in _TEMPORAL and operator in "+-":
        return left.type, (right.type if right and right.type.name in _TEMPORAL else INT)
    if operator in "+-" and left is None and (right is None or right.type == INT):
        return None
    if (
        operator == "*"
        and (left is None or right is None)
        and (left or right or Guess(INT, False)).type.name in _EXACT
    ):
        return None  # a decimal may turn up on the other side, with a scale of its own
    if operator == "*" and left and right and "decimal" in (left.type.name, right.type.name):
        return left.type, right.type
    known = common_type([left, right])
    return None if known is None else (known, known)


def result_type(operator: str, left: Type, right: Type) -> Type | None:
    """The type of `left operator right`; None when the operator does not take these types."""
    if left.name in _TEMPORAL:
        if right == INT and operator in "+-":
            return left
        return INT if operator == "-" and right == left else None
    if (
        operator == "*"
        and "decimal" in (left.name, right.name)
        and {left.name, right.name} <= _EXACT
    ):
        scale = (left.scale or 0) + (right.scale or 0)
        return decimal(MAX_DECIMAL_PRECISION, scale) if scale <= MAX_DECIMAL_PRECISION else None
    if not same_type(left, right):
        return None
    if left == STR:
        return STR if operator == "+" else None
    if left.name == "int":
        return left if operator in ARITHMETIC or operator in BITWISE else None
    if left == FLOAT:
        return FLOAT if operator in ARITHMETIC else None
    if left.name == "decimal":
        return decimal(MAX_DECIMAL_PRECISION, left.scale or 0) if operator in "+-" else None
    return None


ROUNDINGS = frozenset(("round", "floor", "ceil"))
"""Functions of floats, and of decimals that get another scale."""


def places_of(call: tree.Call) -> object:
    """The number of places that a call of `ROUNDINGS` rounds to."""
    return getattr(call.args[1], "value", None) if len(call.args) > 1 else 0


def rounded_type(name: str, type: Type, places: object) -> Type | None:
    """The type of `round(x, places)`, `floor(x)` or `ceil(x)`; None when x, or that number of
    places, is none that it takes.
    """
    if (
        type.name not in (*_EXACT, "float")
        or not isinstance(places, int)
        or isinstance(places, bool)
        or not 0 <= places <= MAX_DECIMAL_PRECISION
    ):
        return None
    exact = type.name == "decimal" or (type.name == "int" and name == "round")
    return decimal(MAX_DECIMAL_PRECISION, places) if exact else FLOAT


# ── aggregates ────────────────────────────────────────────────────────────────────────────────────
def aggregate_type(function: str, argument: Type | None) -> Type | None:
    """The type of a built-in aggregate over values of type `argument` (None for count); None when
    it does not take them.
    """
    known = AGGREGATES.get(function)
    return None if known is None else known.result(argument)


def conversion_hint(found: Type, expected: Type) -> str | None:
    """Suggest a conversion from one type to another, where there is one."""
    if expected.name == "str":
        return "convert it with to_string(…)"
    if expected.unsigned and found.name in ("int", "float", "str"):
        return "convert it with to_unsigned(…)"
    if found.unsigned and expected == INT:
        return "convert it with to_number(…)"
    if (found.name, expected.name) in (("int", "float"), ("str", "float"), ("decimal", "float")):
        return "convert it with to_float(…)"
    if (found.name, expected.name) in (("float", "int"), ("str", "int")):
        return "convert it with to_number(…)"
    if found.name == expected.name == "decimal":
        places = f"one has {found.scale} decimal places, the other {expected.scale}"
        if (found.scale or 0) < (expected.scale or 0):
            return f"write round(…, {expected.scale}), which is exact: {places}"
        return (
            f"round(…, {found.scale}) of the other side is exact; an atom takes a variable of its "
            f"own here, and x = y compares the two exactly; round(…, {expected.scale}) of this "
            f"rounds: {places}"
        )
    if (found.name, expected.name) == ("int", "decimal"):
        return f"convert it with round(…, {expected.scale})"
    return "declare both with one type" if found.numeric and expected.numeric else None


def constant_hint(value: object, expected: Type) -> str | None:
    """Suggest a constant of type `expected` instead of `value`, where one may have meant that."""
    if expected.name in ("date", "timestamp") and isinstance(value, str):
        return f'write {expected.name}("{value}")'
    if isinstance(value, Unsigned):
        return f"write {value} without the u" if expected.numeric else None
    if expected == BOOL:
        return "write true or false"
    if expected.name == "decimal" and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", str(value)):
        return f'write decimal("{value}")'
    if expected == FLOAT and isinstance(value, Decimal):
        return f"write {value:f}"
    if expected.name == "str":
        return f'write it in quotes: "{value}"'
    if expected.name == "int" and isinstance(value, float):
        return (
            f"write {int(value)}"
            if value.is_integer()
            else "int and float do not mix: write an integer, or to_float(…) around the ints"
        )
    if expected.name in ("int", "float") and isinstance(value, str):
        return (
            f"write {value} without quotes"
            if value.isdecimal()
            else f"write a number, or declare the column str where it is {expected}"
        )
    return None


def unknown_functor_hint(name: str) -> str:
    """The nearest functor, or all of them."""
    known = [each for each in KNOWN_FUNCTORS if each.isidentifier()]
    return unknown_hint(
        name, known, "functors are " + ", ".join(sorted(FUNCTORS)) + ", and the operators on bits"
    )
