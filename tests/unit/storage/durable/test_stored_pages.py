"""Pages of many versions in files that are written again and again: homes of files that are gone
serve new ones, and no version that is still there is read wrongly.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from lftj.scantree import Arena, Tree
from lftj.scantree.segment import ROOM, Segment, address_of
from lftj.scantree.watched_files import SUMS
from lftj.storage.durable import stored_pages
from lftj.storage.durable.stored_pages import StoredPages
from tests.unit.scantree.stored_trees import RESERVE, opened, same, tree_of

FEW = 8 * ROOM * 16
"""Bytes of an arena in which eight small segments find a home."""


def changed(tree: Tree, chance: random.Random) -> Tree:
    keys = np.array(sorted(chance.sample(range(5000), 40)))
    return tree.apply([keys // 7, keys, keys * 3])


def removed(folder: Path, kept: set[str]) -> None:
    for file in folder.iterdir():
        if file.name.removesuffix(SUMS) not in kept:
            file.unlink()


def written(pages: StoredPages, tree: Tree, *, anew: bool) -> tuple[int, list[Segment]]:
    """Address of a tree, and the segments it needs."""
    pages.append("one", [tree.root])
    if anew or not pages.there(pages.needed([address_of(tree.arena, tree.root)])):
        pages.rewrite("one", [tree.root])
    address = address_of(tree.arena, tree.root)
    return address, pages.needed([address])


@pytest.mark.parametrize("seed", range(4))
def test_homes_serve_again_and_again_and_every_version_is_read_as_it_was(
    seed: int, tmp_path: Path
) -> None:
    """Of some versions snapshots are held, which may be written once more, after their files have
    gone.
    """
    chance = random.Random(seed)
    arena = Arena(FEW)
    pages, tree, held = StoredPages(arena, tmp_path), tree_of(arena, 3000), list[Tree]()
    stored: list[tuple[Tree, int, list[Segment]]] = []
    for _ in range(120):
        tree = changed(tree, chance)
        held = [*held, tree][-8:]
        each = chance.choice(held)
        stored = [*stored, (each, *written(pages, each, anew=chance.random() < 0.6))][-2:]
        removed(tmp_path, {segment.name for *_, segments in stored for segment in segments})
        like, address, segments = chance.choice(stored)
        assert same(opened(tmp_path, segments, like, address), like)
    assert len(arena.homes) < 2 * stored_pages._HOMES


def test_a_file_in_which_pages_of_another_have_children_keeps_its_home(tmp_path: Path) -> None:
    arena = Arena(RESERVE)
    pages = StoredPages(arena, tmp_path)
    tree = tree_of(arena, 3000, leaf_capacity=4, fan=4)
    pages.append("one", [tree.root])
    later = tree.apply([np.array([0]), np.array([3]), np.array([5])])
    pages.append("two", [later.root])
    one, two = pages.needed([address_of(arena, later.root)])
    one, two = (one, two) if one.name.startswith("one") else (two, one)
    assert two.reads == (one.name,)
    pages.forget("one", [])
    removed(tmp_path, {two.name})
    assert pages._give_back() == set()
    assert address_of(arena, tree.root)
    assert not pages.there(pages.needed([address_of(arena, later.root)]))
    pages.forget("two", [])
    removed(tmp_path, set())
    assert pages._give_back() == {one.name, two.name}
    assert address_of(arena, tree.root) == address_of(arena, later.root) == 0
    assert (arena.taken, arena.homes) == ([], {})


def test_a_file_that_is_mapped_keeps_its_home(tmp_path: Path) -> None:
    arena, other = Arena(RESERVE), Arena(RESERVE)
    pages = StoredPages(arena, tmp_path)
    tree = tree_of(arena, 3000)
    pages.append("one", [tree.root])
    address = address_of(arena, tree.root)
    reading = StoredPages(other, tmp_path)
    found = opened(tmp_path, pages.needed([address]), tree, address, other)
    removed(tmp_path, set())
    assert reading._give_back() == set()
    assert same(found, tree)
    assert len(other.taken) == len(other.homes) == 1
