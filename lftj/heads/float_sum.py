"""Exact sums of doubles: what is published is always `math.fsum` of the live values, whatever came and went before [LFTJ-IVM 2.3.4].

*State kept:* per group the exact total as a fixed-point number that spans all exponents of a double (a superaccumulator), how many +∞ and
−∞ are in it, and (elsewhere) the number of rows. *INSERT* adds the value to it, *ERASE* subtracts it; both are exact, so no history leaves
a trace: 1e16 + 1 − 1e16 is 1, and the state after an insert and its erase is, word for word, the state before. States of partitions merge
by addition. Only publishing rounds, once, to the nearest double, ties to even.

Limits. A total beyond the greatest double is a `ValueRangeError` where `math.fsum` raises OverflowError; unlike `math.fsum` a sum that
leaves the range on its way and comes back is fine. Infinities of one sign give that infinity, of both signs a `ValueRangeError`
(`math.fsum` raises ValueError). NaN never reaches a column.

A state takes 288 bytes, `compact` usually 32 to 48.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from lftj.errors import ValueRangeError
from lftj.heads.float_sum_kernels import (
    EXACT,
    OVERFLOW,
    STATE_WORDS,
    WORDS,
    advance_states,
    divide_floats,
    merge_states,
    round_states,
    runs_to_states,
    sum_runs,
)

_UNIT = 1074
"""The total counts units of 2⁻¹⁰⁷⁴."""


def _units(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << _UNIT) // denominator)


class ExactSum:
    """The exact sum of a bag of doubles, that can also take values out again and be merged with another.

    `value()` is correctly rounded. About a microsecond an operation; whole columns go through `grouped_sums` and `grouped_states`.
    """

    __slots__ = ("_negative_infinities", "_positive_infinities", "_units")

    def __init__(self, values: Iterable[float] = ()):
        self._units = 0
        self._positive_infinities = 0
        self._negative_infinities = 0
        for value in values:
            self.add(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExactSum) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ExactSum({self._units} · 2⁻¹⁰⁷⁴, +∞ × {self._positive_infinities}, −∞ × {self._negative_infinities})"

    @property
    def parts(self) -> tuple[int, int, int]:
        """The finite total in units of 2⁻¹⁰⁷⁴, and how many +∞ and −∞ are in it: three numbers that add up as sums do."""
        return self._units, self._positive_infinities, self._negative_infinities

    @classmethod
    def of_parts(cls, units: int, positive: int, negative: int) -> ExactSum:
        """The sum with these parts."""
        found = cls()
        found._units, found._positive_infinities, found._negative_infinities = units, positive, negative
        return found

    def add(self, value: float, times: int = 1) -> None:
        """Add `value` `times` times; negative `times` take it out. Exact. NaN is a ValueRangeError."""
        if math.isnan(value):
            raise ValueRangeError("NaN cannot be summed", hint='leave the row out, or load with nulls="drop"')
        if value == math.inf:
            self._positive_infinities += times
        elif value == -math.inf:
            self._negative_infinities += times
        else:
            self._units += _units(value) * times

    def subtract(self, value: float, times: int = 1) -> None:
        """Undo `add(value, times)`."""
        self.add(value, -times)

    def merge(self, other: ExactSum) -> None:
        """Add all that `other` holds."""
        self._units += other._units
        self._positive_infinities += other._positive_infinities
        self._negative_infinities += other._negative_infinities

    def value(self) -> float:
        """The double nearest to the sum, ties to even. ValueRangeError when there is none (see the module)."""
        if self._positive_infinities and self._negative_infinities:
            raise ValueRangeError(status_message(None))
        if self._positive_infinities or self._negative_infinities:
            return math.inf if self._positive_infinities else -math.inf
        try:
            return self._units / (1 << _UNIT)  # int / int rounds correctly, at any size
        except OverflowError:
            raise ValueRangeError(status_message(OVERFLOW)) from None

    @property
    def state(self) -> np.ndarray:
        """int64[STATE_WORDS]: equal sums have equal states. The layout is the kernels'."""
        words = np.frombuffer(self._units.to_bytes(8 * WORDS, "little", signed=True), dtype="<i8")
        return np.append(words, [self._positive_infinities, self._negative_infinities]).astype(np.int64)

    @classmethod
    def of_state(cls, state: np.ndarray) -> ExactSum:
        """The sum with this state."""
        units = int.from_bytes(state[:WORDS].astype("<i8").tobytes(), "little", signed=True)
        return cls.of_parts(units, int(state[WORDS]), int(state[WORDS + 1]))


