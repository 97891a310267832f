# SPDX-License-Identifier: Apache-2.0
"""The trace: what the join kernel logs of a run, and its way into columns of sensitivity intervals.

The kernel writes one record per interval, as a column of a (levels + 3) × n array:

    row 0       channel, the number of the position in the list the run was given row 1, 2    low,
    high: the least and the greatest value the operation depended on, ends included; the least and
    the greatest int64
                stand for −∞ and +∞
    row 3 + l   the binding of level l, for the levels before the position's own; the other rows
    hold anything

`open` on a set whose least value is v depends on (−∞, v], `seek_lub(s)` landing on v on [s, v],
`next` from v to v′ on [v, v′], and running out of values on all that come after [LFTJ-IVM 4.1]. A
look-up of v in a negated atom depends on [v, v].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.sensitivity.coverage import Columns, Words, consolidated, cut
from lftj.sensitivity.granularity import Granularity
from lftj.sensitivity.shape import Position, PositionKey

NEGATIVE_INFINITY = -(2**63)
POSITIVE_INFINITY = 2**63 - 1
CHANNEL, LOW, HIGH, BINDINGS = range(4)

_PENDING = 1 << 16  # rows of one position after which they are merged, if they have doubled since


def interval_columns(
    records: np.ndarray, position: Position, channel: int | None = None
) -> list[Words]:
    """(α…, low, high, γ…) of the records of one position; of all records when `channel` is None.
    O(n).
    """
    chosen = records if channel is None else records[:, records[CHANNEL] == channel]
    rows = [*position.alpha, LOW - BINDINGS, HIGH - BINDINGS, *position.gamma]
    return [chosen[BINDINGS + level].copy() for level in rows]


class TraceLog:
    """Takes a run's records as they come and keeps them merged: at most about twice what the
    indices will hold.

    `channels`: the positions in the order of their channel numbers, each with its granularity. Call
    it with every buffer of records, then ask for `columns`.
    """

    def __init__(self, channels: Sequence[tuple[Position, Granularity]]) -> None:
        self._asked = channels
        self._channels = [_Channel(position, granularity) for position, granularity in channels]
        self.records = 0

    def fresh(self) -> TraceLog:
        """An empty log of the same positions, for one part of a run. Parts may be logged at the
        same time, each into its own.
        """
        return TraceLog(self._asked)

    def absorb(self, part: TraceLog) -> None:
        """Take what the log of a part holds."""
        self.records += part.records
        for channel, other in zip(self._channels, part._channels, strict=True):
            if other.pieces:
                channel.keep(other.merged())

    def __call__(self, records: np.ndarray) -> None:
        """Take the records of a buffer, an array of shape (levels + 3) × n. They are copied."""
        self.records += records.shape[1]
        if len(self._channels) == 1:
            self._channels[0].take(interval_columns(records, self._channels[0].position))
            return
        present = np.bincount(records[CHANNEL], minlength=len(self._channels))
        for number in np.flatnonzero(present).tolist():
            channel = self._channels[number]
            channel.take(interval_columns(records, channel.position, number))

    def columns(self) -> dict[PositionKey, list[Words]]:
        """The log by position: (α…, low, high, γ…) in any order, γ as the granularity keeps it.

        Positions without a record are missing.
        """
        return {
            channel.position.key: channel.merged() for channel in self._channels if channel.pieces
        }


class _Channel:
    """The intervals of one position, in pieces."""

    def __init__(self, position: Position, granularity: Granularity) -> None:
        self.position = position
        self.granularity = granularity
        self.pieces: list[Columns] = []
        self._rows = 0
        self._merged = 0

    def take(self, columns: Columns) -> None:
        self.keep(cut(columns, len(self.position.alpha), self.granularity))

    def keep(self, columns: Columns) -> None:
        """Take intervals that are cut already."""
        self.pieces.append(columns)
        self._rows += len(columns[0])
        if self._rows > max(_PENDING, 2 * self._merged):
            self.pieces = [consolidated(self.merged(), len(self.position.alpha), self.granularity)]
            self._rows = self._merged = len(self.pieces[0][0])

    def merged(self) -> list[Words]:
        if len(self.pieces) == 1:
            return list(self.pieces[0])
        return [np.concatenate(column) for column in zip(*self.pieces, strict=True)]
