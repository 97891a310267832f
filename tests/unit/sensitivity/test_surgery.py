"""Surgeries against the prefixes of both versions, counted one by one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree
from lftj.sensitivity import surgeries
from tests.unit.scantree.trees import GREATEST, LEAST, Row, columns_of, rows_of
from tests.unit.sensitivity.maintained import delta


def tree_of(arena: Arena, rows: set[Row], width: int) -> Tree:
    return Tree.empty(arena, width, leaf_capacity=4, fan=4).apply(columns_of(sorted(rows), width))


def branches(rows: set[Row], depth: int) -> set[Row]:
    """The branches of a depth; the root, of depth 0, is always there."""
    return {row[:depth] for row in rows} if depth else {()}


def test_a_row_under_a_branch_that_stays_is_one_surgery_below_it() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    old = tree_of(arena, {(1, 1), (1, 2), (2, 5)}, 2)
    changed, _, _ = delta(old, old.apply(columns_of([(1, 7), (3, 3)], 2), columns_of([(2, 5)], 2)))
    assert rows_of(changed.appeared(1)) == [(3,)]
    assert rows_of(changed.vanished(1)) == [(2,)]
    assert rows_of(changed.appeared(2)) == [(1, 7), (3, 3)]
    assert rows_of(changed.appeared(2, topmost=True)) == [(1, 7)]
    assert rows_of(changed.vanished(2, topmost=True)) == []
    assert rows_of(changed.changed(1, topmost=True)) == [(2,), (3,)]
    assert changed.changed(1, topmost=True) is changed.changed(
        1, topmost=True
    )  # atoms that share the trie share these


def test_a_branch_whose_rows_are_exchanged_stays() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    old = tree_of(arena, {(1, 1)}, 2)
    changed, _, _ = delta(old, old.apply(columns_of([(1, 2)], 2), columns_of([(1, 1)], 2)))
    assert rows_of(changed.changed(1, topmost=False)) == []
    assert rows_of(changed.changed(2, topmost=True)) == [(1, 1), (1, 2)]


def test_rows_that_did_not_change_are_no_surgeries() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    tree = tree_of(arena, {(1, 1)}, 2)
    changed = surgeries(tree, tree, columns_of([(1, 1)], 2), [])
    assert [len(changed.changed(depth, topmost=False)[0]) for depth in (1, 2)] == [0, 0]


def test_trees_of_other_widths_are_refused() -> None:
    arena = Arena(reserve_bytes=1 << 26)
    with pytest.raises(ValueError, match="not versions of one trie"):
        surgeries(Tree.empty(arena, 2), Tree.empty(arena, 3), [], [])


VALUES = st.sampled_from([LEAST, -1, 0, 1, 2, GREATEST])


@settings(max_examples=60)
@given(st.data(), st.integers(1, 3))
def test_every_branch_that_one_version_alone_has_is_found(data: st.DataObject, width: int) -> None:
    rows = st.sets(st.tuples(*[VALUES] * width), max_size=25)
    before, after = data.draw(rows), data.draw(rows)
    arena = Arena(reserve_bytes=1 << 26)
    changed, _, _ = delta(tree_of(arena, before, width), tree_of(arena, after, width))
    for depth in range(1, width + 1):
        old, new = branches(before, depth), branches(after, depth)
        parents_old, parents_new = branches(before, depth - 1), branches(after, depth - 1)
        assert rows_of(changed.appeared(depth)) == sorted(new - old)
        assert rows_of(changed.vanished(depth)) == sorted(old - new)
        assert rows_of(changed.changed(depth, topmost=False)) == sorted(old ^ new)
        assert rows_of(changed.appeared(depth, topmost=True)) == sorted(
            row for row in new - old if row[:-1] in parents_old
        )
        assert rows_of(changed.vanished(depth, topmost=True)) == sorted(
            row for row in old - new if row[:-1] in parents_new
        )
