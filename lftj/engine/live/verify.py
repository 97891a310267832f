# SPDX-License-Identifier: Apache-2.0
"""Checking the promises that every view equals what the rules derive from the base rows, and that
these obey their keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from lftj.engine.calls.limits import short_of_memory
from lftj.engine.commit.commit import begin_calls
from lftj.engine.commit.keys import rows_of_one_key
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import State
from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.scantree.rows import difference, differences, equal_runs, sort_rows
from lftj.storage.delta import Delta
from lftj.storage.relation import RelationVersion
from lftj.types import INT, Type
from lftj.views.arms import JoinArm
from lftj.views.join_node import JoinState
from lftj.views.runner import refresh
from lftj.views.states import NO_STATES, ViewStates
from lftj.views.union_node import UnionState

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine
    from lftj.maintenance.counting.stratum_state import StratumState


@frozen(guarded=True)
class Discrepancy:
    """A view that is not what it should be, or `name (key)` for rows that break a key. `difference`
    holds the rows it lacks (`__diff__` +1) and has in excess (−1): beside the first of each key.
    """

    relation: str
    difference: Result


def discrepancies(engine: Engine, state: State) -> list[Discrepancy]:
    """The keys that are broken, and the views that differ from a fresh evaluation; empty when all
    is well. As expensive as computing every view from nothing.
    """
    return [*broken_keys(engine, state), *view_discrepancies(engine, state)]


def view_discrepancies(engine: Engine, state: State) -> list[Discrepancy]:
    """The views that differ from a fresh evaluation."""
    with (
        interrupts_as_such(),
        engine.dictionary.in_use(),
        short_of_memory(
            "views were not compared", "let go of snapshots and results that are not needed"
        ),
    ):
        return list(_discrepancies(engine, state))


def broken_keys(engine: Engine, state: State) -> Iterator[Discrepancy]:
    """The base relations that have several rows of one key. O(n log n)."""
    for name, schema in state.program.catalog.relations.items():
        if schema.key is None or name not in state.database:
            continue
        found = rows_of_one_key(schema, state.base(name))
        if not len(found[0]):
            continue
        order = (*schema.key, *(i for i in range(schema.arity) if i not in schema.key))
        more = np.ones(len(found[0]), np.bool_)
        more[equal_runs(found, len(schema.key))] = False
        rows = sort_rows([found[order.index(place)][more] for place in range(schema.arity)])
        as_relation = RelationSchema(f"{name} (key)", schema.columns)
        delta = Delta.deletion(rows)
        yield Discrepancy(as_relation.name, engine.change_set(state.version, as_relation, delta))


def _discrepancies(engine: Engine, state: State) -> Iterator[Discrepancy]:
    program = state.program.stratified
    derived = frozenset(name for stratum in program.strata for name in stratum.relations)
    bare = {name: RelationVersion.empty(program.relations[name], engine.arena) for name in derived}
    empty = state.database.replace(bare)
    context = engine.context(state.aggregates)
    begin_calls(state, context)
    fresh = refresh(
        program,
        empty,
        empty,
        {},
        NO_STATES,
        context,
        changed_rules=derived,
    )
    database = fresh.database
    for name, domain in state.program.asked.items():
        delta = state.database[domain].difference(state.database[name])
        if len(delta):
            yield Discrepancy(
                name, engine.change_set(state.version, program.relations[name], delta)
            )
    yield from _recounted(engine, state)
    for name in sorted(derived):
        supports = _supports(engine, state, name, fresh.states)
        if supports is not None:
            yield supports
        delta = database[name].difference(state.database[name])
        if len(delta):
            schema = program.relations[name]
            yield Discrepancy(name, engine.change_set(state.version, schema, delta))


def _recounted(engine: Engine, state: State) -> Iterator[Discrepancy]:
    """The supports of recursive strata that are not the numbers of derivations from lower ranks."""
    for kept in state.view_states.values():
        if not _has_ranks(kept) or kept.candidates:
            continue
        from lftj.maintenance.counting.recount import recounted
        from lftj.maintenance.lattice.optimal_support import WithBest

        relations = WithBest(state.database, state.database, kept.lattices)
        context = engine.context(state.aggregates)
        for name, (rows, words, right) in recounted(kept, relations, context).items():
            delta = Delta(*differences([*rows, words], [*rows, right])[::-1])
            if len(delta):
                columns = state.program.stratified.relations[name].columns
                yield _in_supports(engine, state, name, columns, delta)


def _has_ranks(kept: object) -> TypeGuard[StratumState]:
    """Test for the state of a recursive stratum, whose module a program without one never loads."""
    return type(kept).__name__ == "StratumState"


def _in_supports(
    engine: Engine, state: State, name: str, columns: Sequence[tuple[str, Type]], delta: Delta
) -> Discrepancy:
    schema = RelationSchema(f"{name} (supports)", (*(columns or (("", INT),)), ("supports", INT)))
    return Discrepancy(schema.name, engine.change_set(state.version, schema, delta))


def _supports(engine: Engine, state: State, name: str, anew: ViewStates) -> Discrepancy | None:
    """The support counts that are not what a fresh evaluation counts; joins that keep traces count
    what their searches found.
    """
    kept, fresh = state.view_states.get(name), anew.get(name)
    if not isinstance(kept, UnionState) or not isinstance(fresh, UnionState):
        return None
    if kept.support is None or fresh.support is None:
        return None
    if _traced(kept, state.view_states) or _traced(fresh, anew):
        return None
    inserts, erases = (
        [*columns, counts] for columns, counts in (fresh.support.counts(), kept.support.counts())
    )
    delta = Delta(difference(inserts, erases), difference(erases, inserts))
    if not len(delta):
        return None
    columns = state.program.stratified.relations[name].columns
    return _in_supports(engine, state, name, columns, delta)


def _traced(union: UnionState, states: ViewStates) -> bool:
    """Test for an arm whose join keeps a trace."""
    joins = (states.get(arm.key) for arm in union.arms if isinstance(arm, JoinArm))
    return any(isinstance(join, JoinState) and join.trace is not None for join in joins)
