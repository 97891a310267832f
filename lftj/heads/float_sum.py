# SPDX-License-Identifier: Apache-2.0
"""Exact sums of doubles: what is published is always `math.fsum` of the live values, whatever came
and went before [LFTJ-IVM 2.3.4].

*State kept:* per group the exact total as a fixed-point number that spans all exponents of a double
(a superaccumulator), how many +∞ and −∞ are in it, and (elsewhere) the number of rows. *INSERT*
adds the value to it, *ERASE* subtracts it; both are exact, so no history leaves a trace: 1e16 + 1 −
1e16 is 1, and the state after an insert and its erase is, word for word, the state before. States
of partitions merge by addition. Only publishing rounds, once, to the nearest double, ties to even.

Limits. A total beyond the greatest double is a `ValueRangeError` where `math.fsum` raises
OverflowError; unlike `math.fsum` a sum that leaves the range on its way and comes back is fine.
Infinities of one sign give that infinity, of both signs a `ValueRangeError` (`math.fsum` raises
ValueError). NaN never reaches a column.

A state takes 288 bytes; the kept state has the words of it that are not 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from lftj.errors import ValueRangeError
from lftj.functions.aggregates import AGGREGATES
from lftj.functions.fold import UNIT, units
from lftj.heads.aggregate_shape import AggregateCall, CallShape
from lftj.heads.float_sum_kernels import (
    OVERFLOW,
    STATE_WORDS,
    advance_states,
    changed_words,
    divide_floats,
    read_states,
    sum_runs,
)
from lftj.heads.kept import Advance, Bag, GroupChange
from lftj.scantree import Arena, Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.sharing import Span, spans


class ExactSum:
    """The exact sum of a bag of doubles, whose `parts` add up with those of others.

    `value()` is correctly rounded. About a microsecond an operation; whole columns go through
    `grouped_sums` and `advanced`.
    """

    __slots__ = ("_negative_infinities", "_positive_infinities", "_units")

    def __init__(self, values: Iterable[float] = ()):
        self._units = 0
        self._positive_infinities = 0
        self._negative_infinities = 0
        for value in values:
            self.add(value)

    def __repr__(self) -> str:
        return (
            f"ExactSum({self._units} · 2⁻¹⁰⁷⁴, +∞ × {self._positive_infinities}, −∞ × "
            f"{self._negative_infinities})"
        )

    @property
    def parts(self) -> tuple[int, int, int]:
        """The finite total in units of 2⁻¹⁰⁷⁴, and how many +∞ and −∞ are in it: three numbers that
        add up as sums do.
        """
        return self._units, self._positive_infinities, self._negative_infinities

    @classmethod
    def of_parts(cls, units: int, positive: int, negative: int) -> ExactSum:
        """The sum with these parts."""
        found = cls()
        found._units, found._positive_infinities, found._negative_infinities = (
            units,
            positive,
            negative,
        )
        return found

    def add(self, value: float, times: int = 1) -> None:
        """Add `value` `times` times; negative `times` take it out. Exact. NaN is a
        ValueRangeError.
        """
        if math.isnan(value):
            raise ValueRangeError(
                "NaN cannot be summed", hint='leave the row out, or load with nulls="drop"'
            )
        if value == math.inf:
            self._positive_infinities += times
        elif value == -math.inf:
            self._negative_infinities += times
        else:
            self._units += units(value) * times

    def value(self) -> float:
        """The double nearest to the sum, ties to even. ValueRangeError when there is none (see the
        module).
        """
        if self._positive_infinities and self._negative_infinities:
            raise ValueRangeError(status_message(None))
        if self._positive_infinities or self._negative_infinities:
            return math.inf if self._positive_infinities else -math.inf
        try:
            return self._units / (1 << UNIT)  # int / int rounds correctly, at any size
        except OverflowError:
            raise ValueRangeError(status_message(OVERFLOW)) from None


# ── whole columns ─────────────────────────────────────────────────────────────────────────────────
def status_message(status: int | None) -> str:
    """Describe a status other than EXACT, as the end of a sentence."""
    if status == OVERFLOW:
        return "the sum is beyond the greatest float"
    return "the sum has both +inf and -inf in it, so it has no value"


def grouped_sums(
    codes: np.ndarray, counts: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of the correctly rounded sums of runs of float codes, and a status for each (EXACT,
    OVERFLOW or NOT_A_NUMBER).

    Row i counts `counts[i]` times; run r is [starts[r], starts[r + 1]). O(rows), a few nanoseconds
    each.
    """
    sums = np.empty(len(starts), dtype=np.int64)
    status = np.empty(len(starts), dtype=np.int64)
    sum_runs(codes, counts, starts, sums, status)
    return sums, status


def published_float_sums(
    sums: np.ndarray, status: np.ndarray, function: str, name: Callable[[int], str]
) -> np.ndarray:
    """The sums, if each is EXACT; else ValueRangeError for the first that is not, whose group
    `name` knows how to call.
    """
    if status.any():
        group = int(np.flatnonzero(status)[0])
        raise ValueRangeError(f"{function} {name(group)}: {status_message(int(status[group]))}")
    return sums


