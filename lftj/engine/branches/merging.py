# SPDX-License-Identifier: Apache-2.0
"""Merging: the changes that another branch has made, as operations of a transaction.

Rows that were inserted or deleted there since the last version that is part of both are inserted or
deleted here, declarations and rules come and go. Views follow by the commit. Where a row, or two
rows of one key, changed in both, nothing is merged: an error lists them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lftj import frames
from lftj.engine.branches.branches import branches_of
from lftj.engine.branches.merged_programs import (
    free_rules,
    moved_programs,
    of_nobody,
    owned_relations,
    take_programs,
    without_facts,
)
from lftj.engine.branches.merged_schemas import drop_theirs, in_one_schema
from lftj.engine.live.engine import Engine
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.transaction.draft import Draft
from lftj.engine.versions.state import State
from lftj.errors import MergeConflictError, SchemaInUseError, StillNeededError
from lftj.program.checks.declarations import require_same_types
from lftj.program.checks.subtypes import types_above
from lftj.program.program import Program
from lftj.program.schema import Catalog, dropped_since
from lftj.program.source_rule import SourceRule
from lftj.scantree.rows import intersection, sort_rows
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.syntax import tree
from lftj.types.texts import Texts

Conflicts = dict[str, list[tuple[Any, ...]]]


def merge(draft: Draft, source: Engine) -> None:
    """Add to a draft what a branch has changed since the last version that is part of both.
    O(changes), where pages are shared. Raises MergeConflictError where it changed here too,
    DeclarationError for relations that both have declared otherwise; then the draft is not to be
    used.
    """
    engine = draft.engine
    engine.writer.flush()  # the log has the state of the other one
    common = branches_of(engine).common(engine, source)
    try:
        _add(draft, source.state, common)
    except (StillNeededError, SchemaInUseError) as problem:
        raise MergeConflictError.of_needed(problem.reason) from problem
    draft.merged = source


def _add(draft: Draft, source: State, common: State) -> None:
    ours, theirs, common = in_one_schema(draft, source, common)
    changes, ours_changes = base_changes(common, theirs), base_changes(common, ours)
    moved = moved_programs(common.program, theirs.program, ours.program)
    changes = without_facts(draft, changes, moved, common.program, theirs.program)
    ours_changes = without_facts(draft, ours_changes, None, common.program, ours.program)
    _require_not_dropped(common, ours, changes)
    _require_not_dropped(common, theirs, ours_changes)
    _require_no_conflicts(changes, ours_changes, theirs, draft.texts())
    _merge_program(draft, common.program, theirs, moved, ours_changes.keys())
    drop_theirs(draft, theirs, common)
    if gone := sorted(changes.keys() - draft.program.catalog.relations.keys()):
        raise MergeConflictError.of_dropped(gone)
    for name, delta in changes.items():
        draft.change_rows(name, delta)
    if changes:
        _take_results(draft, source)


def _take_results(draft: Draft, source: State) -> None:
    """Bring to a draft the results of functions that both know, so that none is called again."""
    for name, signature in source.program.catalog.functions.items():
        if draft.program.catalog.functions[name] == signature:
            draft.learn(signature, source.database[signature.results.name])


def base_changes(before: State, after: State) -> dict[str, Delta]:
    """The changes of all relations' own rows between two states of `base_rows`."""
    found: dict[str, Delta] = {}
    for name, now in after.database.items():
        old = before.database.get(name)
        nothing = no_rows(now.schema.arity)
        if old is not None and old.schema.columns != now.schema.columns:
            old = None  # another relation had the name
        delta = Delta(now.columns(), nothing) if old is None else now.difference(old)
        if len(delta):
            found[name] = delta
    return found


# ── conflicts ─────────────────────────────────────────────────────────────────────────────────────
def _require_not_dropped(common: State, state: State, changes: Collection[str]) -> None:
    """Raise MergeConflictError for relations that one branch has dropped, and maybe declared anew,
    and whose rows changed in the other one.
    """
    gone = dropped_since(common.program.catalog, state.program.catalog)
    if both := sorted(gone.intersection(changes)):
        raise MergeConflictError.of_dropped(both)


