# SPDX-License-Identifier: Apache-2.0
"""Commits of a log on top of a state: all of them as one change, so that a view is brought up to
date once, and evaluated only where it depends on what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lftj.engine.commit.commit import Outcome, Proposal, carry_out
from lftj.engine.commit.staging import Staging
from lftj.engine.durable.checkpoint import with_program
from lftj.engine.live.altered_state import altered_state
from lftj.engine.live.schema_history import delta_between, rows_then
from lftj.engine.versions.ancestry import base_rows
from lftj.engine.versions.state import State
from lftj.program.alterations_apart import since
from lftj.program.schema import Catalog, dropped_since
from lftj.storage.delta import Delta
from lftj.storage.durable.log import Commit
from lftj.storage.durable.packed_changes import unpacked
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine


def replayed(engine: Engine, state: State, commits: Sequence[Commit]) -> Outcome:
    """The state after commits, at least one, and the change that they are together. Raises
    LookupError, TypeError or ValueError for what nobody logged.
    """
    made: Outcome | None = None
    for group, after in _groups(state, commits):
        begun = state if made is None else made.state
        found = _as_one(engine, begun, after, group)
        made = found if made is None else _then(made, found)
    assert made is not None, "there was a commit"
    return _in_last_columns(engine, state, made) if made.alterations else made


def _groups(state: State, commits: Sequence[Commit]) -> Iterator[tuple[list[Commit], State]]:
    """Commits as far as no relation is dropped or altered after the first of them, as earlier ones
    may have rows of it; with a state that has the program after the last.
    """
    group, after = list[Commit](), state
    for commit in commits:
        text = commit.program
        following = after if text is None else with_program(after, text)
        if group and _other_relations(following.program.catalog, after.program.catalog):
            yield group, after
            group = []
        group.append(commit)
        after = following
    yield group, after


def _other_relations(after: Catalog, before: Catalog) -> bool:
    """Test for relations that were dropped or altered, or functions that have other code."""
    if (after.dropped, after.alterations) != (before.dropped, before.alterations):
        return True
    now, was = after.functions, before.functions
    return any(now[name].version != each.version for name, each in was.items())


def _then(before: Outcome, after: Outcome) -> Outcome:
    """Two outcomes as one. Of relations that were dropped or altered between them the second alone
    tells.
    """
    was, now = before.state.program.catalog, after.state.program.catalog
    altered = {
        name
        for each in since(was.alterations, now.alterations) or ()
        for name in (each.relation, each.name)
    }

    def joined(one: Mapping[str, Delta], other: Mapping[str, Delta]) -> dict[str, Delta]:
        kept = {
            name: delta
            for name, delta in one.items()
            if name in now.relations
            and name not in altered
            and now.dropped.get(name) == was.dropped.get(name)
        }
        found = {**kept, **other}
        for name in kept.keys() & other.keys():
            found[name] = kept[name].then(other[name])
        return {name: delta for name, delta in found.items() if len(delta)}

    changes = joined(before.changes, after.changes)
    base_changes = joined(before.base_changes, after.base_changes)
    works = [*before.works, *after.works]
    work = before.work + after.work
    return Outcome(after.state, changes, base_changes, work, works, before.was)


def _in_last_columns(engine: Engine, before: State, made: Outcome) -> Outcome:
    """The outcome with all changes of relations that were altered between its commits. O(rows) of
    these, where pages are not shared.
    """
    state, changes, base_changes = made.state, dict(made.changes), dict(made.base_changes)
    catalog = state.program.catalog
    for name in {each.name for each in made.alterations} & catalog.relations.keys():
        schema, own = catalog.relations[name], state.base(name)
        changes[name] = delta_between(engine, schema, before, state)
        if not state.program.derives(name):
            base_changes[name] = changes[name]
        elif (then := rows_then(engine, base_rows(before), schema, catalog)) is not None:
            base_changes[name] = own.difference(then)
    changes = {name: delta for name, delta in changes.items() if len(delta)}
    return made._replace(changes=changes, base_changes=base_changes)


def _as_one(engine: Engine, state: State, after: State, commits: Sequence[Commit]) -> Outcome:
    """Commits as one change, of which the first alone may drop or alter relations."""
    schemas = after.program.catalog.kept
    net: dict[str, Delta] = {}
    for commit in commits:
        for name, delta in unpacked(commit.rows, schemas, engine.dictionary).items():
            net[name] = net[name].then(delta) if name in net else delta
    dropped = dropped_since(state.program.catalog, after.program.catalog)
    base = _base(engine, state, after.program.catalog, dropped)
    proposal = Proposal(
        after.program,
        after.views,
        after.aggregates,
        after.program.revised_since(state.program),
        dict(_staged(engine, base, after, net, dropped)),
        dropped,
        base,
    )
    outcome = carry_out(state, proposal, engine.context(after.aggregates))
    database = outcome.state.database.replace({}, version=commits[-1].version)
    return outcome._replace(state=replace(outcome.state, database=database))


def _base(engine: Engine, state: State, after: Catalog, dropped: frozenset[str]) -> State:
    """The state with relations as they were altered since. Those that were dropped are not, but
    others may have had their names since.
    """
    base = state
    for each in since(state.program.catalog.alterations, after.alterations) or ():
        if each.relation not in dropped:
            base = altered_state(engine, base, each)
    return base


def _staged(
    engine: Engine,
    state: State,
    after: State,
    net: Mapping[str, Delta],
    dropped: frozenset[str],
) -> Iterable[tuple[str, Staging]]:
    for name, delta in net.items():
        schema = after.program.catalog.kept[name]
        known = name in state.database and name not in dropped
        staging = Staging(
            state.base(name) if known else RelationVersion.empty(schema, engine.arena)
        )
        staging.add("delete", delta.erases)
        staging.add("insert", delta.inserts)
        yield name, staging
