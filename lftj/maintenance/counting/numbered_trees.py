# SPDX-License-Identifier: Apache-2.0
"""Trees of a stratum by number, as kernels that run iterations know them
(`apply_iteration_kernels`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from lftj.maintenance.counting import apply_iteration_kernels as at
from lftj.maintenance.counting.apply_iteration_kernels import Trees
from lftj.scantree import Arena, Tree
from lftj.scantree.apply_kernels import words_to_change
from lftj.scantree.page_kernels import MAX_HEIGHT, REFERENCES, release
from lftj.storage.relation import Order


class NumberedTrees(ABC):
    """The trees of some relations. `ends`: for each relation a record of which numbers are its own,
    filled in with `_number`.
    """

    def __init__(self, relations: int, words: int, arena: Arena):
        self.ends = np.zeros((relations, words), np.int64)
        self._arena = arena
        self._numbers: dict[tuple[str, Order], int] = {}
        self._trees: list[Tree] = []

    def _number(self, name: str, order: Order, tree: Tree, record: np.ndarray, end: int) -> None:
        self._numbers[name, order] = len(self._trees)
        self._trees.append(tree)
        record[end] = len(self._trees)

    @cached_property
    def words(self) -> Trees:
        """Arrays for kernels, once all trees have their numbers."""
        orders = np.zeros(
            (len(self._trees), max(len(order) for _, order in self._numbers)), np.int64
        )
        for (_, order), number in self._numbers.items():
            orders[number, : len(order)] = order
        records = np.zeros((len(self._trees), at.TREE_WORDS), np.int64)
        return Trees(
            self.ends, records, np.array([tree.layout for tree in self._trees], np.int64), orders
        )

    def number(self, name: str, order: Order) -> tuple[int, int] | None:
        """The number of the tree that an atom reads, and whether as it was before the iteration;
        None for one that iterations leave alone.
        """
        plain, before = self._version(name)
        if (found := self._numbers.get((plain, order))) is None and not order:
            found = next(
                (number for (other, _), number in self._numbers.items() if other == plain), None
            )
        return None if found is None else (found, int(before))

    @abstractmethod
    def _version(self, name: str) -> tuple[str, bool]:
        """The relation that an atom reads by this name, and whether as before the iteration."""

    def room_for(self, rows: int) -> int:
        """No fewer words of the arena than an iteration takes in which so many rows of each
        relation are due; there is room for two such iterations, if that can be.
        """
        need = sum(
            int(words_to_change(tree.layout, MAX_HEIGHT, 2 * rows, rows, self._arena.memory.size))
            for tree in self._trees
        )
        self._arena.offer(2 * need)
        return need

    def hold(self) -> None:
        """Give every tree's root a reference of the iterations' own. Call with the arena's lock
        held, as `publish`.
        """
        for record, tree in zip(self.words.records, self._trees, strict=True):
            record[at.ROOT] = record[at.ROOT_BEFORE] = tree.root
            record[at.HEIGHT] = record[at.HEIGHT_BEFORE] = tree.height
            if tree.root:
                self._arena.memory[tree.root + REFERENCES] += 1

    def _published(self, name: str) -> dict[Order, Tree]:
        """Trees of a relation after a run, the identity order first; takes the references back."""
        return {
            order: self._version_of(number)
            for (read, order), number in self._numbers.items()
            if read == name
        }

    def _version_of(self, number: int) -> Tree:
        root, height = (int(word) for word in self.words.records[number, : at.HEIGHT + 1])
        tree = self._trees[number]
        if root != tree.root:
            tree = tree.version(root, height)
        release(self._arena.memory, root)
        return tree
