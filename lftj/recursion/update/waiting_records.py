"""Waiting proofs between `ProofsToCome`, which has them in pieces, and the heap that compiled rounds work on (`waiting_kernels`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lftj.recursion.update.elastic_query import Proofs
from lftj.recursion.update.proofs_to_come import ProofsToCome
from lftj.recursion.update.waiting_kernels import DUE_IN, HEAD, ROW, Waiting


def drained(waiting: ProofsToCome, names: Sequence[str], width: int) -> np.ndarray:
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
    """The records that wait after all: those in the heap, and those taken from it for an iteration that was not done."""
    return np.concatenate((due, waiting.entries[waiting.heap[:size]]))


def by_relation(records: np.ndarray, names: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, Proofs]]:
    """The records as proofs of each relation."""
    for number, (name, width) in enumerate(zip(names, widths, strict=True)):
        own = records[records[:, HEAD] == number]
        rows = [np.ascontiguousarray(own[:, ROW + column]) for column in range(width)]
        yield name, Proofs(rows, own[:, DUE_IN].copy(), own[:, -1].copy())
