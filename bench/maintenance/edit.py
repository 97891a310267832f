"""Random edits of a graph, hubs included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

HUB_EVERY = 10  # every so many edges one has the largest hub as an end


@dataclass(frozen=True)
class Edit:
    """Edges that come and go in one commit, a row each."""

    inserted: np.ndarray
    deleted: np.ndarray

    def __len__(self) -> int:
        return len(self.inserted) + len(self.deleted)


class Edits:
    """Draws edges to delete, uniformly from those present, and edges to insert, with ends drawn in
    proportion to their degree.

    No edge is drawn twice, so that every change is a change; a graph can only be edited so often.
    """

    def __init__(self, edges: Sequence[np.ndarray], seed: int = 1):
        self._random = np.random.default_rng(seed)
        self._packed = edges[0] << 32 | edges[1]
        self._ends = np.concatenate(edges)
        self._hub = int(np.bincount(self._ends).argmax())
        at_hub = (edges[0] == self._hub) | (edges[1] == self._hub)
        self._of_hub = self._random.permutation(self._packed[at_hub]).tolist()
        self._deleted: set[int] = set()
        self._inserted: set[int] = set()
        self._drawn = 0

    def draw(self, inserts: int, deletes: int) -> Edit:
        """An edit of that many edges."""
        return Edit(
            _unpacked([self._absent() for _ in range(inserts)]),
            _unpacked([self._present() for _ in range(deletes)]),
        )

    def of_size(self, size: int, number: int) -> Edit:
        """The edit number `number` of a series: half inserts and half deletes, or, for one edge, in
        turn.
        """
        inserts = (size + number % 2) // 2
        return self.draw(inserts, size - inserts)

    def edges(self) -> list[np.ndarray]:
        """The edges after all edits drawn so far, sorted."""
        kept = np.setdiff1d(
            self._packed, np.array(sorted(self._deleted), np.int64), assume_unique=True
        )
        packed = np.sort(np.append(kept, np.array(sorted(self._inserted), np.int64)))
        return [packed >> 32, packed & 0xFFFFFFFF]

    def _present(self) -> int:
        while True:
            edge = (
                self._of_hub.pop()
                if self._hub_is_next() and self._of_hub
                else int(self._random.choice(self._packed))
            )
            if edge not in self._deleted:
                self._deleted.add(edge)
                return edge

    def _absent(self) -> int:
        hub = self._hub_is_next()
        while True:
            one, other = (int(end) for end in self._random.choice(self._ends, 2))
            low, high = sorted((self._hub if hub else one, other))
            hub = False  # the hub may have all neighbours there are
            edge = low << 32 | high
            if low != high and edge not in self._inserted and not self._holds(edge):
                self._inserted.add(edge)
                return edge

    def _holds(self, edge: int) -> bool:
        place = int(np.searchsorted(self._packed, edge))
        return place < len(self._packed) and int(self._packed[place]) == edge

    def _hub_is_next(self) -> bool:
        self._drawn += 1
        return self._drawn % HUB_EVERY == 0


def _unpacked(packed: list[int]) -> np.ndarray:
    edges = np.array(packed, np.int64)
    return np.stack((edges >> 32, edges & 0xFFFFFFFF), axis=1)
