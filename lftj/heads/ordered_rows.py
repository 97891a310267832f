# SPDX-License-Identifier: Apache-2.0
"""The kept state of `min`, `max`, `concat`, of what is read of rows in order, such as `median`, and
of users' semigroups: the rows of every group in the order of their values [LFTJ-IVM 2.3.3].

A scan tree keyed (group…, argument…) with support counts. Codes order as values do, but for
strings: these stand as two columns, the label that orders them (`text_order`) and the code. So the
least and the greatest value of a group are its first and its last row, and everything that combines
values in order is a scan of the group's range. Calls whose arguments begin alike share one tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from lftj.functions.aggregates import GREATEST
from lftj.functions.in_order import Runs
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.changes import net_changes
from lftj.heads.in_order import reading
from lftj.heads.kept import Advance, GroupChange
from lftj.heads.scans import Scan
from lftj.heads.support_state import SupportState
from lftj.heads.text_order import TextOrder
from lftj.scantree import Arena, Tree, after_prefix
from lftj.scantree.frozen import frozen
from lftj.scantree.weights import at_weights, rows_with
from lftj.storage.delta import Columns
from lftj.types import Type


@frozen(slots=True)
class OrderedRows:
    """The rows (group…, args…): `width` group columns, then the arguments in columns `args` of a
    change, with their types.

    `scans`: what combines rows in order, by call. `epoch`: the labelling that the rows have.
    """

    width: int
    args: tuple[int, ...]
    types: tuple[Type, ...]
    rows: SupportState
    scans: Mapping[CallShape, Scan] = field(default_factory=dict)
    epoch: int = 0

    @staticmethod
    def empty(
        arena: Arena,
        width: int,
        args: tuple[int, ...],
        types: tuple[Type, ...],
        *,
        weighed: bool = False,
    ) -> OrderedRows:
        """No rows. `weighed`: they are found by the number of an assignment too."""
        columns = width + len(args) + sum(type.name == "str" for type in types)
        return OrderedRows(width, args, types, SupportState.empty(arena, columns, weighed=weighed))

    @property
    def weighed(self) -> bool:
        """Test for rows that are found by the number of an assignment."""
        return bool(self.rows.tree.aggregates)

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes of the rows and their counts."""
        return {f"rows in order of ({', '.join(map(str, self.types))})": self.rows.memory}

    def advanced(self, change: GroupChange) -> Advance:
        """Brings the support counts of the rows forward."""
        state = (
            self
            if change.order is None or change.order.epoch == self.epoch
            else self._relabelled(change.order)
        )
        rows, net = state._own(change)
        recounted = state.rows.moved(rows, net)
        change.work.count(recounted.tree, len(net))
        state = replace(state, rows=SupportState(recounted.tree))
        return Advance(state, [], lambda call: state.results(call, change))

    def takes(self, args: Sequence[int]) -> bool:
        """Test for a change whose rows can be kept unchanged, given the columns behind its
        groups.
        """
        return self.args == tuple(args) and not any(type.name == "str" for type in self.types)

    def code_column(self, arg: int) -> int:
        """The column of the tree that has the codes of argument number `arg`."""
        texts = sum(type.name == "str" for type in self.types[: arg + 1])
        return self.width + arg + texts

    @property
    def text_count(self) -> int:
        """Upper bound of the number of texts in its rows. O(1)."""
        return len(self.rows) * sum(type.name == "str" for type in self.types)

    def texts(self) -> Columns:
        """The codes of the texts that its rows have, in as many columns. O(n)."""
        if not self.text_count:
            return []
        columns, _ = self.rows.counts()
        return [
            columns[self.code_column(arg)]
            for arg, type in enumerate(self.types)
            if type.name == "str"
        ]

    # ── change ────────────────────────────────────────────────────────────────────────────────────
    def _own(self, change: GroupChange) -> tuple[np.ndarray, np.ndarray]:
        """A change as this tree has rows."""
        if change.ascending and self.takes(change.args):
            return change.rows, change.net
        columns = list(change.rows[: self.width])
        for arg, type in zip(self.args, self.types, strict=True):
            if type.name == "str" and change.order is not None:
                columns.append(change.order.labelled(change.column(arg)))
            columns.append(change.column(arg))
        return net_changes(columns, change.net)

    def _relabelled(self, order: TextOrder) -> OrderedRows:
        """The same rows under the labels of another epoch: as they order alike, only columns
        change. O(n log n).
        """
        columns, counts = self.rows.counts()
        for arg, type in enumerate(self.types):
            if type.name == "str":
                code = self.code_column(arg)
                columns[code - 1] = order.labelled(columns[code])
        empty = SupportState.empty(self.rows.tree.arena, len(columns), weighed=self.weighed)
        return replace(self, rows=empty.holding(columns, counts), epoch=order.epoch)

    # ── results ───────────────────────────────────────────────────────────────────────────────────
    def results(self, call: CallShape, change: GroupChange) -> np.ndarray:
        """The codes of a call's results in the groups of a change, after it."""
        if call in self.scans:
            return self._scanned(call, change)
        column = self.code_column(self.args.index(call.args[0]))
        rows = _Kept(call, self.rows.tree, change.groups[: self.width], column, change)
        read = reading(call.function)
        return rows.end(last=call.function in GREATEST) if read is None else read.read(rows)

    def _scanned(self, call: CallShape, change: GroupChange) -> np.ndarray:
        groups, tree, scan = change.groups[: self.width], self.rows.tree, self.scans[call]
        if change.first:
            return scan.grouped(call, change)
        codes = np.zeros(len(change.sizes), np.int64)
        for group in np.flatnonzero(change.sizes).tolist():
            prefix = groups[:, group].tolist()
            codes[group] = scan.result(tree, prefix, after_prefix(prefix), change.name, group)
        change.work.count(tree, 2 * len(codes))
        return codes


class _Kept:
    """Rows of groups that stand in a tree with their counts, the codes of the values in a column;
    its look-ups count as work of the change.
    """

    def __init__(
        self, call: CallShape, tree: Tree, groups: np.ndarray, column: int, change: GroupChange
    ) -> None:
        self.function, self.type, self.share = call.function, call.types[0], call.constant
        self.sizes, self.name = change.sizes, change.name
        self._tree, self._groups, self._column, self._work = tree, groups, column, change.work

    def end(self, *, last: bool) -> np.ndarray:
        _, columns, pages = self._tree.edge_rows(self._groups, last=last)
        self._work.pages += pages
        return columns[self._column]

    def different(self) -> np.ndarray:
        self._work.count(self._tree, 2 * len(self.sizes))
        return rows_with(self._tree, self._groups, len(self.sizes))

    def at(self, places: np.ndarray) -> np.ndarray:
        self._work.count(self._tree, 3 * len(self.sizes))
        return at_weights(self._tree, self._groups, places, self._column)

    def whole(self) -> Runs:
        there = np.flatnonzero(self.sizes)
        keys = self._groups[:, there].T.tolist()
        ranges = [self._tree.range(key, after_prefix(key)) for key in keys]
        counts = [len(columns[-1]) for columns in ranges]
        self._work.count(self._tree, sum(counts))
        values, often = (
            np.concatenate([np.empty(0, np.int64), *(columns[each] for columns in ranges)])
            for each in (self._column, -1)
        )
        return Runs(values, often, np.cumsum(counts, dtype=np.int64) - counts)
