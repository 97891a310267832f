# SPDX-License-Identifier: Apache-2.0
"""Conversions between types: of numbers in compiled code, of texts row by row."""

from __future__ import annotations

import math
import re
from typing import Any

from lftj.errors import ValueRangeError, ValueTypeError
from lftj.functions.record import Function, Functor, Operator
from lftj.types import FLOAT, INT, INT64_MAX, INT64_MIN, STR, UNSIGNED

_INTEGER = re.compile(r"\s*([+-]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|([0-9]+))\s*")
_FLOAT = re.compile(r"\s*[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\s*")


def _to_number(text: str, functor: str = "to_number") -> int:
    found = _INTEGER.fullmatch(text) if len(text) <= 400 else None
    if found is None:
        raise ValueTypeError(
            f"{functor}: {text[:60]!r} is not an integer",
            hint='keep such rows out, e.g. with match("-?[0-9]+", s)',
        )
    sign, hexadecimal, binary, decimal = found.groups()
    value = int(
        sign + (hexadecimal or binary or decimal), 16 if hexadecimal else 2 if binary else 10
    )
    if not INT64_MIN <= value <= INT64_MAX:
        raise ValueRangeError(
            f"{functor}: {value} is outside the range of int, {INT64_MIN} … {INT64_MAX}"
        )
    return value


def _to_unsigned(text: str) -> int:
    if (value := _to_number(text, "to_unsigned")) < 0:
        raise ValueRangeError(
            f"to_unsigned: {value} is outside the range of unsigned, 0 … {INT64_MAX}"
        )
    return value


def _to_float(text: str) -> float:
    if not _FLOAT.fullmatch(text):
        raise ValueTypeError(
            f"to_float: {text[:60]!r} is not a number",
            hint='keep such rows out, e.g. with match("[0-9.]+", s)',
        )
    value = float(text)
    if not math.isfinite(value):
        raise ValueRangeError(f"to_float: {text[:60]!r} is outside the range of float")
    return value + 0.0


def _to_int(value: Any) -> int:
    return math.trunc(value)


# ── records ───────────────────────────────────────────────────────────────────────────────────────
TO_INT = Operator(
    name="to_int",
    evaluate=_to_int,
    kernel="FLOAT_TO_INT",
    fails=True,
    below=True,
    slopes=(1,),
    written="to_number",
    sql={"duckdb": "CAST(trunc({0}) AS BIGINT)", "spark": "CAST({0} AS BIGINT)"},
)
TO_FLOAT = Operator(
    name="to_float",
    evaluate=float,
    kernel="INT_TO_FLOAT",
    float_kernel="INT_TO_FLOAT",
    slopes=(1,),
    sql="CAST({0} AS DOUBLE)",
)
AS_INT = Operator(
    name="as_int", evaluate=lambda value: value, slopes=(1,), written="to_number", sql="{0}"
)
AS_UNSIGNED = Operator(
    name="as_unsigned",
    evaluate=lambda value: value,
    below=True,
    slopes=(1,),
    written="to_unsigned",
    sql="{0}",
)

CONVERSIONS = (
    Function(
        name="to_number",
        arguments=("value",),
        line="The int that a string holds, also as `0x1f` or `0b101`; of a float or a decimal, "
        "what is left without its fraction.",
        usage="write to_number(text)",
        operators=(TO_INT, AS_INT),
        functors=(
            Functor(name="to_number", types=(STR,), result=INT, evaluate=_to_number, partial=True),
        ),
        conversions={
            "int": (None, INT),
            "unsigned": (AS_INT, INT),
            "float": (TO_INT, INT),
            "decimal": (TO_INT, INT),
        },
        synonyms=("ftoi", "utoi"),
    ),
    Function(
        name="ord",
        arguments=("number",),
        line="The number of a number, which is the number.",
        usage="write ord(number)",
        operators=(AS_INT,),
        conversions={"int": (AS_INT, INT), "unsigned": (AS_INT, INT)},
        reserved=False,
    ),
    Function(
        name="to_unsigned",
        arguments=("value",),
        line="An int, the whole part of a float or a decimal, or the integer that a string holds, "
        "as an unsigned.",
        usage="write to_unsigned(text)",
        operators=(AS_UNSIGNED, TO_INT),
        functors=(
            Functor(
                name="to_unsigned",
                types=(STR,),
                result=UNSIGNED,
                evaluate=_to_unsigned,
                partial=True,
            ),
        ),
        conversions={
            "int": (AS_UNSIGNED, UNSIGNED),
            "unsigned": (AS_UNSIGNED, UNSIGNED),
            "float": (TO_INT, UNSIGNED),
            "decimal": (TO_INT, UNSIGNED),
        },
        synonyms=("ftou", "itou"),
    ),
    Function(
        name="to_float",
        arguments=("value",),
        line="The float nearest to an int, to a decimal, or to the number that a string holds.",
        usage="write to_float(value)",
        operators=(TO_FLOAT,),
        functors=(
            Functor(name="to_float", types=(STR,), result=FLOAT, evaluate=_to_float, partial=True),
        ),
        conversions={
            "int": (TO_FLOAT, FLOAT),
            "unsigned": (TO_FLOAT, FLOAT),
            "float": (None, FLOAT),
            "decimal": (TO_FLOAT, FLOAT),
        },
        synonyms=("itof", "utof"),
    ),
)
