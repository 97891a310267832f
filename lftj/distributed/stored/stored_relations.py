"""Relations of a stored state: their key orders, and changes that some of these do not have yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from lftj.distributed.stored.stored_trees import OpenedTrees, StoredTrees
from lftj.join.statistics import RelationStatistics, Statistics
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion

_WAITING = 64
"""Changed rows up to which a key order that no one reads is stored as it was, with the changes."""


def relation_data(relation: RelationVersion, trees: StoredTrees, *, shared: bool = False) -> dict[str, Any]:
    """A relation as data."""
    orders = [
        [list(order), trees.number(tree, shared=shared), [[_plain(change.inserts), _plain(change.erases)] for change in changes]]
        for order, (tree, changes) in relation.kept_orders(_WAITING).items()
    ]
    return {"orders": orders, "bounds": relation.known_bounds}


def relation_of(data: dict[str, Any], schema: RelationSchema, trees: OpenedTrees) -> RelationVersion:
    """The relation again. O(key orders)."""
    orders = {
        tuple(order): (trees[number], [Delta(_columns(inserts), _columns(erases)) for inserts, erases in changes])
        for order, number, changes in data["orders"]
    }
    bounds = data["bounds"] and [(low, high) for low, high in data["bounds"]]
    return RelationVersion.of_orders(schema, trees.arena, orders, bounds)


def statistics_data(statistics: Statistics) -> dict[str, Any]:
    """Estimates as data."""
    return {name: [about.rows, list(about.distinct), list(about.crowds)] for name, about in dict(statistics.known).items()}


def statistics_of(data: dict[str, Any]) -> Statistics:
    """The estimates again."""
    return Statistics({name: RelationStatistics(rows, tuple(distinct), tuple(crowds)) for name, (rows, distinct, crowds) in data.items()})


def _plain(columns: Columns) -> list[list[int]]:
    return [column.tolist() for column in columns]


def _columns(rows: list[list[int]]) -> Columns:
    return [np.array(column, np.int64) for column in rows]
