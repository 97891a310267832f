"""Functions of strings, and conditions on them. Characters are code points."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa

from lftj.functions.patterns import matches, matching, translated
from lftj.functions.record import Function, Functor
from lftj.types import INT, STR, float_text
from lftj.types import arrow_compute as pc

_LONGEST = 1 << 31  # characters of a text, and more


def _substr(text: str, start: int, length: int) -> str:
    return text[start : start + length] if start >= 0 and length >= 0 else ""


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


def _containing(parts: pa.Array, texts: pa.Array) -> pa.Array | None:
    """Rows are sorted by the parts."""
    if parts[0] != parts[-1]:
        return None
    return pc.match_substring(texts, pattern=parts[0].as_py())


def _not_containing(parts: pa.Array, texts: pa.Array) -> pa.Array | None:
    found = _containing(parts, texts)
    return None if found is None else pc.invert(found)


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
_CONTAINS = {"duckdb": "contains({1}, {0})", "spark": "contains({1}, {0})"}
_MATCH = {
    "duckdb": "regexp_full_match({1}, {0})",
    "spark": "({1} RLIKE concat('\\\\A(?:', {0}, ')\\\\z'))",
}


def _negated(sql: dict[str, str]) -> dict[str, str]:
    return {dialect: f"NOT {text}" for dialect, text in sql.items()}


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
        name="contains",
        arguments=("part", "text"),
        line="The condition that `part` occurs in `text`.",
        usage="write contains(part, text)",
        functors=(
            Functor(
                name="contains",
                types=(STR, STR),
                result=None,
                evaluate=lambda part, text: part in text,
                columns=_containing,
                sql=_CONTAINS,
            ),
            Functor(
                name="!contains",
                types=(STR, STR),
                result=None,
                evaluate=lambda part, text: part not in text,
                columns=_not_containing,
                sql=_negated(_CONTAINS),
            ),
        ),
        condition=True,
    ),
    Function(
        name="match",
        arguments=("pattern", "text"),
        line="The condition that a regular expression matches all of `text`.",
        usage="write match(pattern, text)",
        functors=(
            Functor(
                name="match",
                types=(STR, STR),
                result=None,
                evaluate=matches,
                check=translated,
                at_once=matching,
                sql=_MATCH,
            ),
            Functor(
                name="!match",
                types=(STR, STR),
                result=None,
                evaluate=lambda pattern, text: not matches(pattern, text),
                check=translated,
                at_once=matching,
                sql=_negated(_MATCH),
            ),
        ),
        condition=True,
    ),
)
