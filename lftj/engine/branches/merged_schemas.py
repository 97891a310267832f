# SPDX-License-Identifier: Apache-2.0
"""Schemas in a merge: what one branch has altered since the common version is replayed on the other
one, so that rows and rules are compared in one schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lftj.engine.live.altered_state import altered_relation, computed, require_no_loss
from lftj.engine.transaction.altering import converted, take
from lftj.engine.versions.ancestry import base_rows
from lftj.engine.versions.state import State
from lftj.errors import LftjError, MergeConflictError
from lftj.program.alteration import Alteration, since
from lftj.program.altered_rules import altered_programs, altered_rules, earlier_readings
from lftj.program.schema import dropped_since
from lftj.program.statistics_hints import never
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine.transaction.draft import Draft


def in_one_schema(draft: Draft, source: State, common: State) -> tuple[State, State, State]:
    """The states to compare: of a draft, of a branch, and the last one that is part of both; each
    with its own rows alone, and with what either has altered. The draft takes what the branch has.
    Raises MergeConflictError where it cannot be, or both have altered.
    """
    ours, theirs = base_rows(draft.before), base_rows(source)
    was, here, there = (each.program.catalog.alterations for each in (common, ours, theirs))
    mine, others = since(was, here), since(was, there)
    if mine is None or others is None:
        apart, reason = _first_apart(here, there), "both have altered others"
        raise MergeConflictError.of_schemas(apart, reason, both=True)
    shared = min(len(mine), len(others))
    if mine[:shared] != others[:shared]:
        apart = _first_apart(mine, others)
        reason = "both branches have altered schemas since"
        raise MergeConflictError.of_schemas(apart, reason, both=True)
    later = mine if len(mine) > shared else others
    common = _replayed(draft, common, later)
    theirs = _replayed(draft, theirs, mine[shared:])
    version = draft.before.version + 1
    for each in others[shared:]:
        with _conflicts(each):
            take(draft, replace(each, version=version))
    return base_rows(replace(draft.base, program=draft.program)), theirs, common


def drop_theirs(draft: Draft, theirs: State, common: State, changed: Sequence[str]) -> None:
    """Drop what a branch has dropped. `changed`: relations whose rows changed here. Raises
    MergeConflictError.
    """
    gone = dropped_since(common.program.catalog, theirs.program.catalog)
    here = draft.program.catalog.relations
    for name in sorted(gone - theirs.program.catalog.relations.keys()):
        if name in here:
            if name in changed:
                raise MergeConflictError.of({name: []})
            draft.drop_relation(name)


class _conflicts:
    """A block that replays an alteration: what it raises is a conflict."""

    def __init__(self, alteration: Alteration):
        self._alteration = alteration

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LftjError) and not isinstance(error, MergeConflictError):
            raise MergeConflictError.of_schemas(self._alteration, error.message) from error


def _first_apart(one: Sequence[Alteration], other: Sequence[Alteration]) -> Alteration:
    pairs = zip(one, other, strict=False)
    return next((left for left, right in pairs if left != right), [*one, *other][-1])


def _replayed(draft: Draft, state: State, alterations: Sequence[Alteration]) -> State:
    """A state of own rows after alterations."""
    for each in alterations:
        with _conflicts(each):
            state = _altered(draft, state, each)
    return state


def _altered(draft: Draft, state: State, alteration: Alteration) -> State:
    before, after = alteration.relation, alteration.name
    program = state.program
    schema = program.catalog.relation(before)
    rules = altered_rules(program, alteration, schema)
    facts = partial(converted, draft, alteration, schema)
    programs = altered_programs(
        program.catalog.programs, alteration, schema, facts, earlier_readings(program, rules)
    )
    program = program.altered(alteration, rules, never).with_programs(programs)
    views = frozenset(after if name == before else name for name in state.views)
    database, engine = state.database, draft.engine
    if (relation := database.get(before)) is not None:
        require_no_loss(engine, relation, alteration)
        made = altered_relation(engine, relation, alteration, after)
        if alteration.kind == "add" and alteration.expression:
            columns = relation.columns()[: schema.arity]
            values = computed(engine, relation, alteration)
            made = RelationVersion.build(made.schema, engine.arena, [*columns, values])
        database = database.replace({after: made}, drop=() if before == after else (before,))
    return replace(state, program=program, database=database, views=views)
