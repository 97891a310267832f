"""The strategies for a relation that does not depend on itself, but for its update: evaluations in
full, with and without a state for later updates [Elastic].

A relation is evaluated in full when there is no state to start from, and when an update costs more
than `Context.fraction` of the last full evaluation; work is counted in kernel steps, so the choice
is the same on every machine.
"""

from __future__ import annotations

from lftj.heads.choice import choose
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Strategy
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.rules.chosen_state import ChosenState, one_domain
from lftj.maintenance.rules.full_evaluation import derive
from lftj.maintenance.rules.initial_evaluation import establish
from lftj.maintenance.rules.relation_change import Maintained, RelationChange
from lftj.scantree.rows import union
from lftj.storage.database import base_name


class ChoiceAnew(Strategy[Maintained]):
    """All candidates anew, and the choice among them, where that depends on several domains."""

    name = "choice anew"
    needed = True
    change: RelationChange

    def applies(self) -> bool:
        """Tell whether there is a choice of which no state can be kept."""
        schema = self.change.schema
        return bool(schema.choice) and not (self.change.context.keep and one_domain(schema))

    def run(self) -> Maintained:
        """The rows chosen, and nothing kept."""
        change, context = self.change, self.change.context
        schema = change.schema
        started, before = moment(), context.budget.work
        candidates = _all_rows(change)
        chosen = choose(schema, candidates, context.resources.dictionary)
        delta = change.versions[schema.name].change_to(chosen)
        work = RuleWork(
            schema.name, "", self.name, steps=context.budget.work - before, head_changes=len(delta)
        )
        work.outcome = "choice"
        work.assignments = len(candidates[0])
        work.since(started)
        return Maintained(delta, works=(work,))


class Unkept(Strategy[Maintained]):
    """Full evaluation that keeps nothing, as questions ask for."""

    name = "without a state"
    needed = True
    change: RelationChange

    def applies(self) -> bool:
        """Tell whether no state is kept."""
        return not self.change.context.keep

    def run(self) -> Maintained:
        """The rows."""
        change = self.change
        return Maintained(change.versions[change.schema.name].change_to(_all_rows(change)))


class FullEvaluation(Strategy[Maintained]):
    """Full evaluation that leaves behind what later updates start from."""

    name = "full evaluation"
    needed = True
    change: RelationChange

    def run(self) -> Maintained:
        """The rows, and their state."""
        change, context = self.change, self.change.context
        schema, spent = change.schema, context.budget.work - change.begun
        rows, after, works = establish(
            schema,
            change.rules,
            change.versions,
            context,
            change.heads,
            change.outcome,
            self.state,
        )
        if works:
            works[0].steps += spent
        if schema.choice:
            after = ChosenState.of(schema, rows, after, context.resources.arena)
            rows = choose(schema, rows, context.resources.dictionary)
        return Maintained(change.versions[schema.name].change_to(rows), after, works)


def _all_rows(change: RelationChange) -> Columns:
    """Full evaluation that keeps nothing."""
    schema, versions = change.schema, change.versions
    rows = derive(schema, change.rules, versions, change.context)
    base = base_name(schema.name)
    return union(rows, versions[base].columns()) if base in versions else rows
