# SPDX-License-Identifier: Apache-2.0
"""Codes of the same values in columns of another type: numbers as decimals of other digits, days as
moments, values as texts, and back. Each value comes back by the reverse, or is marked.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lftj.errors import LftjError
from lftj.functions import FUNCTORS
from lftj.scantree.rows import sort_order
from lftj.types import (
    INT64_MAX,
    INT64_MIN,
    NULL_CODE,
    Dictionary,
    Type,
    code_of,
    code_range,
    codes_to_floats,
    decode_scalar,
    encode_scalar,
    floats_to_codes,
)

_DAY = 86_400_000_000
"""Microseconds."""
_SURE = 2**50
"""Limit of codes of decimals below which floats tell all of them apart, with room for the error of
a product.
"""
_TEXT: Any = FUNCTORS["to_string"].evaluate
_READ: dict[str, Callable[[str], object]] = {
    "int": int,
    "decimal": Decimal,
    "float": float,
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
    "bool": {"true": True, "false": False}.__getitem__,
}


class Same(NamedTuple):
    """Codes of values in another type; `others` marks those that would be other values when they
    come back, `none` those that the type does not have.
    """

    codes: np.ndarray
    others: np.ndarray
    none: np.ndarray

    @property
    def lost(self) -> np.ndarray:
        """The places of values that do not come back."""
        return np.flatnonzero(self.others | self.none)


def same_values(before: Type, after: Type, codes: np.ndarray, dictionary: Dictionary) -> Same:
    """The values of codes in a column of another type, which has the same. NULL stays NULL, and is
    none of the values of a column that is not optional.
    """
    nulls = (codes == NULL_CODE) & before.optional
    made, others, none = _converted(before, after, np.where(nulls, 0, codes), nulls, dictionary)
    made = np.where(nulls | none, NULL_CODE if after.optional else 0, made)
    none = np.where(nulls, not after.optional, none)
    return Same(made, others & ~nulls & ~none, none)


def _converted(
    before: Type, after: Type, codes: np.ndarray, nulls: np.ndarray, dictionary: Dictionary
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if before.required == after.required and code_range(after) is None:
        exact = np.zeros(len(codes), bool)
        none = (codes == NULL_CODE) & after.optional & (after.name == "int")
        return codes, exact, none
    kinds = {before.name, after.name}
    if "str" in kinds:
        return _by_value(before, after, codes, nulls, dictionary)
    if kinds == {"date", "timestamp"}:
        up, down = (_DAY, 1) if after.name == "timestamp" else (1, _DAY)
        return _scaled(codes, up, down, after)
    if after.name == "float":
        return _to_floats(codes, before.scale or 0)
    if before.name == "float":
        return _to_decimals(codes, after)
    places = (after.scale or 0) - (before.scale or 0)
    return _scaled(codes, 10 ** max(0, places), 10 ** max(0, -places), after)


def _scaled(
    codes: np.ndarray, up: int, down: int, after: Type
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes times `up`, or divided by `down` and rounded down, within the range of a type."""
    least, greatest = code_range(after) or (INT64_MIN + after.optional, INT64_MAX)
    made, rest = np.divmod(codes, np.int64(down))
    none = (made > greatest // up) | (made < -(-least // up))
    return np.where(none, 0, made) * np.int64(up), rest != 0, none


# ── floats ────────────────────────────────────────────────────────────────────────────────────────
def _to_floats(codes: np.ndarray, scale: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the nearest floats of decimals, or of ints."""
    values = codes / np.float64(10**scale)  # of exact operands: rounded once
    others = np.zeros(len(codes), bool)
    for place in np.flatnonzero((codes >= _SURE) | (codes <= -_SURE)):
        code = int(codes[place])
        values[place] = code / 10**scale
        others[place] = round(Fraction(float(values[place])) * 10**scale) != code
    return floats_to_codes(values), others, np.zeros(len(codes), bool)


def _to_decimals(codes: np.ndarray, after: Type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes of the nearest decimals, or ints, of floats."""
    least, greatest = code_range(after) or (INT64_MIN + after.optional, INT64_MAX)
    values, power = codes_to_floats(codes), 10 ** (after.scale or 0)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = np.rint(values * power)
    sure = np.abs(scaled) < _SURE
    made = np.where(sure, scaled, 0).astype(np.int64)
    others = made / np.float64(power) != values
    none = (made < least) | (made > greatest)
    for place in np.flatnonzero(~sure):
        value = float(values[place])
        found = round(Fraction(value) * power) if np.isfinite(value) else greatest + 1
        none[place] = not least <= found <= greatest
        if not none[place]:
            made[place], others[place] = found, found / power != value
    return made, others, none


# ── texts ─────────────────────────────────────────────────────────────────────────────────────────
def _by_value(
    before: Type, after: Type, codes: np.ndarray, nulls: np.ndarray, dictionary: Dictionary
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Texts of values, or values of texts, each different one once."""
    given = codes[~nulls]
    order = sort_order([given])
    first = np.ones(len(given), bool)
    first[1:] = given[order][1:] != given[order][:-1]
    there = given[order][first]
    places = np.empty(len(given), np.int64)
    places[order] = np.cumsum(first) - 1
    made, others = np.zeros(len(there), np.int64), np.zeros(len(there), bool)
    none = others.copy()
    for place, code in enumerate(there.tolist()):
        value = decode_scalar(before.required, code, dictionary)
        if after.name == "str":
            made[place] = encode_scalar(after.required, _TEXT(value), dictionary)
            continue
        try:
            read: Any = _READ[after.name](value)
            made[place] = code_of(after, read)
            again = _TEXT(decode_scalar(after.required, int(made[place]), dictionary))
            others[place] = again != value
        except (LftjError, ValueError, InvalidOperation, LookupError):
            none[place] = True
    found = []
    for each in (made, others, none):
        whole = np.zeros(len(codes), each.dtype)
        whole[~nulls] = each[places]
        found.append(whole)
    return found[0], found[1], found[2]
