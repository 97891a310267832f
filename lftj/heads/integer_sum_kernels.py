# SPDX-License-Identifier: Apache-2.0
"""Compiled exact sums of int64 values, wide enough that no order of additions can overflow on its
way to a total that fits.
"""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled

DIGITS = 6
"""Digits of 31 bits: five for a product of two int64, one for what many products carry."""

_BITS = 31
_MASK = (1 << _BITS) - 1
_INT64_MAX = 2**63 - 1
_PATIENCE = 1 << 26
"""Additions that may pass before waiting carries could overflow a digit."""


@compiled
def _carry(digits: np.ndarray) -> None:
    """Bring every digit but the signed last one into [0, 2³¹)."""
    for i in range(DIGITS - 1):
        digits[i + 1] += digits[i] >> _BITS
        digits[i] &= _MASK


@compiled
def _add_product(digits: np.ndarray, value: int, times: int) -> None:
    """Add value · times, digit by digit: the products of digits stay below 2⁶²."""
    left = (value & _MASK, (value >> _BITS) & _MASK, value >> (2 * _BITS))
    right = (times & _MASK, (times >> _BITS) & _MASK, times >> (2 * _BITS))
    for i in range(3):
        for j in range(3):
            product = left[i] * right[j]
            digits[i + j] += product & _MASK
            digits[i + j + 1] += product >> _BITS


@compiled
def total_runs(
    values: np.ndarray, counts: np.ndarray, starts: np.ndarray, high: np.ndarray, low: np.ndarray
) -> None:
    """Total each run of rows exactly: value · count as high · 2⁶³ + low, 0 ≤ low < 2⁶³, canonical
    and free of wrap-around.
    """
    digits = np.zeros(DIGITS, dtype=np.int64)
    for run in range(starts.shape[0]):
        end = starts[run + 1] if run + 1 < starts.shape[0] else values.shape[0]
        digits[:] = 0
        waiting = 0
        for row in range(starts[run], end):
            value = values[row]
            if counts[row] == 1:
                digits[0] += value & _MASK
                digits[1] += value >> _BITS
            else:
                _add_product(digits, value, counts[row])
            waiting += 1
            if waiting == _PATIENCE:
                _carry(digits)
                waiting = 0
        _carry(digits)
        low[run] = digits[0] | (digits[1] << _BITS) | ((digits[2] & 1) << (2 * _BITS))
        high[run] = (digits[2] >> 1) + (digits[3] << (_BITS - 1)) + (digits[4] << (2 * _BITS - 1))


@compiled
def merge_totals(
    high: np.ndarray, low: np.ndarray, other_high: np.ndarray, other_low: np.ndarray
) -> None:
    """Add to each total (see `total_runs`) another."""
    for run in range(high.shape[0]):
        room = _INT64_MAX - other_low[run]
        carry = low[run] > room
        low[run] = low[run] - room - 1 if carry else low[run] + other_low[run]
        high[run] += other_high[run] + (1 if carry else 0)
