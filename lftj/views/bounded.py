# SPDX-License-Identifier: Apache-2.0
"""Aggregates over what lies on one side of a bound, read off key orders of two relations [LFTJ-IVM
3.1.1].

In later(t, count()) :- asked(t), s(_, u), u > t. each row that is asked for has the rows of `s` in
a range of the key order (u, …), whose ends are two look-ups. A changed row of `s` moves the results
of the asked rows on one side of it, all by as much, so the head needs no state: the results before
are its own rows. Comparing all pairs takes the product of both relations. The last row below a
bound, and the first one above, are the row at an end, and a changed row moves the results up to the
next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lftj.functions.aggregates import COUNTS
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.integer_sum import checked_sums
from lftj.heads.values import group_name
from lftj.join.context import Context
from lftj.maintenance.inputs.versions import Versions
from lftj.scantree import Tree, after_prefix
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import contains, equal_runs, locate_ranges, sort_order, sort_rows
from lftj.scantree.weights import ranks
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import Order, RelationVersion
from lftj.types import NULL_CODE, Type
from lftj.views.exact_sums import (
    backwards,
    cumulated,
    exact,
    ones_of,
    sum_of,
    summing,
    sums_between,
    themselves,
    those_there,
    valued,
)

BELOW = ("<", "<=")
"""Bounds that have the least rows on their side."""
_BEHIND = ("<=", ">")
"""Bounds whose range begins or ends behind the rows of the asked value, not before these."""


@frozen(slots=True)
class Bounded:
    """A head that is read off two key orders. `asked_order` of the relation `asked` begins with the
    columns of the group and the bound, `order` of `rows` with those of the group and what is
    compared; `width`: of the group.

    `side`: how what is compared stands to the bound. `value`: the place in `order` of what is
    summed, whose values are counted, or which is read of the `nearest` row; None of a count of
    rows. `optional`: the value may be NULL. `types`: those of the asked columns.
    `head`: for each head column its place in (asked columns, result). `limit`: a greater count
    stands as this one (`NormalRule.limit`).
    """

    relation: str
    asked: str
    asked_order: Order
    rows: str
    order: Order
    width: int
    side: str
    value: int | None
    optional: bool
    nearest: bool
    call: CallShape
    types: tuple[Type, ...]
    head: tuple[int, ...]
    limit: int | None

    # ── all rows ──────────────────────────────────────────────────────────────────────────────────
    def full(self, asked: RelationVersion, rows: RelationVersion, context: Context) -> Columns:
        """The head rows, sorted. O(n log n)."""
        wanted, tree = asked.tree(self.asked_order).columns(), rows.tree(self.order)
        if not len(wanted[0]) or not tree.count:
            return no_rows(len(self.head))
        context.budget.spend(tree.count + len(wanted[0]))
        first, last = self._within(wanted, tree.columns(range(self.width + 1)))
        results, here = self._limited(last - first), first < last
        if self.value is not None:
            (values,) = tree.columns([self.value])
            if self.nearest:
                place = last - 1 if self.side in BELOW else first
                results = values[np.where(here, place, 0)]
            else:
                totals, some = sums_between(self._lift(values), first, last), here
                if self._may_be_null:
                    some = here & (sums_between(ones_of(values), first, last) > 0)
                results = self._results(totals, here, some, wanted, context)
        return self._head_rows([(wanted, results, here)])

    @property
    def _counts_values(self) -> bool:
        return self.call.function in COUNTS

    @property
    def _may_be_null(self) -> bool:
        """Sums of nothing but NULL are NULL."""
        return self.optional and not self._counts_values

    @property
    def _lift(self) -> Callable[[np.ndarray], np.ndarray]:
        """The sum of values."""
        if self._counts_values:
            return ones_of
        return those_there if self.optional else themselves

    def _within(self, wanted: Columns, among: Columns) -> tuple[np.ndarray, np.ndarray]:
        """The range of positions in sorted rows of those in the group of each asked row that are on
        the side of its bound.
        """
        below, asked = self.side in BELOW, len(wanted[0])
        bound = locate_ranges(wanted[: self.width + 1], among)[self.side in _BEHIND]
        edge = np.broadcast_to(np.int64(0 if below else len(among[0])), asked)
        if self.width:
            runs = equal_runs(wanted, self.width)
            groups = [column.take(runs) for column in wanted[: self.width]]
            edges = locate_ranges(groups, among[: self.width])[not below]
            edge = np.repeat(edges, np.diff(np.append(runs, asked)))
        return (edge, bound) if below else (bound, edge)

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def update(self, versions: Versions, context: Context) -> Delta:
        """The change of the head rows. O((changed rows + changed results) · log n); pages opened
        count as kernel steps.
        """
        tree = versions[self.rows].tree(self.order)
        asked = versions[self.asked].tree(self.asked_order)
        change = versions.deltas.get(self.asked) or Delta.empty(len(self.asked_order))
        fresh = sort_rows([change.inserts[column] for column in self.asked_order])
        gone = sort_rows([change.erases[column] for column in self.asked_order])
        near = self._near if self.nearest else self._moved
        moved, steps = near(versions, asked, context)
        if len(fresh[0]) and len(moved[0]):
            stay = np.flatnonzero(~contains(moved, fresh))
            moved, steps = [column[stay] for column in moved], [step[stay] for step in steps]
        results = versions.before(self.relation)
        was, before = self._before(results, moved, context)
        here, after = self._counts(tree, moved, context)
        if self.nearest:
            here, after = self._computed(tree, moved, context)
        elif self.value is not None:
            had = was & (before != NULL_CODE) if self._may_be_null else was
            some = here
            if self._may_be_null:
                some = self._still_some(tree, moved, had, steps[2], context) & here
            totals = sum_of(np.where(had, before, 0), steps[1])
            after = self._results(totals, here, some, moved, context)
        differs = (was != here) | (before != after)
        born, new = self._computed(tree, fresh, context)
        dead, old = self._before(results, gone, context)
        return Delta(
            self._head_rows([(moved, after, here & differs), (fresh, new, born)]),
            self._head_rows([(moved, before, was & differs), (gone, old, dead)]),
        )

    def _moved(self, versions: Versions, asked: Tree, context: Context) -> tuple[Columns, Columns]:
        """The asked rows whose range has won or lost rows, and by how many, and by which sum."""
        delta = versions.deltas.get(self.rows)
        nothing = no_rows(len(self.asked_order)), no_rows(3)
        if delta is None or not asked.count:
            return nothing
        keys, steps = self._steps(delta)
        runs = equal_runs(keys, self.width) if self.width else np.zeros(1, np.int64)
        last_of_run = np.append(runs[1:], len(keys[0])) - 1
        run = np.repeat(np.arange(len(runs)), np.diff(np.append(runs, len(keys[0]))))
        at = ranks(asked, keys, len(keys[0]), behind=self.side in ("<", ">="))
        groups = [column[runs] for column in keys[: self.width]]
        below = self.side in BELOW
        edge = self._ranks(asked, groups, len(runs), behind=below)
        first, end = at.copy(), at.copy()
        if below:
            end[:-1], end[last_of_run] = at[1:], edge
            steps = [cumulated(step, runs, run) for step in steps]
        else:
            first[1:], first[runs] = at[:-1], edge
            steps = [cumulated(step[::-1], *backwards(runs, run))[::-1] for step in steps]
        if self.limit is not None:
            few, pages = self._few(versions, asked, groups, edge, self.limit)
            context.budget.spend(pages)
            if below:
                end = np.minimum(end, few[run])
            else:
                first = np.maximum(first, few[run])
        moves = np.logical_or.reduce([step != 0 for step in steps])
        some = np.flatnonzero((end > first) & moves)
        numbers = _ranges(first[some], end[some])
        context.budget.spend((asked.height + 1) * 2 * len(at) + len(numbers))
        rows = asked.numbered(numbers, range(len(self.asked_order)))
        return rows, [np.repeat(step[some], (end - first)[some]) for step in steps]

    def _near(self, versions: Versions, asked: Tree, context: Context) -> tuple[Columns, Columns]:
        """The asked rows between each changed row and the next one that is there."""
        delta, tree = versions.deltas.get(self.rows), versions[self.rows].tree(self.order)
        if delta is None or not asked.count:
            return no_rows(len(self.asked_order)), []
        keys, _ = self._steps(delta)
        count, below, groups = len(keys[0]), self.side in BELOW, keys[: self.width]
        at = ranks(asked, keys, count, behind=self.side in ("<", ">="))
        end = self._ranks(asked, groups, count, behind=below)
        place = ranks(tree, keys, count, behind=below) - (not below)
        end = self._places(asked, tree, place, groups, end)
        first, end = (at, end) if below else (end, at)
        (numbers,) = sort_rows([_ranges(first, np.maximum(first, end))])
        context.budget.spend((asked.height + tree.height + 2) * 2 * count + len(numbers))
        return asked.numbered(numbers, range(len(self.asked_order))), []

    def _few(
        self, versions: Versions, asked: Tree, groups: Columns, edge: np.ndarray, limit: int
    ) -> tuple[np.ndarray, int]:
        """The position in `asked` up to which, or from which, counts are below the limit before or
        after, by groups, `edge` where all are; and the pages opened.
        """
        below, found, pages = self.side in BELOW, list[np.ndarray](), 0
        for version in (versions.old[self.rows], versions[self.rows]):
            tree = version.tree(self.order)
            near = self._ranks(tree, groups, len(edge), behind=not below)
            place = near + limit - 1 if below else near - limit
            found.append(self._places(asked, tree, place, groups, edge))
            pages += (asked.height + 3 * tree.height + 4) * len(edge)
        return (np.maximum if below else np.minimum)(*found), pages

    def _places(
        self, asked: Tree, tree: Tree, place: np.ndarray, groups: Columns, otherwise: np.ndarray
    ) -> np.ndarray:
        """The positions in `asked` of values of numbered rows; others where a group has no such
        row.
        """
        count, below, found = len(place), self.side in BELOW, otherwise.copy()
        edge = self._ranks(tree, groups, count, behind=below)
        known = np.flatnonzero(place < edge if below else place >= edge)
        if len(known):
            values = tree.numbered(place[known], range(self.width + 1))
            found[known] = ranks(asked, values, len(known), behind=self.side in ("<", ">="))
        return found

    def _limited(self, counts: np.ndarray) -> np.ndarray:
        return counts if self.limit is None else np.minimum(counts, self.limit)

    def _steps(self, delta: Delta) -> tuple[Columns, Columns]:
        """The changed values by groups, ascending, with the numbers and sums of the rows won."""
        picks = self.order[: self.width + 1]
        columns = [np.concatenate((delta.inserts[c], delta.erases[c])) for c in picks]
        signs = np.repeat((1, -1), (delta.inserted, delta.erased))
        moves = [signs]
        if self.value is not None:
            column = self.order[self.value]
            values = np.concatenate((delta.inserts[column], delta.erases[column]))
            lifted = self._lift(values)
            moves += [exact(lifted, len(values) + 1) * signs, ones_of(values) * signs]
        order = sort_order(columns)
        keys = [column.take(order) for column in columns]
        starts = equal_runs(keys, len(keys))
        steps = [np.add.reduceat(each.take(order), starts) for each in moves]
        return [column.take(starts) for column in keys], steps

    def _ranks(self, tree: Tree, groups: Columns, count: int, *, behind: bool) -> np.ndarray:
        """As `ranks`, by group columns, of which there may be none."""
        if groups:
            return ranks(tree, groups, count, behind=behind)
        return np.full(count, tree.count if behind else 0, np.int64)

    def _counts(
        self, tree: Tree, wanted: Columns, context: Context
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mark the asked rows that have some rows on the side of the bound; their numbers."""
        count, below = len(wanted[0]), self.side in BELOW
        bound = ranks(tree, wanted[: self.width + 1], count, behind=self.side in _BEHIND)
        edge = self._ranks(tree, wanted[: self.width], count, behind=not below)
        context.budget.spend((tree.height + 1) * 2 * count)
        found = self._limited(bound - edge if below else edge - bound)
        return found > 0, found

    def _computed(
        self, tree: Tree, wanted: Columns, context: Context
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mark the asked rows that have a result; their results, each by itself."""
        here, found = self._counts(tree, wanted, context)
        if self.value is None or not here.any():
            return here, found
        if self.nearest:
            some, below = np.flatnonzero(here), self.side in BELOW
            bound = ranks(tree, wanted[: self.width + 1], len(here), behind=self.side in _BEHIND)
            found[some] = tree.numbered(bound[some] - below, [self.value])[0]
            context.budget.spend((tree.height + 1) * 2 * len(here))
            return here, found
        totals = np.zeros(len(found), object)
        for row in np.flatnonzero(here).tolist():
            key = [int(column[row]) for column in wanted[: self.width + 1]]
            bound = after_prefix(key) if self.side in _BEHIND else key
            group = key[: self.width]
            ends = (group or None, bound) if self.side in BELOW else (bound, after_prefix(group))
            totals[row] = tree.scan(summing(self.value, self._lift), *ends)
        context.budget.spend((tree.height + 1) * 2 * len(found))
        some = here & self._some(tree, wanted, context) if self._may_be_null else here
        return here, self._results(totals, here, some, wanted, context)

    def _still_some(
        self, tree: Tree, wanted: Columns, had: np.ndarray, more: np.ndarray, context: Context
    ) -> np.ndarray:
        """Mark the asked rows that have a value on the side of the bound, by which `had` one, and
        how many are won.
        """
        found = np.where(had, more >= 0, more > 0)
        doubt = np.flatnonzero(had & (more < 0))
        if len(doubt):
            found[doubt] = self._some(tree, [column[doubt] for column in wanted], context)
        return found

    def _some(self, tree: Tree, wanted: Columns, context: Context) -> np.ndarray:
        """Mark the sorted asked rows that have a value on the side of the bound: the first value of
        the group lies before the end, or the last one behind the beginning.
        """
        assert self.value is not None
        count, below = len(wanted[0]), self.side in BELOW
        bound = ranks(tree, wanted[: self.width + 1], count, behind=self.side in _BEHIND)
        found, runs = np.zeros(count, np.bool_), np.zeros(min(count, 1), np.int64)
        if self.width:
            runs = equal_runs(wanted, self.width)
        edge = valued(self.value, last=not below)
        for start, end in zip(runs, np.append(runs[1:], count), strict=True):
            group = [int(column[start]) for column in wanted[: self.width]]
            row = tree.scan(edge, group or None, after_prefix(group) if group else None)
            if row is not None:
                at = ranks(tree, [np.array([code], np.int64) for code in row], 1, behind=False)[0]
                found[start:end] = at < bound[start:end] if below else at >= bound[start:end]
        context.budget.spend((tree.height + 1) * (count + 2 * len(runs)))
        return found

    # ── results ───────────────────────────────────────────────────────────────────────────────────
    def _before(
        self, results: RelationVersion, wanted: Columns, context: Context
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mark the asked rows that had a result; their results, from the head rows."""
        if not len(wanted[0]):
            return np.zeros(0, np.bool_), np.zeros(0, np.int64)
        leading = [self.head.index(place) for place in range(len(wanted))]
        order = (*leading, *(place for place in range(len(self.head)) if place not in leading))
        found, rows, pages = results.tree(order).edge_rows(wanted)
        context.budget.spend(pages)
        return found, rows[order.index(self.head.index(len(wanted)))]

    def _results(
        self,
        totals: np.ndarray,
        here: np.ndarray,
        some: np.ndarray,
        wanted: Columns,
        context: Context,
    ) -> np.ndarray:
        """Codes of sums, where rows are `here`: NULL but where there are `some` values.
        ValueRangeError for one that leaves its type.
        """
        if self._counts_values:
            return totals.astype(np.int64)
        numbers = np.flatnonzero(some)

        def name(number: int) -> str:
            row = slice(int(numbers[number]), int(numbers[number]) + 1)
            codes = [column[row] for column in wanted]
            return group_name(codes, self.types, context.resources.dictionary)

        if len(numbers) == len(totals):
            return checked_sums(totals, self.call.result, name)
        found = np.where(here & ~some, NULL_CODE, 0)
        found[numbers] = checked_sums(totals[numbers], self.call.result, name)
        return found

    def _head_rows(self, parts: Sequence[tuple[Columns, np.ndarray, np.ndarray]]) -> Columns:
        """The head rows of marked asked rows with their results, sorted."""
        pieces = [_marked([*wanted, found], mask) for wanted, found, mask in parts if len(mask)]
        if not pieces:
            return no_rows(len(self.head))
        columns = pieces[0]
        if len(pieces) > 1:
            columns = [np.concatenate(each) for each in zip(*pieces, strict=True)]
        return sort_rows([columns[place] for place in self.head])


def _marked(rows: Columns, mask: np.ndarray) -> Columns:
    """The marked rows of some."""
    return rows if mask.all() else [column[mask] for column in rows]


def _ranges(first: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The numbers of ranges, one after the other."""
    sizes = end - first
    return np.arange(int(sizes.sum())) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
