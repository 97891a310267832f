# SPDX-License-Identifier: Apache-2.0
"""`range(from, to, step)`, which has many values: those from `from` on, without `to`; without a
step they go up or down by one.
"""

from __future__ import annotations

import numpy as np

from lftj.errors import ValueRangeError
from lftj.functions.record import Function, Functor
from lftj.types import FLOAT, INT, UNSIGNED, Type

MOST_NUMBERS = 100_000_000
"""A `range` may have so many."""


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


# ── records ───────────────────────────────────────────────────────────────────────────────────────
def _functor(name: str, type: Type, evaluate: object) -> Functor:
    return Functor(
        name=name,
        types=(type, type),
        result=type,
        evaluate=evaluate,  # type: ignore[arg-type]
        variadic=True,
        many=True,
    )


RANGE = Function(
    name="range",
    arguments=("from", "to", "[step]"),
    line="Each number from the first on, without the end, by steps of one or of `step`: "
    "`x = range(0, 3)` is made true by 0, 1 and 2.",
    usage="write x = range(from, to) or x = range(from, to, step)",
    functors=(
        _functor("range", INT, _range),
        _functor("float_range", FLOAT, _float_range),
        _functor("unsigned_range", UNSIGNED, _range),
    ),
)
