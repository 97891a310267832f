# SPDX-License-Identifier: Apache-2.0
"""Buffers of threads that add to one set of rows at the same time: a place for each to note what it
finds new, and who has to wait.

Adding begins and ends under a lock that is held for a moment; in between threads do not wait for
one another. Who changes more than rows, which is to have a larger table or wider ranges, waits
until nobody adds and has the set to itself: a readers–writer lock, those who add being the readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

import numpy as np

_NO_ROOM = 1 << 10


class Lane:
    """The rows that one thread at a time found new, packed: the first `count` words."""

    __slots__ = ("count", "words")

    def __init__(self) -> None:
        self.words = np.empty(_NO_ROOM, np.int64)
        self.count = 0

    @property
    def rows(self) -> np.ndarray:
        """Rows of the buffer."""
        return self.words[: self.count]

    def make_room(self, more: int) -> None:
        """Have room for so many more."""
        needed = self.count + more
        if needed > self.words.size:
            grown = np.empty(max(needed, 2 * self.words.size), np.int64)
            grown[: self.count] = self.rows
            self.words = grown


class ThreadBuffers:
    """The lanes of one set: as many as ever were in use at the same time."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._adding = 0  # threads
        self._promised = 0  # rows that these may add
        self._buffers = [Lane()]
        self._idle = [*self._buffers]

    @property
    def count(self) -> int:
        """Rows in all lanes, but for what is being added."""
        return sum(lane.count for lane in self._buffers)

    def rows(self) -> np.ndarray:
        """The rows of all lanes. While nobody adds."""
        return np.concatenate([lane.rows for lane in self._buffers])

    def clear(self) -> None:
        """Forget them. While nobody adds."""
        for lane in self._buffers:
            lane.count = 0

    def note(self, rows: np.ndarray) -> None:
        """Have these rows too. While nobody else adds."""
        (lane, *_) = self._buffers
        lane.make_room(rows.size)
        lane.words[lane.count : lane.count + rows.size] = rows
        lane.count += rows.size

    @contextmanager
    def lane(
        self, more: int, full: Callable[[int], bool], grow: Callable[[int], None]
    ) -> Iterator[Lane]:
        """Lend a buffer for the new ones of `more` rows. First `grow` is called, while nobody adds,
        if for so many, counting the rows that others may still add, the set is `full`.
        """
        with self._changed:
            while full(self._promised + more) and self._adding:
                self._changed.wait()
            if full(more):
                grow(more)
            self._adding += 1
            self._promised += more
            lane = self._idle.pop() if self._idle else self._another()
        try:
            lane.make_room(more)
            yield lane
        finally:
            with self._changed:
                self._adding -= 1
                self._promised -= more
                self._idle.append(lane)
                self._changed.notify_all()

    def _another(self) -> Lane:
        self._buffers.append(Lane())
        return self._buffers[-1]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While nobody else adds; the thread that is alone may."""
        with self._changed:
            while self._adding:
                self._changed.wait()
            yield
