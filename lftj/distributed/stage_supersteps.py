# SPDX-License-Identifier: Apache-2.0
"""The driver's side of a stage in supersteps: who does which step, until no part has news
for another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf
from typing import Protocol

from lftj.distributed.files.entry import Entry
from lftj.distributed.partitioning.cuts import readers
from lftj.distributed.partitioning.steps import Move, Step
from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.parts.task import PartDone
from lftj.types import Role, Source

_NO_LIMIT = 1 << 62

Entries = Mapping[str, Sequence[Entry]]
_OVER_DELETED_ROWS = 1000
"""Rows that a commit may over-delete of a stratum in any case: what deriving them again costs then
is supersteps, not rows.
"""


def allowed(elastic: float, rows: int) -> int:
    """Rows that may be over-deleted of a stratum with so many until it is derived anew."""
    if isinf(elastic):
        return _NO_LIMIT
    return max(_OVER_DELETED_ROWS, int(elastic * rows)) if elastic else 0


class DoStep(Protocol):
    """Has parts do a step, with the entries that the step before wrote, or with these."""

    def __call__(
        self, step: Step, parts: set[int], arriving: Entries | None = None
    ) -> list[PartDone]:
        """Run a step on these parts, and return their results."""
        ...


@dataclass
class StageSupersteps:
    """Stage number `stage` of a commit over `parts` parts. `most`: rows that may be over-deleted
    until all parts begin anew.

    `count`: supersteps so far. `overdeleted`: rows that may have lost a derivation. `gave_up`:
    whether these were too many. `anew`: whether the stratum is derived from nothing.
    """

    stage: int
    supersteps: Supersteps
    parts: int
    most: int
    do: DoStep
    count: int = 0
    overdeleted: int = 0
    gave_up: bool = False
    anew: bool = False

    def __post_init__(self) -> None:
        self._moved: dict[int, bool] = {}

    def follow(self, touched: set[int]) -> None:
        """After changes of what these parts read."""
        found = self._superstep(Move.BEGIN, touched)
        if any(done.exchanged.shrank for done in found):
            found = self._over_deleted(found, touched)
        self._report(found)

    def derive(self) -> None:
        """All from nothing."""
        self._report(self._anew())

    def _anew(self, arriving: Entries | None = None) -> list[PartDone]:
        self.anew = True
        return self._superstep(Move.ANEW, set(range(self.parts)), arriving)

    def _over_deleted(self, found: list[PartDone], touched: set[int]) -> list[PartDone]:
        """The first superstep after what was lost has been followed; from nothing where it was too
        much.
        """
        over_deletion, written = self.supersteps.over_deletion, list[PartDone]()
        grew = {done.part for done in found if done.exchanged.grew}
        overdeleted: dict[int, int] = {}
        while True:
            written += found
            overdeleted |= {done.part: done.exchanged.overdeleted for done in found}
            self.overdeleted = sum(overdeleted.values())
            self.gave_up = (
                any(done.exchanged.gave_up for done in found) or self.overdeleted > self.most
            )
            if self.gave_up:
                return self._anew({})  # what some parts found already may not be
            readers = self._readers(found, over_deletion.cuts)
            if not readers:
                break
            touched = touched | readers
            found = self._superstep(Move.OVERDELETE, readers)
        entries = {
            name: [entry for done in written for entry in _of(done, name)]
            for name in map(_news, self.supersteps.sought_in)
        }
        if self.supersteps.lattices:
            moves = self.overdeleted or grew  # else nobody took what is offered no more
            return (
                self._superstep(Move.RESUME, touched | self._asked(written), entries)
                if moves
                else []
            )
        found = self._superstep(Move.REDERIVE, touched | self._asked(written), entries)
        while readers := self._readers(found, self.supersteps.cuts):
            found = self._superstep(Move.RETURN, readers)
        return self._superstep(Move.RESUME, grew) if grew else []

    def _asked(self, written: list[PartDone]) -> set[int]:
        """The parts whose rules may derive what may be lost."""
        return self._readers(written, self.supersteps.blind).union(
            *(done.exchanged.asked for done in written)
        )

    def _report(self, found: list[PartDone]) -> None:
        """Supersteps until no part has news for another; then those that hold anything else than
        before write what changed.
        """
        while readers := self._readers(found, self.supersteps.cuts):
            found = self._superstep(Move.SUPERSTEP, readers)
        self.do(Step(self.stage, Move.TELL), {part for part, moved in self._moved.items() if moved})

    def _superstep(
        self, move: Move, parts: set[int], arriving: Entries | None = None
    ) -> list[PartDone]:
        self.count += 1
        found = self.do(Step(self.stage, move, self.most), parts, arriving)
        self._moved |= {done.part: done.exchanged.moved for done in found}
        return found

    def _readers(self, found: Iterable[PartDone], cuts: Mapping[str, Sequence[int]]) -> set[int]:
        """The parts for which another one has news."""
        parts = set[int]()
        for done in found:
            for relation, each in cuts.items():
                for entry in _of(done, _news(relation)):
                    parts |= {
                        part
                        for cut in each
                        for part in readers(cut, entry.holding(cut), self.parts)
                    } - {done.part}
        return parts


def _news(relation: str) -> str:
    return Source(relation, Role.NEWS)


def _of(done: PartDone, name: str) -> tuple[Entry, ...]:
    return (done.entries[name],) if name in done.entries else ()
