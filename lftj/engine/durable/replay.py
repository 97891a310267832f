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
from lftj.engine.versions.state import State
from lftj.program.schema import dropped_since
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
    return made


def _groups(state: State, commits: Sequence[Commit]) -> Iterator[tuple[list[Commit], State]]:
    """Commits as far as no relation is dropped after the first of them, as earlier ones may have
    rows of it; with a state that has the program after the last.
    """
    group, after = list[Commit](), state
    for commit in commits:
        text = commit.program
        following = after if text is None else with_program(after, text)
        if group and following.program.catalog.dropped != after.program.catalog.dropped:
            yield group, after
            group = []
        group.append(commit)
        after = following
    yield group, after


def _then(before: Outcome, after: Outcome) -> Outcome:
    """Two outcomes as one. Of relations that were dropped between them the second alone tells."""
    dropped = before.state.program.catalog.dropped
    now = after.state.program.catalog

    def joined(one: Mapping[str, Delta], other: Mapping[str, Delta]) -> dict[str, Delta]:
        kept = {
            name: delta
            for name, delta in one.items()
            if name in now.relations and now.dropped.get(name) == dropped.get(name)
        }
        found = {**kept, **other}
        for name in kept.keys() & other.keys():
            found[name] = kept[name].then(other[name])
        return {name: delta for name, delta in found.items() if len(delta)}

    changes = joined(before.changes, after.changes)
    base_changes = joined(before.base_changes, after.base_changes)
    works = [*before.works, *after.works]
    return Outcome(after.state, changes, base_changes, before.work + after.work, works)


def _as_one(engine: Engine, state: State, after: State, commits: Sequence[Commit]) -> Outcome:
    """Commits as one change, of which the first alone may drop relations."""
    schemas = after.program.catalog.relations
    net: dict[str, Delta] = {}
    for commit in commits:
        for name, delta in unpacked(commit.rows, schemas, engine.dictionary).items():
            net[name] = net[name].then(delta) if name in net else delta
    dropped = dropped_since(state.program.catalog, after.program.catalog)
    proposal = Proposal(
        after.program,
        after.views,
        after.aggregates,
        after.program.revised_since(state.program),
        dict(_staged(engine, state, after, net, dropped)),
        dropped,
    )
    outcome = carry_out(state, proposal, engine.context(after.aggregates))
    database = outcome.state.database.replace({}, version=commits[-1].version)
    return outcome._replace(state=replace(outcome.state, database=database))


def _staged(
    engine: Engine,
    state: State,
    after: State,
    net: Mapping[str, Delta],
    dropped: frozenset[str],
) -> Iterable[tuple[str, Staging]]:
    for name, delta in net.items():
        schema = after.program.catalog.relation(name)
        known = name in state.database and name not in dropped
        staging = Staging(
            state.base(name) if known else RelationVersion.empty(schema, engine.arena)
        )
        staging.add("delete", delta.erases)
        staging.add("insert", delta.inserts)
        yield name, staging
