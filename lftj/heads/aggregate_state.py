# SPDX-License-Identifier: Apache-2.0
"""The kept state of an aggregated head: its groups, and what each function needs to follow inserts
and erases [LFTJ-IVM 2.3].

A state never changes: `update` makes the next one and leaves this one as it is, so a commit that
fails has nothing to undo. After every update the head rows are, bit for bit, those that `aggregate`
computes from all assignments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from lftj.heads.aggregate_plan import AggregatePlan, own_columns, plan_aggregates
from lftj.heads.aggregate_shape import AggregateShape, HeadColumns, Surroundings
from lftj.heads.changes import divided, net_changes
from lftj.heads.kept import GroupChange, GroupTotals, Kept, Work
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.parts import moved_by, part_of
from lftj.heads.support import too_many
from lftj.heads.text_order import TextOrder
from lftj.heads.unordered_extremes import UnorderedExtremes
from lftj.heads.user import UserAggregate
from lftj.heads.valued import Valued
from lftj.partition.executor import ThreadExecutor
from lftj.scantree import Arena, Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Columns, Delta
from lftj.types import NULL_CODE
from lftj.types.dictionary import Dictionary

_MANY = 1 << 12
"""Assignments from which on it matters in what order they are."""


class GroupsMoved(NamedTuple):
    """Groups that a change affects: their columns, the results of all calls `before` and `after`
    it, and flags for groups that existed (`was`) and exist (`here`).
    """

    groups: list[np.ndarray]
    before: list[np.ndarray]
    after: list[np.ndarray]
    was: np.ndarray
    here: np.ndarray

    def of(self, head: HeadColumns) -> Delta:
        """The rows of one head that come and go: those of groups that come and go, and those where
        a result of its own differs.
        """
        was, here = self.was, self.here
        if head.floats:
            was, here = was & head.valued(self.before), here & head.valued(self.after)
        differs = ~(was & here)
        for call in head.calls:
            differs |= self.before[call] != self.after[call]
        return Delta(
            self._rows(head, self.after, differs & here),
            self._rows(head, self.before, differs & was),
        )

    def _rows(self, head: HeadColumns, results: Sequence[np.ndarray], which: np.ndarray) -> Columns:
        rows = head.rows(self.groups, results)
        if np.count_nonzero(which) < len(which):
            rows = [column[which] for column in rows]
        return rows if head.leads else sort_rows(rows)


@frozen(slots=True)
class AggregateState:
    """One version. `groups` is keyed by the group (one column of zeros without group columns) and
    holds what `plan` says; `kept` are the states behind the functions; `order` labels the texts
    that stand in order; `steps` counts the tree pages that the last update opened.
    """

    shape: AggregateShape
    surroundings: Surroundings
    plan: AggregatePlan
    groups: Tree
    kept: tuple[Kept, ...]
    order: TextOrder | None
    steps: int = 0

    # ── making ────────────────────────────────────────────────────────────────────────────────────
    @staticmethod
    def empty(
        arena: Arena,
        shape: AggregateShape,
        dictionary: Dictionary,
        user: Mapping[str, UserAggregate] | None = None,
        *,
        ordered: bool = True,
    ) -> AggregateState:
        """The state of a head without assignments. Not `ordered`: changes raise OrderNeededError
        where only rows in order tell what is the least or greatest value now.
        """
        surroundings = Surroundings(dictionary, user or {})
        plan = plan_aggregates(shape, arena, surroundings, ordered=ordered)
        order = TextOrder.of(arena, dictionary, np.empty(0, np.int64)) if plan.texts else None
        return AggregateState(
            shape,
            surroundings,
            plan,
            Tree.empty(arena, max(1, shape.width), plan.width),
            plan.kept,
            order,
        )

    @staticmethod
    def build(
        arena: Arena,
        shape: AggregateShape,
        columns: Sequence[np.ndarray],
        counts: np.ndarray,
        dictionary: Dictionary,
        user: Mapping[str, UserAggregate] | None = None,
    ) -> tuple[AggregateState, Columns]:
        """The state of these assignments, and the head rows, sorted.

        `columns` are those of `shape.needed`, rows in any order, repeated or not; row i stands for
        `counts[i]` ≥ 1 assignments. O(n log n). ValueRangeError names the group whose result leaves
        its type.
        """
        state, delta = AggregateState.empty(arena, shape, dictionary, user).update(columns, counts)
        return state, delta.inserts

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def update(
        self, columns: Sequence[np.ndarray], signed: np.ndarray
    ) -> tuple[AggregateState, Delta]:
        """The state after signed assignments (rows as in `build`, lost ones with negative counts),
        and the change of the head rows.

        O(log n) a row, and what the results take to compute: a concatenation is as long as it is.
        ValueRangeError as in `build`.
        """
        state, moved = self.advanced(columns, signed)
        return state, Delta.empty(len(self.shape.head)) if moved is None else moved.of(
            self.shape.columns
        )

    def advanced(
        self,
        columns: Sequence[np.ndarray],
        signed: np.ndarray,
        threads: ThreadExecutor | None = None,
    ) -> tuple[AggregateState, GroupsMoved | None]:
        """As `update`, with the change of the groups, from which every head over them reads its
        own; None where there is none. `threads`: who helps with many assignments.
        """
        if len(signed) > _MANY:
            return self._in_parts(columns, signed, threads)
        rows, net = net_changes(columns, signed)
        if not len(net):
            return self, None
        width = self.shape.width
        starts, moved = divided(rows, net, width)
        groups = rows[:width].take(starts, axis=1) if width else np.zeros((1, 1), np.int64)
        texts = [rows[column] for column in self.plan.texts]
        change, found = self._change(groups, moved, texts)
        args = tuple(range(width, len(columns)))
        change = change._replace(rows=rows, args=args, net=net, starts=starts)
        return self._followed(change, found, self._valued(change))

    def _in_parts(
        self, columns: Sequence[np.ndarray], signed: np.ndarray, threads: ThreadExecutor | None
    ) -> tuple[AggregateState, GroupsMoved | None]:
        """As `advanced`, of many assignments: each function's state gets those with values."""
        width = self.shape.width
        parts = {
            optional: part_of(columns, signed, optional, plan, width, threads)
            for optional, plan in self.plan.parts.items()
        }
        groups, moved = moved_by(parts)
        if not len(moved):
            return self, None
        texts = [text for part in parts.values() for text in part.columns(self.plan.texts)]
        whole, found = self._change(groups, moved, texts)
        at = self.plan.valued
        if not at:
            return self._followed(parts[()].change(whole), found, {})
        valued = {args: part.valued(whole, at.get(args, 0)) for args, part in parts.items()}
        return self._followed(whole, found, valued)

    def gathered(self, totals: GroupTotals) -> tuple[AggregateState, GroupsMoved | None]:
        """As `advanced`, of the assignments that these groups are made of; the state is empty, and
        keeps totals alone.
        """
        if not len(totals.counts):
            return self, None
        none, work = np.empty((0, 0), np.int64), Work()
        work.count(self.groups, 2 * len(totals.counts))
        change = GroupChange(
            none,
            (),
            none.reshape(-1),
            none.reshape(-1),
            totals.groups,
            [np.zeros(len(totals.counts), np.int64)] * self.plan.width,
            totals.counts,
            True,
            None,
            partial(self.shape.name, list(totals.groups), self.surroundings.dictionary),
            work,
            totals=totals,
        )
        found = np.zeros(len(totals.counts), np.bool_)
        return self._followed(change, found, self._valued(change))

    def _valued(self, change: GroupChange) -> dict[tuple[int, ...], Valued]:
        """The parts of a change that have values."""
        width = self.shape.width
        return {args: Valued.of(change, args, at, width) for args, at in self.plan.valued.items()}

    def _followed(
        self, change: GroupChange, found: np.ndarray, parts: Mapping[tuple[int, ...], Valued]
    ) -> tuple[AggregateState, GroupsMoved]:
        """The state after a change by groups; `found`: which of these there were before; `parts`:
        of what has values.
        """
        plan = self.plan
        advances = [
            parts[args].advanced(state, own_columns(state))
            if args in parts
            else state.advanced(change)
            for state, args in zip(self.kept, plan.sees, strict=True)
        ]
        results: list[np.ndarray] = []
        served = zip(self.shape.calls, plan.takes, plan.server, plan.published, strict=True)
        for call, args, server, at in served:
            advance = None if server is None else advances[server]
            if args in parts and (args or advance is not None):
                results.append(parts[args].results(call, advance, at))
            else:
                results.append(change.sizes if advance is None else advance.results(call))
        stored = [
            result
            for result, server in zip(results, self.plan.server, strict=True)
            if server is not None
        ]
        values = [
            change.sizes,
            *stored,
            *[column for advance in advances for column in advance.columns],
            *[parts[args].counts for args in plan.valued],
        ]
        groups = self._written(change, found, values)
        kept = tuple([advance.state for advance in advances])
        state = AggregateState(
            self.shape, self.surroundings, self.plan, groups, kept, change.order, change.work.pages
        )
        before = [change.before[column] for column in self.plan.published]
        return state, GroupsMoved(list(change.groups), before, results, found, change.sizes > 0)

    def _change(
        self, groups: np.ndarray, moved: np.ndarray, texts: Sequence[np.ndarray]
    ) -> tuple[GroupChange, np.ndarray]:
        """A change of groups that grow by so many assignments, without the rows, and which of these
        groups there were before. `texts`: those of the rows that are to stand in order.
        """
        found, before = self.groups.lookup(groups)
        sizes = before[0] + moved
        if sizes.min() < 0:
            if moved[int(np.argmin(sizes))] > 0:
                raise too_many()
            raise AssertionError("more assignments were erased than had been inserted")
        work = Work()
        work.count(self.groups, 2 * len(sizes))
        none = np.empty((0, 0), np.int64)
        change = GroupChange(
            none,
            (),
            none.reshape(-1),
            none.reshape(-1),
            groups,
            before,
            sizes,
            not len(self.groups),
            self.order and self._order_with(self.order, texts),
            partial(self.shape.name, list(groups), self.surroundings.dictionary),
            work,
        )
        return change, found

    def _order_with(self, order: TextOrder, columns: Sequence[np.ndarray]) -> TextOrder:
        """The labels of texts with these as well; those that no row has any more go when they have
        become many.
        """
        texts = np.concatenate(columns) if columns else np.empty(0, np.int64)
        if any(self.shape.types[column].optional for column in self.plan.texts):
            texts = texts[texts != NULL_CODE]
        ordered = [kept for kept in self.kept if isinstance(kept, OrderedRows)]
        if not order.crowded(sum(kept.text_count for kept in ordered)):
            return order.admitting(texts)
        return order.anew(
            np.concatenate([texts, *(column for kept in ordered for column in kept.texts())])
        )

    def _written(
        self, change: GroupChange, found: np.ndarray, values: Sequence[np.ndarray]
    ) -> Tree:
        """The groups after a change."""
        alive = change.sizes > 0
        rows = [*change.groups, *values]
        if np.count_nonzero(alive) == len(alive):
            return self.groups.apply(rows)
        return self.groups.apply(
            [column[alive] for column in rows], change.groups[:, ~alive & found]
        )

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    @property
    def ordered(self) -> bool:
        """Test for a state that follows every change."""
        return not any(isinstance(state, UnorderedExtremes) for state in self.kept)

    def __len__(self) -> int:
        return len(self.groups)

    def rows(self, head: HeadColumns | None = None) -> Columns:
        """The rows of a head over these groups, by default the shape's own, sorted. O(n)."""
        columns = self.groups.columns()
        values = columns[self.groups.key_width :]
        return (head or self.shape.columns).sorted_rows(
            columns, [values[column] for column in self.plan.published]
        )

    def sizes(self) -> tuple[Columns, np.ndarray]:
        """The group columns, sorted, and η of each group. O(n)."""
        columns = self.groups.columns()
        return columns[: self.shape.width], columns[self.groups.key_width]

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes by what they are kept for, without the pages' free room."""
        found = {"groups": 8 * len(self.groups) * (self.groups.key_width + self.groups.value_width)}
        for state in self.kept:
            for name, size in state.memory.items():
                found[name] = found.get(name, 0) + size
        return found | ({"order of texts": self.order.memory} if self.order is not None else {})
