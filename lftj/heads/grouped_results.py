# SPDX-License-Identifier: Apache-2.0
"""Results of heads whose groups are totalled: which heads, and the codes of their calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lftj.functions.aggregates import COUNTS, TOTALS
from lftj.heads.aggregate_shape import AggregateShape, CallShape
from lftj.heads.ends import end_of
from lftj.heads.float_sum import float_results, grouped_sums
from lftj.heads.integer_sum import Totals, integer_results
from lftj.heads.kept import GroupTotals
from lftj.heads.valued import of_values
from lftj.storage.delta import Columns

_ADDITIVE = COUNTS | TOTALS


def additive(shape: AggregateShape) -> bool:
    """Test for a head of sums, means and counts: groups of assignments add up to its state."""
    return all(call.function in _ADDITIVE for call in shape.calls)


def totalled(shape: AggregateShape) -> bool:
    """Test for a head whose results `Grouping` finds, with the extremes of codes that stand in
    order.
    """
    return all(call.function in _ADDITIVE or end_of(call) is not None for call in shape.calls)


def results(totals: GroupTotals, shape: AggregateShape, name: Callable[[int], str]) -> Columns:
    """The codes of the results of a head's calls. `name`: a group in messages. ValueRangeError for
    one that leaves its type.
    """
    return [_result(totals, call, name) for call in shape.calls]


def _result(totals: GroupTotals, call: CallShape, name: Callable[[int], str]) -> np.ndarray:
    if not call.optional:
        return _of_all(totals, call, totals.counts, name)
    counts = totals.values[call.optional]
    return of_values(call.function, _of_all(totals, call, np.maximum(counts, 1), name), counts)


def _of_all(
    totals: GroupTotals, call: CallShape, counts: np.ndarray, name: Callable[[int], str]
) -> np.ndarray:
    if call.function in COUNTS:
        return counts
    if (end := end_of(call)) is not None:
        return totals.extremes[end][end.args.index(call.args[0])]
    (arg,) = call.args
    if call.types[0].name == "float":
        return float_results(*grouped_sums(*totals.floats[arg]), call, counts, name)
    return integer_results(Totals(*totals.integers[arg]), call, counts, name)
