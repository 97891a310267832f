# SPDX-License-Identifier: Apache-2.0
"""The trees of a stored state, by number: what is written of each, and how it is found again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.scantree.segment import address_of
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion
from lftj.storage.widened_relation import WidenedRelation

TreeData = list[Any]
"""[address of the root, height, rows, key columns, value columns, aggregates]."""


class StoredTrees:
    """Numbers trees, each once. `shared`: those that other parts of the process have too, from
    `relations` that all have whole.
    """

    def __init__(self) -> None:
        self.trees: list[Tree] = []
        self.shared: set[int] = set()
        self._numbers: dict[int, int] = {}

    def number(self, tree: Tree, *, shared: bool = False) -> int:
        """The number of a tree, which is kept alive here."""
        number = self._numbers.setdefault(id(tree), len(self.trees))
        if number == len(self.trees):
            self.trees.append(tree)
        if shared:
            self.shared.add(number)
        return number

    def roots(self, *, shared: bool) -> list[int]:
        """The root pages of shared trees, or of the others."""
        return [
            tree.root for number, tree in enumerate(self.trees) if (number in self.shared) == shared
        ]

    def pack(self, words: int, growth: float, spare: int) -> bool:
        """Put packed trees in place of those that are not shared, where these take so many words,
        `growth` times what packed ones do and `spare` more; whether that was so.
        """
        own = [number for number in range(len(self.trees)) if number not in self.shared]
        if words <= growth * sum(self.trees[number].words_packed for number in own) + spare:
            return False
        for number in own:
            self.trees[number] = self.trees[number].packed()
        return True

    def written(self) -> list[TreeData]:
        """The trees as data, once all their pages have addresses."""
        return [
            [
                address_of(tree.arena, tree.root),
                tree.height,
                tree.count,
                tree.key_width,
                tree.value_width,
                list(map(list, tree.aggregates)),
            ]
            for tree in self.trees
        ]


class OpenedTrees:
    """Trees by number, over the pages that their roots became here."""

    def __init__(self, arena: Arena, data: Sequence[TreeData], pages: Iterable[int]):
        self.arena = arena
        self._data = data
        self._pages = list(pages)
        self._made: dict[int, Tree] = {}

    def __getitem__(self, number: int) -> Tree:
        if number not in self._made:
            _, height, count, keys, values, aggregates = self._data[number]
            empty = Tree.empty(
                self.arena,
                keys,
                values,
                aggregates=[(operator, column) for operator, column in aggregates],
            )
            with self.arena.lock:
                self._made[number] = tree = empty.version(self._pages[number], height)
            if tree.count != count:
                raise ValueError(f"{tree!r} where {count} rows were stored")
        return self._made[number]


# Relations of a stored state: their key orders, and changes that some of these do not have yet.

_WAITING = 64
"""Changed rows up to which a key order that no one reads is stored as it was, with the changes."""


def relation_data(
    relation: RelationVersion, trees: StoredTrees, *, shared: bool = False
) -> dict[str, Any]:
    """A relation as data."""
    if isinstance(relation, WidenedRelation):
        narrow = relation_data(relation.narrow, trees, shared=shared)
        values = trees.number(relation.values, shared=shared)
        width = relation.narrow.schema.arity
        return {"narrow": narrow, "width": width, "values": values}
    orders = [
        [
            list(order),
            trees.number(tree, shared=shared),
            [[_plain(change.inserts), _plain(change.erases)] for change in changes],
        ]
        for order, (tree, changes) in relation.kept_orders(_WAITING).items()
    ]
    return {"orders": orders, "bounds": relation.known_bounds}


def relation_of(
    data: dict[str, Any], schema: RelationSchema, trees: OpenedTrees
) -> RelationVersion:
    """The relation again. O(key orders)."""
    if "narrow" in data:
        first = replace(schema, columns=schema.columns[: data["width"]], key=None, choice=())
        narrow = relation_of(data["narrow"], first, trees)
        return WidenedRelation(schema, narrow, trees[data["values"]])
    orders = {
        tuple(order): (
            trees[number],
            [Delta(_columns(inserts), _columns(erases)) for inserts, erases in changes],
        )
        for order, number, changes in data["orders"]
    }
    bounds = data["bounds"] and [(low, high) for low, high in data["bounds"]]
    return RelationVersion.of_orders(schema, trees.arena, orders, bounds)


def _plain(columns: Columns) -> list[list[int]]:
    return [column.tolist() for column in columns]


def _columns(rows: list[list[int]]) -> Columns:
    return [np.array(column, np.int64) for column in rows]
