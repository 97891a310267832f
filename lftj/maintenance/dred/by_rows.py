# SPDX-License-Identifier: Apache-2.0
"""A recursive stratum without counts at a commit: strategies that update its rows, where that is
expected to pay [DRed].

The rows that a small change adds follow from the existing rows. A change that only adds rows is an
iteration from the existing rows whenever there are no counts. So is a change of rules, also where
strata merge or split; how much a rule derives is not known before, so such a change has a smaller
budget. Over-deletion and re-derivation follow deletions where no ranks are known (`counting`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.errors import ValueRangeError
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import STEP
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Kept, Uncounted

if TYPE_CHECKING:
    from lftj.maintenance.dred.delete_rederive import Rederivation

_LOST = 8
"""Steps of a closure that are read in the time in which one of its rows is lost and found again."""


class Rows(Strategy[Followed]):
    """Over-deletion, re-derivation, and iterations from the rows that are left."""

    name = "rederivation"
    gate = "edges come"
    change: StratumChange

    @cached_property
    def _known(self) -> Kept | None:
        return self.change.known(self.state)

    @property
    def _uncounted(self) -> Uncounted:
        """The same, where it applies."""
        assert isinstance(self._known, Uncounted)
        return self._known

    @property
    def _some(self) -> bool:
        """Tell whether only some partitions would be evaluated instead."""
        return self.change.some_partitions

    @property
    def _direct(self) -> bool:
        """Tell whether the change itself named these partitions, so that they hold no more than
        has to do with it.
        """
        return self.change.partitions is None or self.change.partitions.direct

    @property
    def _instead(self) -> int:
        """The cost of evaluation instead, of partitions or of all."""
        return self.change.instead(self._uncounted)

    @cached_property
    def _rederivation(self) -> Rederivation:
        from lftj.maintenance.dred.delete_rederive import Rederivation

        change = self.change
        assert change.rule_change is not None
        return Rederivation(
            change.schemas,
            change.rules,
            change.versions,
            change.context,
            change.rule_change,
            self._uncounted.trail,
        )

    def applies(self) -> bool:
        """Tell whether rows alone are kept and will do: not where a small evaluation is all there
        is to do, where too much changed, or where deletions look at many steps.
        """
        change, kept = self.change, self._known
        possible = (
            isinstance(kept, Uncounted)
            and change.rule_change is not None
            and change.countable
            and change.context.keep
            and 0 < change.context.fraction < math.inf
            and not change.least
        )
        gave_up = change.gave_up(Why.BUDGET, Why.FORECAST)
        if not possible or gave_up or change.below.large(change.context):
            return False
        assert isinstance(kept, Uncounted)
        if change.parts_are_soon(kept) or (self._takes and change.many_steps):
            return False
        worth = change.context.fraction * self._instead
        return not (self._some and change.hopeless(kept, max(self._least, worth)))

    def forecast(self) -> Cost:
        """The share of an evaluation that it may take. What only adds rows to some has no bound: it
        finds none that an evaluation would not find, in the same way, and to give it up loses them.
        An evaluation by walks finds them otherwise, and sooner. What takes rows away may take
        nearly all and bring them back, so it is only tried out.
        """
        change, context = self.change, self.change.context
        if self._takes and not self._some:
            tried = 0.0 if change.rule_change else context.tuning.rows_tried
            most = change.allowed(self._uncounted, tried, self._least)
            return Cost(allowed=most, worthwhile=most is not None, price=STEP)
        only_rows_come = not (self._some or change.rule_change)
        if only_rows_come and change.before and change.walk is None:
            return Cost(price=STEP)
        share = int((1.0 if only_rows_come else context.fraction) * self._instead)
        lost = context.budget.lost if self._takes else 0
        return Cost(allowed=max(self._least, share - lost), price=STEP)

    @property
    def _takes(self) -> bool:
        """Tell whether rows may have lost a derivation."""
        return self.change.takes

    @property
    def _least(self) -> int:
        """Cost that following may have in any case."""
        tuning, kept = self.change.context.tuning, self._uncounted
        if not self.change.before:  # an evaluation finds the same, whatever it takes
            return 0 if self.change.rule_change else tuning.rows_begun
        if self.change.rule_change:
            return max(tuning.rows_least, min(tuning.rows_steps, kept.work // 2))
        if self._some:
            least = min(tuning.elastic_steps, self._instead)
            return max(least, 0 if self._direct else tuning.rows_least)
        return tuning.rows_least if kept.work else tuning.rows_steps

    def run(self) -> Followed | Exhausted:
        """The stratum, from the rows there are."""
        change, budget, kept = self.change, self.change.context.budget, self._uncounted
        rederivation, before = self._rederivation, budget.spent
        try:
            found, deltas = rederivation.run()
        except (ValueRangeError, OverflowError):
            return Exhausted(Why.PASS, self.state)  # evaluation decides about failures
        after = replace(kept, trail=rederivation.trail)
        if self._takes:
            after = after.experienced(budget.spent - before, change.below.rows)
        versions = {
            name: rows.since(change.versions[name], deltas[name]) for name, rows in found.items()
        }
        return Followed(deltas, after, "update", change.below.rows, versions=versions)

    def stopped(self, allowed: int) -> Exhausted:
        """The rows to begin anew with; a deletion expects more of the next one."""
        if self._some:
            return Exhausted(Why.PASS, self.state)
        kept = self._uncounted
        return Exhausted(
            Why.BUDGET, self.change.disappointed(kept, allowed) if self._takes else kept
        )


class FewRows(Rows):
    """Iterations from what came into a closure whose steps outnumber its rows, or went from one
    whose steps do so by far: sooner done than the steps are read, which is what a search begins
    with.
    """

    def applies(self) -> bool:
        """Tell whether there are more steps to read than rows to look at."""
        change = self.change
        rules = change.rule_change
        if not isinstance(self.state, Uncounted) or not 0 < change.before < change.steps:
            return False
        if rules is not None and (rules.came or rules.went):
            return False
        return super().applies() and (not self._takes or _LOST * change.before < change.steps)
