# SPDX-License-Identifier: Apache-2.0
"""The state of a head turned into that of another over the same assignments and groups: when rules
join those that share a body, or leave.

What both ask for is taken over as it is; ordered rows that hold the arguments of a new function
tell what that needs, so that the body need not be evaluated for it. What nobody asks for any more
is left behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lftj.heads.aggregate_plan import plan_aggregates
from lftj.heads.aggregate_shape import AggregateShape, CallShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.changes import divided, net_changes
from lftj.heads.float_sum import FloatTotals
from lftj.heads.integer_sum import IntegerTotals
from lftj.heads.kept import Advance, GroupChange, Kept, Work
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.scans import Scan
from lftj.heads.text_order import TextOrder
from lftj.heads.unordered_extremes import UnorderedExtremes
from lftj.heads.user import UserAggregate
from lftj.heads.user_totals import UserTotals
from lftj.scantree import Tree
from lftj.scantree.columns import as_matrix
from lftj.scantree.frozen import frozen
from lftj.storage.delta import Columns


def refitted(
    state: AggregateState,
    shape: AggregateShape,
    places: Sequence[int | None],
    user: Mapping[str, UserAggregate] | None = None,
) -> AggregateState | None:
    """The state of the same assignments for a head of another shape with the same groups; None
    where `state` does not tell all it needs.

    `places[c]` is where column c of the new shape stands among the columns of the old one, None
    where it does not. `user`: the users' aggregates, where there are more than the old state knew
    of. O(groups), and O(rows log rows) for each list of arguments that gets ordered rows of its
    own. ValueRangeError as `AggregateState.build`.
    """
    if user is not None:
        state = replace(state, surroundings=replace(state.surroundings, user=user))
    arena, around = state.groups.arena, state.surroundings
    if not len(state.groups):
        return AggregateState.empty(
            arena, shape, around.dictionary, around.user, ordered=state.ordered
        )
    return _Refitting(state, shape, places).done()


@frozen
class _Source:
    """Ordered rows of the old state, their columns as the new shape numbers them."""

    columns: dict[int, np.ndarray]
    counts: np.ndarray


class _Refitting:
    """One change of shape."""

    def __init__(self, state: AggregateState, shape: AggregateShape, places: Sequence[int | None]):
        self.state = state
        self.shape = shape
        self.arena = state.groups.arena
        self.plan = plan_aggregates(shape, self.arena, state.surroundings, ordered=state.ordered)
        self.place = {old: new for new, old in enumerate(places) if old is not None}
        columns = state.groups.columns()
        self.groups = as_matrix(columns[: state.groups.key_width], state.groups.key_width)
        self.before = columns[state.groups.key_width :]
        self.order = state.order
        if self.order is None and self.plan.texts:
            self.order = TextOrder.of(
                self.arena, state.surroundings.dictionary, np.empty(0, np.int64)
            )

    def done(self) -> AggregateState | None:
        """The new state."""
        advances: list[Advance] = []
        for kept in self.plan.kept:
            advance = self._taken_over(kept) or self._made(kept)
            if advance is None:
                return None
            advances.append(advance)
        sizes = self.before[0]
        served = [
            (call, server)
            for call, server in zip(self.shape.calls, self.plan.server, strict=True)
            if server is not None
        ]
        stored = [advances[server].results(call) for call, server in served]
        values = [sizes, *stored, *(column for advance in advances for column in advance.columns)]
        groups = Tree.build(self.arena, list(self.groups), values)
        order = self.order if self.plan.texts else None
        return AggregateState(
            self.shape,
            self.state.surroundings,
            self.plan,
            groups,
            tuple(each.state for each in advances),
            order,
        )

    # ── what is there ─────────────────────────────────────────────────────────────────────────────
    def _taken_over(self, wanted: Kept) -> Advance | None:
        """A state that was kept before, for the calls that are to be served by it now."""
        for old in self.state.kept:
            if (
                isinstance(wanted, OrderedRows)
                and isinstance(old, OrderedRows)
                and self._renumbered(old.args) == wanted.args
                and wanted.weighed <= old.weighed
            ):
                scans = {
                    call: self._scan_before(old, call) or scan
                    for call, scan in wanted.scans.items()
                }
                rows = replace(old, args=wanted.args, scans=scans)
                return Advance(rows, [], partial(rows.results, change=self._change(None)))
            if (
                isinstance(wanted, UnorderedExtremes)
                and isinstance(old, UnorderedExtremes)
                and self._renumbered((old.arg,)) == (wanted.arg,)
                and wanted.published.keys() <= old.published.keys()
            ):
                return Advance(wanted, [], partial(old.results, self.before))
            if (
                isinstance(wanted, IntegerTotals)
                and isinstance(old, IntegerTotals)
                and self._renumbered((old.arg,)) == (wanted.arg,)
            ):
                return wanted.holding(old.totals(self.before), self._change(None))
            if (
                isinstance(wanted, FloatTotals)
                and isinstance(old, FloatTotals)
                and self._renumbered((old.arg,)) == (wanted.arg,)
            ):
                return replace(old, arg=wanted.arg).advanced(self._change(None))
            if (
                isinstance(wanted, UserTotals)
                and isinstance(old, UserTotals)
                and self._is(old.call, wanted.call)
            ):
                return replace(old, call=wanted.call).advanced(self._change(None))
        return None

    def _renumbered(self, columns: Sequence[int]) -> tuple[int | None, ...]:
        return tuple(self.place.get(column) for column in columns)

    def _is(self, old: CallShape, call: CallShape) -> bool:
        return replace(old, args=call.args) == call and self._renumbered(old.args) == call.args

    def _scan_before(self, rows: OrderedRows, call: CallShape) -> Scan | None:
        """Find the scan that combines the rows of a call already: it knows the results of pages."""
        return next((scan for old, scan in rows.scans.items() if self._is(old, call)), None)

    # ── what is not ───────────────────────────────────────────────────────────────────────────────
    def _made(self, wanted: Kept) -> Advance | None:
        """A state that was not kept, from ordered rows that hold all arguments of its calls."""
        calls = [
            call
            for call, server in zip(self.shape.calls, self.plan.server, strict=True)
            if server is not None
        ]
        mine = [call for call in calls if self.plan.kept[self._server(call)] is wanted]
        needed = {
            arg
            for call in mine
            for arg in (call.args if call.constant is None else (call.args[0], *call.args[2:]))
        }
        source = next(
            (
                found
                for found in map(self._source, self._ordered())
                if needed <= found.columns.keys()
            ),
            None,
        )
        return wanted.advanced(self._change(source)) if source is not None else None

    def _server(self, call: CallShape) -> int:
        server = self.plan.server[self.shape.calls.index(call)]
        assert server is not None
        return server

    def _ordered(self) -> list[OrderedRows]:
        return [kept for kept in self.state.kept if isinstance(kept, OrderedRows)]

    def _source(self, rows: OrderedRows) -> _Source:
        columns, counts = rows.rows.counts()
        found = dict(enumerate(columns[: rows.width]))
        for number, arg in enumerate(rows.args):
            if arg in self.place:
                found[self.place[arg]] = columns[rows.code_column(number)]
        return _Source(found, counts)

    def _change(self, source: _Source | None) -> GroupChange:
        """All groups: as they are, or as if all the rows of a source came to be."""
        sizes, groups = self.before[0], self.groups
        name = partial(self.shape.name, list(groups), self.state.surroundings.dictionary)
        width = max(1, len(self.shape.needed))
        if source is None:
            none, starts = np.empty((width, 0), np.int64), np.zeros(len(sizes), np.int64)
            return GroupChange(
                none,
                np.empty(0, np.int64),
                starts,
                groups,
                self.before,
                sizes,
                False,
                self.order,
                name,
                Work(),
            )
        missing: Columns = [np.zeros(len(source.counts), np.int64)]
        columns = [source.columns.get(column, missing[0]) for column in range(width)]
        rows, net = net_changes(columns, source.counts)
        texts = [rows[column] for column in self.plan.texts if column in source.columns]
        if self.order is not None and texts:
            self.order = self.order.admitting(np.concatenate(texts))
        starts, _ = divided(rows, net, self.shape.width)
        nothing = [np.zeros(len(sizes), np.int64) for _ in range(self.plan.width)]
        return GroupChange(
            rows, net, starts, groups, nothing, sizes, True, self.order, name, Work()
        )
