"""Rows by weight, against lists that have each row as often as its count says."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree
from lftj.scantree.counts import add_counts
from lftj.scantree.weights import at_weights, rows_with, weight_kept

ROWS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(-20, 20)), st.integers(1, 4), max_size=60
)


@settings(max_examples=60, deadline=None)
@given(ROWS, ROWS)
def test_rows_are_found_by_numbers(first: dict[tuple[int, int], int], more: dict) -> None:
    tree = Tree.empty(Arena(), 2, 1, aggregates=weight_kept(2), leaf_capacity=4, fan=4)
    counts = {key: first.get(key, 0) + more.get(key, 0) for key in {*first, *more}}
    for some in (first, more):
        if some:
            keys = sorted(some)
            tree = add_counts(
                tree, np.array(keys).T.copy(), np.array([some[key] for key in keys])
            ).tree
    for width in (0, 1):
        groups = [(group,) for group in range(-1, 5)] if width else [()]
        prefixes = np.array(groups, np.int64).T.reshape(width, len(groups)).copy()
        rows = [sorted(key for key in counts if key[:width] == group) for group in groups]
        assert rows_with(tree, prefixes, len(groups)).tolist() == list(map(len, rows))
        units = [[key for key in some for _ in range(counts[key])] for some in rows]
        for share in (0, 1, 2):
            wanted = np.array([len(each) * share // 3 if each else -1 for each in units])
            found = at_weights(tree, prefixes, wanted, 1)
            expected = [
                each[place][1] if each else 0
                for each, place in zip(units, wanted.tolist(), strict=True)
            ]
            assert found.tolist() == expected