def _require_no_conflicts(
    theirs: Mapping[str, Delta], ours: Mapping[str, Delta], after: State, texts: Texts
) -> None:
    conflicts: Conflicts = {}
    for name in sorted(theirs.keys() & ours.keys()):
        schema = after.program.catalog.relation(name)
        compared = range(schema.arity) if schema.key is None else schema.key
        if not compared:  # all rows have the same key, which is empty
            conflicts[name] = [()]
        elif len((both := _in_both(compared, theirs[name], ours[name]))[0]):
            types = [schema.columns[column][1] for column in compared]
            order = frames.value_order(types, both, texts)
            conflicts[name] = frames.to_tuples(types, [each[order] for each in both], texts)
    if conflicts:
        raise MergeConflictError.of(conflicts)


def _in_both(columns: Sequence[int], one: Delta, other: Delta) -> Columns:
    """The values of these columns in rows of both changes. O(n log n)."""

    def values(delta: Delta) -> Columns:
        rows = [np.concatenate((delta.inserts[each], delta.erases[each])) for each in columns]
        return sort_rows(rows)

    return intersection(values(one), values(other))


# ── programs ──────────────────────────────────────────────────────────────────────────────────────
def _merge_program(
    draft: Draft,
    before: Program,
    source: State,
    moved: Sequence[str],
    changed: Collection[str],
) -> None:
    """Bring to a draft what declarations, aggregates and rules a branch has won and lost, and the
    programs that it `moved`. `changed`: relations whose rows changed here.
    """
    theirs, of_programs = source.program, owned_relations(source.program)
    catalog = _with_types(draft.program.catalog, of_nobody(theirs.catalog))
    if catalog != draft.program.catalog:
        draft.program = replace(draft.program, catalog=catalog)
    for name, aggregate in source.aggregates.items():
        if name not in before.catalog.aggregates:
            draft.add_aggregate(aggregate)
    for name, signature in theirs.catalog.functions.items():
        if signature != before.catalog.functions.get(name):
            draft.take_function(signature)
    for name, schema in theirs.catalog.relations.items():
        if name not in before.catalog.relations and name not in of_programs:
            draft.declare(schema, view=name in source.views)
    had, has = (_rules(free_rules(each)) for each in (before, theirs))
    draft.remove_rules(_handles(draft.program, had - has))
    take_programs(draft, before, theirs, moved, changed)
    present = _rules(draft.program.sources)
    if added := [rule for rule in has - had if rule not in present]:
        draft.add_rules(tree.ParsedProgram(tuple(added)))


def _rules(sources: Mapping[int, SourceRule]) -> Counter[tree.Rule]:
    """Rules without their numbers, which each branch gives by itself."""
    return Counter(each.rule for each in sources.values())


def _handles(program: Program, rules: Counter[tree.Rule]) -> list[RuleHandle]:
    """Handles of these rules, as far as a program has them; of equal ones the last."""
    left, found, free = Counter(rules), list[RuleHandle](), free_rules(program)
    for number in sorted(free, reverse=True):
        rule = free[number].rule
        if left[rule] > 0:
            left[rule] -= 1
            found.append(RuleHandle(number, rule))
    return found


def _with_types(ours: Catalog, theirs: Catalog) -> Catalog:
    """Names of types, and relations with facts, that another catalog has too. Raises
    DeclarationError (E160, E165) where the two differ.
    """
    require_same_types(ours, theirs)
    aliases = {**theirs.aliases, **ours.aliases}
    definitions = {**theirs.definitions, **ours.definitions}
    return replace(
        ours,
        aliases=aliases,
        definitions=definitions,
        above=types_above({**theirs.above, **ours.above}, definitions, aliases),
        kinds={**theirs.kinds, **ours.kinds},
        fact_relations=ours.fact_relations | theirs.fact_relations,
    )
