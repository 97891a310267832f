"""A slow leapfrog triejoin over Python sets that logs its trace: the specification of what the
kernel logs, and the judge of coverage.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lftj.sensitivity import NEGATIVE_INFINITY, POSITIVE_INFINITY, BodyShape, Constant, Position

Row = tuple[int, ...]
Record = tuple[Position, int, int, Row]
Filter = Callable[[Row], bool]


@dataclass(frozen=True)
class Body:
    """A body for tests. `reads`: per atom the relation and the key order it is read in; `filters`
    by level, given the bindings up to it.
    """

    shape: BodyShape
    reads: tuple[tuple[str, Row], ...]
    filters: Mapping[int, Filter] = field(default_factory=dict)

    def rows(self, relations: Mapping[str, set[Row]]) -> list[set[Row]]:
        """The rows of each atom, in its key order."""
        return [
            {tuple(row[c] for c in order) for row in relations[name]} for name, order in self.reads
        ]

    def at(self, level: int) -> tuple[list[Position], list[Position]]:
        """The positive and the negated positions at a level."""
        here = [position for position in self.shape.positions if position.level == level]
        return [p for p in here if not p.negated], [p for p in here if p.negated]

    def present(self, rows: Sequence[set[Row]], position: Position, bound: Row) -> bool:
        """Test for a row that a negated atom looks up under the bindings up to its level."""
        columns = self.shape.atoms[position.atom].columns
        sought = tuple(c.code if isinstance(c, Constant) else bound[c] for c in columns)
        return any(row[: len(sought)] == sought for row in rows[position.atom])

    def values(self, rows: Sequence[set[Row]], position: Position, bound: Row) -> list[int]:
        """Values that a positive atom offers at its level under the bindings before it."""
        levels = self.shape.atoms[position.atom].columns[: position.column]
        prefix = tuple(bound[level] for level in levels if isinstance(level, int))
        return sorted(
            {
                row[position.column]
                for row in rows[position.atom]
                if row[: position.column] == prefix
            }
        )

    def computed(self, level: int, bound: Row) -> int | None:
        """The value of a computed level, or None where atoms offer values."""
        if level not in self.shape.computed:
            return None
        value = self.shape.computed[level]
        if isinstance(value, Constant):
            return value.code
        return bound[value] if value is not None else bound[0] + 1


class Run:
    """One evaluation, restricted to `pins`, logging from level `log_from` on. `found`: the bindings
    of the levels before `exists_from`.
    """

    def __init__(
        self, body: Body, rows: Sequence[set[Row]], pins: Mapping[int, int], log_from: int
    ) -> None:
        self.body, self.rows, self.pins, self.log_from = body, rows, pins, log_from
        self.found: set[Row] = set()
        self.records: list[Record] = []
        self.steps = 0
        self._level(())

    def _log(self, position: Position, low: int, high: int, bound: Row) -> None:
        self.steps += 1
        if position.level >= self.log_from and not position.prefix:
            self.records.append((position, low, high, bound))

    def _level(self, bound: Row) -> bool:
        """Search the levels from len(bound) on: whether there is a proof."""
        level = len(bound)
        if level == self.body.shape.levels:
            self.found.add(bound[: self.body.shape.exists_from])
            return True
        positive, negated = self.body.at(level)
        lists = [self.body.values(self.rows, position, bound) for position in positive]
        value = self.body.computed(level, bound)
        pin = self.pins.get(level)
        if value is None:
            value = pin
        elif pin is not None and pin != value:
            return False
        if value is not None:
            return self._meet(bound, positive, lists, negated, value)
        return self._leapfrog(bound, positive, lists, negated)

    def _meet(
        self,
        bound: Row,
        positive: list[Position],
        lists: list[list[int]],
        negated: list[Position],
        value: int,
    ) -> bool:
        for position, values in zip(positive, lists, strict=True):
            at = bisect_left(values, value)
            landing = values[at] if at < len(values) else POSITIVE_INFINITY
            self._log(position, value, landing, bound)
            if landing != value:
                return False
        return self._match(bound, negated, value)

    def _match(self, bound: Row, negated: list[Position], value: int) -> bool:
        further = (*bound, value)
        passes = self.body.filters.get(len(bound))
        if passes is not None and not passes(further):
            return False
        for position in negated:
            self._log(position, value, value, bound)
            if self.body.present(self.rows, position, further):
                return False
        return self._level(further)

    def _leapfrog(
        self, bound: Row, positive: list[Position], lists: list[list[int]], negated: list[Position]
    ) -> bool:
        for position, values in zip(positive, lists, strict=True):
            self._log(
                position, NEGATIVE_INFINITY, values[0] if values else POSITIVE_INFINITY, bound
            )
            if not values:
                return False
        at = [0] * len(lists)
        order = sorted(range(len(lists)), key=lambda i: lists[i][0])
        turn, greatest, proof = 0, lists[order[-1]][0], False
        while True:
            i = order[turn]
            here = lists[i][at[i]]
            if here == greatest:
                proof |= self._match(bound, negated, here)
                if proof and len(bound) >= self.body.shape.exists_from:
                    return True
                at[i] += 1
            else:
                at[i] = bisect_left(lists[i], greatest, at[i])
            landing = lists[i][at[i]] if at[i] < len(lists[i]) else POSITIVE_INFINITY
            self._log(positive[i], max(here, greatest), landing, bound)
            if at[i] == len(lists[i]):
                return proof
            greatest, turn = landing, (turn + 1) % len(lists)


def records_array(
    records: Sequence[Record], channels: Sequence[Position], levels: int
) -> np.ndarray:
    """Records as the kernel writes them; those of positions without a channel are left out. Rows
    without meaning hold rubbish.
    """
    number = {position.key: i for i, position in enumerate(channels)}
    kept = [record for record in records if record[0].key in number]
    array = np.full((levels + 3, len(kept)), -77, np.int64)
    for i, (position, low, high, bound) in enumerate(kept):
        array[:3, i] = number[position.key], low, high
        array[3 : 3 + len(bound), i] = bound
    return array
