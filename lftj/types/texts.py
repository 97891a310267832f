# SPDX-License-Identifier: Apache-2.0
"""The strings of codes, as they were known at one moment.

A result keeps these beside its rows: what it shows stays, even when the dictionary forgets a string
that no relation holds any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import arrow_array, bytes_of, numpy_array

Flat = tuple[np.ndarray, np.ndarray]
"""`(offsets int64[n+1], data uint8[])`: code c is the UTF-8 text `data[offsets[c]:offsets[c+1]]`.
Nobody writes to either.
"""


class Texts:
    """Strings by their codes. What is asked for must have been there when this was made."""

    def __init__(self, flat: Flat, meaning: object):
        self._flat = flat
        self.meaning = meaning
        """The same object for all that give one string to one code."""

    def flat(self) -> Flat:
        """All strings as two arrays, which stay valid. O(1), no copy."""
        return self._flat

    def only(self, codes: Iterable[np.ndarray]) -> Texts:
        """The strings of these codes alone, for a result that leaves the process. O(codes + bytes
        of all).
        """
        chosen = np.zeros(len(self._flat[0]) - 1, np.bool_)
        for each in codes:
            chosen[each] = True
        return Texts(of_codes(self._flat, chosen), object())

    def decode(self, codes: np.ndarray | Sequence[int]) -> pa.StringArray:
        """The strings of codes. O(n + bytes), in Arrow. The strings together must stay below 2 GiB,
        which is what a StringArray holds.
        """
        return _every(self._flat).take(arrow_array(np.asarray(codes, np.int64))).cast(pa.string())

    def decode_one(self, code: int) -> str:
        """The string of one code. O(length). Raises IndexError for a code never given out."""
        offsets, data = self._flat
        if not 0 <= code < len(offsets) - 1:
            raise IndexError(f"no string has code {code}")
        return data[offsets[code] : offsets[code + 1]].tobytes().decode()

    def lengths(self, codes: np.ndarray) -> np.ndarray:
        """Bytes (int64) of each code's UTF-8 text."""
        offsets, _ = self._flat
        return offsets[codes + 1] - offsets[codes]

    def ranks(self, codes: np.ndarray) -> np.ndarray:
        """Rank *distinct* codes: the place (int64, from 0) of each among them in order of code
        points. O(n log n) string comparisons.
        """
        # by bytes: in UTF-8 that is by code point
        order = pc.sort_indices(_every(self._flat).take(arrow_array(np.asarray(codes, np.int64))))
        ranks = np.empty(len(codes), dtype=np.int64)
        ranks[numpy_array(order)] = np.arange(len(codes))
        return ranks


def of_codes(flat: Flat, chosen: np.ndarray) -> Flat:
    """The strings of the codes that are `chosen` (one truth value per code); those of all others
    are empty. O(codes + bytes).
    """
    offsets, _ = flat
    ends = np.zeros(len(offsets), np.int64)
    np.cumsum(np.where(chosen, np.diff(offsets), 0), out=ends[1:])
    return ends, bytes_of(_every(flat).filter(arrow_array(chosen))).copy()


def _every(flat: Flat) -> pa.LargeStringArray:
    offsets, data = flat
    return pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data)
    )
