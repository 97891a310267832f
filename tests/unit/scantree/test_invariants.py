"""The checks of invariants notice what they are there for: every kind of damage to pages and to
counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lftj.scantree import Arena, Tree
from lftj.scantree.invariants import check_arena, check_invariants
from lftj.scantree.page_kernels import (
    ENTRIES,
    FREE_LISTS,
    LEVEL,
    REFERENCES,
    SIZE_CLASS,
    WORDS_IN_USE,
    index_column,
    leaf_column,
)

Damage = Callable[[np.ndarray, int, int], None]


def _tree(arena: Arena) -> Tree:
    aggregates = [("max", 1), ("min", 0), ("sum", 2)]
    return Tree.build(
        arena,
        [np.arange(60) // 4, np.arange(60)],
        [np.arange(60)],
        aggregates=aggregates,
        leaf_capacity=6,
        fan=4,
    )


def _set(word: Callable[[int], int], value: int, *, leaf: bool) -> Damage:
    def damage(memory: np.ndarray, index: int, leaf_page: int) -> None:
        memory[word(leaf_page if leaf else index)] = value

    return damage


TREE_DAMAGE: dict[str, Damage] = {
    "describe": _set(lambda page: leaf_column(page, 1) + 0, -7, leaf=True),
    "ascend strictly": _set(lambda page: leaf_column(page, 1) + 1, 0, leaf=True),
    "described by": _set(lambda page: index_column(page, 1), 3, leaf=False),
    r"described by \[5, 0, 9": _set(lambda page: index_column(page, 3), 9, leaf=False),
    "described by .* not .*": _set(lambda page: index_column(page, 4), 99, leaf=False),
    "has 7 of at most 6": _set(lambda page: page + ENTRIES, 7, leaf=True),
    "has 0 of at most": _set(lambda page: page + ENTRIES, 0, leaf=True),
    "says level 1": _set(lambda page: page + LEVEL, 1, leaf=True),
    "size class 9": _set(lambda page: page + SIZE_CLASS, 9, leaf=True),
    "has 0 references": _set(lambda page: page + REFERENCES, 0, leaf=True),
}


@pytest.mark.parametrize("message", TREE_DAMAGE)
def test_a_damaged_page_is_noticed(message: str) -> None:
    arena = Arena(reserve_bytes=1 << 28)
    tree = _tree(arena)
    check_invariants(tree)
    index = int(arena.memory[index_column(tree.root, 0)])
    leaf = int(arena.memory[index_column(index, 0)])
    assert arena.memory[leaf + LEVEL] == 0
    TREE_DAMAGE[message](arena.memory, index, leaf)
    with pytest.raises(AssertionError, match="described by" if message == "describe" else message):
        check_invariants(tree)


def test_a_wrong_number_of_rows_is_noticed() -> None:
    tree = _tree(Arena(reserve_bytes=1 << 28))
    tree.count += 1
    with pytest.raises(AssertionError, match="60 rows where 61 are counted"):
        check_invariants(tree)


@pytest.mark.parametrize(
    ("message", "damage"),
    [
        ("other references than counted", _set(lambda page: page + REFERENCES, 2, leaf=True)),
        (
            "words in use",
            lambda memory, index, leaf: memory.__setitem__(WORDS_IN_USE, memory[WORDS_IN_USE] + 8),
        ),
        (
            "free page .* has 1 references",
            lambda memory, index, leaf: memory.__setitem__(FREE_LISTS + 6, leaf),
        ),
        ("do not fill", _set(lambda page: page + SIZE_CLASS, 500, leaf=True)),
    ],
)
def test_a_damaged_arena_is_noticed(message: str, damage: Damage) -> None:
    arena = Arena(reserve_bytes=1 << 28)
    tree = _tree(arena)
    check_arena(arena, [tree, tree])
    index = int(arena.memory[index_column(tree.root, 0)])
    damage(arena.memory, index, int(arena.memory[index_column(index, 0)]))
    with pytest.raises(AssertionError, match=message):
        check_arena(arena, [tree])


def test_a_tree_that_is_alive_but_not_named_is_noticed() -> None:
    arena = Arena(reserve_bytes=1 << 28)
    tree = _tree(arena)
    other = tree.apply([np.array([1]), np.array([1]), np.array([1])])
    check_arena(arena, [tree, other])
    with pytest.raises(AssertionError, match="references"):
        check_arena(arena, [tree])