def float_results(
    sums: np.ndarray,
    status: np.ndarray,
    call: AggregateCall | CallShape,
    sizes: np.ndarray,
    name: Callable[[int], str],
) -> np.ndarray:
    """The codes of a call's results: the sums, or these over the sizes of the groups."""
    exact = published_float_sums(sums, status, call.function, name)
    return float_means(exact, sizes) if AGGREGATES[call.function].divided else exact


def float_means(sums: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Codes of sums, given as codes, over sizes."""
    means = np.empty(len(sums), dtype=np.int64)
    divide_floats(sums, sizes, means)
    return means


def advanced(
    states: np.ndarray, codes: np.ndarray, counts: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States after the runs of a change, codes of their correctly rounded values, and a status for
    each.

    `states`: one row of STATE_WORDS per run, as the kernels lay them out; it stays as it is. Runs
    and statuses as in `grouped_sums`; negative counts subtract.
    """
    result = states.copy()
    sums = np.empty(len(states), dtype=np.int64)
    status = np.empty(len(states), dtype=np.int64)
    advance_states(result, codes, counts, starts, sums, status)
    return result, sums, status


# The kept state of `sum` and `mean` of floats: an exact sum per group, in a scan tree of its words
# that are not 0 [LFTJ-IVM 2.3.4].
#
# A dense state takes 288 bytes a group; here an everyday sum takes two or three rows, whatever its
# group's size. The published value is the exact sum, rounded once, so it is `math.fsum` of the live
# values after any history, and a history that comes to nothing leaves no trace.

_CHUNK = 4096
"""Groups whose dense states are held at a time: about a megabyte."""
_CHUNKS = 8
"""Chunks that a thread takes at least: several milliseconds."""


@frozen(slots=True)
class FloatTotals:
    """Exact sums of the argument in column `arg`: a tree keyed (group…, position of a word) with
    the word.
    """

    arg: int
    words: Tree

    @staticmethod
    def empty(arena: Arena, arg: int, width: int) -> FloatTotals:
        """No groups; `width` is the number of group columns, at least 1."""
        return FloatTotals(arg, Tree.empty(arena, width + 1, 1))

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes of the words and their keys."""
        return {"exact float sums": 8 * len(self.words) * (self.words.key_width + 1)}

    def advanced(self, change: GroupChange) -> Advance:
        """Adds what came and subtracts what went, exactly; then rounds the affected groups."""
        groups, bag = change.groups.shape[1], change.floats(self.arg)
        width, words = len(change.groups), min(groups, _CHUNK) * STATE_WORDS

        def advance(span: Span) -> list[tuple[np.ndarray, ...]]:
            room = np.empty((width + 2, words), np.int64), np.empty((width + 1, words), np.int64)
            return [self._piece(change, bag, _CHUNK * chunk, *room) for chunk in range(*span)]

        threads, chunks = self.words.arena.threads, -(-groups // _CHUNK)
        found = threads.together(advance, spans(chunks, threads, _CHUNKS))
        pieces = [piece for run in found for piece in run]
        joined = (
            pieces[0]
            if len(pieces) == 1
            else [np.concatenate(part, axis=-1) for part in zip(*pieces, strict=True)]
        )
        inserts, erases, sums, status = joined
        change.work.count(self.words, groups + inserts.shape[1] + erases.shape[1])

        def results(call: CallShape) -> np.ndarray:
            return float_results(sums, status, call, change.divisors, change.name)

        return Advance(FloatTotals(self.arg, self.words.apply(inserts, erases)), [], results)

    def _piece(
        self,
        change: GroupChange,
        bag: Bag,
        first: int,
        inserts: np.ndarray,
        erases: np.ndarray,
    ) -> tuple[np.ndarray, ...]:
        """Words that come and go, rounded sums and how they went, for a chunk of groups. `inserts`,
        `erases`: room for the words.
        """
        codes, counts, all_starts = bag
        starts = all_starts[first : first + _CHUNK]
        low = starts[0]
        high = all_starts[first + _CHUNK] if first + _CHUNK < len(all_starts) else len(counts)
        groups = np.ascontiguousarray(change.groups[:, first : first + _CHUNK])
        before = self._states(groups)
        after, sums, status = advanced(before, codes[low:high], counts[low:high], starts - low)
        written, gone = changed_words(groups, before, after, inserts, erases)
        return inserts[:, :written].copy(), erases[:, :gone].copy(), sums, status

    def _states(self, groups: np.ndarray) -> np.ndarray:
        states = np.zeros((groups.shape[1], STATE_WORDS), np.int64)
        tree = self.words
        if tree.root:
            read_states(tree.arena.memory, tree.root, tree.height, tree.layout, groups, states)
        return states
