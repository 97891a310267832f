# SPDX-License-Identifier: Apache-2.0
"""The rows of a recursive stratum from nothing, without counts [Elastic, Algorithm 2]: the
strategies for where nothing else is to be had, or was worth its cost.
"""

from __future__ import annotations

from dataclasses import replace

from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import Meter
from lftj.maintenance.counting.patience import Patience
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import (
    UNCOUNTABLE,
    Uncounted,
)
from lftj.maintenance.counting.trail import Trail
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.semi_naive.packed_rows import Iteration


class FromNothing(Strategy[Followed]):
    """An evaluation from nothing, however long it takes."""

    name = "from nothing"
    needed = True
    change: StratumChange
    patient = False

    def run(self) -> Followed | Exhausted:
        """The stratum, and what its rows took."""
        change, kept = self.change, self._kept()
        meter = Meter(change.context)
        trail: list[Iteration] | None = [] if self._noting else None
        found = change.close(
            Closure(
                change.schemas,
                change.stratum.rules,
                change.versions,
                change.context,
                after_iteration=Patience(change.context).after_iteration if self.patient else None,
                trail=trail,
                begun=change.begun,
            )
        )
        if isinstance(found, Exhausted):
            return found._replace(state=kept)
        kept = replace(kept, trail=Trail.of(change.schemas, trail) if trail else None)
        return self._found(found, kept, meter)

    @property
    def _noting(self) -> bool:
        """Tell whether the trail is noted: where deletions may be followed by ranks. Walks need
        none.
        """
        change = self.change
        return (
            change.keeps_counts
            and change.countable
            and not (change.least or change.lattices)
            and all(schema.arity for schema in change.schemas.values())
        )

    def _kept(self) -> Uncounted:
        if self.change.gave_up(Why.PROOFS):
            return UNCOUNTABLE
        if self.change.gave_up(Why.LONG_CHAIN):
            return self.state
        return self.change.uncounted(self.state)

    def _found(self, found: dict[str, Columns], kept: Uncounted, meter: Meter) -> Followed:
        change = self.change
        rows = sum(len(columns[0]) for columns in found.values())
        spent = meter.spent(rows)
        kept = replace(kept, **spent._asdict())
        return change.replaced(found, kept)


class PatientlyFromNothing(FromNothing):
    """An evaluation from nothing, until its iterations turn out to be those of a long chain."""

    patient = True

    def applies(self) -> bool:
        """Tell whether a long chain could be followed otherwise, and has not been tried."""
        change = self.change
        return (
            change.patient
            and change.countable
            and change.decided
            and not change.gave_up(Why.PROOFS, Why.LONG_CHAIN)
        )
