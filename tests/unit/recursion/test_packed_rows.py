"""Packed rows in every key order, whichever order they come in."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from lftj.maintenance.semi_naive.packed_rows import Packed

WIDTHS = (5, 7, 6)
SHIFTS = np.array([13, 6, 0])
LOWS = np.array([-3, 0, 100])
WORDS = np.unique(np.random.default_rng(1).integers(0, 1 << sum(WIDTHS), 4000))


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("ordered", [True, False])
def test_rows_in_every_order(order: tuple[int, ...], ordered: bool) -> None:
    words = WORDS if ordered else np.random.default_rng(2).permutation(WORDS)
    rows = Packed(words, LOWS, SHIFTS, WIDTHS, ordered)
    expected = sorted(tuple(row[column] for column in order) for row in rows.columns().T.tolist())
    found = rows.sorted_by(order)
    assert list(map(tuple, found.columns().T.tolist())) == expected
    assert found.ordered
