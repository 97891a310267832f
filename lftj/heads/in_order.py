# SPDX-License-Identifier: Apache-2.0
"""Rows of groups in their order, of whole columns: what an aggregate that reads them so takes of
them says its record (`lftj.functions.in_order`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.functions.aggregates import AGGREGATES
from lftj.functions.in_order import InOrder, Name, Runs
from lftj.heads.concatenation import order_in_groups
from lftj.types import Type, codes_to_floats
from lftj.types.dictionary import Dictionary


def reading(function: str) -> InOrder | None:
    """The way a function reads rows in order; None for others."""
    known = AGGREGATES.get(function)
    return known.in_order if known is not None else None


class _Sorted:
    """Values of groups that stand in order, run by run, with their counts."""

    def __init__(self, function: str, type: Type, share: object, runs: Runs, name: Name) -> None:
        self.function, self.type, self.share, self.name = function, type, share, name
        self._runs, self._ends = runs, np.append(runs.starts[1:], len(runs.values))
        self.sizes = np.add.reduceat(runs.counts, runs.starts)

    def end(self, *, last: bool) -> np.ndarray:
        """O(1) each."""
        return self._runs.values.take(self._ends - 1 if last else self._runs.starts)

    def different(self) -> np.ndarray:
        """O(rows)."""
        return np.add.reduceat(self._runs.firsts, self._runs.starts, dtype=np.int64)

    def at(self, places: np.ndarray) -> np.ndarray:
        """O(rows)."""
        values, counts, starts = self._runs
        units = np.cumsum(counts)
        before = np.append(0, units)[starts]
        return values.take(np.searchsorted(units, before + places, side="right"))

    def whole(self) -> Runs:
        """O(1)."""
        return self._runs


def grouped_in_order(
    function: str,
    args: Sequence[np.ndarray],
    types: Sequence[Type],
    counts: np.ndarray,
    starts: np.ndarray,
    dictionary: Dictionary,
    name: Name,
) -> np.ndarray:
    """The code of each run's result. `args` are the value, then the keys or the share. O(n log
    n).
    """
    read = reading(function)
    assert read is not None
    keys = [] if read.by_share else args[1:]
    key_types = [] if read.by_share else types[1:]
    order = order_in_groups([*keys, args[0]], [*key_types, types[0]], starts, dictionary)
    runs = Runs(args[0].take(order), counts.take(order), starts)
    share = float(codes_to_floats(args[1][:1])[0]) if read.by_share and args[1:] else None
    return read.read(_Sorted(function, types[0], share, runs, name))
