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
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from lftj.errors import ValueRangeError
from lftj.join.context import Context
from lftj.join.rent_or_buy import Rent
from lftj.maintenance.cost.cost_model import ITERATION, ROW_ALONE, change_of, laid_into
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Kept, Uncounted
from lftj.maintenance.dred.over_delete import (
    keep_orders,
    over_deleting,
    taken_below,
    takes_and_adds,
)
from lftj.maintenance.dred.rederive import Returning
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.maintenance.strategy import Cost, Exhausted, Strategy, Why
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion
from lftj.tuning import Tuning
from lftj.types.sources import Role, Source, named_once

# A recursive stratum after a change, from its rows alone: what follows from rows that came, without
# what rested on rows that went [DRed].
#
# After insertions semi-naïve iterations go on from the rows there are. Where something went below,
# whatever may have lost a derivation is found first (`over_delete`); what is left has a
# derivation that nothing touched, so it is true now. What follows from that alone is left too
# (`rederive`). The rest goes, and iterations go on from what came. A rule that went may have taken
# every row that it derived; what one that came derives is added to what came.


class _Iterations(MonotoneFixpoint):
    """Iterations for few rows among many, which are charged with what they take."""

    lasting = True

    def _next_iteration(self) -> None:
        super()._next_iteration()
        found = {name: delta.count for name, delta in self.deltas.items() if delta.count}
        due = sum(variant.source in found for variant in self.variants)
        self.context.budget.charge(ITERATION * (1 + due))
        for name, rows in found.items():
            self.context.budget.charge(
                ROW_ALONE * rows
                + laid_into(rows, self.totals[name].count) * len(self.totals[name].orders()),
            )


class Rederivation:
    """One commit. `taken`: how many rows may have lost a derivation; `returned`: how many of them
    have another one.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        versions: Versions,
        context: Context,
        rule_change: RuleChange = NO_CHANGE,
    ):
        self.taken = self.returned = 0
        self._schemas, self._rules, self._rule_change = schemas, rules, rule_change
        self._versions, self._context = versions, context
        self._own = {base_name(name) for name in schemas}
        read = {name for rule in rules for name in rule.reads}.union(self._own)
        self._below = [name for name in read - set(schemas) if name in versions]
        self._changed = {
            name: versions.deltas[name] for name in self._below if name in versions.deltas
        }
        self.only_grows = not (
            rule_change.went or takes_and_adds(rules, self._own, self._changed)[0]
        )

    def run(self) -> dict[str, RelationVersion]:
        """The relations as they are now. Raises what evaluation raises, and AllowanceSpentError;
        nothing given is changed.
        """
        lost = {} if self.only_grows else self._over_deleted()
        gone = (
            Returning(self._schemas, self._rules, lost, self._versions, self._context).run()
            if lost
            else lost
        )
        self.taken = sum(len(rows[0]) for rows in lost.values())
        self.returned = self.taken - sum(len(rows[0]) for rows in gone.values())
        iterations = _Iterations(self._schemas, {}, self._rules, self._versions, self._context)
        iterations.resume({name: self._without(name, gone.get(name)) for name in self._schemas})
        iterations.offer_opened(self._versions)
        iterations.offer(self._rule_change.came)
        iterations.proceed({name: delta.inserts for name, delta in self._changed.items()})
        return iterations.finish()

    def _over_deleted(self) -> dict[str, Columns]:
        """The rows of each relation that may have lost a derivation."""
        schemas: dict[str, RelationSchema] = {
            _deleted(name): replace(schema, name=_deleted(name), key=None)
            for name, schema in self._schemas.items()
        }
        rules = [
            each
            for rule in self._rules
            for each in over_deleting(rule, _deleted(rule.relation), self._lost)
        ]
        went = [replace(rule, relation=_deleted(rule.relation)) for rule in self._rule_change.went]
        taken = taken_below(
            self._rules, self._lost, self._changed, self._versions, self._context.arena
        )
        read = dict.fromkeys(
            (*self._below, *self._schemas, *(name for rule in went for name in rule.reads))
        )
        before = {name: self._versions.before(name) for name in read}
        iterations = _Iterations(schemas, {}, [*rules, *went], before | taken, self._context)
        iterations.resume(
            {
                name: RelationVersion.empty(schema, self._context.arena)
                for name, schema in schemas.items()
            }
        )
        iterations.offer(went)
        iterations.proceed({name: rows.columns() for name, rows in taken.items()})
        found = iterations.finish()
        keep_orders(self._changed, before, self._versions)
        return {
            name: rows.columns() for name in self._schemas if (rows := found[_deleted(name)]).count
        }

    def _lost(self, name: str) -> str:
        """The name for what a relation lost."""
        return (
            base_name(_deleted(name.name))
            if isinstance(name, Source) and name in self._own
            else _deleted(name)
        )

    def _without(self, name: str, rows: Columns | None) -> RelationVersion:
        version = self._versions[name]
        if rows is None:
            return version
        self._context.budget.charge(change_of(len(rows[0]), version.count))
        return version.apply(Delta(no_rows(len(rows)), rows))


@named_once
def _deleted(name: str) -> Source:
    """The name for the rows that a relation lost."""
    return Source(name, Role.DELETED)


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
        return int(self.change.partitions.share * kept.work) + kept.iterations

    @cached_property
    def _rederivation(self) -> Rederivation:
        change = self.change
        assert change.rule_change is not None
        return Rederivation(
            change.schemas, change.rules, change.versions, change.context, change.rule_change
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
        tuning = change.context.tuning
        if self._some and self._direct and self._instead <= tuning.rows_small:
            return False
        takes = not self._rederivation.only_grows
        if takes and _counts_are_due(kept, tuning):
            return False
        asked = takes or self._some
        return not (asked and change.below.hopeless(self._instead, kept.steps, change.context))

    def forecast(self) -> Cost:
        """The share of an evaluation that it may take, or a little."""
        change, kept, tuning = self.change, self._known, self.change.context.tuning
        assert isinstance(kept, Uncounted)
        takes = not self._rederivation.only_grows
        least = self._least(kept, takes)
        if change.rule_change:
            least = max(tuning.rows_least, min(tuning.rows_steps, kept.work // 2))
        return Cost(allowed=max(least, int(change.context.fraction * self._instead)))

    def _least(self, kept: Uncounted, takes: bool) -> int:
        """Cost that following may have in any case. Rows taken away may be all that there is, which
        may be found anew at once.
        """
        tuning = self.change.context.tuning
        if self._some:
            least = min(tuning.elastic_steps, self._instead)
            return max(least, 0 if self._direct else tuning.rows_least)
        if not takes or not kept.work:
            return tuning.rows_steps
        return min(tuning.rows_steps, max(tuning.rows_least, tuning.rows_worth * kept.work))

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
        after = replace(kept, regret=kept.regret + wasted)
        versions = {name: _resolved(version) for name, version in found.items()}
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


def _resolved(version: RelationVersion) -> RelationVersion:
    """The relation with every key order brought up to date: of many iterations each would have a
    change waiting.
    """
    return RelationVersion.of_orders(
        version.schema, version.identity.arena, version.kept_orders(0), version.known_bounds
    )
