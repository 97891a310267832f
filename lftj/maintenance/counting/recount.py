# SPDX-License-Identifier: Apache-2.0
"""Supports counted anew, to check those that updates keep."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.counting.derivation_count import (
    UNCOUNTED,
    iterations_of,
    proofs_of,
    standing,
)
from lftj.maintenance.counting.rule_queries import Readings
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.scantree.rows import locate, sort_order
from lftj.storage.database import base_name
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, Source

Recounted = dict[str, tuple[Columns, np.ndarray, np.ndarray]]
"""Rows of each relation, their derivation counts as kept, and as they have to be."""


def recounted(
    state: StratumState, relations: Mapping[str, RelationVersion], context: Context
) -> Recounted:
    """The rows of a stratum with their derivation counts, which are to be equal: the support of a
    row is the number of its derivations from rows of lower ranks, at least one. What is not counted
    is right where it claims no more. O(derivations) time; some million are in memory at a time.
    """
    versions = Versions(relations, relations, {}, context.resources.arena)
    readings = Readings(versions)
    for name, relation in state.relations.items():
        readings[Source(name, Role.ITERATED)] = relation
    supports: dict[str, np.ndarray] = {}
    rows: dict[str, Columns] = {}
    for name, relation in state.relations.items():
        rows[name], base = relation.rows(), base_name(name)
        given = relations[base].contains(rows[name]) if base in relations else None
        supports[name] = np.zeros(relation.count, np.int64) if given is None else given.astype(int)
    ranks = {
        name: iterations_of(relation.columns()[-1]) for name, relation in state.relations.items()
    }
    for queries in state.rules:
        name = queries.rule.relation
        for heads, iterations, counts in queries.added.run_in_parts(readings, context):
            order = sort_order(heads)
            places, there = locate([column.take(order) for column in heads], rows[name])
            lower = there & (iterations.take(order) <= ranks[name].take(places))
            np.add.at(supports[name], places[lower], counts.take(order)[lower])
    return {
        name: (rows[name], words := relation.columns()[-1], _right(words, supports[name]))
        for name, relation in state.relations.items()
    }


def _right(words: np.ndarray, supports: np.ndarray) -> np.ndarray:
    claimed = proofs_of(words) - UNCOUNTED
    bounded = (claimed >= 0) & (claimed <= supports) & (supports > 0)
    return np.where(bounded, words, standing(iterations_of(words), supports))
