"""Complements by equal counts: right for every subset, and in proportion to what is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree, complement
from tests.unit.scantree.trees import Shape, random_rows, rows_in, rows_of, shapes, taken


@given(st.data())
def test_any_subset_of_any_tree(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    rows = data.draw(rows_in(shape))
    kept = data.draw(st.sets(st.sampled_from(sorted(rows)))) if rows else set()
    arena = Arena(reserve_bytes=1 << 28)
    whole = shape.build(arena, [(*key, *values) for key, values in rows.items()])
    part = Shape(shape.keys, 0, 6, 4).build(arena, kept)  # on other pages, without the values
    missing, _ = complement(whole, part)
    assert rows_of(missing) == [(*key, *rows[key]) for key in sorted(rows) if key not in kept]


@pytest.mark.parametrize("missing", [0, 1, 10])
def test_pages_read_are_in_proportion_to_the_missing_rows(missing: int) -> None:
    arena = Arena()
    columns = random_rows(1, 100_000)
    whole = Tree.build(arena, columns)
    gone = np.sort(np.random.default_rng(missing).choice(100_000, missing, replace=False))
    part = Tree.build(arena, [np.delete(column, gone) for column in columns])
    rows, pages = complement(whole, part)
    assert rows_of(rows) == rows_of(taken(columns, gone))
    # per missing row: halving over the children of each index page, a rank (down and up) for each
    # probe
    assert pages <= missing * (whole.height * 8 * (2 * part.height + 2) + 8)
    assert missing == 0 or pages >= missing


def test_the_complement_of_nothing_is_everything() -> None:
    arena = Arena()
    columns = random_rows(2, 5000)
    whole = Tree.build(arena, columns)
    assert rows_of(complement(whole, Tree.empty(arena, 2))[0]) == rows_of(columns)
    assert complement(whole, whole)[1] == 0
    assert rows_of(complement(Tree.empty(arena, 2), Tree.empty(arena, 2))[0]) == []


def test_what_is_no_subset_is_refused() -> None:
    arena = Arena()
    whole = Tree.build(arena, [np.arange(2000)])
    for keys in (
        [-1],
        [*range(0, 2000, 2), 5000],
        [*range(3000)],
        [*range(1000, 1999), 2000, 2001],
    ):
        with pytest.raises(ValueError, match="not a subset"):
            complement(whole, Tree.build(arena, [np.array(keys)]))
    with pytest.raises(ValueError, match="1 and 2 key columns"):
        complement(whole, Tree.empty(arena, 2))
    with pytest.raises(ValueError, match="two arenas"):
        complement(whole, Tree.empty(Arena(), 1))
