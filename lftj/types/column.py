# SPDX-License-Identifier: Apache-2.0
"""The column types and their names: in rule text, in Python, in Arrow."""

from __future__ import annotations

import datetime
import re
import types
import typing
from dataclasses import replace

import pyarrow as pa

from lftj.errors import DeclarationError
from lftj.scantree.frozen import frozen

MAX_DECIMAL_PRECISION = 18
"""Digits that always fit an int64."""

_DECIMAL_TEXT = re.compile(r"\s*decimal\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)\s*")
_OPTIONAL = re.compile(r"\s*(.*[^?\s])\s*\?\s*", re.DOTALL)
_NAMES = {
    "int": "int",
    "number": "int",
    "float": "float",
    "str": "str",
    "symbol": "str",
    "string": "str",
}
_NAMES |= {name: name for name in ("bool", "date", "timestamp")}


@frozen(slots=True)
class Type:
    """A column type. `precision` and `scale` are set for decimals only; make those with
    `decimal(precision, scale)`. The name of unsigned integers is `int` too.
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    unsigned: bool = False
    """Ints from 0 on: a type of its own for checks, whose values are kept and computed as ints."""
    optional: bool = False
    """Its columns may hold NULL."""

    def __str__(self) -> str:
        if self.optional:
            return f"{self.required}?"
        if self.unsigned:
            return "unsigned"
        return (
            self.name if self.precision is None else f"{self.name}({self.precision},{self.scale})"
        )

    @property
    def arrow(self) -> pa.DataType:
        """The Arrow type of a column of this type, in and out."""
        if self.precision is not None:
            return pa.decimal128(self.precision, self.scale)
        return _ARROW[self.name]

    @property
    def required(self) -> Type:
        """The same type without NULL."""
        return replace(self, optional=False) if self.optional else self

    @property
    def or_null(self) -> Type:
        """The same type with NULL."""
        return self if self.optional else replace(self, optional=True)

    @property
    def numeric(self) -> bool:
        """True for int, float and decimals: the types that arithmetic takes."""
        return self.name in ("int", "float", "decimal")


INT, FLOAT, STR, BOOL, DATE, TIMESTAMP = (
    Type(name) for name in ("int", "float", "str", "bool", "date", "timestamp")
)
UNSIGNED = Type("int", unsigned=True)
_ARROW = {
    "int": pa.int64(),
    "float": pa.float64(),
    "str": pa.string(),
    "bool": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}
_PYTHON = {
    int: INT,
    float: FLOAT,
    str: STR,
    bool: BOOL,
    datetime.date: DATE,
    datetime.datetime: TIMESTAMP,
}


# ── naming a type ─────────────────────────────────────────────────────────────────────────────────
def decimal(precision: int, scale: int) -> Type:
    """The type of decimals with `precision` digits, `scale` of them after the point. Raises
    DeclarationError (E161).
    """
    if not (1 <= precision <= MAX_DECIMAL_PRECISION and 0 <= scale <= precision):
        limit = f"1 ≤ precision ≤ {MAX_DECIMAL_PRECISION} and 0 ≤ scale ≤ precision"
        raise DeclarationError(
            f"decimal({precision},{scale}) is not a type", code="E161", hint=f"keep {limit}"
        )
    return Type("decimal", precision, scale)


def parse_type(text: str) -> Type | None:
    """The type a declaration calls `text`, Soufflé's names included, with `?` behind it an optional
    one; None when there is no such type.
    """
    if base := without_mark(text):
        found = parse_type(base)
        return None if found is None or found.optional else found.or_null
    if text.strip() == "unsigned":
        return UNSIGNED
    if name := _NAMES.get(text.strip()):
        return Type(name)
    if not (found := _DECIMAL_TEXT.fullmatch(text)):
        return None
    try:
        return decimal(int(found[1]), int(found[2]))
    except DeclarationError:
        return None


def without_mark(text: str) -> str | None:
    """The name of the type whose optional one the text names, as `int?`; None for other names."""
    found = _OPTIONAL.fullmatch(text)
    return found and found[1]


def type_of_python(annotation: object) -> Type:
    """The type meant by a Python type, a type's name, a `Type` or an Arrow type; `int | None` and
    `"int?"` are optional. Raises DeclarationError (E161).
    """
    if isinstance(annotation, Type):
        return annotation
    if (meant := _without_none(annotation)) is not None:
        return type_of_python(meant).or_null
    if isinstance(annotation, str):
        if found := _DECIMAL_TEXT.fullmatch(annotation):
            return decimal(int(found[1]), int(found[2]))
        known = parse_type(annotation)
    elif isinstance(annotation, pa.DataType):
        known = _type_of_arrow(annotation)
    else:
        known = _PYTHON.get(annotation) if isinstance(annotation, type) else None
    if known is None:
        shown = annotation.__name__ if isinstance(annotation, type) else repr(annotation)
        hint = (
            'write int, float, str, bool, datetime.date, datetime.datetime or "decimal(10,2)"; '
            "with NULL: int | None"
        )
        raise DeclarationError(f"{shown} is not a column type", code="E161", hint=hint)
    return known


def _without_none(annotation: object) -> object:
    """The type beside None in `int | None`, and the text before the mark in `"int?"`; None for what
    is not optional.
    """
    if isinstance(annotation, str):
        return without_mark(annotation)
    if typing.get_origin(annotation) not in (types.UnionType, typing.Union):
        return None
    left = [each for each in typing.get_args(annotation) if each is not type(None)]
    return left[0] if len(left) == 1 else None


def _type_of_arrow(arrow: pa.DataType) -> Type | None:
    is_a = pa.types
    if is_a.is_dictionary(arrow):
        return _type_of_arrow(arrow.value_type)
    if is_a.is_decimal(arrow):
        return (
            Type("decimal", arrow.precision, arrow.scale)
            if 0 <= arrow.scale <= arrow.precision <= MAX_DECIMAL_PRECISION
            else None
        )
    if is_a.is_timestamp(arrow):
        return TIMESTAMP  # an instant, with a zone, is its date and time in UTC
    if is_a.is_string(arrow) or is_a.is_large_string(arrow) or is_a.is_string_view(arrow):
        return STR
    tests = (
        (is_a.is_boolean, BOOL),
        (is_a.is_integer, INT),
        (is_a.is_floating, FLOAT),
        (is_a.is_date, DATE),
    )
    return next((known for test, known in tests if test(arrow)), None)
