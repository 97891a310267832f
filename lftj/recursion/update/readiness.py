"""What the first update of a state would have to make: plans, and key orders of many rows."""

from __future__ import annotations

from collections.abc import Iterable

from lftj.join.context import Context
from lftj.maintain.versions import Versions
from lftj.program.normal_form import NormalRule
from lftj.recursion.update.elastic_update import ElasticUpdate
from lftj.recursion.update.rule_queries import LOST, MOVED
from lftj.recursion.update.stratum_state import StratumState
from lftj.storage.loose_rows import LooseRows

_USUAL = 0.01
"""The share of the rows that changes to make ready for are taken to move."""


def make_ready(state: StratumState, rules: Iterable[NormalRule], versions: Versions, context: Context) -> None:
    """Plan for updates of the usual size, and build the key orders of the state that they read. O(n log n)."""
    update = ElasticUpdate(state, rules, versions, context)
    for name, relation in state.relations.items():
        rows = relation.sample(int(_USUAL * relation.count))
        update.readings[name + MOVED] = LooseRows(update.moving[name], context.arena, rows)
        update.readings[name + LOST] = LooseRows(update.losing[name], context.arena, rows[:-1])
    for queries in update.rules:
        for query in (*queries.moved, *([queries.rediscovery] if queries.recursive else [])):
            for read, order in query.prepared(update.readings, context).plan.key_orders():
                update.readings[read].tree(order)
