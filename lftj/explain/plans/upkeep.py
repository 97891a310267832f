# SPDX-License-Identifier: Apache-2.0
"""Explanation of a rule's maintenance: delta queries or a trace, its granularities, and the
reasons.
"""

from __future__ import annotations

from collections.abc import Iterator

from lftj.engine.versions import State
from lftj.maintenance.counting import StratumState
from lftj.maintenance.trace import TraceState
from lftj.program import AggregateTerm, FunctorRule, NormalRule
from lftj.sensitivity import Position
from lftj.storage import Database
from lftj.views import (
    Arm,
    BoundedArm,
    ExtremesArm,
    GroupArm,
    GroupState,
    JoinArm,
    JoinState,
    LevelsState,
    UnionState,
    ViewStates,
    shown_key,
)

MemoryRow = tuple[str, int, int]
"""Name of a kept structure, its rows, and their bytes."""


def upkeep_lines(rule: NormalRule | FunctorRule, state: State) -> Iterator[str]:
    """The lines about one rule in `ws.plan()`."""
    arm = _arm_of(rule, state)
    if arm is None:
        stratum = state.program.order.stratum_of(rule.relation)
        if stratum is not None and stratum.recursive:
            yield (
                "    kept up to date by levels: each changed group once all below it are done"
                if stratum.summed
                else "    kept up to date with its recursive stratum"
            )
        return
    if isinstance(arm, ExtremesArm):
        yield (
            f"    kept up to date by looking up the first or last row of each group that changes "
            f"in {arm.extremes.relation}"
        )
        return
    if isinstance(arm, BoundedArm):
        yield (
            f"    kept up to date by looking up where rows of {arm.bounded.asked} stand in "
            f"{arm.bounded.rows}"
        )
        return
    found = state.view_states.get(arm.node_key)
    if isinstance(found, GroupState):
        yield f"    keeps {', '.join(found.aggregate.memory)}"
    trace = _trace_of(found)
    if trace is None:
        yield (
            "    kept up to date by delta queries: each changed row is joined with the other atoms"
        )
        return
    plan = trace.body.plan
    ends = (
        "every proof counted"
        if plan.count
        else f"from level {plan.group_level} on to the first proof"
    )
    yield f"    kept up to date by its trace, {ends}:"
    for position in trace.body.shape.positions:
        yield f"      {_upkeep(position, trace)}"


def _arm_of(rule: NormalRule | FunctorRule, state: State) -> Arm | None:
    """The arm of a rule; None where its recursive stratum has one state, or none is kept."""
    kept = state.view_states.get(rule.relation)
    arms = kept.arms if isinstance(kept, UnionState) else ()
    return next((arm for arm in arms if arm.rule is rule), None)


def is_searched(rule: NormalRule | FunctorRule, state: State) -> bool:
    """Test for a rule that is evaluated from nothing by itself: neither traced nor recursive."""
    arm = _arm_of(rule, state)
    if arm is None:
        return False
    key = arm.node_key
    return _trace_of(state.view_states.get(key)) is None


def evaluated(rule: NormalRule, state: State) -> tuple[NormalRule, tuple[int, ...]]:
    """The rule that is evaluated for this one, and the values that are asked of it, in the order by
    which plans are remembered: that of its group node where it reads one.
    """
    arm = _arm_of(rule, state)
    if isinstance(arm, GroupArm):
        join = state.view_states.graph.groups[arm.group_key].join
        return join.rule, join.needed
    arguments = [
        argument.variable
        for term in rule.head
        if isinstance(term, AggregateTerm)
        for argument in term.args
    ]
    return rule, tuple(dict.fromkeys([*rule.group, *arguments]))


def _trace_of(found: object) -> TraceState | None:
    if isinstance(found, GroupState):
        return found.join.trace
    return found.trace if isinstance(found, JoinState) else None


def _upkeep(position: Position, trace: TraceState) -> str:
    where = describe_position(position, trace)
    if position.prefix:
        return f"{where}: no index, a change names its region"
    index = trace.indices.get(position.key)
    reason = trace.reasons.get(position.key, "")
    kept = "none" if index is None else f"{index.granularity}, {len(index):,} intervals"
    return f"{where}: {kept}; {reason}"


def describe_position(position: Position, trace: TraceState) -> str:
    """A position as `e(x, y) at y`."""
    plan = trace.body.plan
    atoms = [(atom.relation, atom.levels) for atom in plan.atoms]
    if position.negated:
        probe = plan.probes[position.atom - len(atoms)]
        return f"!{probe.relation} at {plan.levels[position.level].name}"
    relation, levels = atoms[position.atom]
    return (
        f"{relation}({', '.join(plan.levels[level].name for level in levels)}) at "
        f"{plan.levels[position.level].name}"
    )


def all_memory_rows(database: Database, states: ViewStates) -> Iterator[tuple[str, str, int, int]]:
    """Memory of every relation: its key orders, then the state kept for it beside its rows: its
    name, the structure, rows and bytes. By name.
    """
    for name, relation in sorted(database.items()):
        columns = [column for column, _ in relation.schema.columns]
        for order, size in relation.memory().items():
            yield (
                name,
                ", ".join(columns[i] for i in order if i < len(columns)),
                relation.count,
                size,
            )
    for name in sorted(states):
        yield from ((shown_key(name), *each) for each in memory_rows(name, states))


def memory_rows(name: str, states: ViewStates) -> Iterator[MemoryRow]:
    """List the structures kept for one relation or recursive stratum beside its rows. What several
    rules share is told with the first of them.
    """
    kept = states.get(name)
    if isinstance(kept, StratumState):
        rows = sum(relation.count for relation in kept.relations.values())
        yield "(iterations and proofs)", rows, kept.bytes
    if isinstance(kept, LevelsState):
        yield "(sums and levels)", kept.groups, kept.bytes
    if not isinstance(kept, UnionState):
        return
    if kept.support is not None:
        yield "(supports)", len(kept.support), kept.support.memory
    for arm in kept.arms:
        if isinstance(arm, GroupArm):
            found = states.get(arm.group_key)
            if isinstance(found, GroupState) and found.group.members[0].rule is arm.rule:
                users = found.group.users
                for what, size in found.aggregate.memory.items():
                    yield f"(head of {users}: {what})", len(found.aggregate), size
                yield from _index_rows(users, found.join.trace)
        elif isinstance(arm, JoinArm):
            yield from _index_rows(f"rule {arm.name}", _trace_of(states.get(arm.key)))


def _index_rows(users: str, trace: TraceState | None) -> Iterator[MemoryRow]:
    if trace is None:
        return
    for key, index in trace.indices.items():
        where = describe_position(trace.body.shape.by_key[key], trace)
        yield f"(index of {users}: {where}, {index.granularity})", len(index), index.bytes
