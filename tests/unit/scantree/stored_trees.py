"""A tree, stored in files, and opened in another arena; whether two trees are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lftj.scantree import Arena, Tree
from lftj.scantree.invariants import check_invariants
from lftj.scantree.segment import Segment, open_segments

RESERVE = 1 << 32


def tree_of(arena: Arena, rows: int, **options: object) -> Tree:
    key = np.arange(rows, dtype=np.int64)
    return Tree.build(arena, [key // 7, key], [key * 3], aggregates=[("max", 2)], **options)


def opened(
    folder: Path, segments: list[Segment], like: Tree, address: int, arena: Arena | None = None
) -> Tree:
    arena = arena or Arena(RESERVE)
    (root,) = open_segments(arena, folder, segments, [address])
    capacities = {"leaf_capacity": int(like.layout[2]), "fan": int(like.layout[3])}
    empty = Tree.empty(
        arena, like.key_width, like.value_width, aggregates=like.aggregates, **capacities
    )
    with arena.lock:
        return empty.version(root, like.height)


def same(one: Tree, other: Tree) -> bool:
    check_invariants(one)
    return all(np.array_equal(a, b) for a, b in zip(one.columns(), other.columns(), strict=True))
