# SPDX-License-Identifier: Apache-2.0
"""Stretches of addresses in which memory is asked for as it is needed, without ever moving what is
there.

The system counts as used what is mapped, where it has been told a limit (`ulimit -v`, containers);
addresses that nobody mapped cost nothing. So a stretch is a hole between mappings that this process
keeps free of others of its own: at first nothing of it is mapped, then its beginning, as long as it
has to be.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.mapping import LINUX, ask, give_back, reserve
from lftj.scantree.process.forking import held_while_forking

GRAIN = 2 << 20
"""Bytes: what is asked for is a multiple, as are all places; the system hands out as
much at once.
"""
_SITES = ((1 << 40, 85 << 40), (87 << 40, 126 << 40))
"""Addresses where Linux maps nothing by itself: between are programs and their heaps, above
libraries, stacks and what has no place.
"""
_TRIES = 8
"""Places to try in one hole, where others have mapped something."""

_lock = threading.RLock()  # a stretch that dies meanwhile takes it, too
held_while_forking(_lock)
_taken: dict[int, int] = {}
"""The stretches of this process: where each begins, and how long it is."""


class Stretch:
    """Up to `size` bytes, of which `mapped` are there. It lives as long as an array over it, and is
    given back with it.
    """

    address = mapped = 0  # until there is a place: Ctrl-C may end the making anywhere
    _whole: Any = None

    def __init__(self, size: int, first: int) -> None:
        """Reserve a stretch with the `first` bytes mapped. A size for which there is no room is
        halved until there is. Raises MemoryError.
        """
        self._pieces: list[tuple[int, int]] = []
        self.size = -(-size // GRAIN) * GRAIN
        site = self._site(min(first, size)) if LINUX else None
        if site is None:  # elsewhere all of it is reserved at once
            self._whole = np.frombuffer(reserve(size), np.uint8)
            self.size = self.mapped = len(self._whole)
            site = int(self._whole.ctypes.data)
        self.address = site

    def words(self) -> NDArray[np.int64]:
        """All of it as words, most of which must not be touched: an array that keeps
        the stretch.
        """
        return np.asarray(_Words(self))

    @property
    def by_need(self) -> bool:
        """Test for a stretch that reserves no more addresses than were asked for."""
        return self._whole is None

    def _site(self, first: int) -> int | None:
        """A hole, with its first bytes mapped; None where the system maps no place that it is told.

        Before it is a smaller one, what nobody has any more is looked for: it may hold stretches.
        """
        collected = False
        while self.size >= GRAIN:
            with _lock:
                for address in _holes(self.size):
                    granted = ask(address, _whole_grains(first))
                    if granted is None:
                        return None
                    if granted:
                        _taken[address], self.mapped = self.size, _whole_grains(first)
                        self.address = address
                        return address
            if not collected:
                gc.collect()
                collected = True
                continue
            self.size = self.size // 2 // GRAIN * GRAIN
        return None

    def grow(self, size: int) -> bool:
        """Have at least the first `size` bytes mapped, and some more where the system grants it;
        False where it does not.
        """
        if size <= self.mapped:
            return True
        if size > self.size:
            return False
        for wanted in (max(size, self.mapped + self.mapped // 4), size):
            wanted = min(_whole_grains(wanted), self.size)
            if ask(self.address + self.mapped, wanted - self.mapped):
                self.mapped = wanted
                return True
        return False

    def shrink(self, size: int) -> None:
        """Give back what is behind the first `size` bytes, which nobody looks at."""
        size = _whole_grains(size)
        if self._whole is None and size < self.mapped:
            give_back(self.address + size, self.mapped - size)
            self.mapped = size

    def note(self, address: int, size: int) -> None:
        """A file is shown there, to be taken away with the stretch."""
        self._pieces.append((address, size))

    def __del__(self) -> None:
        if self._whole is None and self.address:
            for address, size in [(self.address, self.mapped), *self._pieces]:
                give_back(address, size)
            with _lock:
                _taken.pop(self.address, None)


class _Words:
    """An object whose array interface makes an array of a stretch."""

    def __init__(self, stretch: Stretch) -> None:
        self._stretch = stretch
        shape, data = (stretch.size // 8,), (stretch.address, False)
        self.__array_interface__ = {"shape": shape, "typestr": "<i8", "data": data, "version": 3}


def _whole_grains(size: int) -> int:
    return -(-size // GRAIN) * GRAIN


def _holes(size: int) -> Iterator[int]:
    """Yield addresses at which a stretch of this size fits between those of this process."""
    # Copied first: to sort the items makes tuples, for which Python may collect garbage, and a
    # stretch that dies in that takes itself from the dictionary.
    known = sorted(_taken.copy().items())
    for first, last in _SITES:
        place = first
        for address, length in [*((a, n) for a, n in known if first <= a < last), (last, 0)]:
            yield from range(place, min(address - size, place + _TRIES * size) + 1, size)
            place = address + length
