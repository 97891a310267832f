"""Commits of a log on top of a state: all of them as one change, so that a view is brought up to
date once, and evaluated only where it depends on what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lftj.engine.checkpoint import with_program
from lftj.engine.commit import Outcome, Proposal, carry_out
from lftj.engine.staging import Staging
from lftj.engine.state import State
from lftj.storage.delta import Delta
from lftj.storage.durable.log import Commit
from lftj.storage.durable.packed_changes import unpacked
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine.engine import Engine


def replayed(engine: Engine, state: State, commits: Sequence[Commit]) -> Outcome:
    """The state after commits, at least one, and the change that they are together. Raises
    LookupError, TypeError or ValueError for what nobody logged.
    """
    after = state
    for text in (commit.program for commit in commits):
        if text is not None:
            after = with_program(after, text)
    schemas = after.program.catalog.relations
    net: dict[str, Delta] = {}
    for commit in commits:
        for name, delta in unpacked(commit.rows, schemas, engine.dictionary).items():
            net[name] = net[name].then(delta) if name in net else delta
    proposal = Proposal(
        after.program,
        after.views,
        after.aggregates,
        after.program.revised_since(state.program),
        dict(_staged(engine, state, after, net)),
    )
    outcome = carry_out(state, proposal, engine.context(after.aggregates))
    database = outcome.state.database.replace({}, version=commits[-1].version)
    return outcome._replace(state=replace(outcome.state, database=database))


def _staged(
    engine: Engine, state: State, after: State, net: Mapping[str, Delta]
) -> Iterable[tuple[str, Staging]]:
    for name, delta in net.items():
        schema = after.program.catalog.relation(name)
        known = name in state.database
        staging = Staging(
            state.base(name) if known else RelationVersion.empty(schema, engine.arena)
        )
        staging.add("delete", delta.erases)
        staging.add("insert", delta.inserts)
        yield name, staging
