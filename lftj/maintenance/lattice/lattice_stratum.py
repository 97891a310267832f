# SPDX-License-Identifier: Apache-2.0
"""Strategies for a recursive stratum with `min` or `max`: an update, a continuation from its rows,
or an evaluation from nothing.

After insertions, and after rules were added, iterations continue from the rows, without counts. So
proofs are counted at the first change that may delete rows, if such changes are expected to be
cheap: the proofs of the rows before this change. This change and later ones, insertions too, are
then updates (`lattice_update`), with the budgets of other counted strata (`counted_update`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.join.run.evaluate import Relations
from lftj.join.strategy import Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ITERATION, ROW_ALONE, STEP
from lftj.maintenance.counting.counted_update import CountedUpdate, Update
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import UNCOUNTABLE, Kept, StratumState, Uncounted
from lftj.storage.database import base_name
from lftj.storage.delta import Delta

if TYPE_CHECKING:
    from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint


class BestUpdate(CountedUpdate):
    """An update of a stratum whose proofs of best values are counted."""

    name = "counting best values"
    gate = "roads close"

    def applies(self) -> bool:
        """Tell whether proofs are counted, of these very best values."""
        return self.counted and self.state.lattices == self.change.lattices

    def begin(self) -> Update:
        """The update of the counts."""
        from lftj.maintenance.lattice.lattice_update import MonotoneUpdate

        change = self.change
        return MonotoneUpdate(self.state, change.rules, change.versions, change.context)


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
            return kept
        if kept is None or kept.lattices != change.lattices or not change.keeps_counts:
            return None
        return replace(change.uncounted(kept), work=kept.work, steps=kept.steps)

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

    @property
    def counts_due(self) -> bool:
        """Tell whether a change that may take rows away is one at which proofs are counted."""
        kept = self.change.known(self.state)
        return (
            isinstance(kept, Uncounted)
            and not self.only_grows
            and self.change.keeps_counts
            and not self.change.hopeless(kept)
        )

    @property
    def empty(self) -> StratumState:
        """A state without rows or rules."""
        change = self.change
        state = StratumState.empty(change.schemas, change.context.resources.arena)
        return replace(state, lattices=change.lattices)

    def proven(self, like: StratumState, rows: Relations, work: int, below: Relations) -> Kept:
        """The state with these rows over relations `below`, `work` being what they took: less than
        evaluation from nothing if there were rows to go on from.
        """
        from lftj.maintenance.lattice.lattice_update import prove

        change = self.change
        try:
            state = prove(like, change.rules, rows, below, change.context, patient=change.patient)
        except OverflowError:
            return UNCOUNTABLE
        if state is None:
            return UNCOUNTABLE
        return replace(
            state,
            work=max(like.work, state.work + work),
            spent=like.spent,
            changes=like.changes,
        )

    def finished(self, fixpoint: MonotoneFixpoint, outcome: str, *, went_on: bool) -> Followed:
        """The stratum after the iterations of a fixpoint that has begun: from nothing, or as one
        that `went_on`.
        """
        change = self.change
        before = self._steps
        old = {name: change.versions[name] for name in change.schemas}
        rows = fixpoint.finish()
        deltas = {
            name: each.difference(old[name]) if went_on else old[name].change_to(each.columns())
            for name, each in rows.items()
        }
        steps = change.context.budget.work - before
        count = sum(version.count for version in rows.values())
        work = (
            STEP * steps + ITERATION * fixpoint.iterations + fixpoint.few.cost + ROW_ALONE * count
        )
        kept = self._kept
        if not went_on or 2 * sum(version.count for version in old.values()) < count:
            kept = replace(kept, work=work, steps=steps)
        after: Kept = kept
        if (like := self._like) is not None:
            after = self.proven(like, rows, work, change.versions)
        return Followed(deltas, after, outcome, change.below.rows)

    @cached_property
    def _kept(self) -> Uncounted:
        """State kept of rows alone."""
        if self.known is None:
            return Uncounted()
        return self.known

    @property
    def _like(self) -> StratumState | None:
        """The state like which proofs are counted of the rows that are found; None where none
        are.
        """
        if isinstance(self.state, StratumState):
            hopeless = self.known is None or self.change.hopeless(self.state)
            return None if hopeless else self.state
        return self.empty if self.counts_due else None

    def fixpoint(self) -> MonotoneFixpoint:
        """Iterations of improvement that have not begun; steps count from here."""
        from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint

        change = self.change
        self._steps = change.context.budget.work
        return MonotoneFixpoint(
            change.schemas, change.lattices, change.rules, change.versions, change.context
        )


class ProvenBefore(_OfBest):
    """Counts of the proofs that rows had before the change, from which an update then starts: so
    the rows are not found again to be counted.
    """

    name = "counting best values as they were"
    gate = "first road closes"

    def applies(self) -> bool:
        """Tell whether counts are due, of the rules that the rows follow from."""
        rules = self.change.rule_change
        return rules is not None and not rules and self.counts_due

    def run(self) -> Exhausted:
        """The state of the rows before the change."""
        change, old, known = self.change, self.change.versions.old, self.known
        assert known is not None
        rows = {name: old[name] for name in change.schemas}
        state = self.proven(self.empty, rows, known.work, old)
        if isinstance(state, StratumState):
            return Exhausted(Why.READY, state)
        return Exhausted(Why.PASS, self.state)


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
