# SPDX-License-Identifier: Apache-2.0
"""The runner: brings views up to date at a commit, in an order in which each node comes after those
that it reads, and only where something that it reads has changed.

An update is given up once it has cost more than `way_choice` allows, and the view is evaluated
anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from lftj.errors import ValueRangeError
from lftj.heads.choice import choose
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns
from lftj.join.strategy import Exhausted, Why, stopped, within
from lftj.maintenance.inputs.affected import Affected, ChangedValues
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.unmet import meets_nothing
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.full_evaluation import derive
from lftj.maintenance.rules.row_checks import check_rows
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.scantree.rows import union
from lftj.storage.database import Database, base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import NONE_KNOWN, Known, RelationVersion
from lftj.types.sources import is_hidden
from lftj.views.choice_node import change_of_choice, one_domain, with_candidates, with_change
from lftj.views.failures import placed_in
from lftj.views.family import Family
from lftj.views.fixpoint_node import Fixpoint
from lftj.views.graph import Apart, together
from lftj.views.group_run import GroupRun
from lftj.views.states import ViewStates, stratum_key
from lftj.views.union_node import Union, UnionDone, UnionState
from lftj.views.way_choice import as_family, update_bound
from lftj.views.ways import CHOICE_ANEW, DELTA_QUERIES, UPDATE


class Refreshed(NamedTuple):
    """The database with every affected view new, the net change of each that changed (hidden ones
    included), the states of nodes and the work.
    """

    database: Database
    deltas: dict[str, Delta]
    states: ViewStates
    works: Sequence[RuleWork] = ()


def refresh(
    program: StratifiedProgram,
    old: Database,
    new: Database,
    deltas: Mapping[str, Delta],
    states: ViewStates,
    context: Context,
    *,
    changed_rules: frozenset[str] = frozenset(),
    was: Stratification | None = None,
    places: Collection[int] | None = None,
    apart: Apart = together,
) -> Refreshed:
    """Bring every affected view up to date; of the strata at some `places` only, if these are
    given.

    `new` already holds the new base rows, `deltas` their net changes from `old`; `changed_rules`
    names relations that won or lost a rule, `was` the strata that the rows there are follow from:
    without it recursive ones of other rules begin anew. `apart` as in `lftj.views.graph`. Views
    that depend on none of these do no work. Raises KeyViolationError, ValueRangeError or
    LimitError; nothing given is changed.
    """
    versions = Versions(
        old,
        new,
        {name: delta for name, delta in deltas.items() if len(delta)},
        context.resources.arena,
        context.tuning,
    )
    context.upkeep = versions.upkeep(context.resources.kept_orders, program.order.is_constant)
    runner = _Runner(program, versions, states, context, changed_rules, was, apart)
    waits = runner.graph.families.some and places is None
    held = runner.graph.held(program.order) if waits else None
    affected = Affected(program.order, runner.values, places, held)
    affected.rules_changed(changed_rules)
    affected.rows_changed(versions.deltas)
    with placed_in(runner.rules_at_hand):  # once, not for each of what may be thousands
        for found in affected:
            runner.at_hand = found
            if isinstance(found, Family):
                affected.look_at(runner.family(found))
            elif runner.concerned(found):
                affected.rows_changed(runner.stratum(found))
    return Refreshed(new.replace(versions.updates), runner.found, runner.states(), runner.works)


class _Runner(GroupRun):
    """One commit's way through the graph."""

    def __init__(
        self,
        program: StratifiedProgram,
        versions: Versions,
        states: ViewStates,
        context: Context,
        changed_rules: frozenset[str],
        was: Stratification | None,
        apart: Apart,
    ):
        if changed_rules and context.keep:
            graph = states.graph.with_strata(
                program.order.strata_of(changed_rules), program.relations, context.tuning, apart
            )
        else:
            graph = states.graph
        before = states.under(graph, context.resources.user_aggregates)
        self.states_before = before.of_families() if before.graph.families.some else before
        self.graph = graph = self.states_before.graph
        super().__init__(
            graph.groups, graph.families, states, self.states_before, versions, context
        )
        self.program = program
        self.changed_rules, self.apart = changed_rules, apart
        self.fixpoint = Fixpoint(program, was, changed_rules)
        self.found: dict[str, Delta] = {}
        self.works: list[RuleWork] = []
        self.values = ChangedValues(
            versions.deltas, program.relations, context.resources.dictionary
        )
        self.at_hand: Stratum | Family | None = None
        self._dear = set()

    def states(self) -> ViewStates:
        """The states after it all."""
        return self.states_before.replaced(self.changed)

    def rules_at_hand(self) -> list[NormalRule | FunctorRule]:
        """The rules of what is visited now, and those that are evaluated together with them."""
        if isinstance(self.at_hand, Stratum):
            return [each for rule in self.at_hand.rules for each in self.graph.sharing(rule)]
        return [] if self.at_hand is None else [self.at_hand.rule]

    def concerned(self, stratum: Stratum) -> bool:
        """Test for a change that may matter to a stratum that reads it."""
        deltas = self.versions.deltas
        for name in stratum.relations:
            if (
                name in self.changed_rules
                or base_name(name) in deltas
                or not (stratum.recursive or name in self.before)
            ):
                return True
        if not stratum.recursive or stratum.summed:
            return any(self.values.concern(rule) for rule in stratum.rules)
        dictionary = self.context.resources.dictionary
        return not all(
            isinstance(rule, NormalRule) and meets_nothing(rule, self.versions, dictionary)
            for rule in stratum.rules
            if self.values.concern(rule)
        )

    def stratum(self, stratum: Stratum) -> list[str]:
        """Bring the relations of one stratum up to date. Gives those whose rows changed."""
        self._report(stratum)
        if not stratum.recursive:
            return [
                name for name in stratum.relations if self._note(name, *self._view(name, stratum))
            ]
        key = stratum_key(stratum.relations)
        closed = self.fixpoint.bring(stratum, self.before.get(key), self.versions, self.context)
        self.changed[key] = closed.state
        self.works.append(closed.work)
        return [
            name
            for name, delta in closed.deltas.items()
            if self._note(
                name, delta, closed.known.get(name, NONE_KNOWN), closed.versions.get(name)
            )
        ]

    def family(self, family: Family) -> Iterable[str]:
        """Find the change of all joins of a family. Gives the relations whose rows may change: all
        that the family helps to derive, where so much changed that evaluating them may be cheaper.
        """
        if as_family(self.versions, family.reads, self.context):
            started, before = moment(), self.context.budget.work
            work = RuleWork("", "", DELTA_QUERIES.name, outcome="update")
            found = family.delta(self.versions, self.context, work)
            if not family.screens:
                self.families[id(family)] = found
            work.steps = self.context.budget.work - before
            work.since(started)
            if found:  # the first view that may change stands for all
                work.relation, work.rule = family.shown(next(iter(found)))
                self.works.append(work)
        else:
            found = family.views
        return [name for key in found for name in family.views[key]]

    def _note(
        self, name: str, delta: Delta, known: Known, version: RelationVersion | None = None
    ) -> bool:
        """Note the change of a relation, whose trees may be `known`, or whose `version` is made
        already. Whether its rows changed: those of most views at most commits do not.
        """
        changed = len(delta) > 0
        if not changed and not known:
            self.versions.update(name, self.versions[name], delta)
            return False
        if version is None or not changed:
            version = self.versions[name].apply(delta, known)
        check_rows(self.program.relations[name], version, delta, self.context)
        self.versions.update(name, version, delta)
        if changed:
            self.found[name] = delta
        return changed

    def _report(self, stratum: Stratum) -> None:
        """Tell whoever shows progress which stratum is evaluated."""
        if self.context.resources.progress is None:
            return
        names = stratum.relations
        shown = ", ".join(name for name in names if not is_hidden(name)) or names[0]
        order = self.program.order
        self.context.resources.report(
            f"evaluating {shown}: stratum {order.place[names[0]] + 1} of {len(order.strata)}"
        )

    # ── one view ──────────────────────────────────────────────────────────────────────────────────
    def _view(self, name: str, stratum: Stratum) -> tuple[Delta, Known]:
        """The net change of a relation that does not depend on itself, and trees that its state has
        of its rows.
        """
        schema = self.program.relations[name]
        if schema.choice and not (self.context.keep and one_domain(schema)):
            return self._choice_anew(schema, stratum), NONE_KNOWN
        if not self.context.keep:
            return self.versions[name].change_to(self._all_rows(schema, stratum)), NONE_KNOWN
        node = self._node(name)
        state, outcome, begun = self.before.get(name), "full", self.context.budget.work
        if (
            isinstance(state, UnionState)
            and bool(schema.choice) == (state.candidates is not None)
            and UPDATE.name not in self.context.tuning.without
        ):
            done = self._updated(node, state)
            if not isinstance(done, Exhausted):
                return self._done(node, state, done)
            outcome = "forecast" if done.why is Why.FORECAST else "fallback"
        spent = self.context.budget.work - begun
        rows, after, works = node.full(self, outcome)
        if works:
            works[0].steps += spent
        if schema.choice:
            after = with_candidates(schema, rows, after, self.context.resources.arena)
            rows = choose(schema, rows, self.context.resources.dictionary)
        return self._done(node, None, UnionDone(self.versions[name].change_to(rows), after, works))

    def _node(self, name: str) -> Union:
        """The node of a relation. One is made where it had none, having been part of a cycle, or of
        the program before an alteration; with it those of all that lack one. Groups that have more
        members by that are found again. O(strata) then.
        """
        if name not in self.graph.unions:
            order = self.program.order
            lacking = [
                each
                for each in order.strata
                if not (each.recursive or self.graph.unions.keys() >= {*each.relations})
            ]
            graph = self.graph.with_strata(
                lacking, self.program.relations, self.context.tuning, self.apart
            )
            user = self.context.resources.user_aggregates
            self.before = self.states_before = self.states_before.under(graph, user)
            self.graph = self.states_before.graph
            self.nodes = self.graph.groups
            for key, done in [*self.groups.items()]:
                if done.state.group is not self.nodes.get(key):
                    del self.groups[key]
        return self.graph.unions[name]

    def _done(self, node: Union, before: UnionState | None, done: UnionDone) -> tuple[Delta, Known]:
        """Note the state and the work of a union."""
        self.works += done.works
        if done.state is before:
            return done.delta, NONE_KNOWN
        self.changed[node.schema.name] = done.state
        return done.delta, done.state.known_trees if len(done.delta) else NONE_KNOWN

    def _updated(self, node: Union, state: UnionState) -> UnionDone | Exhausted:
        """The view after an update; Exhausted where it is not worth while, costs too much, or meets
        a row that exists in no version: then a full evaluation decides about failures.
        """
        stay, new, gone = node.kept(state)
        allowed = update_bound(self, stay, self.versions, self.context)
        if isinstance(allowed, Exhausted):
            return allowed
        alone = len(node.arms) == 1 and state.support is None and not new
        follow = partial(node.changes, self, stay, alone=alone)
        try:
            found = within(self.context.budget, allowed, follow, stopped)
            if isinstance(found, Exhausted):
                return found
            done = node.followed(self, state, new, gone, *found)
        except ValueRangeError:
            return Exhausted(Why.VALUES, None)
        if state.candidates is None or not len(done.delta):
            return done
        chosen, dictionary = self.versions[node.schema.name], self.context.resources.dictionary
        after, candidates = with_change(done.state, done.delta)
        delta = change_of_choice(node.schema, chosen, candidates, done.delta, dictionary)
        return UnionDone(delta, after, done.works)

    # ── evaluations that keep nothing ─────────────────────────────────────────────────────────────
    def _choice_anew(self, schema: RelationSchema, stratum: Stratum) -> Delta:
        """The change to the rows chosen among all candidates, where no state can be kept of it."""
        started, before = moment(), self.context.budget.work
        candidates = self._all_rows(schema, stratum)
        chosen = choose(schema, candidates, self.context.resources.dictionary)
        delta = self.versions[schema.name].change_to(chosen)
        work = RuleWork(schema.name, "", CHOICE_ANEW.name, outcome="choice")
        work.steps, work.head_changes = self.context.budget.work - before, len(delta)
        work.assignments = len(candidates[0])
        work.since(started)
        self.works.append(work)
        return delta

    def _all_rows(self, schema: RelationSchema, stratum: Stratum) -> Columns:
        """All rows of a relation, base rows included."""
        rules = [rule for rule in stratum.rules if rule.relation == schema.name]
        rows = derive(schema, rules, self.versions, self.context)
        base = base_name(schema.name)
        return union(rows, self.versions[base].columns()) if base in self.versions else rows
