"""Forecast of the cost of updating a recursive stratum, from the changes below it and the cost of
earlier updates [Elastic 4.3].
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from lftj.join.context import Context
from lftj.maintenance.cost.cost_model import CHANGED, SEEN_CHANGES, TOUCHED
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, Stratum
from lftj.scantree.frozen import frozen
from lftj.storage.database import base_name
from lftj.storage.transient_relation import TransientRelation
from lftj.types.sources import Role, Source

_ELASTIC_RUNNING = 5
"""Times its share that an update may take once it runs: what it took is lost when a bootstrap
follows.
"""
_ELASTIC_SEEN = 3
"""Times its share that a forecast may say which goes by earlier updates."""
_USUAL_CHANGE = 0.01
"""Share of the rows that the first update is taken to move: plans and key orders are made for it.
"""
ELASTIC_GIVEN_UP = 2
"""Times what it was allowed that an update given up is taken to need."""

# What the first update of a state would have to make: plans, and key orders of many rows.


def make_ready(
    state: StratumState, rules: Iterable[NormalRule], versions: Versions, context: Context
) -> None:
    """Plan for updates of the usual size, and build the key orders of the state that they read. O(n
    log n).
    """
    from lftj.maintenance.counting.elastic_update import ElasticUpdate

    update = ElasticUpdate(state, rules, versions, context)
    for name, relation in state.relations.items():
        rows = relation.sample(int(_USUAL_CHANGE * relation.count))
        update.readings[Source(name, Role.MOVED)] = TransientRelation(
            update.moving[name], context.resources.arena, rows
        )
        update.readings[Source(name, Role.DELETED)] = TransientRelation(
            update.over_deleting[name], context.resources.arena, rows[:-1]
        )
    for queries in update.rules:
        for query in (*queries.moved, *([queries.rediscovery] if queries.recursive else [])):
            for read, order in query.prepared(update.readings, context).plan.key_orders():
                update.readings[read].tree(order)


_NO_LIMIT = 1 << 62


@frozen
class Change:
    """Change below a stratum: the number of rows, the largest share of a relation that they are,
    and the sum of these shares.
    """

    rows: int
    share: float
    shares: float

    def cost(self, steps: int) -> float:
        """Expected cost of an update, by a bootstrap of so many steps: changed rows took part in as
        many of them as other rows.
        """
        return CHANGED * self.rows + TOUCHED * steps * self.shares

    def hopeless(self, work: int, steps: int, context: Context) -> bool:
        """Test for a change that will cost too much, by a bootstrap that took this work and so many
        steps.
        """
        tuning = context.tuning
        share = tuning.elastic_forecast * context.fraction * work
        return self.cost(steps) > max(tuning.elastic_steps, share)

    def large(self, context: Context) -> bool:
        """Test for a change that is too large a share for any update."""
        return self.rows > context.tuning.large_change and self.share > context.fraction


def changes_below(stratum: Stratum, versions: Versions) -> Change:
    """Change of the stratum's input."""
    changed, share, shares = 0, 0.0, 0.0
    for name in {*stratum.reads, *map(base_name, stratum.relations)} & versions.deltas.keys():
        delta, rows = len(versions.deltas[name]), versions[name].count
        changed += delta
        share = max(share, delta / max(rows, delta))
        shares += delta / max(rows, delta)
    return Change(changed, share, shares)


def allowance(kept: StratumState, change: Change, context: Context) -> int | None:
    """The effort that an update may take until it is given up; None for one that is not worth
    starting. A share of what the state cost, which is lost with it, but not of many evaluations.
    Where only the share of the rows that changed speaks against the update it is tried out.
    """
    tuning = context.tuning
    anew = min(kept.work, int(tuning.rows_counted * kept.alone) if kept.alone else _NO_LIMIT)
    always = min(tuning.elastic_steps, tuning.rows_least if kept.alone else _NO_LIMIT)
    share = _NO_LIMIT if math.isinf(context.fraction) else int(context.fraction * anew)
    expected = kept.expected(change.rows, SEEN_CHANGES)
    least = max(always, share)
    if change.large(context) or (expected or 0) > _ELASTIC_SEEN * least:
        return None
    if expected is None and change.cost(kept.steps) > tuning.elastic_forecast * least:
        return max(always, int(tuning.rows_tried * kept.alone)) if kept.alone else None
    return max(tuning.elastic_forecast * always, _ELASTIC_RUNNING * share)


def disappointed(kept: StratumState, allowed: int, change: Change) -> StratumState:
    """The state, knowing that an update was given up."""
    return kept.experienced(ELASTIC_GIVEN_UP * allowed, change.rows)
