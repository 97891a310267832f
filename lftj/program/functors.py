"""String functors and predicates, and `range`: what compiled code does not do, so that it happens
in Arrow, a column at a time, or row by row in Python.

Characters are code points. `substr(text, start, length)` counts from 0, stops at the end of the
text and is empty for a start or length below zero. `match(pattern, text)` asks for the whole text;
`contains(part, text)` for any place in it. `range(from, to, step)` has many values: those from
`from` on, without `to`; without a step they go up or down by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import ValueRangeError, ValueTypeError
from lftj.program.patterns import matches, matching, translated
from lftj.types import FLOAT, INT, INT64_MAX, INT64_MIN, STR, UNSIGNED, Type, float_text
from lftj.types import arrow_compute as pc
from scantree.frozen import frozen

_INTEGER = re.compile(r"\s*([+-]?)(?:0x([0-9a-fA-F]+)|0b([01]+)|([0-9]+))\s*")
MOST_NUMBERS = 100_000_000
"""A `range` may have so many."""
_LONGEST = 1 << 31  # characters of a text, and more

_FLOAT = re.compile(r"\s*[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?\s*")


@frozen(slots=True)
class Functor:
    """`types` of the arguments (None: any type; `cat` repeats its last), the `result` (None: a
    predicate), and the function itself.

    `many`: it gives a sequence of values, each of which is a result. `check`: raises ValueTypeError
    for a bad first argument. `at_once`: a predicate, or what it is the opposite of, of one first
    argument and many texts. `columns`: the same function of whole columns, texts as Arrow arrays
    and numbers as codes; None where it has to go row by row.
    """

    types: tuple[Type | None, ...]
    result: Type | None
    evaluate: Callable[..., Any]
    variadic: bool = False
    many: bool = False
    check: Callable[[str], object] | None = None
    at_once: Callable[[str, pa.Array], np.ndarray] | None = None
    columns: Callable[..., pa.Array | None] | None = None

    def argument_types(self, count: int) -> tuple[Type | None, ...]:
        """The types of `count` arguments."""
        return (
            self.types + self.types[-1:] * (count - len(self.types))
            if self.variadic
            else self.types
        )


# ── the functions ─────────────────────────────────────────────────────────────────────────────────
def _substr(text: str, start: int, length: int) -> str:
    return text[start : start + length] if start >= 0 and length >= 0 else ""


def _to_string(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value)
    return format(value, "f") if isinstance(value, Decimal) else str(value)


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


def _range(start: int, end: int, step: int | None = None) -> range:
    if step == 0:
        return range(start, start + (start != end))
    found = range(start, end, step or (1 if start <= end else -1))
    if (end - start) // found.step > MOST_NUMBERS:
        raise ValueRangeError(
            f"range({start}, {end}{f', {step}' if step else ''}) has more than {MOST_NUMBERS} "
            f"numbers"
        )
    return found


def _float_range(start: float, end: float, step: float | None = None) -> np.ndarray:
    """As Soufflé has it: each number is the one before it and the step, so that
    roundings add up.
    """
    if step == 0.0:
        return np.array([start] * (start != end))
    by = step or (1.0 if start <= end else -1.0)
    many = (end - start) / by
    if many <= 0.0:
        return np.empty(0)
    found = (
        np.add.accumulate(np.array([start, *[by] * int(many + 2.0)]))
        if many <= MOST_NUMBERS
        else np.array([start])
    )
    inside = found[found < end] if by > 0 else found[found > end]
    if len(inside) == len(found):  # too many, or the step is lost in rounding
        raise ValueRangeError(
            f"range({start}, {end}{f', {step}' if step else ''}) has more than {MOST_NUMBERS} "
            f"numbers"
        )
    return inside + 0.0


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


STRING_FUNCTORS: dict[str, Functor] = {
    "cat": Functor((STR,), STR, lambda *parts: "".join(parts), variadic=True, columns=_joined),
    "least": Functor((STR, STR), STR, min, variadic=True),
    "greatest": Functor((STR, STR), STR, max, variadic=True),
    "strlen": Functor((STR,), INT, len, columns=_lengths),
    "substr": Functor((STR, INT, INT), STR, _substr, columns=_substrings),
    "to_string": Functor((None,), STR, _to_string),
    "to_number": Functor((STR,), INT, _to_number),
    "to_unsigned": Functor((STR,), UNSIGNED, _to_unsigned),
    "to_float": Functor((STR,), FLOAT, _to_float),
    "range": Functor((INT, INT), INT, _range, variadic=True, many=True),
    "float_range": Functor((FLOAT, FLOAT), FLOAT, _float_range, variadic=True, many=True),
    "unsigned_range": Functor((UNSIGNED, UNSIGNED), UNSIGNED, _range, variadic=True, many=True),
    "contains": Functor((STR, STR), None, lambda part, text: part in text, columns=_containing),
    "match": Functor((STR, STR), None, matches, check=translated, at_once=matching),
    "!contains": Functor(
        (STR, STR), None, lambda part, text: part not in text, columns=_not_containing
    ),
    "!match": Functor(
        (STR, STR),
        None,
        lambda pattern, text: not matches(pattern, text),
        check=translated,
        at_once=matching,
    ),
}


RANGES: dict[Type | None, str] = {FLOAT: "float_range", UNSIGNED: "unsigned_range"}
"""Functor of `range` for ends that are no ints."""

OF_STRINGS = {"+": "cat", "min": "least", "max": "greatest"}
"""Functor of an operator on strings; on anything else operators are arithmetic."""


def call(functor: str, values: tuple[object, ...]) -> Any:
    """The functor on Python values: its result, or whether the predicate holds. Raises
    ValueTypeError or ValueRangeError.
    """
    return STRING_FUNCTORS[functor].evaluate(*values)