# ── short form ────────────────────────────────────────────────────────────────────────────────────────────────────────
def compact(state: np.ndarray) -> np.ndarray:
    """A state without its idle words: the number of zero words left out at the low end, both infinities, and the words that are not
    implied by the sign. Length varies: 4 to 6 for sums of everyday size."""
    words = state[:WORDS]
    used = np.flatnonzero(words)
    low = int(used[0]) if len(used) else 0
    high = WORDS
    while high > low + 1 and words[high - 1] == words[high - 2] >> 63:
        high -= 1
    return np.concatenate([[low, state[WORDS], state[WORDS + 1]], words[low:high]]).astype(np.int64)


def expand(short: np.ndarray) -> np.ndarray:
    """The state that `compact` made this of."""
    state = np.zeros(STATE_WORDS, dtype=np.int64)
    low, words = int(short[0]), short[3:]
    state[low : low + len(words)] = words
    state[low + len(words) : WORDS] = words[-1] >> 63
    state[WORDS:] = short[1:3]
    return state


# ── whole columns ─────────────────────────────────────────────────────────────────────────────────────────────────────
def status_message(status: int | None) -> str:
    """What a status other than EXACT means, as the end of a sentence."""
    if status == OVERFLOW:
        return "the sum is beyond the greatest float"
    return "the sum has both +inf and -inf in it, so it has no value"


def grouped_sums(codes: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the correctly rounded sums of runs of float codes, and a status for each (EXACT, OVERFLOW or NOT_A_NUMBER).

    Row i counts `counts[i]` times; run r is [starts[r], starts[r + 1]). O(rows), a few nanoseconds each.
    """
    sums = np.empty(len(starts), dtype=np.int64)
    status = np.empty(len(starts), dtype=np.int64)
    sum_runs(codes, counts, starts, sums, status)
    return sums, status


def published_float_sums(sums: np.ndarray, status: np.ndarray, function: str, name: Callable[[int], str]) -> np.ndarray:
    """The sums, if each is EXACT; else ValueRangeError for the first that is not, whose group `name` knows how to call."""
    if status.any():
        group = int(np.flatnonzero(status)[0])
        raise ValueRangeError(f"{function} {name(group)}: {status_message(int(status[group]))}")
    return sums


def float_means(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Codes of sums, given as codes, over sizes."""
    means = np.empty(len(sums), dtype=np.int64)
    divide_floats(sums, sizes, means)
    return means


def grouped_states(codes: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The exact state of each run, one row of STATE_WORDS each. Negative counts subtract, so a delta is a state like any other."""
    states = np.empty((len(starts), STATE_WORDS), dtype=np.int64)
    runs_to_states(codes, counts, starts, states)
    return states


def merged(states: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Row by row the sum of two arrays of states: how a delta is applied, and how partitions are put together."""
    result = states.copy()
    merge_states(result, others)
    return result


def advanced(states: np.ndarray, codes: np.ndarray, counts: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States after the runs of a change (as of `grouped_states`), codes of their correctly rounded values, and a status for each."""
    result = states.copy()
    sums = np.empty(len(states), dtype=np.int64)
    status = np.empty(len(states), dtype=np.int64)
    advance_states(result, codes, counts, starts, sums, status)
    return result, sums, status


def rounded(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the correctly rounded values of states, and a status for each."""
    sums = np.empty(len(states), dtype=np.int64)
    status = np.full(len(states), EXACT, dtype=np.int64)
    round_states(states, sums, status)
    return sums, status
