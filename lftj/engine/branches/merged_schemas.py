# SPDX-License-Identifier: Apache-2.0
"""Schemas in a merge: what one branch has altered since the common version is replayed on the other
one, so that rows and rules are compared in one schema.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lftj.engine.live.altered_state import altered_relation, computed
from lftj.engine.transaction.altering import converted, take
from lftj.engine.versions.ancestry import base_rows
from lftj.engine.versions.state import State
from lftj.errors import LftjError, MergeConflictError
from lftj.program.alteration import Alteration
from lftj.program.alterations_apart import ApartError, apart, since
from lftj.program.altered_rules import altered_programs, altered_rules, earlier_readings
from lftj.program.program import Program
from lftj.program.schema import Catalog, dropped_since
from lftj.program.statistics_hints import never
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine.transaction.draft import Draft


def in_one_schema(draft: Draft, source: State, common: State) -> tuple[State, State, State]:
    """The states to compare: of a draft, of a branch, and the last one that is part of both; each
    with its own rows alone, and with what either has altered. The draft takes what the branch has.
    Raises MergeConflictError where it cannot be, or both have altered the same.
    """
    ours, theirs = base_rows(draft.before), base_rows(source)
    was, here, there = (each.program.catalog for each in (common, ours, theirs))
    mine, others = _since(was, here), _since(was, there)
    anew = {
        name for now in (here, there) for name in dropped_since(was, now) & now.relations.keys()
    }
    for each in (*others, *mine):
        if each.relation in anew:
            reason = f"`{each.relation}` was dropped, and declared anew"
            raise MergeConflictError.of_schemas(each, reason, both=True)
    try:
        found = apart(others, mine)
    except ApartError as problem:
        reason = f"{problem.reason}; here version {problem.other.version} made {problem.other}"
        raise MergeConflictError.of_schemas(problem.one, reason, both=True) from None
    declared = frozenset(was.relations)
    common = _replayed(draft, common, (*mine, *found.one), declared)
    theirs = _replayed(draft, theirs, found.other, declared)
    version, known = draft.before.version + 1, _names(declared, mine)
    for each in found.one:
        with _conflicts(each):
            each = replace(each, version=version)
            if _concerns(draft.program, each, known):
                take(draft, each)
            else:
                draft.program = draft.program.noting(each)
        known = _names(known, [each])
    ours = base_rows(replace(draft.base, program=draft.program))
    return ours, _ordered(draft, theirs), _ordered(draft, common)


def _since(was: Catalog, now: Catalog) -> tuple[Alteration, ...]:
    """The alterations of a branch since the common version. Raises MergeConflictError."""
    found = since(was.alterations, now.alterations)
    if found is None:
        left = [*now.alterations, *was.alterations]
        raise MergeConflictError.of_schemas(left[0], "the branches began otherwise", both=True)
    return found


def _names(known: frozenset[str], alterations: Sequence[Alteration]) -> frozenset[str]:
    """The names, after alterations, of relations that the common version has."""
    found = known
    for each in alterations:
        found = found - {each.relation} | {each.name} if each.relation in found else found
    return found


def _concerns(program: Program, alteration: Alteration, known: Collection[str]) -> bool:
    """Test for an alteration of a relation that a program has, or should have: not one that the
    other branch has declared since the common version, and altered.
    """
    name = alteration.relation
    return name in program.catalog.relations or name in known


def _ordered(draft: Draft, state: State) -> State:
    """A state whose relations have their columns in the order that those of a draft have."""
    for name, schema in draft.program.catalog.relations.items():
        known = state.program.catalog.relations.get(name)
        if known is None or known.columns == schema.columns:
            continue
        if sorted(known.columns, key=str) == sorted(schema.columns, key=str):
            state = _altered(draft, state, Alteration.of_order(schema))
    return state


def drop_theirs(draft: Draft, theirs: State, common: State) -> None:
    """Drop what a branch has dropped."""
    gone = dropped_since(common.program.catalog, theirs.program.catalog)
    here = draft.program.catalog.relations
    for name in sorted(gone - theirs.program.catalog.relations.keys()):
        if name in here:
            draft.drop_relation(name)


class _conflicts:
    """A block that replays an alteration: what it raises is a conflict."""

    def __init__(self, alteration: Alteration):
        self._alteration = alteration

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LftjError) and not isinstance(error, MergeConflictError):
            raise MergeConflictError.of_schemas(self._alteration, error.reason) from error


def _replayed(
    draft: Draft, state: State, alterations: Sequence[Alteration], known: frozenset[str]
) -> State:
    """A state of own rows after alterations."""
    for each in alterations:
        with _conflicts(each):
            if _concerns(state.program, each, known):
                state = _altered(draft, state, each)
        known = _names(known, [each])
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
        made = altered_relation(engine, relation, alteration, after, lossless=True)
        if alteration.kind == "add" and alteration.expression:
            columns = relation.columns()[: schema.arity]
            values = computed(engine, relation, alteration)
            made = RelationVersion.build(made.schema, engine.arena, [*columns, values])
        database = database.replace({after: made}, drop=() if before == after else (before,))
    return replace(state, program=program, database=database, views=views)
