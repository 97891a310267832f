"""A closure at a commit, as a strategy: searched, not derived.

Where a stratum falls apart into walks over a graph of steps, its rows tell what is reached from
where. So the graph, which is small beside the rows, tells what a changed step can matter to
(`doubt`); most matter to nothing. What is in doubt is proved from what surely stays, in each part
that may have it (`repair`) [Backward/Forward, for reachability]. Nothing is kept for it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from lftj.errors import ValueRangeError
from lftj.join.run.evaluate import Relations
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.counting.rule_change import NO_CHANGE
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Uncounted
from lftj.maintenance.reachability.doubt import Doubtful, Seeds
from lftj.maintenance.reachability.repair import Repair
from lftj.maintenance.reachability.step_graph import StepGraph
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.separable.decomposable import Decomposition, walkable
from lftj.maintenance.separable.separable import Nodes, steps_of
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta
from scantree.rows import sort_rows


class Reachability(Strategy[Followed]):
    """Searches of the graph of steps, and a repair of what is in doubt."""

    name = "reachability"
    gate = "edges go"
    change: StratumChange

    @cached_property
    def _shape(self) -> Decomposition | None:
        change = self.change
        if len(change.rules) < len(change.stratum.rules) or change.choice or not change.countable:
            return None
        return walkable(change.schemas, change.rules)

    def applies(self) -> bool:
        """Tell whether the stratum is a closure that was derived, and keeps no counts."""
        change, context = self.change, self.change.context
        possible = (
            isinstance(self.state, Uncounted)
            and change.rule_change is NO_CHANGE
            and context.keep
            and context.fraction > 0
            and not change.below.large(context)
        )
        shape = self._shape if possible else None
        return shape is not None and change.versions.before(shape.relation).count > 0

    def forecast(self) -> Cost:
        """As much as the last evaluation took, or a little."""
        tuning = self.change.context.tuning
        return Cost(allowed=max(tuning.searched_least, self.state.work))

    def run(self) -> Followed | Exhausted:
        """The stratum, from the rows there are."""
        change, shape = self.change, self._shape
        assert shape is not None
        try:
            old, new = self._read()
        except (ValueRangeError, OverflowError):
            return Exhausted(Why.PASS, self.state)  # evaluation decides about failures
        least, work = change.context.tuning.searched_least, self.state.work
        repair = self._repair(shape, old, new, max(least, work // 8))
        if repair is None:
            delta = Delta.empty(change.versions[shape.relation].schema.arity)
        elif isinstance(repair, Exhausted) or repair.cost > max(least, work // 2):
            return self.stopped(0)
        else:
            delta = repair.run()
        kept = replace(self.state, ranks=None)
        return Followed({shape.relation: delta}, kept, "update", change.below.rows)

    def stopped(self, allowed: int) -> Exhausted:
        """The rows to begin anew with."""
        return Exhausted(Why.BUDGET, self.state)

    # ── what it reads ─────────────────────────────────────────────────────────────────────────────
    def _read(self) -> tuple[tuple[Columns, Columns], tuple[Columns, Columns]]:
        """Rows of iteration 0 and steps, as they were and as they are; the same objects where
        nothing they are made of changed.
        """
        shape, versions = self._shape, self.change.versions
        assert shape is not None
        new = self._of(versions)
        before = {name: versions.before(name) for name in versions}
        own = [rule for rule in self.change.rules if shape.relation not in rule.reads]
        first, steps = new
        if self._touched({base_name(shape.relation), *(n for rule in own for n in rule.reads)}):
            first = self._first(before)
        if shape.transitive:
            steps = first
        elif self._touched({name for rule in shape.steps for name in rule.reads}):
            steps = self._steps(first, before)
        return (first, steps), new

    def _touched(self, names: set[str]) -> bool:
        return not names.isdisjoint(self.change.versions.deltas)

    def _of(self, relations: Relations) -> tuple[Columns, Columns]:
        first = self._first(relations)
        return first, self._steps(first, relations)

    def _first(self, relations: Relations) -> Columns:
        change, shape = self.change, self._shape
        assert shape is not None
        closure = Closure(change.schemas, change.rules, relations, change.context)
        return closure.first(shape.relation)

    def _steps(self, first: Columns, relations: Relations) -> Columns:
        assert self._shape is not None
        return steps_of(self._shape, first, relations, self.change.context)

    def _repair(
        self,
        shape: Decomposition,
        old: tuple[Columns, Columns],
        new: tuple[Columns, Columns],
        most: int,
    ) -> Repair | Exhausted | None:
        """The repair that the change asks for; None where it matters to nothing, Exhausted where
        finding that out takes more than `most` steps.
        """
        change, context = self.change, self.change.context
        some = [rows[shape.changing] for rows in (old[0], new[0])]
        columns = [column for column in (*some, *old[1], *new[1]) if len(column)]
        if not columns:
            return None
        nodes = Nodes(columns, context.tuning.walk_sparse)
        graph = StepGraph(old[1], new[1], nodes, context)
        now = _by_part(new[0], shape.changing)
        seeds = Seeds(now if old[0] is new[0] else _by_part(old[0], shape.changing), now)
        doubtful = Doubtful(graph, seeds, nodes, context, most)
        if doubtful.unknown:
            return self.stopped(0)
        if not doubtful.groups and not len(doubtful.anew[0]):
            return None
        before = change.versions.before(shape.relation)
        return Repair(before, shape.changing, graph, seeds, doubtful, nodes, context)


def _by_part(rows: Columns, changing: int) -> Columns:
    """Rows of iteration 0 by their kept columns, or a column of zeros, and by node."""
    kept = [column for place, column in enumerate(rows) if place != changing]
    if changing == len(kept) and kept:
        return rows
    return sort_rows([*(kept or [np.zeros(len(rows[0]), np.int64)]), rows[changing]])
