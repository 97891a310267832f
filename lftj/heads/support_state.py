"""Support counts between commits."""

from __future__ import annotations

from lftj.storage.delta import Delta
from scantree import Tree
from scantree.rows import sort_and_count


class SupportState:
    def __init__(self, tree):
        self.tree = tree

    @staticmethod
    def build(arena, columns, counts):
        if not len(counts):
            return SupportState(Tree.empty(arena, len(columns), 1))
        return SupportState(Tree.build(arena, columns, [counts]))

    def update(self, columns, signed):
        rows, change = sort_and_count(columns, signed)
        _, (had,) = self.tree.lookup(rows)
        after = had + change
        assert (after >= 0).all()
        up = (after > 0) & (change != 0)
        gone = (had > 0) & (after == 0)
        new = (had == 0) & (after > 0)
        t = self.tree.apply([*(c[up] for c in rows), after[up]], [c[gone] for c in rows])
        return SupportState(t), Delta([c[new] for c in rows], [c[gone] for c in rows])

    @property
    def memory(self):
        return len(self.tree) * 8 * (self.tree.key_width + 1)
