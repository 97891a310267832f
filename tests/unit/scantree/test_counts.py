"""Counts that are added to in one descent, against a dictionary; and what a change that is refused
leaves behind.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.scantree import Arena, Tree
from lftj.scantree.counts import add_counts
from lftj.scantree.invariants import check_arena, check_invariants
from tests.unit.scantree.trees import GREATEST, columns_of, rows_of

KEYS = st.tuples(st.integers(0, 3), st.integers(-20, 20))
STEPS = st.lists(
    st.dictionaries(KEYS, st.integers(-3, 3).filter(bool), min_size=1, max_size=40),
    min_size=1,
    max_size=8,
)


def counted(tree: Tree, changes: dict[tuple[int, ...], int]) -> tuple[np.ndarray, np.ndarray]:
    keys = sorted(changes)
    return np.array(columns_of(keys, tree.key_width)), np.array([changes[key] for key in keys])


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_histories_of_counts(steps: list[dict[tuple[int, ...], int]]) -> None:
    arena = Arena()
    tree = Tree.empty(arena, 2, 1, leaf_capacity=4, fan=4)
    model: dict[tuple[int, ...], int] = {}
    for step in steps:
        changes = {key: max(amount, -model.get(key, 0)) for key, amount in step.items()}
        changes = {key: amount for key, amount in changes.items() if amount}
        before, old = tree, rows_of(tree.columns())
        after = {key: model.get(key, 0) + changes.get(key, 0) for key in {*model, *changes}}
        found = add_counts(tree, *counted(tree, changes)) if changes else None
        if found is not None:
            tree = found.tree
            assert rows_of(list(found.written)) == sorted(
                (*key, after[key]) for key in changes if after[key]
            )
            assert rows_of(list(found.gone)) == sorted(key for key in changes if not after[key])
            assert rows_of(list(found.fresh)) == sorted(key for key in changes if key not in model)
        model = {key: count for key, count in after.items() if count}
        assert rows_of(tree.columns()) == sorted((*key, count) for key, count in model.items())
        assert rows_of(before.columns()) == old
        check_invariants(tree)
        check_arena(arena, [tree, before])


@pytest.mark.parametrize(
    ("row", "amount", "error"),
    [(37, -2, ValueError), (37, GREATEST, OverflowError), (1000, -1, ValueError)],
)
def test_a_change_that_is_refused_leaves_no_page(
    row: int, amount: int, error: type[Exception]
) -> None:
    arena = Arena()
    tree = Tree.build(arena, [np.arange(100)], [np.ones(100, np.int64)], leaf_capacity=4, fan=4)
    used = arena.bytes_in_use
    with pytest.raises(error):
        add_counts(tree, *counted(tree, {(3,): 5, (9,): -1, (row,): amount}))
    assert arena.bytes_in_use == used
    check_arena(arena, [tree])
    assert rows_of(tree.columns()) == [(i, 1) for i in range(100)]


def test_a_tree_without_rows_is_loaded_or_refuses() -> None:
    tree = Tree.empty(Arena(), 1, 1)
    found = add_counts(tree, np.array([[3, 5]]), np.array([2, 1]))
    assert rows_of(found.tree.columns()) == [(3, 2), (5, 1)]
    assert rows_of(list(found.fresh)) == [(3,), (5,)]
    with pytest.raises(ValueError, match="more is taken"):
        add_counts(tree, np.array([[3]]), np.array([-2]))
    gone = add_counts(found.tree, np.array([[3, 5]]), np.array([-2, -1]))
    assert len(gone.tree) == 0
    assert rows_of(list(gone.gone)) == [(3,), (5,)]


def test_no_change_leads_nowhere() -> None:
    tree = Tree.build(Arena(), [np.arange(9)], [np.ones(9, np.int64)], leaf_capacity=4, fan=4)
    found = add_counts(tree, np.empty((1, 0), np.int64), np.empty(0, np.int64))
    assert found.tree is tree
    assert [matrix.shape for matrix in found[1:]] == [(2, 0), (1, 0), (1, 0)]
