"""What an update of a recursive stratum will cost, from what changed below it and from what earlier
ones took [Elastic 4.3].
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lftj.join.context import Context
from lftj.maintenance.cost.cost_model import CHANGED, TOUCHED
from lftj.maintenance.counting.elastic_update import ElasticUpdate
from lftj.maintenance.counting.rule_queries import LOST, MOVED
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import NormalRule, Stratum
from lftj.storage.database import base_name
from lftj.storage.transient_relation import LooseRows

# What the first update of a state would have to make: plans, and key orders of many rows.

_USUAL = 0.01
"""The share of the rows that changes to make ready for are taken to move."""


def make_ready(
    state: StratumState, rules: Iterable[NormalRule], versions: Versions, context: Context
) -> None:
    """Plan for updates of the usual size, and build the key orders of the state that they read. O(n
    log n).
    """
    update = ElasticUpdate(state, rules, versions, context)
    for name, relation in state.relations.items():
        rows = relation.sample(int(_USUAL * relation.count))
        update.readings[name + MOVED] = LooseRows(update.moving[name], context.arena, rows)
        update.readings[name + LOST] = LooseRows(update.losing[name], context.arena, rows[:-1])
    for queries in update.rules:
        for query in (*queries.moved, *([queries.rediscovery] if queries.recursive else [])):
            for read, order in query.prepared(update.readings, context).plan.key_orders():
                update.readings[read].tree(order)


ALWAYS = 4_000_000
"""What an update may cost in any case (see `cost_model`): some twenty milliseconds."""
# as many times its share an update may take once it runs: what it took is lost when a bootstrap
# follows
_RUN_ON = 5
_BEYOND = 2  # how much more than it was allowed a given-up update is taken to need
_NO_LIMIT = 1 << 62
_MANY = 1000  # changed rows below which no share of a relation is too large
_WORTH = 2  # as many times its share a forecast may say, going by a bootstrap alone
_SEEN_WORTH = 3  # the same, going by earlier updates


@dataclass(frozen=True)
class Change:
    """What changed below a stratum: how many rows, the largest share of a relation that they are,
    and the sum of these shares.
    """

    rows: int
    share: float
    shares: float

    def effort(self, steps: int) -> float:
        """What an update will cost, going by a bootstrap of so many steps: rows that change took
        part in as many of them as other rows.
        """
        return CHANGED * self.rows + TOUCHED * steps * self.shares

    def hopeless(self, work: int, steps: int, context: Context) -> bool:
        """Whether it will cost too much, going by a bootstrap that took this work and so many
        steps.
        """
        return self.effort(steps) > max(ALWAYS, _WORTH * context.fraction * work)

    def large(self, context: Context) -> bool:
        """Whether it is too large a share for any update."""
        return self.rows > _MANY and self.share > context.fraction


def changes_below(stratum: Stratum, versions: Versions) -> Change:
    """What changed of what the stratum reads."""
    changed, share, shares = 0, 0.0, 0.0
    for name in {*stratum.reads, *map(base_name, stratum.relations)} & versions.deltas.keys():
        delta, rows = len(versions.deltas[name]), versions[name].count
        changed += delta
        share = max(share, delta / max(rows, delta))
        shares += delta / max(rows, delta)
    return Change(changed, share, shares)


def allowance(kept: StratumState, change: Change, context: Context) -> int | None:
    """The effort that an update may take until it is given up; None for one that is not worth
    starting.
    """
    share = _NO_LIMIT if math.isinf(context.fraction) else int(context.fraction * kept.work)
    expected = kept.expected(change.rows)
    least = max(ALWAYS, share)
    hopeless = (
        change.effort(kept.steps) > _WORTH * least
        if expected is None
        else expected > _SEEN_WORTH * least
    )
    return None if hopeless or change.large(context) else max(_WORTH * ALWAYS, _RUN_ON * share)


def disappointed(kept: StratumState, allowed: int, change: Change) -> StratumState:
    """The state, knowing that an update was given up."""
    return kept.experienced(_BEYOND * allowed, change.rows)
