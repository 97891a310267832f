# SPDX-License-Identifier: Apache-2.0
"""Rows that pending changes insert, found by some of their columns.

A transaction of many small calls asks for rows again and again, while most of its changes stay as
they are. An order by the columns asked for is made once for a change, so a call costs the logarithm
of the changes before it, and not their number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lftj.scantree.rows import locate_ranges, sort_order
from lftj.storage.delta import Columns, Delta

_FEW = 64
"""Rows that are as quickly looked through."""


class StagedRows:
    """Finds rows among the changes of one relation's staging."""

    def __init__(self) -> None:
        self.orders: dict[int, tuple[Delta, dict[tuple[int, ...], Columns]]] = {}
        """Rows of changes in other orders, by the identity of the change."""

    def keep(self, changes: Sequence[Delta]) -> None:
        """Forget what is known of all other changes."""
        known = self.orders
        self.orders = {id(each): known[id(each)] for each in changes if id(each) in known}

    def having(self, change: Delta, codes: Mapping[int, int]) -> Columns:
        """The inserted rows with these codes in these columns, in their order. O(m + log n), after
        O(n log n) once for the least of these columns.
        """
        rows = change.inserts
        if not codes or len(rows[0]) <= _FEW:
            return having(rows, codes)
        place = min(codes)
        found = self._with(change, (place,), [np.array([codes[place]], np.int64)])
        return having([column[found] for column in rows], codes)

    def with_keys(self, change: Delta, places: Sequence[int], keys: Columns) -> Columns:
        """The inserted rows whose columns at `places` are among `keys` (sorted distinct)."""
        found = self._with(change, tuple(places), keys)
        return [column[found] for column in change.inserts]

    def _with(self, change: Delta, places: tuple[int, ...], keys: Columns) -> np.ndarray:
        """Positions, ascending."""
        order, *columns = self._ordered(change, places)
        low, high = locate_ranges(keys, columns)
        sizes = high - low
        before = np.cumsum(sizes) - sizes
        return np.sort(order[np.arange(sizes.sum()) + np.repeat(low - before, sizes)])

    def _ordered(self, change: Delta, places: tuple[int, ...]) -> Columns:
        """The order of the inserted rows by some columns, then these columns in it."""
        orders = self.orders.setdefault(id(change), (change, {}))[1]
        if places not in orders:
            columns = [change.inserts[place] for place in places]
            order = sort_order(columns)
            orders[places] = [order, *(column[order] for column in columns)]
        return orders[places]


def having(rows: Columns, codes: Mapping[int, int]) -> Columns:
    """The rows with these codes in these columns. O(n)."""
    keep = np.ones(len(rows[0]), np.bool_)
    for place, code in codes.items():
        keep &= rows[place] == code
    return [column[keep] for column in rows]
