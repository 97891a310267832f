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

from lftj.heads.aggregate_plan import own_columns, plan_aggregates
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
from lftj.heads.valued import of_values
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


_NONE = np.empty(0, np.int64)


@frozen
class _Part:
    """The groups that have values in some optional columns, all groups where these are none:
    which they are, with the columns of the old tree, whose first counts these values.
    """

    which: np.ndarray
    groups: np.ndarray
    before: Columns

    def spread(self, column: np.ndarray, nothing: int) -> np.ndarray:
        """A column of all groups from one of these."""
        found = np.full(len(self.which), nothing, np.int64)
        found[self.which] = column
        return found


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
        self.counts: dict[tuple[int | None, ...], np.ndarray] = {(): self.before[0]}
        for args, at in state.plan.valued.items():
            self.counts[self._among(args)] = self.before[at]
        self.order = state.order
        if self.order is None and self.plan.texts:
            self.order = TextOrder.of(
                self.arena, state.surroundings.dictionary, np.empty(0, np.int64)
            )

    def done(self) -> AggregateState | None:
        """The new state."""
        if not self.plan.valued.keys() <= self.counts.keys():
            return None
        parts = [self._part(args) for args in self.plan.sees]
        advances: list[Advance] = []
        for kept, part in zip(self.plan.kept, parts, strict=True):
            advance = self._taken_over(kept, part) or self._made(kept, part)
            if advance is None:
                return None
            advances.append(advance)
        values = [self.before[0]]
        for call, server in zip(self.shape.calls, self.plan.server, strict=True):
            if server is not None:
                found = parts[server].spread(advances[server].results(call), 0)
                values.append(of_values(call.function, found, self.counts[call.optional]))
        for advance, part in zip(advances, parts, strict=True):
            values += [part.spread(column, 0) for column in advance.columns]
        values += [self.counts[args] for args in self.plan.valued]
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

    def _part(self, args: tuple[int, ...]) -> _Part:
        which = self.counts[args] > 0
        before = [column[which] for column in (self.counts[args], *self.before[1:])]
        return _Part(which, np.ascontiguousarray(self.groups[:, which]), before)

    def _among(self, columns: Sequence[int]) -> tuple[int | None, ...]:
        """Optional columns of the old shape as the new one has them."""
        found = self._renumbered(columns)
        return tuple(sorted(found)) if None not in found else found  # type: ignore[type-var]

    # ── what is there ─────────────────────────────────────────────────────────────────────────────
    def _taken_over(self, wanted: Kept, part: _Part) -> Advance | None:
        """A state that was kept before, for the calls that are to be served by it now."""
        change = partial(self._change, part, None)
        if not part.which.any():
            return Advance(wanted, [_NONE for _ in own_columns(wanted)], lambda _: _NONE)
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
                return Advance(rows, [], partial(rows.results, change=change()))
            if (
                isinstance(wanted, UnorderedExtremes)
                and isinstance(old, UnorderedExtremes)
                and self._renumbered(old.args) == wanted.args
                and old.serves(wanted.places)
            ):
                return wanted.taken_over(old, part.before)
            if (
                isinstance(wanted, IntegerTotals)
                and isinstance(old, IntegerTotals)
                and self._renumbered((old.arg,)) == (wanted.arg,)
            ):
                return wanted.holding(old.totals(part.before), change())
            if (
                isinstance(wanted, FloatTotals)
                and isinstance(old, FloatTotals)
                and self._renumbered((old.arg,)) == (wanted.arg,)
            ):
                return replace(old, arg=wanted.arg).advanced(change())
            if (
                isinstance(wanted, UserTotals)
                and isinstance(old, UserTotals)
                and self._is(old.call, wanted.call)
            ):
                return replace(old, call=wanted.call).advanced(change())
        return None

    def _renumbered(self, columns: Sequence[int]) -> tuple[int | None, ...]:
        return tuple(self.place.get(column) for column in columns)

    def _is(self, old: CallShape, call: CallShape) -> bool:
        return replace(old, args=call.args) == call and self._renumbered(old.args) == call.args

    def _scan_before(self, rows: OrderedRows, call: CallShape) -> Scan | None:
        """Find the scan that combines the rows of a call already: it knows the results of pages."""
        return next((scan for old, scan in rows.scans.items() if self._is(old, call)), None)

    # ── what is not ───────────────────────────────────────────────────────────────────────────────
    def _made(self, wanted: Kept, part: _Part) -> Advance | None:
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
                for found in map(self._source, self._ordered(mine[0].optional))
                if needed <= found.columns.keys()
            ),
            None,
        )
        return wanted.advanced(self._change(part, source)) if source is not None else None

    def _server(self, call: CallShape) -> int:
        server = self.plan.server[self.shape.calls.index(call)]
        assert server is not None
        return server

    def _ordered(self, optional: tuple[int, ...]) -> list[OrderedRows]:
        """The rows in order that were kept of values in these columns."""
        return [
            kept
            for kept, args in zip(self.state.kept, self.state.plan.sees, strict=True)
            if isinstance(kept, OrderedRows) and self._among(args) == optional
        ]

    def _source(self, rows: OrderedRows) -> _Source:
        columns, counts = rows.rows.counts()
        found = dict(enumerate(columns[: rows.width]))
        for number, arg in enumerate(rows.args):
            if arg in self.place:
                found[self.place[arg]] = columns[rows.code_column(number)]
        return _Source(found, counts)

    def _change(self, part: _Part, source: _Source | None) -> GroupChange:
        """Groups as they are, or as if all the rows of a source came to be."""
        sizes, groups = part.before[0], part.groups
        name = partial(self.shape.name, list(groups), self.state.surroundings.dictionary)
        width = max(1, len(self.shape.needed))
        args = tuple(range(self.shape.width, len(self.shape.needed)))
        if source is None:
            none, starts = np.empty((width, 0), np.int64), np.zeros(len(sizes), np.int64)
            return GroupChange(
                none,
                args,
                np.empty(0, np.int64),
                starts,
                groups,
                part.before,
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
            rows, args, net, starts, groups, nothing, sizes, True, self.order, name, Work()
        )
