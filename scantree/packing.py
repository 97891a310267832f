"""Rows as single numbers: many columns packed into one int64 that orders as they do, so that sorting rows is sorting integers.

Where the columns' ranges take more than 63 bits together, columns are replaced by their ranks first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Columns = Sequence[np.ndarray]

_KEY_BITS = 63


class Packing(NamedTuple):
    """How rows fit into one non-negative int64: the least value and the width in bits of every column."""

    lows: list[int]
    widths: list[int]

    @property
    def bits(self) -> int:
        """Width of the packed number."""
        return sum(self.widths)

    def pack(self, columns: Columns) -> np.ndarray:
        """One number per row, in a fresh array."""
        key = columns[0] - self.lows[0]
        for column, low, width in zip(columns[1:], self.lows[1:], self.widths[1:], strict=True):
            key <<= width
            key |= column - low
        return key


def packing_of(columns: Columns, spare: int = 0) -> Packing | None:
    """The packing of these (non-empty) columns, or None when they and `spare` more bits do not fit."""
    lows = [int(column.min()) for column in columns]
    widths = [(int(column.max()) - low).bit_length() for column, low in zip(columns, lows, strict=True)]
    return Packing(lows, widths) if sum(widths) + spare <= _KEY_BITS else None


def dense_ranks(key: np.ndarray) -> np.ndarray:
    """For each element the number of smaller distinct ones. An argsort and a scatter."""
    order = np.argsort(key)
    ordered = key.take(order)
    ranks = np.empty(len(key), dtype=np.int64)
    fresh = np.zeros(len(key), dtype=np.int64)
    fresh[1:] = ordered[1:] != ordered[:-1]
    ranks[order] = np.cumsum(fresh)
    return ranks


def single_key(columns: Columns, spare: int = 0) -> np.ndarray:
    """One int64 per row that orders and distinguishes rows as their columns do and leaves `spare` bits free.

    Columns of wide range are replaced by their ranks where needed. Two ranks and a position always fit, for fewer than 2²¹ rows;
    beyond, ranks of ranks are taken.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        pair = [key, column]
        packing = packing_of(pair, spare)
        if packing is None:
            pair = [key, dense_ranks(column)]
            packing = packing_of(pair, spare) or packing_of(pair)
        if packing is None:
            pair = [dense_ranks(key), pair[1]]
            packing = packing_of(pair, spare) or packing_of(pair)
        if packing is None:
            raise OverflowError(f"cannot rank {len(key)} rows in {_KEY_BITS} bits")
        key = packing.pack(pair)
        if packing.bits + spare > _KEY_BITS:
            key = dense_ranks(key)
    return key
