"""The table of present values."""

from __future__ import annotations

import numpy as np

from lftj.join.access.gathering import present_values

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def test_values_outside_the_range_however_far_are_left_out():
    values = np.array([_LEAST, -6, -5, 0, 2, 3, _MOST], np.int64)
    assert present_values(values, -5, 8).tolist() == [1, 0, 0, 0, 0, 1, 0, 1]


def test_a_range_may_end_with_the_last_integer():
    values = np.array([_LEAST, 0, _MOST - 1, _MOST], np.int64)
    assert present_values(values, _MOST - 2, 3).tolist() == [0, 1, 1]
    assert present_values(values, _LEAST, 2).tolist() == [1, 0]
