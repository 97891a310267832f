# SPDX-License-Identifier: Apache-2.0
"""Commit: a function from the old state and a transaction's request to the next version, so a
failure anywhere leaves the old state alone.

Phases: the database gets the shape of the new program, base relations get their net changes, keys
are checked on what changed, views are refreshed. Nothing is published here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple

from lftj.engine.commit.demanded_views import refresh_as_asked
from lftj.engine.commit.keys import check_altered_key, check_key
from lftj.engine.commit.staging import Staging
from lftj.engine.versions.state import State
from lftj.heads.user import UserAggregate
from lftj.join.context import Context
from lftj.join.plan.cardinality import tells
from lftj.maintenance.inputs.affected import choosing_elsewhere
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.rules.called_functions import CalledFunctions, unused
from lftj.program.alteration import Alteration, rekeyed
from lftj.program.alterations_apart import since
from lftj.program.named_program import texts_of
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen, record
from lftj.storage.database import Database, base_name
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types.sources import Role, in_role, is_hidden
from lftj.views.runner import Refreshed
from lftj.views.states import ViewStates, still_serving, stratum_key


@frozen
class Proposal:
    """The request of a transaction: a program, the users' relations whose rules changed, pending
    operations per relation, and relations that are `dropped`, or begin anew under their names.
    `base`: the state that all of this begins with, where relations were altered before.
    """

    program: Program
    views: frozenset[str]
    aggregates: Mapping[str, UserAggregate]
    changed_rules: frozenset[str]
    staged: Mapping[str, Staging]
    dropped: frozenset[str] = frozenset()
    base: State | None = None


class Outcome(NamedTuple):
    """The result of a proposal: the state to publish, net changes per relation of the user's, those
    of base rows alone, and the work it took; the catalog before.
    """

    state: State
    changes: dict[str, Delta]
    base_changes: dict[str, Delta]
    work: int
    works: Sequence[RuleWork]
    was: Catalog | None = None

    @property
    def alterations(self) -> tuple[Alteration, ...]:
        """Alterations of schemas by the proposal."""
        if self.was is None:
            return ()
        return since(self.was.alterations, self.state.program.catalog.alterations) or ()


@record
class _NextDatabase:
    """The database as it takes shape, and what changed in it so far."""

    database: Database
    version: int
    updates: dict[str, RelationVersion] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    deltas: dict[str, Delta] = field(default_factory=dict)

    def __getitem__(self, name: str) -> RelationVersion:
        return self.updates[name] if name in self.updates else self.database[name]

    def __contains__(self, name: object) -> bool:
        return name in self.updates or name in self.database

    def finished(self) -> Database:
        return self.database.replace(self.updates, drop=self.dropped, version=self.version)


def carry_out(before: State, proposal: Proposal, context: Context) -> Outcome:
    """The state after a proposal. Raises KeyViolationError, ValueRangeError, LimitError … and then
    nothing has happened.
    """
    version, catalog = before.version, before.program.catalog
    altered = proposal.base is not None and proposal.base is not before
    if altered:
        before = _altered(before, proposal, context)
    if proposal.dropped:
        before = _without(before, proposal.dropped, context)
    draft = _NextDatabase(before.database, version + 1)
    if proposal.program is not before.program:
        _reshape(draft, before.program, proposal, context, altered=altered)
    base_changes = _change_base_rows(draft, before, catalog, proposal, context)
    called = None
    if proposal.program.catalog.functions:
        called = begin_calls(State(proposal.program, draft.finished()), context)
    proposal = _suited(draft, proposal, context)
    changed: frozenset[str] = frozenset()
    states = before.view_states
    was = None if altered else before.program.stratified.order
    if before.program.catalog.functions:
        before = _with_other_functions(before, proposal.program)
        states = before.view_states
    if proposal.program is not before.program or proposal.changed_rules:
        changed, states = _with_other_rules(draft, before, proposal, context)
    refreshed = Refreshed(draft.finished(), {}, states)
    if proposal.program.order.strata and (draft.deltas or changed):
        refreshed = refresh_as_asked(
            proposal.program,
            before.database,
            refreshed.database,
            draft.deltas,
            states,
            context,
            changed_rules=changed,
            was=was,
        )
    database = refreshed.database
    if called is not None:
        database = _with_results(database, proposal.program, called, base_changes)
    context.budget.spend(0)  # limits hold for a commit without views too
    changes = {
        name: delta
        for name, delta in (draft.deltas | refreshed.deltas).items()
        if len(delta) and not is_hidden(name)
    }
    happened = bool(changes or base_changes or proposal.changed_rules or proposal.dropped)
    if not happened and (now := proposal.program.catalog) is not catalog:
        happened = _says_other(now, catalog)
    database = database.replace({}, version=version + happened)
    _count_rows(refreshed.works, database)
    state = State(proposal.program, database, proposal.views, proposal.aggregates, refreshed.states)
    work = context.budget.work
    return Outcome(state, changes, base_changes, work, refreshed.works, catalog)


# ── functions of users ────────────────────────────────────────────────────────────────────────────
def begin_calls(state: State, context: Context) -> CalledFunctions | None:
    """Have an evaluation know the functions of a state, and the results that it has."""
    functions = state.program.catalog.functions
    if not functions:
        return None
    called = CalledFunctions(functions, context, state.database)
    context.resources.called = called
    return called


def _with_other_functions(before: State, program: Program) -> State:
    """The state without what is kept of calls of functions that have other code now."""
    other = [
        name
        for name, each in before.program.catalog.functions.items()
        if program.catalog.functions[name].version != each.version
    ]
    if not other:
        return before
    strata = before.program.stratified.order.strata_of(before.program.calling(other))
    keys = {stratum_key(each.relations) for each in strata}
    keys.update(name for each in strata for name in each.relations)
    return replace(before, view_states=before.view_states.without(sorted(keys)))


def _with_results(
    database: Database,
    program: Program,
    called: CalledFunctions,
    base_changes: dict[str, Delta],
) -> Database:
    """The database with the results that the evaluation has learned, and without the larger part
    of results that nothing reads; notes both among the changes of base rows.
    """
    learned, updates = called.learned(), dict[str, RelationVersion]()
    for name, signature in program.catalog.functions.items():
        relation = signature.results.name
        results, deltas = database[relation], list[Delta]()
        if relation in learned:
            deltas.append(Delta.insertion(learned[relation]))
            results = results.apply(deltas[0])
        read = [database[each] for each in program.calling([name])]
        if (gone := unused(signature, results, read)) is not None:
            deltas.append(gone)
            results = results.apply(gone)
        for delta in deltas:
            known = base_changes.get(relation)
            base_changes[relation] = delta if known is None else known.then(delta)
            updates[relation] = results
    return database.replace(updates)


def _says_other(after: Catalog, before: Catalog) -> bool:
    """Test for other texts of programs, or schemas that were altered."""
    if len(after.alterations) != len(before.alterations):
        return True
    return after.programs is not before.programs and (
        texts_of(after.programs) != texts_of(before.programs)
    )


def _altered(before: State, proposal: Proposal, context: Context) -> State:
    """The state with altered relations; what is kept of these goes."""
    base = proposal.base or before
    for name, relation in base.database.items():
        if before.database.get(name) is not relation:
            context.resources.kept_orders.pop(name, None)
    return base


def _without(before: State, dropped: frozenset[str], context: Context) -> State:
    """The state without the rows of relations and what is kept of them, and of whatever reads them:
    that has other rules, and what those before derived cannot be evaluated again.
    """
    names = dropped | {base_name(name) for name in dropped}
    for name in names:
        context.resources.kept_orders.pop(name, None)
    order = before.program.stratified.order
    strata = order.strata_of(dropped.union(*(order.readers.get(name, ()) for name in names)))
    keys = {stratum_key(each.relations) for each in strata}
    keys.update(name for each in strata for name in each.relations)
    states = before.view_states.without(sorted(keys))
    return replace(before, database=before.database.replace({}, drop=names), view_states=states)


def _with_other_rules(
    draft: _NextDatabase, before: State, proposal: Proposal, context: Context
) -> tuple[frozenset[str], ViewStates]:
    """The relations to derive anew under another program, and the states that still serve."""
    old, new, rules = before.program, proposal.program, proposal.changed_rules
    _make_room_for_asked(draft, old, new, context)
    changed = {name for name in rules if _derived(new, name)}
    changed |= choosing_elsewhere(new.stratified, old.stratified.order, rules)
    return frozenset(changed), still_serving(
        before.view_states, old.stratified, new.stratified, rules
    )


def _count_rows(works: Iterable[RuleWork], database: Database) -> None:
    """Note the rows of each relation that had work. O(relations)."""
    for work in works:
        name = work.relation
        if name in database:
            work.rows = database[name].count
        else:  # several, of a recursive stratum
            names = name.split(", ")
            work.rows = sum(database[name].count for name in names if name in database)


def _derived(program: Program, name: str) -> bool:
    return program.derives(name) or (is_hidden(name) and name in program.stratified.relations)


# ── the shape ─────────────────────────────────────────────────────────────────────────────────────
def _reshape(
    draft: _NextDatabase, old: Program, proposal: Proposal, context: Context, *, altered: bool
) -> None:
    """Relations that the new program adds or no longer has, and the base rows of relations that
    gain or lose their rules. `altered`: a relation may have the old name of a renamed one.
    """
    new = proposal.program
    schemas = new.stratified.relations
    changed = (*sorted(proposal.dropped), *sorted(proposal.changed_rules))
    declared = new.catalog.relations if altered else new.catalog.since(old.catalog)
    for name in (*declared, *changed):
        if name in schemas and name not in draft.database:
            schema = schemas[name]
            draft.updates[name] = RelationVersion.empty(schema, context.resources.arena)
            if schema.choice and not schema.hidden:
                _move_base_rows(draft, schema, derived=True)
    kept, was = new.catalog.kept, old.catalog.kept
    for name in kept.keys() - was.keys() - schemas.keys():
        draft.updates[name] = RelationVersion.empty(kept[name], context.resources.arena)
    draft.dropped += [name for name in was.keys() - kept.keys() if in_role(name, Role.RESULTS)]
    for name in proposal.changed_rules:
        if name not in schemas:
            draft.dropped.append(name)
        elif not is_hidden(name):
            _move_base_rows(draft, schemas[name], new.derives(name))


def _make_room_for_asked(
    draft: _NextDatabase, old: Program, new: Program, context: Context
) -> None:
    """Begin relations for values that cycles ask for, and drop those that are not in the new
    program.
    """
    for name in new.asked:
        if name not in draft.database:
            draft.updates[name] = RelationVersion.empty(
                new.hidden.schemas[name], context.resources.arena
            )
    draft.dropped += [name for name in old.asked if name not in new.asked]


def _move_base_rows(draft: _NextDatabase, schema: RelationSchema, derived: bool) -> None:
    name, base = schema.name, base_name(schema.name)
    if derived and base not in draft.database:
        draft.updates[base] = draft[name].renamed(replace(schema, name=base))
    elif not derived and base in draft.database:
        remaining = draft[base].renamed(schema)
        draft.deltas[name] = remaining.difference(draft[name])
        draft.updates[name] = remaining
        draft.dropped.append(base)


def _suited(draft: _NextDatabase, proposal: Proposal, context: Context) -> Proposal:
    """Replace the normal forms of rules that were added before there were enough rows, by forms
    that suit the rows loaded now.
    """
    loaded = [
        name
        for name, delta in draft.deltas.items()
        if 2 * delta.inserted > draft[name].count and tells(draft[name], context.tuning)
    ]
    if not loaded:
        return proposal
    program, changed = proposal.program.suited(loaded, partial(context.statistics.size, draft))
    for name in changed:
        if name not in program.stratified.relations:
            draft.dropped.append(name)
        elif name not in draft:
            draft.updates[name] = RelationVersion.empty(
                program.hidden.schemas[name], context.resources.arena
            )
    return replace(proposal, program=program, changed_rules=proposal.changed_rules | changed)


# ── base rows ─────────────────────────────────────────────────────────────────────────────────────
def _change_base_rows(
    draft: _NextDatabase, before: State, was: Catalog, proposal: Proposal, context: Context
) -> dict[str, Delta]:
    """Apply the net changes; returns them by the relation's own name. `was`: the catalog before
    relations were altered.
    """
    net: dict[str, Delta] = {}
    altered: frozenset[str] = frozenset()
    now = proposal.program.catalog
    if now is not was:
        altered = rekeyed(since(was.alterations, now.alterations) or ())
    for name, staging in proposal.staged.items():
        target = base_name(name) if name in proposal.program.order.place else name
        present = draft[target]
        delta, changed = staging.applied(present)
        if not len(delta):
            continue
        net[name], draft.updates[target] = delta, changed
        schema = staging.committed.schema
        keyed = schema.key is not None and name not in altered
        if keyed and not staging.keeps_keys(delta):
            check_key(schema, present, changed, delta, context.resources.dictionary)
        old = before.database.get(target)
        draft.deltas[target] = (
            changed.difference(old) if target in draft.deltas and old is not None else delta
        )
    for name in {*net, *proposal.changed_rules}:
        _check_mixture(draft, proposal.program, name)
    for name in sorted(altered):
        _check_altered(draft, proposal.program, name, context)
    return net


def _check_altered(draft: _NextDatabase, program: Program, name: str, context: Context) -> None:
    """Check all rows of a relation whose key, or the values in it, changed. Raises
    KeyViolationError.
    """
    schema = program.catalog.relations.get(name)
    target = base_name(name) if name in program.order.place else name
    if schema is not None and schema.key is not None and target in draft:
        check_altered_key(schema, draft[target], context.resources.dictionary)


def _check_mixture(draft: _NextDatabase, program: Program, name: str) -> None:
    """An aggregated relation gets its rows from its rule alone: a group with two values would be
    the result otherwise.
    """
    known = program.catalog.derivations.get(name)
    if (
        known is not None
        and known.aggregated
        and not is_hidden(name)
        and draft[base_name(name) if program.derives(name) else name].count
    ):
        raise program.catalog.rows_refused(name)
