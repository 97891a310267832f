# SPDX-License-Identifier: Apache-2.0
"""Hash tables and buffers that are no longer in use, for the next user.

Zeroing memory that this process has is many times cheaper than having the system map and zero new
pages, most of all on virtual machines. The pool has a bounded size; a buffer that finds no room is
freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Lock

import numpy as np

from lftj.scantree.process.forking import held_while_forking

# What threads that add to one set of rows at the same time share: a place for each to note what it
# finds new, and who has to wait.
#
# Adding begins and ends under a lock that is held for a moment; in between threads do not wait for
# one another. Who changes more than rows, which is to have a larger table or wider ranges, waits
# until nobody adds and has the set to itself: a readers–writer lock, those who add being the
# readers.

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


_MOST = 64 << 20  # bytes that are kept
_LEAST = 64 << 10  # bytes of a table that is worth keeping

_spare: dict[int, list[np.ndarray]] = {}  # bytes → tables of that size
_kept = 0
_lock = Lock()
held_while_forking(_lock)


def zeroed(slots: int, word: type[np.int64 | np.uint32]) -> np.ndarray:
    """An array of so many zeros, a power of two."""
    table = _taken(slots * np.dtype(word).itemsize)
    if table is None:
        return np.zeros(slots, word)
    table.fill(0)
    return table.view(word)


def unfilled(words: int) -> np.ndarray:
    """An array of so many words, whatever they are."""
    size = 8 << max(words - 1, 0).bit_length()
    table = _taken(size)
    return (np.empty(size, np.uint8) if table is None else table).view(np.int64)[:words]


def give_back(table: np.ndarray) -> None:
    """Keep an array of this module that nobody reads any more, if there is room for it."""
    global _kept
    whole = table if table.base is None else table.base
    assert isinstance(whole, np.ndarray)
    with _lock:
        if _LEAST <= whole.nbytes <= _MOST - _kept:
            _spare.setdefault(whole.nbytes, []).append(whole.view(np.uint8))
            _kept += whole.nbytes


def _taken(size: int) -> np.ndarray | None:
    """A table of `size` bytes that was given back."""
    global _kept
    with _lock:
        tables = _spare.get(size)
        if not tables:
            return None
        _kept -= size
        return tables.pop()
