# SPDX-License-Identifier: Apache-2.0
"""Functions of strings. Characters are code points."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lftj.functions.record import Function, Functor
from lftj.types import INT, STR, float_text
from lftj.types import arrow_compute as pc

_LONGEST = 1 << 31  # characters of a text, and more
_SPACES = " \t\n\v\f\r"


def _substr(text: str, start: int, length: int) -> str:
    return text[start : start + length] if start >= 0 and length >= 0 else ""


def _replace(text: str, old: str, new: str) -> str:
    return text.replace(old, new) if old else text


def _to_string(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


# ── of whole columns ──────────────────────────────────────────────────────────────────────────────
def _joined(*parts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "")


def _lengths(texts: pa.Array) -> pa.Array:
    return pc.utf8_length(texts)


def _substrings(texts: pa.Array, starts: np.ndarray, lengths: np.ndarray) -> pa.Array | None:
    start, length = int(starts[0]), int(lengths[0])
    alike = bool((starts == start).all() and (lengths == length).all())
    if not alike or not 0 <= start < _LONGEST or not 0 <= length < _LONGEST:
        return None
    return pc.utf8_slice_codeunits(texts, start=start, stop=start + length)


def _replaced(texts: pa.Array, old: pa.Array, new: pa.Array) -> pa.Array | None:
    parts, others = pc.unique(old), pc.unique(new)
    if len(parts) != 1 or len(others) != 1 or not parts[0].as_py():
        return None
    return pc.replace_substring(texts, pattern=parts[0].as_py(), replacement=others[0].as_py())


def _trimmed(texts: pa.Array) -> pa.Array:
    return pc.utf8_trim(texts, characters=_SPACES)


# ── records ───────────────────────────────────────────────────────────────────────────────────────
CAT = Functor(
    name="cat",
    types=(STR,),
    result=STR,
    evaluate=lambda *parts: "".join(parts),
    variadic=True,
    columns=_joined,
    sql="concat({args})",
)
TEXTS = (
    Function(
        name="cat",
        arguments=("a", "…"),
        line="Strings one behind another, as a + b.",
        usage="write cat(a, b, …)",
        functors=(CAT,),
    ),
    Function(
        name="strlen",
        arguments=("text",),
        line="The number of characters (code points) of a string.",
        usage="write strlen(text)",
        functors=(
            Functor(
                name="strlen",
                types=(STR,),
                result=INT,
                evaluate=len,
                columns=_lengths,
                sql={
                    "duckdb": "CAST(length({0}) AS BIGINT)",
                    "spark": "CAST(char_length({0}) AS BIGINT)",
                },
            ),
        ),
        of_sql=("len", "length", "strlength"),
    ),
    Function(
        name="substr",
        arguments=("text", "first", "length"),
        line="So many characters from number `first` on, counted from 0: as many as there are, and "
        "none where a number is negative.",
        usage="write substr(text, first, length); the first character has number 0",
        functors=(
            Functor(
                name="substr",
                types=(STR, INT, INT),
                result=STR,
                evaluate=_substr,
                columns=_substrings,
                sql="CASE WHEN {1} < 0 OR {2} < 0 THEN '' ELSE substr({0}, {1} + 1, {2}) END",
            ),
        ),
        of_sql=("substring",),
    ),
    Function(
        name="to_string",
        arguments=("value",),
        line="The text of a value of any type.",
        usage="write to_string(value)",
        functors=(Functor(name="to_string", types=(None,), result=STR, evaluate=_to_string),),
    ),
    Function(
        name="lower",
        arguments=("text",),
        line="A string with its letters in lower case.",
        usage="write lower(text)",
        functors=(
            Functor(name="lower", types=(STR,), result=STR, evaluate=str.lower, sql="lower({0})"),
        ),
    ),
    Function(
        name="upper",
        arguments=("text",),
        line="A string with its letters in upper case.",
        usage="write upper(text)",
        functors=(
            Functor(name="upper", types=(STR,), result=STR, evaluate=str.upper, sql="upper({0})"),
        ),
    ),
    Function(
        name="trim",
        arguments=("text",),
        line="A string without the spaces, tabs and line breaks at its ends.",
        usage="write trim(text)",
        functors=(
            Functor(
                name="trim",
                types=(STR,),
                result=STR,
                evaluate=lambda text: text.strip(_SPACES),
                columns=_trimmed,
                sql={
                    "duckdb": "trim({0}, concat(' ', chr(9), chr(10), chr(11), chr(12), chr(13)))",
                    "spark": "trim(BOTH ' \\t\\n\\u000B\\u000C\\r' FROM {0})",
                },
            ),
        ),
    ),
    Function(
        name="replace",
        arguments=("text", "old", "new"),
        line="A string with `new` wherever `old` occurs in it, from left to right; none is empty.",
        usage="write replace(text, old, new)",
        functors=(
            Functor(
                name="replace",
                types=(STR, STR, STR),
                result=STR,
                evaluate=_replace,
                columns=_replaced,
                sql="replace({0}, {1}, {2})",
            ),
        ),
    ),
)
