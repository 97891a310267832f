"""Explanation of a rule's maintenance: delta queries or a trace, its granularities, and the
reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lftj.engine.versions import State
from lftj.maintenance.counting import StratumState
from lftj.maintenance.rules import RelationState, RuleState, SharedHead, ViewState, shown_key
from lftj.maintenance.trace import TraceState
from lftj.program import FunctorRule, NormalRule
from lftj.sensitivity import Position
from lftj.storage import Database

MemoryRow = tuple[str, int, int]
"""Name of a kept structure, its rows, and their bytes."""


def upkeep_lines(rule: NormalRule | FunctorRule, state: State) -> Iterator[str]:
    """The lines about one rule in `ws.plan()`."""
    found = state_of(rule, state)
    if found is None:
        stratum = state.program.order.stratum_of(rule.relation)
        if stratum is not None and stratum.recursive:
            yield "    kept up to date with its recursive stratum"
        return
    if found.body is not None and found.body.extremes is not None:
        yield (
            f"    kept up to date by looking up the first or last row of each group that changes "
            f"in {found.body.extremes.relation}"
        )
        return
    if found.head is not None:
        yield from _shared_lines(found, found.head)
    if found.trace is None:
        yield (
            "    kept up to date by delta queries: each changed row is joined with the other atoms"
        )
        return
    body = found.trace.body
    ends = (
        "every proof counted"
        if body.plan.count
        else f"from level {body.plan.group_level} on to the first proof"
    )
    yield f"    kept up to date by its trace, {ends}:"
    for position in body.shape.positions:
        yield f"      {_upkeep(position, found.trace)}"


def state_of(rule: NormalRule | FunctorRule, state: State) -> RuleState | None:
    """State of a rule; None where its recursive stratum has one for all, or none is kept."""
    kept = state.heads.get(rule.relation)
    return kept.state_of(rule) if isinstance(kept, RelationState) else None


def _shared_lines(rule: RuleState, head: SharedHead) -> Iterator[str]:
    """Describe the rules that share a body with an aggregated rule, and the state of its groups."""
    others = [member.rule for member in head.shared.members if member.rule is not rule.rule]
    if others:
        names = ", ".join(f"{other.relation} (rule #{other.source})" for other in others)
        yield (
            f"    shares one evaluation of its body at each commit, and what is kept of the "
            f"groups, with {names}"
        )
    yield f"    keeps {', '.join(head.aggregate.memory)}"


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


def all_memory_rows(
    database: Database, heads: Mapping[str, ViewState]
) -> Iterator[tuple[str, str, int, int]]:
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
    for name, kept in sorted(heads.items()):
        yield from ((shown_key(name), *each) for each in memory_rows(kept))


def memory_rows(kept: ViewState) -> Iterator[MemoryRow]:
    """List the structures kept for one relation or recursive stratum beside its rows."""
    if isinstance(kept, StratumState):
        rows = sum(relation.count for relation in kept.relations.values())
        yield "(iterations and proofs)", rows, kept.bytes
    if not isinstance(kept, RelationState):
        return
    if kept.support is not None:
        yield "(supports)", len(kept.support), kept.support.memory
    for rule in kept.rules:
        if (
            rule.head is None or rule.head.shared.members[0].rule is rule.rule
        ):  # what several share is told once
            yield from _rule_memory(rule)


def _rule_memory(rule: RuleState) -> Iterator[MemoryRow]:
    users = rule.head.users if rule.head is not None else f"rule #{rule.rule.source}"
    if rule.head is not None:
        for what, size in rule.head.aggregate.memory.items():
            yield f"(head of {users}: {what})", len(rule.head.aggregate), size
    if rule.trace is not None:
        for key, index in rule.trace.indices.items():
            where = describe_position(rule.trace.body.shape.by_key[key], rule.trace)
            yield f"(index of {users}: {where}, {index.granularity})", len(index), index.bytes
