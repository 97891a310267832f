# SPDX-License-Identifier: Apache-2.0
"""The layout of a family of trees: columns, page capacities and kept aggregates, as the array that
kernels read; and what pages cost.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from lftj.scantree.arena import Words
from lftj.scantree.page_kernels import (
    AGGREGATES,
    FAN_CAPACITY,
    HEADER,
    KEYS,
    LEAF_CAPACITY,
    MAX,
    MAX_HEIGHT,
    MIN,
    PAGE_FAN,
    PAGE_ROWS,
    SIZE_CLASSES,
    SUM,
    WIDTH,
)

_OPERATORS = {"sum": SUM, "min": MIN, "max": MAX}
_FILL = 0.9  # of a leaf at bulk load: the first changes after a load then find room


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
    layout = np.array(words, np.int64)
    _known[id(layout)] = _costs(layout)
    return layout


class _Costs(NamedTuple):
    """Words of a leaf and of an index page, rows that fit on a leaf and that bulk load puts there,
    entries of an index page.
    """

    of_leaf: int
    of_index: int
    capacity: int
    fill: int
    fan: int


_known: dict[int, _Costs] = {}  # by the layout's identity: `make_layout` keeps them all


def _costs(layout: Words) -> _Costs:
    if (found := _known.get(id(layout))) is None:
        leaf = HEADER + int(layout[WIDTH]) * PAGE_ROWS
        index = HEADER + (2 + int(layout[KEYS]) + int(layout[AGGREGATES])) * PAGE_FAN
        capacity = int(layout[LEAF_CAPACITY])
        found = _Costs(
            leaf, index, capacity, max(1, int(capacity * _FILL)), int(layout[FAN_CAPACITY])
        )
    return found


def load_fill(layout: Words) -> int:
    """Rows that bulk load puts on a leaf."""
    return _costs(layout).fill


def words_to_load(layout: Words, rows: int) -> int:
    """No fewer words than a bulk load takes."""
    leaf, index, _, fill, fan = _costs(layout)
    leaves = rows // fill + 1
    return leaves * leaf + (leaves // (fan - 1) + MAX_HEIGHT + 2) * index


def words_to_change(layout: Words, height: int, inserts: int, erases: int, in_use: int) -> int:
    """No fewer words than new pages take, with `in_use` in the arena: in proportion to the change,
    or to what is there if that is less.

    A change touches at most a path of pages, and all touched pages, of every level, are distinct
    pages of the arena: so their words are bounded by both. A touched page becomes itself and one
    more at most, beside what inserted rows fill; a page more below is an entry more above, and
    `fan` of these fill a page.
    """
    leaf, index, capacity, _, fan = _costs(layout)
    changes, filled = inserts + erases, inserts // capacity + 2
    touched = min(changes * (leaf + (height + 1) * index), in_use)
    entries = min(changes, in_use // index + 1) + filled
    above = (height + 2) * (entries // fan + 2)
    return 2 * touched + filled * leaf + above * index
