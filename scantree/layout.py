# SPDX-License-Identifier: Apache-2.0
"""The layout of a family of trees: columns, page capacities and kept aggregates, as the array that
kernels read.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from lftj.scantree.arena import Words
from lftj.scantree.page_kernels import (
    MAX,
    MIN,
    PAGE_FAN,
    PAGE_ROWS,
    SIZE_CLASSES,
    SUM,
)

_OPERATORS = {"sum": SUM, "min": MIN, "max": MAX}


PAGE_COLUMNS = (SIZE_CLASSES - 1) * PAGE_FAN // PAGE_ROWS
"""Keys and values that a page can hold."""


class TooWideError(ValueError):
    """A tree with more columns than a page can hold."""


@cache
def make_layout(
    keys: int, values: int, aggregates: tuple[tuple[str, int], ...], leaf_capacity: int, fan: int
) -> Words:
    """The layout array (`page_kernels` names its words), shared by all who ask for the same;
    ValueError for what no page can hold.
    """
    width = keys + values
    if keys < 1:
        raise ValueError(
            "a tree needs a key column; keep a relation without columns as one constant column"
        )
    if not (4 <= leaf_capacity <= PAGE_ROWS and 4 <= fan <= PAGE_FAN):
        raise ValueError(f"leaf_capacity must be 4 … {PAGE_ROWS} and fan 4 … {PAGE_FAN}")
    if width > PAGE_COLUMNS or 2 + keys + len(aggregates) >= SIZE_CLASSES:
        raise TooWideError(
            f"{keys} key and {values} value columns do not fit on a page, which holds "
            f"{PAGE_COLUMNS}"
        )
    words = [keys, width, leaf_capacity, fan, len(aggregates)]
    for operator, column in aggregates:
        if operator not in _OPERATORS or not 0 <= column < width:
            raise ValueError(
                f"cannot keep {operator!r} of column {column}: expected sum, min or max of a "
                f"column below {width}"
            )
        words += [_OPERATORS[operator], column]
    return np.array(words, np.int64)
