# SPDX-License-Identifier: Apache-2.0
"""Groups of aggregates: all assignments as columns, of which only those that are shown become
Python values. A group may have a million of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lftj.explain.derivations.conjunction_search import Rows
from lftj.explain.derivations.values import expression_value, plain_value
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.explain.derivations.ways import Way
from lftj.functions import AGGREGATES, EXTREMES, GREATEST, TOTALS
from lftj.program import Expression, Ref, RuleVariable
from lftj.types import INT

Env = dict[int, int]


@dataclass(frozen=True)
class Gathered:
    """The distinct assignments of a group, each once though several branches allow it."""

    parts: tuple[tuple[Way, Rows], ...]

    @property
    def size(self) -> int:
        """Number of the assignments."""
        return sum(found.shape[1] for _, found in self.parts)

    def at(self, place: int) -> tuple[Way, Codes]:
        """One assignment, with the way that it satisfies the body."""
        for way, found in self.parts:
            if place < found.shape[1]:
                return way, tuple(found[:, place].tolist())
            place -= found.shape[1]
        raise IndexError(place)

    def values(
        self,
        target: Expression | None,
        env: Env,
        version: Version,
        variables: Sequence[RuleVariable],
    ) -> Any:
        """List what is aggregated of each assignment; of whole numbers as an array."""
        whole = isinstance(target, Ref) and variables[target.variable].type == INT
        pieces = [
            self._of_part(target, way, found, env, version, variables, whole)
            for way, found in self.parts
        ]
        if whole:
            return np.concatenate([np.asarray(piece, np.int64) for piece in pieces] or [_NOTHING])
        return [value for piece in pieces for value in piece]

    @staticmethod
    def _of_part(
        target: Expression | None,
        way: Way,
        found: Rows,
        env: Env,
        version: Version,
        variables: Sequence[RuleVariable],
        whole: bool,
    ) -> Any:
        if target is None:
            return [None] * found.shape[1]
        if whole and isinstance(target, Ref) and target.variable in way.bound:
            return found[way.bound.index(target.variable)]
        columns = found.T.tolist()
        inside = ({**env, **dict(zip(way.bound, row, strict=True))} for row in columns)
        return [expression_value(target, None, each, version, variables) for each in inside]


_NOTHING = np.zeros(0, np.int64)


def gathered(ways: Sequence[Way], version: Version, begin: Callable[[Way], Rows]) -> Gathered:
    """The assignments of all ways, each way from the given values that `begin` has for it."""
    found = [(way, _joined(list(way.run(version, begin(way))), len(way.bound))) for way in ways]
    if len(ways) < 2:
        return Gathered(tuple(found))
    common = sorted(frozenset.intersection(*(frozenset(way.bound) for way in ways)))
    seen: set[Codes] = set()
    parts: list[tuple[Way, Rows]] = []
    for way, rows in found:
        places = [way.bound.index(variable) for variable in common]
        keys = list(zip(*rows[places].tolist(), strict=True)) if places else [()] * rows.shape[1]
        keep = [place for place, key in enumerate(keys) if key not in seen and not seen.add(key)]
        parts.append((way, np.ascontiguousarray(rows[:, keep])))
    return Gathered(tuple(parts))


def _joined(pieces: list[Rows], width: int) -> Rows:
    return np.concatenate(pieces, axis=1) if pieces else matrix([], width)


def weighed(function: str) -> bool:
    """Test for an aggregate of which some assignments matter more than others."""
    return function in EXTREMES or (function in TOTALS and not AGGREGATES[function].divided)


def most_of(function: str, values: Any, size: int, shown: int) -> list[int]:
    """The places of the values that matter most: those that are the least or greatest, the largest
    parts of a sum, or else the first. NULL is none of these, unless there is nothing else.
    """
    if weighed(function) and not isinstance(values, np.ndarray) and None in values:
        there = [place for place, value in enumerate(values) if value is not None]
        if not there:
            return list(range(min(size, shown)))
        found = most_of(function, [values[place] for place in there], len(there), shown)
        return [there[place] for place in found]
    if function in EXTREMES and size:
        if isinstance(values, np.ndarray):
            best = values.max() if function in GREATEST else values.min()
            return np.flatnonzero(values == best)[:shown].tolist()
        least = max(values) if function in GREATEST else min(values)
        return [place for place, value in enumerate(values) if value == least][:shown]
    if weighed(function) and isinstance(values, np.ndarray) and shown < size:
        parts = np.abs(values.astype(np.float64))
        high = np.flatnonzero(parts >= np.partition(parts, size - shown)[size - shown])
        exact = {place: abs(int(values[place])) for place in high.tolist()[: _TIES + shown]}
        return sorted(exact, key=lambda place: -exact[place])[:shown]
    if weighed(function):
        return sorted(range(size), key=lambda place: -abs(plain_value(values[place])))[:shown]
    return list(range(min(size, shown)))


_TIES = 10_000
"""Values that are alike in a sum, of which the first are shown."""
