"""Many rows of few values: each value has a place to add up at, and no row is sorted."""

from __future__ import annotations

import numpy as np

from scantree.packing_kernels import INT64_MAX, state_of, sum_packed, survey, unpack_sums

_MANY = 1 << 12
"""Rows from which on sorting them takes longer than looking at what values they have."""

_SAMPLE = 512
_PLACES = 22
"""Bits of the places that sums are added up at: 32 MiB."""


def summed_in_place(data: np.ndarray, *, zeros: bool) -> np.ndarray | None:
    """The distinct rows of a matrix in ascending order, its last row being the sum of each one's; sums of 0 only with `zeros`.

    None where rows are few, in order already, or have too many different values, and where a sum might leave int64. O(n + places).
    """
    width, rows = len(data) - 1, data.shape[1]
    if rows < _MANY or state_of(data, width) < 0:
        return None
    bounds = np.empty((2, width), np.int64)
    most_bits = min(_PLACES, rows.bit_length())
    # those in front mostly tell already that there are too many
    if int(survey(np.ascontiguousarray(data[:-1, :_SAMPLE]), bounds[0], bounds[1])) > most_bits:
        return None
    bits = int(survey(data[:-1], bounds[0], bounds[1]))
    if bits > most_bits:
        return None
    least, most = int(data[-1].min()), int(data[-1].max())
    if max(most, -least) * rows > INT64_MAX:
        return None
    sums, seen = np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.uint8)
    found = np.empty((width + 1, int(sum_packed(data, bounds[0], bounds[1], sums, seen))), np.int64)
    count = int(unpack_sums(sums, seen, bounds[0], bounds[1], zeros, found))
    return found[:, :count]
