# SPDX-License-Identifier: Apache-2.0
"""Strategies over ranks and supports: an update of them, and the evaluation from nothing that
counts them where rows are chosen or chains are long [Elastic 5].

An evaluation without counts leaves a trail, which tells the ranks of its rows. The first change
that may take rows away makes the state of it; supports are counted as rows are doubted. Where rows
are chosen in the recursion, ranks have to be least: the state is made by an evaluation that counts,
at the first change.

An update may take half an evaluation, by the default of `Context.fraction`. It is not started
where it is expected to take more. One that is given up leaves no trace but that, and its plans.
Costs are counted, not timed, so the choice is the same on every machine.
"""

from __future__ import annotations

import math
from dataclasses import replace

from lftj.errors import ValueRangeError
from lftj.join.strategy import UNBOUNDED, Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ORDERED, RANKED
from lftj.maintenance.counting.counted_update import CountedUpdate, Update
from lftj.maintenance.counting.patience import Patience, updated_from_nothing
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import UNCOUNTABLE, StratumState, Uncounted
from lftj.program.normal_form import NormalRule


class CountingUpdate(CountedUpdate):
    """An update of a stratum whose rows have ranks, or leave them in a trail."""

    name = "counting"
    gate = "recursion.chain"

    def applies(self) -> bool:
        """Tell whether ranks are known, of these rules and no best values, or are worth making."""
        change = self.change
        if isinstance(self.state, StratumState):
            return self.counted and change.countable and not self.state.lattices
        if change.trail(self.state) is None or change.least:
            return False
        always = math.isinf(change.context.fraction)
        possible = change.keeps_counts and change.countable and (change.takes or always)
        return possible and (always or self._worth_ranks)

    @property
    def _worth_ranks(self) -> bool:
        """Tell whether ranks are made: where that takes no more than the update may, and with the
        key orders that earlier updates read no more than twice as much; not where partitions of the
        stratum are sooner evaluated.
        """
        change, kept = self.change, self.state
        instead = change.instead(kept)
        most = max(change.context.tuning.elastic_steps, int(change.share * instead))
        if change.some_partitions and (change.parts_are_soon(kept) or change.hopeless(kept, most)):
            return False
        ranks = RANKED * change.before
        return ranks <= most and ranks + self._ordering <= 2 * most

    @property
    def _ordering(self) -> int:
        """Cost of making the key orders that earlier updates read."""
        orders = {order for queries in self.state.rules for order in queries.ranked}
        return ORDERED * sum([self.change.versions.before(name).count for name, _ in orders])

    def begin(self) -> Update:
        """The update of the counts."""
        from lftj.maintenance.counting.elastic_update import ElasticUpdate

        change = self.change
        state = self.state if isinstance(self.state, StratumState) else self._ranked(self.state)
        update = ElasticUpdate(state, change.rules, change.versions, change.context)
        if isinstance(self.state, Uncounted):
            self.state = replace(self.state, rules=update.rules)
        return update

    def _ranked(self, kept: Uncounted) -> StratumState:
        """The state of the rows before the change, by the trail."""
        change, context = self.change, self.change.context
        assert kept.trail is not None
        context.budget.invest(RANKED * change.before)
        now = {name: change.versions.before(name) for name in change.schemas}
        state = StratumState.ranked(change.schemas, context.resources.arena, kept.trail, now)
        state = replace(state, rules=kept.rules, work=kept.work, steps=kept.steps, spent=kept.spent)
        queries = state.queries_of(self._rules_before())
        return replace(state, rules=queries, changes=kept.changes)

    def _rules_before(self) -> list[NormalRule]:
        """The rules that the rows before the change follow from."""
        rules = self.change.rule_change
        assert rules is not None
        return rules.before(self.change.rules)


class CountedFromNothing(Strategy[Followed]):
    """An evaluation that counts, at a change of a stratum with a choice domain, of a closure that
    takes long to read, or where updates are always wanted; and an update from nothing, where
    iterations turned out to be those of a long chain.
    """

    name = "counting from nothing"
    gate = "recursion.chosen"
    change: StratumChange

    def applies(self) -> bool:
        """Tell whether iterations were given up for it, or counts are wanted: where ranks have to
        be least, or a closure takes long to read.
        """
        change = self.change
        if change.gave_up(Why.LONG_CHAIN):
            return True
        if not (change.keeps_counts and change.countable and change.decided):
            return False
        wanted = change.least or math.isinf(change.context.fraction)
        if not wanted and change.takes and change.before:
            wanted = change.many_steps
        return wanted and self.state is not None

    def forecast(self) -> Cost:
        """No bound; counts are worth it where changes are expected that they pay for."""
        change = self.change
        if change.gave_up(Why.LONG_CHAIN) or math.isinf(change.share):
            return UNBOUNDED
        least = change.context.tuning.elastic_steps
        return Cost(worthwhile=change.allowed(self.state, change.share, least) is not None)

    def run(self) -> Followed | Exhausted:
        """The stratum with counts."""
        if self.change.gave_up(Why.LONG_CHAIN):
            return self._updated()
        return self._evaluated()

    def _updated(self) -> Followed | Exhausted:
        change, kept = self.change, self.state
        try:
            state = updated_from_nothing(
                change.schemas, change.rules, change.versions, change.context
            )
        except (ValueRangeError, OverflowError):  # evaluation by iterations decides about failures
            return Exhausted(Why.VALUES, change.uncounted(kept))
        if kept is not None:
            state = replace(state, spent=kept.spent, changes=kept.changes)
        return change.stored(replace(state, least=change.least))

    def _evaluated(self) -> Followed | Exhausted:
        from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap

        change, kept = self.change, self.state
        if isinstance(kept, Uncounted):
            empty = StratumState.empty(change.schemas, change.context.resources.arena)
            kept = replace(empty, rules=kept.rules, spent=kept.spent, changes=kept.changes)
        after_iteration = Patience(change.context).after_iteration if change.patient else None
        queries = kept.queries_of(change.rules)
        try:
            state = elastic_bootstrap(
                change.schemas, queries, change.versions, change.context, after_iteration
            )
        except OverflowError:
            return Exhausted(Why.PROOFS, UNCOUNTABLE)
        if state is None:
            return Exhausted(Why.LONG_CHAIN, kept)
        state = replace(state, spent=kept.spent, changes=kept.changes, least=change.least)
        return change.stored(state)
