"""Results of heads whose groups are totalled: which heads, and the codes of their calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lftj.functions.aggregates import EXTREMES, TOTALS
from lftj.heads.aggregate_shape import AggregateShape, CallShape
from lftj.heads.float_sum import float_means, grouped_sums, published_float_sums
from lftj.heads.integer_sum import Totals, means, published_sums
from lftj.heads.kept import GroupTotals
from lftj.storage.delta import Columns
from lftj.types import floats_to_codes

_ADDITIVE = ("count", *TOTALS)


def additive(shape: AggregateShape) -> bool:
    """Test for a head of sums, means and counts: groups of assignments add up to its state."""
    return all(call.function in _ADDITIVE for call in shape.calls)


def totalled(shape: AggregateShape) -> bool:
    """Test for a head whose results `Grouping` finds, with the extremes of codes that stand in
    order.
    """
    return all(
        call.function in _ADDITIVE or (call.function in EXTREMES and call.types[0].name != "str")
        for call in shape.calls
    )


def results(totals: GroupTotals, shape: AggregateShape, name: Callable[[int], str]) -> Columns:
    """The codes of the results of a head's calls. `name`: a group in messages. ValueRangeError for
    one that leaves its type.
    """
    return [_result(totals, call, name) for call in shape.calls]


def _result(totals: GroupTotals, call: CallShape, name: Callable[[int], str]) -> np.ndarray:
    if call.function == "count":
        return totals.counts
    (arg,) = call.args
    if call.function in EXTREMES:
        return totals.extremes[call.function, arg]
    if call.types[0].name == "float":
        sums, status = grouped_sums(*totals.floats[arg])
        exact = published_float_sums(sums, status, call.function, name)
        return exact if call.function == "sum" else float_means(exact, totals.counts)
    integers = Totals(*totals.integers[arg])
    if call.function == "sum":
        return published_sums(integers, call.result, name)
    return floats_to_codes(means(integers, totals.counts, call.types[0].scale or 0))
