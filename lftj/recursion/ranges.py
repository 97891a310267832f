"""The ranges of values of each type in relations, by which row sets are laid out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from lftj.storage.relation import RelationVersion
from lftj.types import Type
from scantree import Tree
from scantree.read_kernels import read_ranks

Range = tuple[int, int]


def ranges_of_types(relations: Iterable[RelationVersion], types: Collection[Type]) -> dict[Type, Range]:
    """The least and the greatest code of each of these types in any column. O(log n) each where a key order starts with it, else O(n)."""
    found: dict[Type, Range] = {}
    for relation in relations:
        if not relation.count:
            continue
        ends = {order[0]: _ends(relation.tree(order)) for order in relation.orders()}
        wanted = [place for place, (_, type) in enumerate(relation.schema.columns) if type in types]
        columns = relation.columns() if not ends.keys() >= set(wanted) else []
        for place in wanted:
            type = relation.schema.columns[place][1]
            low, high = ends.get(place) or (int(columns[place].min()), int(columns[place].max()))
            known = found.get(type, (low, high))
            found[type] = (min(known[0], low), max(known[1], high))
    return found


def _ends(tree: Tree) -> Range:
    out = np.empty((tree.key_width, 2), np.int64)
    read_ranks(tree.arena.memory, tree.root, tree.height, np.array([0, tree.count - 1]), out)
    return int(out[0, 0]), int(out[0, 1])
