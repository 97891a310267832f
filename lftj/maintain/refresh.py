"""Bringing views up to date at a commit: strata in order, each only when something it reads has changed.

A relation is updated: delta queries and head states turn the changes of what its rules read into the change of its rows, which goes on to
the strata above. It is evaluated in full when there is no state to start from, and when an update costs more than `Context.fraction` of
the last full evaluation; work is counted in kernel steps, so the choice is the same on every machine [Elastic]. A recursive stratum has
strategies of its own (`recursion.elastic`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lftj.errors import ValueRangeError
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.evaluate import Columns
from lftj.maintain.affected import Affected
from lftj.maintain.changed_values import ChangedValues
from lftj.maintain.chosen_state import ChosenState, change_of_choice, one_domain
from lftj.maintain.commit_heads import CommitHeads
from lftj.maintain.establish import establish
from lftj.maintain.failures import placed
from lftj.maintain.full import derive
from lftj.maintain.row_checks import check_rows
from lftj.maintain.rule_state import RelationState
from lftj.maintain.rule_work import RuleWork
from lftj.maintain.shared_head import SharedHead
from lftj.maintain.update import ForecastError, update
from lftj.maintain.versions import Versions
from lftj.maintain.view_states import ViewState, ViewStates, rules_of, without_strangers
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, StratifiedProgram, Stratum
from lftj.program.stratification import Stratification
from lftj.recursion.best.monotone_stratum import follow_monotone
from lftj.recursion.elastic import Followed, Kept, RowsAlone, follow, stratum_key
from lftj.recursion.rederivation.by_rows import follow_by_rows, taken_over
from lftj.recursion.rounds.choice import choose
from lftj.recursion.touched_parts import TouchedParts, touched_parts
from lftj.recursion.update.rule_change import NO_CHANGE, RuleChange
from lftj.recursion.update.stratum_state import StratumState
from lftj.storage.database import Database, base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import NONE_KNOWN, Known, RelationVersion
from scantree.rows import union

_FOLD = 1e6  # as much as no update needs
_ALWAYS = 20_000  # kernel steps that an update may take in any case: less than a millisecond
_SOON = 60_000  # and so many while they are less than `_SHARE` of a full evaluation, which also has to sort and compare all rows
_SHARE = 0.7


class Refreshed(NamedTuple):
    """The database with every affected view new, the net change of each that changed (hidden ones included), their states and the work."""

    database: Database
    deltas: dict[str, Delta]
    states: ViewStates
    works: Sequence[RuleWork] = ()


def refresh(
    program: StratifiedProgram,
    old: Database,
    new: Database,
    deltas: Mapping[str, Delta],
    states: Mapping[str, ViewState],
    context: Context,
    *,
    changed_rules: frozenset[str] = frozenset(),
    was: Stratification | None = None,
) -> Refreshed:
    """Bring every affected view up to date.

    `new` already holds the new base rows, `deltas` their net changes from `old`; `changed_rules` names relations that won or lost a rule,
    `was` the strata that the rows there are follow from: without it recursive ones of other rules begin anew. Views that depend on none of
    these do no work. Raises KeyViolationError, ValueRangeError or LimitError; nothing given is changed.
    """
    before = ViewStates.of(states)
    versions = Versions(old, new, {name: delta for name, delta in deltas.items() if len(delta)}, context.arena)
    context.constant = program.order.is_constant
    context.upkeep = versions.upkeep(context.kept_orders)
    refresher = _Refresher(program, versions, before, context, changed_rules, was)
    affected = Affected(program.order, refresher.values)
    affected.rules_changed(changed_rules)
    affected.rows_changed(versions.deltas)
    for stratum in affected:
        if refresher.concerned(stratum):
            with placed(stratum, refresher.heads):
                affected.rows_changed(refresher.stratum(stratum))
    return Refreshed(new.replace(versions.updates), refresher.found, refresher.states(), refresher.works)


class _Refresher:
    """One commit's way through the strata. `changed` are states that are new."""

    def __init__(
        self,
        program: StratifiedProgram,
        versions: Versions,
        before: ViewStates,
        context: Context,
        changed_rules: frozenset[str],
        was: Stratification | None,
    ):
        self.program = program
        self.was = was
        self.changed_rules = changed_rules
        self.versions = versions
        self.before = before
        self.changed: dict[str, ViewState] = {}
        self.context = context
        self.found: dict[str, Delta] = {}
        self.works: list[RuleWork] = []
        self.values = ChangedValues(versions.deltas, program.relations, context.dictionary)
        self.heads = CommitHeads(program, before, versions, context, changed_rules)

    def states(self) -> ViewStates:
        """The states after it all: with the last version of what rules share, without those that went."""
        states = self.before.replaced(self.changed | self.heads.late(self.changed))
        went: list[SharedHead] = []
        for name in self.changed_rules:
            left = {id(rule.rule) for rule in rules_of(states.get(name))}
            went += [rule.head for rule in rules_of(self.before.get(name)) if rule.head is not None and id(rule.rule) not in left]
        return states.replaced(without_strangers(states, went, self.changed_rules)) if went else states

    def concerned(self, stratum: Stratum) -> bool:
        """Whether anything that changed may matter to a stratum that reads it."""
        deltas = self.versions.deltas
        for name in stratum.relations:
            if name in self.changed_rules or base_name(name) in deltas or not (stratum.recursive or name in self.before):
                return True
        return any(self.values.concern(rule) for rule in stratum.rules)

    def stratum(self, stratum: Stratum) -> list[str]:
        """Bring the relations of one stratum up to date. Gives those whose rows changed."""
        if self.context.progress is not None:
            shown = ", ".join(name for name in stratum.relations if "#" not in name) or stratum.relations[0]
            self.context.report(f"evaluating {shown}")
        made: Mapping[str, RelationVersion] = {}
        if stratum.recursive:
            followed = self._recursive(stratum)
            changes, made = followed.deltas, followed.versions
        else:
            changes = {name: self._relation(self.program.relations[name], stratum.rules) for name in stratum.relations}
        for name, delta in changes.items():
            if not len(delta) and not stratum.recursive:  # as most views at most commits, of which there may be thousands
                self.versions.update(name, self.versions[name], delta)
                continue
            if name in made and len(delta):
                version = made[name]
            else:
                version = self.versions[name].apply(delta, self._known_trees(stratum, name, delta))
            check_rows(self.program.relations[name], version, delta, self.context)
            self.versions.update(name, version, delta)
            if len(delta):
                self.found[name] = delta
        return [name for name, delta in changes.items() if len(delta)]

    def _known_trees(self, stratum: Stratum, name: str, delta: Delta) -> Known:
        """Trees that a state keeps of a view's rows with their counts: one set of pages serves both."""
        kept = self.changed.get(stratum_key(stratum.relations) if stratum.recursive else name)
        if isinstance(kept, StratumState):
            return kept.relations[name].plain_trees()
        if not len(delta) or not isinstance(kept, RelationState) or isinstance(kept, ChosenState) or kept.support is None:
            return NONE_KNOWN
        tree = kept.support.tree.without_values()
        return {tuple(range(tree.key_width)): tree}

    def _recursive(self, stratum: Stratum) -> Followed:
        started, before, divided = time.perf_counter(), self.context.work, len(self.context.divided)
        found_before = self.context.found
        schemas = {name: self.program.relations[name] for name in stratum.relations}
        key = stratum_key(stratum.relations)
        kept = self.before.get(key)
        assert not isinstance(kept, RelationState)
        rules = self._rule_change(stratum, kept)
        known = taken_over(self.versions, schemas) if kept is None and rules is not None else kept
        followed = follow_monotone(stratum, schemas, known, self.versions, self.context, rules)
        parts = None if followed else self._parts(stratum, schemas, kept)
        if followed is None and rules is not None:
            followed = follow_by_rows(stratum, schemas, known, self.versions, self.context, parts.share if parts else 1.0, rules)
        if followed is None and parts is not None and isinstance(kept, RowsAlone):
            followed = parts.evaluated(kept, self.versions, self.context)
        followed = followed or follow(stratum, schemas, kept, self.versions, self.context)
        self.changed[key] = followed.kept
        work = RuleWork(", ".join(stratum.relations), "", followed.strategy, followed.changed, steps=self.context.work - before)
        work.assignments = followed.assignments + self.context.found - found_before
        work.bytes = followed.kept.bytes
        work.divided(self.context.divided[divided:])
        work.head_changes = sum(map(len, followed.deltas.values()))
        work.seconds = time.perf_counter() - started
        self.works.append(work)
        return followed

    def _rule_change(self, stratum: Stratum, kept: Kept | None) -> RuleChange | None:
        """How the rules of a recursive stratum are others than those that its rows follow from; None where that cannot be told."""
        if kept is not None and self.changed_rules.isdisjoint(stratum.relations):
            return NO_CHANGE
        return RuleChange.of(stratum, self.was) if self.was is not None and self.context.keep else None

    def _parts(self, stratum: Stratum, schemas: dict[str, RelationSchema], kept: Kept | None) -> TouchedParts | None:
        """The parts of a stratum that keeps no counts which a change can touch; None where it has no such parts."""
        rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
        if any(schema.choice for schema in schemas.values()) or len(rules) < len(stratum.rules):
            return None
        if not self.context.fraction or not isinstance(kept, RowsAlone) or not self.changed_rules.isdisjoint(stratum.relations):
            return None
        return touched_parts(schemas, rules, self.versions, self.context)

    def _relation(self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]) -> Delta:
        if schema.choice and not (self.context.keep and one_domain(schema)):
            return self._chosen(schema, rules)
        if not self.context.keep:
            return self._derived(schema, rules)
        state = self.before.get(schema.name)
        assert state is None or isinstance(state, RelationState)
        if isinstance(state, ChosenState) != bool(schema.choice):
            state = None
        before = self.context.work
        strategy = "full"
        if state is not None:
            allowed = _allowed(sum(rule.work for rule in state.rules), self.context.fraction)
            try:
                delta, after, works = update(schema, state, rules, self.versions, self.context, self.heads, allowed)
            except (AllowanceSpentError, ValueRangeError):
                # A row that only an erased and an inserted row make together exists in no version: full evaluation decides about failures.
                strategy = "fallback"
            except ForecastError:
                strategy = "forecast"
            else:
                self.works += works
                self.changed[schema.name] = after
                return self._chosen_again(schema, state, after, delta) if isinstance(state, ChosenState) else delta
        spent = self.context.work - before
        rows, after, works = establish(schema, rules, self.versions, self.context, self.heads, strategy, state)
        self.changed[schema.name] = ChosenState.of(schema, rows, after, self.context.arena) if schema.choice else after
        rows = choose(schema, rows, self.context.dictionary) if schema.choice else rows
        if works:
            works[0].steps += spent
        self.works += works
        return self.versions[schema.name].change_to(rows)

    def _derived(self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]) -> Delta:
        """Full evaluation that keeps nothing."""
        return self.versions[schema.name].change_to(self._all_rows(schema, rules))

    def _all_rows(self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]) -> Columns:
        rows = derive(schema, rules, self.versions, self.context)
        base = base_name(schema.name)
        return union(rows, self.versions[base].columns()) if base in self.versions else rows

    def _chosen_again(self, schema: RelationSchema, before: ChosenState, state: RelationState, delta: Delta) -> Delta:
        """A relation with one choice domain, after a change of its candidates: the change of those that are chosen."""
        self.changed[schema.name] = kept = before.after(state, delta)
        return (
            change_of_choice(schema, self.versions[schema.name], kept.candidates, delta, self.context.dictionary) if len(delta) else delta
        )

    def _chosen(self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]) -> Delta:
        """A relation with several choice domains: all candidates anew, and the choice among them."""
        started, before = time.perf_counter(), self.context.work
        candidates = self._all_rows(schema, rules)
        delta = self.versions[schema.name].change_to(choose(schema, candidates, self.context.dictionary))
        work = RuleWork(schema.name, "", "choice", steps=self.context.work - before, head_changes=len(delta))
        work.assignments, work.seconds = len(candidates[0]), time.perf_counter() - started
        self.works.append(work)
        return delta


def _allowed(full: int, fraction: float) -> int:
    """Kernel steps that an update may take where full evaluation took `full`."""
    return max(_ALWAYS, int(min(fraction, _FOLD) * full), min(_SOON, int(_SHARE * full))) if fraction else _ALWAYS
