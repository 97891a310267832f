# SPDX-License-Identifier: Apache-2.0
"""Checks of everything that must hold of a tree and of the arena at all times; for tests, at O(n)
of slow code.

`check_invariants` looks at one version, `check_arena` at the whole arena, given every tree in it
that is alive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from lftj.scantree.arena import Arena, Words
from lftj.scantree.page_kernels import (
    ARENA_HEADER,
    BIRTH,
    BIRTHS,
    ENTRIES,
    FAN_CAPACITY,
    FIRST_AGGREGATE,
    FREE_LISTS,
    HEADER,
    LEAF_CAPACITY,
    LEVEL,
    MAX_HEIGHT,
    MIN,
    NEXT_FREE,
    NEXT_WORD,
    PAGE_FAN,
    PAGE_ROWS,
    REFERENCES,
    SIZE_CLASS,
    SIZE_CLASSES,
    SUM,
    WORDS_IN_USE,
    index_column,
    leaf_column,
)
from lftj.scantree.tree import Tree


def _require(holds: object, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _children(memory: Words, page: int) -> list[int]:
    return memory[
        index_column(page, 0) : index_column(page, 0) + int(memory[page + ENTRIES])
    ].tolist()


class _Checker:
    """The invariants of the pages of one tree."""

    def __init__(self, tree: Tree) -> None:
        self.memory = tree.arena.memory
        self.layout: list[int] = tree.layout.tolist()
        self.keys = tree.key_width
        self.width = tree.key_width + tree.value_width
        self.pairs = list(
            zip(self.layout[FIRST_AGGREGATE::2], self.layout[FIRST_AGGREGATE + 1 :: 2], strict=True)
        )

    def _page(self, page: int, level: int) -> int:
        """The entries of a page, whose header is checked."""
        header = self.memory[page : page + HEADER]
        size_class = (
            self.width * (PAGE_ROWS // PAGE_FAN) if level == 0 else 2 + self.keys + len(self.pairs)
        )
        capacity = self.layout[LEAF_CAPACITY if level == 0 else FAN_CAPACITY]
        _require(header[LEVEL] == level, f"page {page} at level {level} says level {header[LEVEL]}")
        _require(
            1 <= header[ENTRIES] <= capacity,
            f"page {page} has {header[ENTRIES]} of at most {capacity} entries",
        )
        _require(
            header[SIZE_CLASS] == size_class,
            f"page {page} has size class {header[SIZE_CLASS]}, not {size_class}",
        )
        _require(
            header[REFERENCES] >= 1,
            f"page {page} is in a tree but has {header[REFERENCES]} references",
        )
        return int(header[ENTRIES])

    def rows(self, page: int, level: int) -> np.ndarray:
        """The rows of a subtree, shape width × n, every page of which is checked against them."""
        entries = self._page(page, level)
        if level == 0:
            return np.array(
                [
                    self.memory[leaf_column(page, c) : leaf_column(page, c) + entries]
                    for c in range(self.width)
                ]
            )
        parts = [self.rows(child, level - 1) for child in _children(self.memory, page)]
        for slot, part in enumerate(parts):
            found = [
                int(self.memory[index_column(page, 1 + i) + slot])
                for i in range(1 + self.keys + len(self.pairs))
            ]
            expected = [
                part.shape[1],
                *part[: self.keys, 0].tolist(),
                *(_aggregate(*pair, part) for pair in self.pairs),
            ]
            _require(
                found == expected,
                f"child {slot} of page {page} is described by {found}, not {expected}",
            )
        return np.hstack(parts)


def _aggregate(operator: int, column: int, rows: np.ndarray) -> int:
    values = rows[column]
    if operator == SUM:
        return int(np.add.reduce(values))  # wraps, as the tree's does
    return int(values.min() if operator == MIN else values.max())


def check_invariants(tree: Tree) -> None:
    """AssertionError unless the tree is one: ordered and distinct keys, true counts, least keys and
    aggregates, sizes within bounds.
    """
    if tree.root == 0:
        _require(
            tree.count == 0 and tree.height == 0, "a tree without pages has no rows and no height"
        )
        return
    _require(0 <= tree.height <= MAX_HEIGHT, f"height {tree.height}")
    rows = _Checker(tree).rows(tree.root, tree.height)
    _require(rows.shape[1] == tree.count, f"{rows.shape[1]} rows where {tree.count} are counted")
    keys = list(zip(*rows[: tree.key_width].tolist(), strict=True))
    _require(all(a < b for a, b in pairwise(keys)), "keys do not ascend strictly")
    if tree.height:
        _require(len(_children(tree.arena.memory, tree.root)) > 1, "the root has a single child")


def _free_pages(memory: Words) -> Iterator[int]:
    for size_class in range(SIZE_CLASSES):
        page = int(memory[FREE_LISTS + size_class])
        while page != 0:
            _require(
                memory[page + SIZE_CLASS] == size_class,
                f"free page {page} is on the list of another size",
            )
            _require(
                memory[page + REFERENCES] == -1,
                f"free page {page} has {memory[page + REFERENCES]} references",
            )
            yield page
            page = int(memory[page + NEXT_FREE])


def _references(memory: Words, trees: Iterable[Tree]) -> Counter[int]:
    """Count the trees and parents that refer to each reachable page."""
    references: Counter[int] = Counter()
    for tree in {id(tree): tree for tree in trees}.values():
        stack = [tree.root] if tree.root else []
        while stack:
            page = stack.pop()
            references[page] += 1
            if references[page] == 1 and memory[page + LEVEL] > 0:
                stack += _children(memory, page)
    return references


def check_arena(arena: Arena, trees: Iterable[Tree]) -> None:
    """AssertionError unless exactly the pages of these trees are in use, with true reference
    counts, and every other page is free.

    `trees` must be all trees of the arena that are alive; giving one twice does no harm.
    """
    with arena.lock:
        arena.sweep()
        memory = arena.memory
        references = _references(memory, trees)
        wrong = {
            page: (n, int(memory[page + REFERENCES]))
            for page, n in references.items()
            if memory[page + REFERENCES] != n
        }
        _require(not wrong, f"pages with other references than counted (true, counted): {wrong}")
        free = list(_free_pages(memory))
        _require(len(set(free)) == len(free), "a page is free twice")
        page, in_use, births, seen = ARENA_HEADER, 0, set(), set()
        while page < memory[NEXT_WORD]:
            words = HEADER + int(memory[page + SIZE_CLASS]) * PAGE_FAN
            in_use += words if page in references else 0
            births.add(int(memory[page + BIRTH]))
            seen.add(page)
            page += words
        _require(page == memory[NEXT_WORD], "pages do not fill the words taken")
        _require(
            seen == {*references, *free} and len(seen) == len(references) + len(free),
            "a page is lost, or free and in use",
        )
        _require(
            in_use == memory[WORDS_IN_USE], f"{in_use} words in use, {memory[WORDS_IN_USE]} counted"
        )
        _require(
            len(births) == len(seen) and max(births, default=0) <= memory[BIRTHS],
            "two pages have one birth number",
        )
