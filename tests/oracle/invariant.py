"""The coverage invariant, checked by brute force on what a workspace keeps.

For every live context (bindings that match on the levels above) and every value v at the next
level: if v is a match, every participating atom's coverage contains v; if it is none, some
participant that lacks v has v in its coverage. Positions without an index cover everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lftj.maintenance.trace.trace_state import TraceState
from lftj.sensitivity.shape import Position
from lftj.views.group_node import GroupState
from lftj.views.join_node import JoinState

PROBED = 3  # values looked at beyond the least and the greatest


def uncovered(workspace: Any) -> list[str]:
    """List the violations of the invariant, in words."""
    engine = workspace._backend
    state = engine.state
    found = []
    for kept in state.view_states.values():
        join = kept.join if isinstance(kept, GroupState) else kept
        if isinstance(join, JoinState) and join.trace is not None:
            found += _Checker(join.trace, state.database, engine).failures()
    return found


class _Checker:
    """One rule's body: a naive search over all values of a small domain."""

    def __init__(self, trace: TraceState, database: Any, engine: Any):
        self.trace = trace
        self.plan = trace.body.plan
        self.shape = trace.body.shape
        self.rows = [
            {
                tuple(row)
                for row in zip(
                    *(c.tolist() for c in database[a.relation].tree(a.order).columns()), strict=True
                )
            }
            for a in (*self.plan.atoms, *self.plan.probes)
        ]
        values = {value for rows in self.rows for row in rows for value in row}
        self.domain = sorted(values | {value + 1 for value in values} | {-1, 0})[:40]

    def failures(self) -> list[str]:
        ground = [position for position in self.shape.positions if not self._takes_part(position)]
        if any(
            position.key not in self.trace.indices and not self._has(position, ())
            for position in ground
        ):
            return []  # no context is live, and any change of that atom is looked at as a whole
        return list(self._level(0, ()))

    def _level(self, level: int, bound: tuple[int, ...]) -> Iterator[str]:
        if (
            level >= min(self.shape.levels, self.shape.exists_from)
            or level in self.shape.computed
            or self.plan.levels[level].filters
        ):
            # below a comparison or a computed value contexts live by more than atoms; the
            # histories' results judge them
            return
        here = [
            position
            for position in self.shape.positions
            if position.level == level and self._takes_part(position)
        ]
        for value in self.domain:
            binding = (*bound, value)
            lacking = [position for position in here if not self._has(position, binding)]
            if not lacking:
                if any(not self._covers(position, binding) for position in here):
                    yield f"{self.plan.rule.relation}: match {binding} not covered"
                yield from self._level(level + 1, binding)
            elif not any(self._covers(position, binding) for position in lacking):
                yield f"{self.plan.rule.relation}: no witness that {binding} is no match"

    def _takes_part(self, position: Position) -> bool:
        return bool(position.pinned)

    def _has(self, position: Position, binding: tuple[int, ...]) -> bool:
        columns = self.shape.atoms[position.atom].columns[: position.column + 1]
        prefix = tuple(
            binding[column] if isinstance(column, int) else column.code for column in columns
        )
        present = any(row[: len(prefix)] == prefix for row in self.rows[position.atom])
        return present != position.negated

    def _covers(self, position: Position, binding: tuple[int, ...]) -> bool:
        index = self.trace.indices.get(position.key)
        if index is None:
            return True
        alpha = tuple(binding[level] for level in position.alpha)
        gamma = tuple(binding[level] for level in index.gamma)
        value = binding[position.level]
        for row in zip(*(column.tolist() for column in index.columns()), strict=True):
            at = len(alpha)
            if row[:at] == alpha and row[at + 2 :] == gamma and row[at] <= value <= row[at + 1]:
                return True
        return False
