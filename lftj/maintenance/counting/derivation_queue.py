# SPDX-License-Identifier: Apache-2.0
"""Changes of proofs that wait for their iteration."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush

import numpy as np

from lftj.maintenance.counting.elastic_query import Proofs
from lftj.maintenance.counting.waiting_kernels import DUE_IN, HEAD, ROW, Waiting
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import sort_and_count
from lftj.storage.delta import Columns

Counted = tuple[Columns, np.ndarray]
"""Sorted, distinct rows and a count for each, which is 0 only where a relation asked for these rows
too.
"""


class DerivationQueue:
    """Signed proofs by iteration and relation. `add` any, `take` those of the least iteration.

    `whole`: relations of which rows come out too when their proofs add up to none, as those do that
    are added with none.
    """

    def __init__(self, whole: Collection[str] = ()) -> None:
        self._whole = whole
        self._waiting: dict[int, dict[str, list[Counted]]] = {}
        self._iterations: list[int] = []
        self._sizes: dict[int, int] = {}
        self.size = 0
        """Number of proofs that wait."""

    def add(self, relation: str, proofs: Proofs, sign: int = 1) -> None:
        """Let proofs wait, with their signs turned if `sign` is −1. O(n log n), O(n) when all are
        of one iteration.
        """
        rows, iterations, counts = proofs
        if not len(counts):
            return
        counts = counts if sign > 0 else -counts
        if len(counts) == 1 or (iterations == iterations[0]).all():
            self._put(relation, int(iterations[0]), (rows, counts))
            return
        order = np.argsort(iterations, kind="stable")
        rows, iterations, counts = (
            [column[order] for column in rows],
            iterations[order],
            counts[order],
        )
        starts = np.flatnonzero(np.diff(iterations, prepend=iterations[0] - 1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(order)], strict=True):
            self._put(
                relation,
                int(iterations[start]),
                ([column[start:end] for column in rows], counts[start:end]),
            )

    def _put(self, relation: str, iteration: int, counted: Counted) -> None:
        if iteration not in self._waiting:
            self._waiting[iteration], self._sizes[iteration] = {}, 0
            heappush(self._iterations, iteration)
        self._waiting[iteration].setdefault(relation, []).append(counted)
        many = len(counted[1])
        self._sizes[iteration] += many
        self.size += many

    def drain(self) -> list[tuple[int, str, Counted]]:
        """All that waits, as (iteration, relation, rows that may repeat and their counts); nothing
        is left.
        """
        waiting, self._waiting, self._iterations = self._waiting, {}, []
        self._sizes, self.size = {}, 0
        return [
            (iteration, name, piece)
            for iteration, due in waiting.items()
            for name, pieces in due.items()
            for piece in pieces
        ]

    @property
    def iterations(self) -> int:
        """Number of iterations for which something waits."""
        return len(self._iterations)

    def take(self) -> tuple[int, Mapping[str, Counted]] | None:
        """The least iteration that something waits for, and what; None when nothing is left."""
        if not self._iterations:
            return None
        iteration = heappop(self._iterations)
        waiting = self._waiting.pop(iteration)
        self.size -= self._sizes.pop(iteration)
        return iteration, {
            name: _sum(pieces, zeros=name in self._whole) for name, pieces in waiting.items()
        }


def _sum(pieces: list[Counted], *, zeros: bool) -> Counted:
    rows, counts = pieces[0]
    if len(pieces) > 1:
        together = np.empty((len(rows) + 1, sum(len(counts) for _, counts in pieces)), np.int64)
        for line, columns in zip(
            together, zip(*((*rows, counts) for rows, counts in pieces), strict=True), strict=True
        ):
            np.concatenate(columns, out=line)
        rows, counts = list(together[:-1]), together[-1]
    rows, counts = sort_and_count(rows, counts)
    if zeros or counts.all():
        return rows, counts
    changed = np.flatnonzero(counts)
    return [column[changed] for column in rows], counts[changed]


# Waiting proofs between `DerivationQueue`, which has them in pieces, and the heap that compiled
# iterations work on (`waiting_kernels`).


def drained(waiting: DerivationQueue, names: Sequence[str], width: int) -> np.ndarray:
    """All that waits, as records for rows of at most `width` columns; nothing is left."""
    pieces = [np.empty((0, ROW + width + 1), np.int64)]
    for iteration, name, (rows, counts) in waiting.drain():
        piece = np.zeros((len(counts), ROW + width + 1), np.int64)
        piece[:, DUE_IN], piece[:, HEAD], piece[:, -1] = iteration, names.index(name), counts
        for column, values in enumerate(rows):
            piece[:, ROW + column] = values
        pieces.append(piece)
    return np.concatenate(pieces)


def heap_of(records: np.ndarray, room: int) -> Waiting:
    """A heap of these records with room for so many more. O(n log n)."""
    order = np.lexsort(records.T[-2::-1])
    entries = np.empty((len(records) + room, records.shape[1]), np.int64)
    entries[: len(records)] = records[order]
    return Waiting(entries, np.arange(len(entries)))


def left(waiting: Waiting, size: int, due: np.ndarray) -> np.ndarray:
    """The records that wait after all: those in the heap, and those taken from it for an iteration
    that was not done.
    """
    return np.concatenate((due, waiting.entries[waiting.heap[:size]]))


def waiting_rows(
    records: np.ndarray, schemas: Sequence[RelationSchema]
) -> Iterator[tuple[RelationSchema, list[int]]]:
    """The relation and the row of each record."""
    for record in records:
        yield schemas[record[HEAD]], record[ROW:-1].tolist()


def by_relation(
    records: np.ndarray, names: Sequence[str], widths: Sequence[int]
) -> Iterator[tuple[str, Proofs]]:
    """The records as proofs of each relation."""
    for number, (name, width) in enumerate(zip(names, widths, strict=True)):
        own = records[records[:, HEAD] == number]
        rows = [np.ascontiguousarray(own[:, ROW + column]) for column in range(width)]
        yield name, Proofs(rows, own[:, DUE_IN].copy(), own[:, -1].copy())
