"""Bringing views up to date at a commit: strata in order, each only when something it reads has
changed.

A stratum of one relation that does not depend on itself is the ladder's in `rules`, a recursive one
the ladder's in `lftj.maintenance.ladder`. What they find goes on to the strata above.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lftj.join.context import Context
from lftj.maintenance.inputs.affected import Affected, ChangedValues
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.chosen_state import ChosenState
from lftj.maintenance.rules.commit_heads import CommitHeads
from lftj.maintenance.rules.failures import placed
from lftj.maintenance.rules.ladder import WAYS, maintain
from lftj.maintenance.rules.relation_change import RelationChange
from lftj.maintenance.rules.row_checks import check_rows
from lftj.maintenance.rules.rule_state import RelationState
from lftj.maintenance.rules.shared_head import SharedHead
from lftj.maintenance.rules.view_states import (
    ViewState,
    ViewStates,
    rules_of,
    stratum_key,
    without_strangers,
)
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.storage.database import Database, base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import NONE_KNOWN, Known, RelationVersion
from lftj.types.sources import is_hidden

if TYPE_CHECKING:
    from lftj.maintenance.counting.stratum_change import Followed


class Refreshed(NamedTuple):
    """The database with every affected view new, the net change of each that changed (hidden ones
    included), their states and the work.
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
    states: Mapping[str, ViewState],
    context: Context,
    *,
    changed_rules: frozenset[str] = frozenset(),
    was: Stratification | None = None,
    places: Collection[int] | None = None,
) -> Refreshed:
    """Bring every affected view up to date; of the strata at some `places` only, if these are
    given.

    `new` already holds the new base rows, `deltas` their net changes from `old`; `changed_rules`
    names relations that won or lost a rule, `was` the strata that the rows there are follow from:
    without it recursive ones of other rules begin anew. Views that depend on none of these do no
    work. Raises KeyViolationError, ValueRangeError or LimitError; nothing given is changed.
    """
    before = ViewStates.of(states)
    versions = Versions(
        old,
        new,
        {name: delta for name, delta in deltas.items() if len(delta)},
        context.resources.arena,
        context.tuning,
    )
    context.upkeep = versions.upkeep(context.resources.kept_orders, program.order.is_constant)
    refresher = _Refresher(program, versions, before, context, changed_rules, was)
    affected = Affected(program.order, refresher.values, places)
    affected.rules_changed(changed_rules)
    affected.rows_changed(versions.deltas)
    for stratum in affected:
        if refresher.concerned(stratum):
            with placed(stratum, refresher.heads):
                affected.rows_changed(refresher.stratum(stratum))
    return Refreshed(
        new.replace(versions.updates), refresher.found, refresher.states(), refresher.works
    )


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
        self.values = ChangedValues(
            versions.deltas, program.relations, context.resources.dictionary
        )
        self.heads = CommitHeads(program, before, versions, context, WAYS, changed_rules)

    def states(self) -> ViewStates:
        """The states after it all: with the last version of what rules share, without those that
        went.
        """
        states = self.before.replaced(self.changed | self.heads.late(self.changed))
        went: list[SharedHead] = []
        for name in self.changed_rules:
            left = {id(rule.rule) for rule in rules_of(states.get(name))}
            went += [
                rule.head
                for rule in rules_of(self.before.get(name))
                if rule.head is not None and id(rule.rule) not in left
            ]
        return (
            states.replaced(without_strangers(states, went, self.changed_rules)) if went else states
        )

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
        return any(self.values.concern(rule) for rule in stratum.rules)

    def stratum(self, stratum: Stratum) -> list[str]:
        """Bring the relations of one stratum up to date. Gives those whose rows changed."""
        if self.context.resources.progress is not None:
            shown = (
                ", ".join(name for name in stratum.relations if not is_hidden(name))
                or stratum.relations[0]
            )
            order = self.program.order
            place = order.place[stratum.relations[0]] + 1
            self.context.resources.report(
                f"evaluating {shown}: stratum {place} of {len(order.strata)}"
            )
        made: Mapping[str, RelationVersion] = {}
        if stratum.recursive:
            followed = self._recursive(stratum)
            changes, made = followed.deltas, followed.versions
        else:
            changes = {
                name: self._relation(self.program.relations[name], stratum.rules)
                for name in stratum.relations
            }
        for name, delta in changes.items():
            if (
                not len(delta) and not stratum.recursive
            ):  # as most views at most commits, of which there may be thousands
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
        """Trees that a state keeps of a view's rows with their counts: one set of pages serves
        both.
        """
        if stratum.recursive:
            from lftj.maintenance.counting.stratum_state import StratumState

            found = self.changed.get(stratum_key(stratum.relations))
            counted = isinstance(found, StratumState)
            return found.relations[name].plain_trees() if counted else NONE_KNOWN
        kept = self.changed.get(name)
        if (
            not len(delta)
            or not isinstance(kept, RelationState)
            or isinstance(kept, ChosenState)
            or kept.support is None
        ):
            return NONE_KNOWN
        tree = kept.support.tree.without_values()
        return {tuple(range(tree.key_width)): tree}

    def _recursive(self, stratum: Stratum) -> Followed:
        # A quarter of all modules, which a program without recursion does not load.
        from lftj.maintenance.counting.stratum_state import Kept
        from lftj.maintenance.ladder import follow_stratum

        budget = self.context.budget
        started, before, divided = moment(), budget.work, len(budget.divided)
        found_before = budget.found
        schemas = {name: self.program.relations[name] for name in stratum.relations}
        key = stratum_key(stratum.relations)
        kept = self.before.get(key)
        assert kept is None or isinstance(kept, Kept)
        followed = follow_stratum(
            stratum, schemas, kept, self.versions, self.context, self.changed_rules, self.was
        )
        self.changed[key] = followed.kept
        work = RuleWork(
            ", ".join(stratum.relations),
            "",
            followed.strategy,
            followed.changed,
            steps=budget.work - before,
            outcome=followed.outcome,
            moved=_moved(stratum, self.versions.deltas),
        )
        work.assignments = followed.assignments + budget.found - found_before
        work.bytes = followed.kept.bytes
        work.divided(budget.divided[divided:])
        work.head_changes = sum(map(len, followed.deltas.values()))
        work.since(started)
        self.works.append(work)
        return followed

    def _relation(
        self, schema: RelationSchema, rules: tuple[NormalRule | FunctorRule, ...]
    ) -> Delta:
        state = self.before.get(schema.name)
        assert state is None or isinstance(state, RelationState)
        change = RelationChange(schema, rules, self.versions, self.context, self.heads)
        done = maintain(change, state)
        if done.state is not None:
            self.changed[schema.name] = done.state
        self.works += done.works
        return done.delta


def _moved(stratum: Stratum, deltas: Mapping[str, Delta]) -> str:
    """Say what changed inputs can do to a stratum; see `RuleWork`."""
    from lftj.maintenance.deletion.over_delete import takes_and_adds  # as in `_recursive`

    takes, adds = takes_and_adds(
        [rule for rule in stratum.rules if isinstance(rule, NormalRule)],
        {base_name(name) for name in stratum.relations},
        deltas,
    )
    may = " and ".join(verb for verb, does in (("gain", adds), ("lose", takes)) if does)
    return f"may {may}" if may else ""
