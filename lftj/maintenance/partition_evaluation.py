# SPDX-License-Identifier: Apache-2.0
"""The partitions of a recursive stratum that a change touches, evaluated anew, as a strategy."""

from __future__ import annotations

from dataclasses import replace

from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import Meter, Spent
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Uncounted
from lftj.maintenance.semi_naive.packed_rows import Iteration
from lftj.scantree.rows import differences
from lftj.storage.delta import Delta, stored_width


class AffectedPartitions(Strategy[Followed]):
    """An evaluation of the touched partitions from nothing, compared with what they were."""

    name = "affected partitions"
    gate = "day plans"
    change: StratumChange

    def applies(self) -> bool:
        """Tell whether there are some, of a stratum that keeps no counts."""
        change = self.change
        untried = change.tried is None or change.gave_up(Why.FORECAST)
        return isinstance(self.state, Uncounted) and untried and change.partitions is not None

    def run(self) -> Followed | Exhausted:
        """The stratum; all of it takes at least what these partitions took."""
        change, touched = self.change, self.change.partitions
        assert touched is not None
        if not len(touched.values):
            empty = {
                name: Delta.empty(stored_width(schema.arity))
                for name, schema in change.schemas.items()
            }
            return Followed(empty, self.state, "parts")
        versions, context = change.versions, change.context
        meter = Meter(context)
        old = touched.rows(versions)
        known = self.state.trail
        trail: list[Iteration] | None = None if known is None else []
        new = change.close(touched.closure(versions, context, trail))
        if isinstance(new, Exhausted):
            return new._replace(state=self.state)
        spent = meter.spent(sum(len(rows[0]) for rows in new.values()))
        kept: Uncounted = self.state
        if not trail and any(len(rows[0]) for rows in new.values()):
            known = None  # rows came that no iteration was noted for
        elif known is not None:
            rows = sum(versions[name].count for name in change.schemas)
            known = known.after(old, trail or (), rows)
        most = Spent(*map(max, spent, (kept.work, kept.steps)))
        kept = replace(kept, **most._replace(iterations=spent.iterations)._asdict(), trail=known)
        deltas = {name: Delta(*differences(new[name], old[name])) for name in change.schemas}
        return Followed(deltas, kept, "parts")
