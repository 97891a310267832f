# SPDX-License-Identifier: Apache-2.0
"""Strategies for a recursive stratum with `min` or `max`: an update, a continuation from its rows,
or an evaluation from nothing.

After insertions, and after rules were added, iterations continue from the rows, without counts. So
proofs are counted at the first change that may delete rows, if such changes are expected to be
cheap: the proofs of the rows before this change. This change and later ones, insertions too, are
then updates (`lattice_update`), with the budgets of other counted strata (`counted_update`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ITERATION, OFFER, ROW_ALONE, STEP
from lftj.maintenance.counting.counted_update import CountedUpdate, Update
from lftj.maintenance.counting.rule_change import NO_CHANGE
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import UNCOUNTABLE, StratumState, Uncounted
from lftj.storage.database import base_name
from lftj.storage.delta import Delta

if TYPE_CHECKING:
    from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint


class _OfBest(Strategy[Followed]):
    """An attempt at a stratum that keeps best values."""

    change: StratumChange

    @cached_property
    def known(self) -> Uncounted | None:
        """Knowledge of its rows, which may be those of an update that was given up; None where
        they are of no use.
        """
        change, kept = self.change, self.change.known(self.state)
        if isinstance(kept, Uncounted):
            return change.with_experience(kept, kept)
        if kept is None or kept.lattices != change.lattices or not change.keeps_counts:
            return None
        return change.with_experience(Uncounted(work=kept.work, steps=kept.steps), kept)

    @cached_property
    def changed(self) -> Mapping[str, Delta]:
        """The changes of what it reads."""
        read = {*self.change.stratum.reads, *map(base_name, self.change.schemas)}
        deltas = self.change.versions.deltas
        return {name: deltas[name] for name in read & deltas.keys()}

    @cached_property
    def only_grows(self) -> bool:
        """Tell whether no change may take rows away."""
        rules = self.change.rule_change
        negated = {atom.relation for rule in self.change.rules for atom in rule.negated}
        erased = any(delta.erased for delta in self.changed.values())
        return rules is not None and not (rules.went or erased or negated & self.changed.keys())

    def finished(self, fixpoint: MonotoneFixpoint, outcome: str, *, went_on: bool) -> Followed:
        """The stratum after the iterations of a fixpoint that has begun: from nothing, or as one
        that `went_on`. Proofs are not counted: the next change that may take rows away does that,
        where it is worth it.
        """
        change = self.change
        budget, (steps, found) = change.context.budget, self._before
        old = {name: change.versions[name] for name in change.schemas}
        rows = fixpoint.finish()
        deltas = {
            name: each.difference(old[name]) if went_on else old[name].change_to(each.columns())
            for name, each in rows.items()
        }
        steps, found = budget.work - steps, budget.found - found
        count = sum(version.count for version in rows.values())
        work = STEP * steps + OFFER * found + ITERATION * fixpoint.iterations
        work += fixpoint.few.cost + ROW_ALONE * count
        kept = Uncounted() if self.known is None else self.known
        if not went_on or 2 * sum(version.count for version in old.values()) < count:
            kept = replace(kept, work=work, steps=steps)
        return Followed(deltas, kept, outcome, change.below.rows)

    def fixpoint(self) -> MonotoneFixpoint:
        """Iterations of improvement that have not begun; steps count from here."""
        from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint

        change = self.change
        self._before = change.context.budget.work, change.context.budget.found
        return MonotoneFixpoint(
            change.schemas, change.lattices, change.rules, change.versions, change.context
        )


class BestUpdate(_OfBest, CountedUpdate):
    """An update of a stratum whose proofs of best values are counted, or are at the first change
    that may take rows away: the proofs that rows had before it, so they are not found again for
    that.
    """

    name = "counting best values"
    gate = "roads close"

    def applies(self) -> bool:
        """Tell whether proofs are counted, of these very best values, or rows may go that are not
        counted, by changes below and not of rules.
        """
        change = self.change
        if not isinstance(self.state, Uncounted | None):
            return self.counted and self.state.lattices == change.lattices
        possible = self.state is not None and change.keeps_counts
        return possible and change.rule_change == NO_CHANGE and not self.only_grows

    def forecast(self) -> Cost:
        """The same; proofs, whose count has no bound, are not counted for what would take too
        much.
        """
        cost = super().forecast()
        most = math.inf if cost.allowed is None else cost.allowed
        vain = isinstance(self.state, Uncounted) and self.change.hopeless(self.state, most)
        return cost._replace(worthwhile=cost.worthwhile and not vain)

    def run(self) -> Followed | Exhausted:
        """The stratum, updated from the counts that there are, or are made."""
        if isinstance(self.state, Uncounted):
            with self.change.context.budget.allow(None):
                state = self._proven_before()
            if state is None:
                assert self.known is not None
                spent, changes = UNCOUNTABLE.spent, UNCOUNTABLE.changes
                return Exhausted(Why.PASS, replace(self.known, spent=spent, changes=changes))
            self.state, self.change.proven = state, True
        return super().run()

    def _proven_before(self) -> StratumState | None:
        """The state of the rows before the change; None where they cannot be counted."""
        from lftj.maintenance.lattice.lattice_update import prove

        change, old, known = self.change, self.change.versions.old, self.known
        assert known is not None
        like = StratumState.empty(change.schemas, change.context.resources.arena)
        like = replace(like, lattices=change.lattices)
        rows = {name: old[name] for name in change.schemas}
        try:
            state = prove(like, change.rules, rows, old, change.context, patient=change.patient)
        except OverflowError:
            return None
        if state is None:
            return None
        return replace(state, work=known.work, spent=known.spent, changes=known.changes)

    def begin(self) -> Update:
        """The update of the counts."""
        from lftj.maintenance.lattice.lattice_update import MonotoneUpdate

        change = self.change
        return MonotoneUpdate(self.state, change.rules, change.versions, change.context)


class Improvement(_OfBest):
    """Iterations of improvement from the rows there are, after a change that takes nothing away."""

    name = "improvement"
    gate = "roads open"

    def applies(self) -> bool:
        """Tell whether there are rows of these rules that stay, and no update of counts."""
        if self.known is None or not self.only_grows:
            return False
        return isinstance(self.state, Uncounted | None) or self.change.tried is not None

    def run(self) -> Followed:
        """The stratum, from its rows."""
        change, fixpoint = self.change, self.fixpoint()
        assert change.rule_change is not None
        old = {name: change.versions[name] for name in change.schemas}
        inserted = {name: delta.inserts for name, delta in self.changed.items()}
        fixpoint.go_on(old, inserted, change.rule_change.came)
        outcome = "update" if change.tried is None else change.outcome
        return self.finished(fixpoint, outcome, went_on=True)


class ImprovementFromNothing(_OfBest):
    """Iterations of improvement from nothing."""

    name = "improvement from nothing"
    needed = True

    def run(self) -> Followed:
        """The stratum, from nothing."""
        fixpoint = self.fixpoint()
        fixpoint.start()
        return self.finished(fixpoint, self.change.outcome, went_on=False)
