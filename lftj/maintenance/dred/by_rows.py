"""A recursive stratum that keeps no counts at a commit: followed by its rows alone, where that is
expected to do [Elastic 5; DRed].

Counting proofs takes a bootstrap of its own, of several times the time and the memory of the first.
A small change seldom needs it: what it adds follows from the rows there are, and what it takes away
can be found from them, at the price of taking too much and bringing it back. So that comes first,
with the share of a bootstrap that `Context.fraction` allows, or a little; what takes more is given
up for another bootstrap. Such a change is to be regretted as far as counts would have saved the
work: they would where little changed in the end. So is one of which most came back. Once that has
come to what counting takes, proofs are counted (`elastic`).

Counts tell what goes. What only adds is followed by rows alone whenever there are no counts,
whatever is regretted. So are rules that come and go, also where strata merge or split; what they
derive, nobody knows before, so they are allowed less.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.errors import ValueRangeError
from lftj.join.rent_or_buy import Rent
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import STEP
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Kept, Uncounted
from lftj.tuning import Tuning

if TYPE_CHECKING:
    from lftj.maintenance.dred.delete_rederive import Rederivation


class Rows(Strategy[Followed]):
    """Over-deletion, re-derivation, and iterations from the rows that are left."""

    name = "rederivation"
    gate = "edges come"
    change: StratumChange

    @cached_property
    def _known(self) -> Kept | None:
        return self.change.known(self.state)

    @property
    def _some(self) -> bool:
        """Tell whether only some partitions would be evaluated instead."""
        touched = self.change.partitions if isinstance(self.state, Uncounted) else None
        return touched is not None and touched.share < 1

    @property
    def _direct(self) -> bool:
        """Tell whether the change itself named these partitions, so that they hold no more than
        has to do with it.
        """
        return self.change.partitions is None or self.change.partitions.direct

    @property
    def _instead(self) -> int:
        """The cost of evaluation instead, of partitions or of all."""
        kept = self._known
        assert isinstance(kept, Uncounted)
        if not self._some:
            return kept.work
        assert self.change.partitions is not None
        return int(self.change.partitions.share * (kept.work - kept.iterations)) + kept.iterations

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
            kept.ranks if isinstance(kept := self._known, Uncounted) else None,
            self._row_anew,
        )

    @property
    def _row_anew(self) -> int:
        """Cost of a row in the evaluation instead: it would find those, too, that come."""
        rows = sum(self.change.versions.before(name).count for name in self.change.schemas)
        kept = self._known
        assert isinstance(kept, Uncounted)
        return (kept.work - kept.iterations) // max(1, rows)

    def applies(self) -> bool:
        """Tell whether rows alone are kept and will do: not where counts are due, where a small
        evaluation is all there is to do, or where too much changed.
        """
        change, kept = self.change, self._known
        possible = (
            isinstance(kept, Uncounted)
            and change.rule_change is not None
            and change.countable
            and change.context.keep
            and 0 < change.context.fraction < math.inf
            and not change.choice
        )
        if not possible or change.gave_up(Why.BUDGET) or change.below.large(change.context):
            return False
        assert isinstance(kept, Uncounted)
        tuning = change.context.tuning
        if self._some and self._direct and self._instead <= tuning.rows_small:
            return False
        takes = not self._rederivation.only_grows
        if takes and kept.ranks is None and _counts_are_due(kept, tuning):
            return False
        asked = takes or self._some
        return not (asked and change.below.hopeless(self._instead, kept.steps, change.context))

    def forecast(self) -> Cost:
        """The share of an evaluation that it may take, or a little. A deletion that has lost its
        share in another stratum may lose no more than what this one's exceeds that by.
        """
        context = self.change.context
        share = int(max(context.fraction, self._share) * self._instead)
        lost = 0 if self._rederivation.only_grows else context.budget.lost
        return Cost(allowed=max(self._least, share - lost), price=STEP)

    @property
    def _share(self) -> float:
        """Share of an evaluation that is worth risking. What only adds rows finds none that an
        evaluation would not find. What takes rows away may take nearly all and bring them back;
        mostly it takes little, or more than an evaluation.
        """
        if self._some or self.change.rule_change:
            return 0.0
        return 1.0 if self._rederivation.only_grows else self.change.context.tuning.rows_worth

    @property
    def _least(self) -> int:
        """Cost that following may have in any case."""
        tuning, kept = self.change.context.tuning, self._known
        assert isinstance(kept, Uncounted)
        if self.change.rule_change:
            return max(tuning.rows_least, min(tuning.rows_steps, kept.work // 2))
        if self._some:
            least = min(tuning.elastic_steps, self._instead)
            return max(least, 0 if self._direct else tuning.rows_least)
        return tuning.rows_least if kept.work else tuning.rows_steps

    def run(self) -> Followed | Exhausted:
        """The stratum, from the rows there are."""
        change, budget, kept = self.change, self.change.context.budget, self._known
        assert isinstance(kept, Uncounted)
        rederivation, before = self._rederivation, budget.spent
        try:
            found = rederivation.run()
        except (ValueRangeError, OverflowError):
            return Exhausted(Why.PASS, self.state)  # evaluation decides about failures
        most = 2 * rederivation.returned > rederivation.taken
        wasted = budget.spent - before if most else 0
        deltas = {name: rows.difference(change.versions[name]) for name, rows in found.items()}
        after = replace(kept, regret=kept.regret + wasted, ranks=rederivation.ranks)
        versions = {
            name: rows.since(change.versions[name], deltas[name]) for name, rows in found.items()
        }
        return Followed(deltas, after, "update", change.below.rows, versions=versions)

    def stopped(self, allowed: int) -> Exhausted:
        """The rows to begin anew with; what is lost counts where counts might have saved it."""
        if self._some:
            return Exhausted(Why.PASS, self.state)
        takes = not self._rederivation.only_grows
        return Exhausted(Why.BUDGET, self._known, allowed if takes else 0)


def _counts_are_due(kept: Uncounted, tuning: Tuning) -> bool:
    """Test for a stratum whose deletions are to be maintained by counts, if at all."""
    return kept.failures > 0 or Rent(kept.regret).due(max(tuning.rows_steps, kept.counting))
