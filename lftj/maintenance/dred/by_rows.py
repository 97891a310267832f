"""A recursive stratum without counts at a commit: strategies that update its rows, where that is
expected to pay [Elastic 5; DRed].

Counting proofs takes a bootstrap of its own, of several times the time and the memory of the first.
A small change seldom needs it: the rows that it adds follow from the existing rows, and the rows
that it deletes can be found from them, by over-deletion and re-derivation, or by ranks. So these
come first, with a budget relative to the last evaluation; a change that exceeds it is given up for
another evaluation. The regret of a change is the work that counts would have saved: a change was
given up although little changed in the end, or most over-deleted rows came back. Once the regret
equals the cost of counting, proofs are counted (`elastic`).

Counts only help deletions. A change that only adds rows is an iteration from the existing rows
whenever there are no counts, whatever the regret. So is a change of rules, also where strata merge
or split; how much a rule derives is not known before, so such a change has a smaller budget.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lftj.errors import ValueRangeError
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ITERATION, RANKED, STEP
from lftj.maintenance.counting.forecast import ELASTIC_GIVEN_UP
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import ROWS_ITERATIONS, Kept, Uncounted
from lftj.maintenance.deletion.ranks import Ranks
from lftj.maintenance.deletion.trail import Trail
from lftj.maintenance.semi_naive.variants import recursive_atoms

if TYPE_CHECKING:
    from lftj.maintenance.dred.delete_rederive import Rederivation
_ROWS_SMALL = 1_000_000
"""Cost of evaluating parts for which nothing else is tried: some five milliseconds."""


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
        kept = self._uncounted
        if not self._some:
            return kept.work
        assert self.change.partitions is not None
        return int(self.change.partitions.share * (kept.work - kept.iterations)) + kept.iterations

    @cached_property
    def _ranks(self) -> Ranks | Trail | None:
        """The ranks that are kept; none are made."""
        kept = self._known
        return kept.ranks if isinstance(kept, Uncounted) else None

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
            self._ranks,
        )

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
        if self._some and self._direct and self._instead <= _ROWS_SMALL:
            return False
        takes = self._takes
        if takes and not isinstance(kept.ranks, Ranks) and self._counts_are_due:
            return False
        return not (self._some and self._unlikely)

    def forecast(self) -> Cost:
        """The share of an evaluation that it may take, or a little. A deletion that has lost its
        share in another stratum may lose no more than what this one's exceeds that by.
        """
        context = self.change.context
        if self._hopeless:
            return Cost(worthwhile=False)
        if self._tried_out or self._doubted:
            tried = int(context.tuning.rows_tried * self._instead)
            return Cost(allowed=max(context.tuning.rows_least, tried), price=STEP)
        return Cost(allowed=max(self._least, self._allowed), price=STEP)

    @property
    def _allowed(self) -> int:
        """The share of an evaluation that it may take, less what the commit lost elsewhere."""
        context = self.change.context
        share = int(max(context.fraction, self._share) * self._instead)
        return share - (context.budget.lost if self._takes else 0)

    @property
    def _hopeless(self) -> bool:
        """Tell whether earlier deletions make it likely that this one takes more than an
        evaluation, or, where its share speaks against it too, than it may.
        """
        kept, change = self._uncounted, self.change
        if not self._takes or self._some or change.rule_change:
            return False
        tuning = change.context.tuning
        times = tuning.rows_worth if self._doubted else tuning.elastic_forecast
        most = max(tuning.rows_least, times * self._instead)
        return kept.expected(change.below.rows) > most

    @property
    def _unlikely(self) -> bool:
        """Tell whether the changed share of what is read speaks against an update."""
        context, steps = self.change.context, self._uncounted.steps
        return self.change.below.hopeless(self._instead, steps, context)

    @property
    def _doubted(self) -> bool:
        """Tell whether a deletion may take little, though its share of what is read speaks against
        that: one fact of few, which are not alike.
        """
        return self._takes and not self._some and self._unlikely

    @property
    def _takes(self) -> bool:
        """Tell whether rows may have lost a derivation."""
        return not self._rederivation.only_grows

    @property
    def _tried_out(self) -> bool:
        """Tell whether a deletion is tried out before ranks are made for it, or proofs counted."""
        kept = self._uncounted
        if not kept.work or not self._takes or self._some or self._unlikely:
            return False
        if not isinstance(self._rederivation.ranks, Trail):
            return False
        tried = int(self.change.context.tuning.rows_tried * self._instead)
        return self._counted_next or self._allowed - tried > self._price

    @property
    def _counted_next(self) -> bool:
        """Tell whether proofs are counted rather than a deletion followed by ranks."""
        kept = self._uncounted
        tuning = self.change.context.tuning
        most = tuning.rows_counted * kept.work
        return (
            self._iterations <= ROWS_ITERATIONS
            and kept.counting <= most
            and self.change.put_off(kept) is None
        )

    @property
    def _iterations(self) -> int:
        """The number of iterations of the last evaluation, or some fewer."""
        kept, rules = self._uncounted, self.change.rules
        recursive = sum(len(recursive_atoms(rule, self.change.schemas)) for rule in rules)
        return kept.iterations // (ITERATION * (1 + recursive))

    @property
    def _counts_are_due(self) -> bool:
        """Tell whether deletions are to be maintained by counts, if at all. An update of counts has
        as many iterations as an evaluation; where these are many they do not pay.
        """
        kept, tuning = self._uncounted, self.change.context.tuning
        few = self._iterations <= ROWS_ITERATIONS
        return kept.failures > 0 or (few and kept.counts_pay(tuning))

    @property
    def _price(self) -> int:
        """Cost of making ranks, and of planning for them."""
        change = self.change
        atoms = sum(len(rule.atoms) + len(rule.negated) for rule in change.rules)
        return RANKED * change.before + change.context.tuning.ranked_plan * atoms

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
            found = rederivation.run()
        except (ValueRangeError, OverflowError):
            return Exhausted(Why.PASS, self.state)  # evaluation decides about failures
        most = 2 * rederivation.returned > rederivation.taken
        wasted = budget.spent - before if most else 0
        deltas = {name: rows.difference(change.versions[name]) for name, rows in found.items()}
        after = replace(kept, regret=kept.regret + wasted, ranks=rederivation.ranks)
        if self._takes:
            after = after.experienced(budget.spent - before, change.below.rows)
        versions = {
            name: rows.since(change.versions[name], deltas[name]) for name, rows in found.items()
        }
        return Followed(deltas, after, "update", change.below.rows, versions=versions)

    def stopped(self, allowed: int) -> Exhausted:
        """The rows to begin anew with; what is lost counts where counts might have saved it."""
        if self._tried_out:
            self.change.tried_out = True
            return Exhausted(Why.PASS, self.state)
        if self._some:
            return Exhausted(Why.PASS, self.state)
        kept = self._uncounted
        if not self._takes:
            return Exhausted(Why.BUDGET, kept)
        rows = self.change.below.rows
        took = ELASTIC_GIVEN_UP * max(allowed, int(kept.expected(rows)))
        return Exhausted(Why.BUDGET, kept.experienced(took, rows), allowed)


class GrownRows(Rows):
    """Iterations from what came into a closure whose steps outnumber its rows: sooner done than the
    steps are read, which is what a search begins with.
    """

    def applies(self) -> bool:
        """Tell whether rows only come, and reading the steps takes more than a search may in any
        case.
        """
        change = self.change
        if not isinstance(self.state, Uncounted) or not change.before or change.rule_change:
            return False
        if change.walk is None:
            return False
        read = {name for rule in change.walk.steps for name in rule.reads}
        steps = sum(change.versions[name].count for name in read)
        least = max(change.before, change.context.tuning.searched_least)
        return steps > least and super().applies() and not self._takes


class RankedRows(Rows):
    """Over-deletion by ranks that are made for it, where it took too much without."""

    def applies(self) -> bool:
        """Tell whether it was tried out without."""
        return self.change.tried_out and not self._counted_next and super().applies()

    @property
    def _allowed(self) -> int:
        """The same, less what making ranks takes."""
        made = self._price if isinstance(self._uncounted.ranks, Trail) else 0
        return super()._allowed - made

    @cached_property
    def _ranks(self) -> Ranks | Trail | None:
        """The ranks that the trail tells."""
        change, trail = self.change, super()._ranks
        if not isinstance(trail, Trail):
            return trail
        now = {name: change.versions.before(name) for name in change.schemas}
        return Ranks.of(change.schemas, change.rules, change.context.resources.arena, trail, now)
