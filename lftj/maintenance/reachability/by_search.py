# SPDX-License-Identifier: Apache-2.0
"""A closure at a commit, as a strategy that searches its graph.

Where a stratum falls apart into walks over a graph of steps, its rows say which nodes reach which.
So the graph, which is small compared with the rows, shows which rows a changed step can matter to
(`doubt`); most steps matter to none. Rows in doubt are proved from rows that surely stay, in each
part that may have them (`repair`) [Backward/Forward, for reachability]. The strategy keeps no
state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from lftj.errors import ValueRangeError
from lftj.join.run.evaluate import Relations
from lftj.join.strategy import Cost, Exhausted, Strategy, Why
from lftj.maintenance.cost.cost_model import ROW_ALONE
from lftj.maintenance.counting.rule_change import NO_CHANGE
from lftj.maintenance.counting.stratum_change import Followed, StratumChange
from lftj.maintenance.counting.stratum_state import Uncounted
from lftj.maintenance.reachability.doubt import Doubtful, Seeds
from lftj.maintenance.reachability.repair import Repair
from lftj.maintenance.reachability.step_graph import Revised, StepGraph
from lftj.maintenance.rules.full_evaluation import copied, projected
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.separable.decomposable import Decomposition
from lftj.maintenance.separable.separable import WALK_SPARSE, Nodes, steps_of
from lftj.program.normal_form import NormalRule
from lftj.scantree.rows import differences, sort_rows
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta


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
        return change.walk

    def applies(self) -> bool:
        """Tell whether the stratum is a closure that was derived, and keeps no counts, and reading
        its steps, or rows alone, does not take too much.
        """
        change, context = self.change, self.change.context
        possible = (
            isinstance(self.state, Uncounted)
            and change.rule_change is NO_CHANGE
            and context.keep
            and context.fraction > 0
            and not change.gave_up(Why.BUDGET)
            and not (change.many_steps and change.takes)
        )
        shape = self._shape if possible else None
        if shape is None or not change.versions.before(shape.relation).count:
            return False
        return shape.transitive or not self._parts_are_sooner(shape)

    def _parts_are_sooner(self, shape: Decomposition) -> bool:
        """Tell whether partitions that the change itself names are evaluated before iteration 0,
        which changed, is read, or derived as it is and as it was.
        """
        change, deltas = self.change, self.change.versions.deltas
        for steps in shape.steps:
            if deltas.keys() & steps.reads:
                return False  # steps name no partition
        base, own = base_name(shape.relation), self._own(shape)
        read = [name for rule in own for name in rule.reads]
        if deltas.keys().isdisjoint((base, *read)) or not change.some_partitions:
            return False
        assert change.partitions is not None
        times = 1 if self._copied(own, base) else 2
        rows = times * sum([change.versions[name].count for name in read])
        return change.partitions.direct and change.instead(self.state) < ROW_ALONE * rows

    def forecast(self) -> Cost:
        """Half of what the last evaluation took, or a little; not worth it where earlier ones were
        in vain.
        """
        tuning, state = self.change.context.tuning, self.state
        most = max(tuning.searched_least, int(tuning.rows_worth * state.work))
        vain = state.changes and self.change.hopeless(state, max(most, state.work), seen=True)
        return Cost(allowed=most, worthwhile=not vain)

    def run(self) -> Followed | Exhausted:
        """The stratum, from the rows there are."""
        change, shape = self.change, self._shape
        assert shape is not None
        before = change.context.budget.spent
        try:
            first, steps = self._read()
        except (ValueRangeError, OverflowError):
            return Exhausted(Why.PASS, self.state)  # evaluation decides about failures
        change.begun[shape.relation] = first.now
        least, work = change.context.tuning.searched_least, self.state.work
        repair = self._repair(shape, first, steps, max(least, work // 8))
        if repair is None:
            delta = Delta.empty(change.versions[shape.relation].schema.arity)
        elif isinstance(repair, Exhausted) or repair.cost > max(least, work // 2):
            return self.stopped(max(least, work // 2))
        else:
            delta = repair.run()
        kept = replace(self.state, trail=None)
        if kept.changes:  # some were in vain
            kept = kept.experienced(change.context.budget.spent - before, change.below.rows)
        return Followed({shape.relation: delta}, kept, "update", change.below.rows)

    def stopped(self, allowed: int) -> Exhausted:
        """The rows to begin anew with, which expect more of the next one."""
        return Exhausted(Why.BUDGET, self.change.disappointed(self.state, allowed))

    # ── what it reads ─────────────────────────────────────────────────────────────────────────────
    def _own(self, shape: Decomposition) -> list[NormalRule]:
        """The rules of iteration 0."""
        return [rule for rule in self.change.rules if shape.relation not in rule.reads]

    def _read(self) -> tuple[Revised, Revised]:
        """Rows of iteration 0, and steps; the same object where both are copied alike."""
        change, shape = self.change, self._shape
        assert shape is not None
        own, base = self._own(shape), base_name(shape.relation)

        def begin(relations: Relations) -> Columns:
            closure = Closure(change.schemas, change.rules, relations, change.context)
            return closure.first(shape.relation)

        def steps(relations: Relations) -> Columns:
            return steps_of(shape, first.now, relations, change.context)

        copy = self._copied(own, base)
        first = self._revised(begin, own, copy, base)
        if shape.transitive:
            return first, first
        copy_of_steps = self._copied(shape.steps)
        if copy is not None and copy == copy_of_steps:
            return first, first
        return first, self._revised(steps, shape.steps, copy_of_steps)

    def _revised(
        self,
        derive: Callable[[Relations], Columns],
        rules: Sequence[NormalRule],
        copy: tuple[str, list[int]] | None,
        base: str | None = None,
    ) -> Revised:
        """Rows that these rules and base rows derive, and how they changed. Where rows are copied
        their change is that of the relation; else they are derived from what was there, too.
        """
        versions = self.change.versions
        if copy is not None:
            name, columns = copy
            now = projected(rules[0], versions, self.change.context)[0]
            if name not in versions.deltas:
                return Revised(now, Delta.empty(len(now)))
            return Revised(now, versions.reordered(name, tuple(columns)))
        now, reads = derive(versions), {name for rule in rules for name in rule.reads}
        if (reads | {base}).isdisjoint(versions.deltas):
            return Revised(now, Delta.empty(len(now)))
        went, came = differences(derive(versions.old_view), now)
        return Revised(now, Delta(came, went))

    def _copied(
        self, rules: Sequence[NormalRule], base: str | None = None
    ) -> tuple[str, list[int]] | None:
        """The relation and the columns that are all that these rules and base rows derive."""
        versions = self.change.versions
        if base is not None and base in versions:
            alone = not versions[base].count and not versions.before(base).count
        else:
            alone = True
        return copied(rules[0]) if alone and len(rules) == 1 else None

    def _repair(
        self, shape: Decomposition, first: Revised, steps: Revised, most: int
    ) -> Repair | Exhausted | None:
        """The repair that the change asks for; None where it matters to nothing, Exhausted where
        finding that out takes more than `most` steps.
        """
        change, context = self.change, self.change.context
        some = (first.now, first.change.erases)
        columns = [rows[shape.changing] for rows in some]
        columns = [rows for rows in (*columns, *steps.now, *steps.change.erases) if len(rows)]
        if not columns:
            return None
        nodes = Nodes(columns, WALK_SPARSE)
        graph = StepGraph(steps, nodes, context)
        rows = (*some, first.change.inserts)
        seeds = Seeds(*[_by_part(each, shape.changing) for each in rows])
        doubtful = Doubtful(graph, seeds, nodes, context, most)
        if doubtful.unknown:
            return self.stopped(max(most, self.state.work // 2))
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
