# SPDX-License-Identifier: Apache-2.0
"""Coverage: sensitivity intervals as columns (α…, low, high, γ…), sorted, and merged as a
granularity has it.

A *context* is one value of (α, γ). Merging intervals of a context that overlap or adjoin covers the
same values; merging over a gap, or cutting γ, covers more, which is sound.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.scantree.rows import sort_order, sort_rows
from lftj.sensitivity.coverage_kernels import merge_gaps, merge_touching
from lftj.sensitivity.granularity import Granularity

Words = np.ndarray
Columns = Sequence[np.ndarray]


def consolidated(columns: Columns, alpha: int, granularity: Granularity) -> list[Words]:
    """Intervals with `alpha` columns of α, in any order, overlapping or not, as the granularity
    keeps them. O(n log n).

    Sorted by (α, low, high, γ), those of one context disjoint and not adjoining.
    """
    columns = cut(columns, alpha, granularity)
    if len(columns[0]) == 0:
        return columns
    low, high = columns[alpha], columns[alpha + 1]
    context = [*columns[:alpha], *columns[alpha + 2 :]]
    order = sort_order([*context, low])
    context, low, high = (
        [column.take(order) for column in context],
        low.take(order),
        high.take(order),
    )
    row = np.empty_like(low)
    fresh = first_of_context(context, len(low))
    size = merge_touching(fresh, low, high, row)
    if granularity.intervals is not None:
        size = merge_gaps(fresh, low, high, row, size, granularity.intervals)
    kept = row[:size]
    context = [column.take(kept) for column in context]
    merged = [*context[:alpha], low[:size], high[:size], *context[alpha:]]
    return merged if len(context) == alpha else sort_rows(merged)


def cut(columns: Columns, alpha: int, granularity: Granularity) -> list[Words]:
    """The columns with γ cut to what the granularity keeps."""
    return (
        list(columns)
        if granularity.context is None
        else list(columns[: alpha + 2 + granularity.context])
    )


def first_of_context(context: Columns, rows: int) -> Words:
    """Mark the first row of each context, in rows sorted by it. A context of no columns is one."""
    fresh = np.zeros(rows, np.bool_)
    fresh[:1] = True
    for column in context:
        fresh[1:] |= column[1:] != column[:-1]
    return fresh
