# SPDX-License-Identifier: Apache-2.0
"""The arena: one stretch of address space that holds the pages of many trees.

The stretch is asked for as it is needed, and the system gives memory when a page is first written.
Pages that no tree references are reused; all of it is given back when nobody has the arena, or a
view of its words, any more. One thread at a time may change an arena (`lock`); any number may read.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.mapping import show_file
from lftj.scantree.page_kernels import (
    ARENA_HEADER,
    GRANTED,
    NEXT_WORD,
    REFERENCES,
    WORDS_IN_USE,
    discard,
    note_words,
    release,
)
from lftj.scantree.process.forking import held_while_forking
from lftj.scantree.sharing import ALONE, Threads
from lftj.scantree.stretch import Stretch
from lftj.scantree.watched_files import FileDamagedError, Watch

Words = NDArray[np.int64]

_WORD = 8
WIDE = 1 << 43
"""Bytes of address space in which segments of many processes find their homes free; a process has
room for some fourteen such ranges.
"""
_FIRST = 16 << 20
"""Bytes that are asked for at first."""
_KEPT = 64 << 20
_OWN_REFERENCES = 2  # an arena's own, and the argument of the call that counts them

_spare: deque[Stretch] = deque(maxlen=1)


def _default_reserve() -> int:
    """Four times the machine's memory, at least 64 GiB: far more than can be used, so that it is
    never the limit that is met.
    """
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system has it
        physical = 0
    return max(4 * physical, 64 << 30)


def _spare_stretch() -> Stretch | None:
    """The stretch that an arena left behind."""
    try:
        return _spare.popleft()
    except IndexError:
        return None


Range = tuple[int, int]
"""The first of some words, and the one behind the last."""


def overlapped(first: int, words: int, ranges: Iterable[Range]) -> bool:
    """Test for a range that shares a word with [first, first + words)."""
    return any(low < first + words and first < high for low, high in ranges)


class Arena:
    """Memory for trees. `memory` is the whole stretch as int64 words, of which only the first are
    there: `require` sees to it.

    The stretch of an arena that is gone serves the next one, with up to `_KEPT` bytes that the
    system need not map and zero again.
    """

    _lasting = False  # until all is made: Ctrl-C may end the making anywhere

    def __init__(self, reserve_bytes: int | None = None, threads: Threads = ALONE) -> None:
        """`reserve_bytes`: how large it may become. `threads`: who writes many pages."""
        size = reserve_bytes or _default_reserve()
        self._stretch = (None if reserve_bytes else _spare_stretch()) or Stretch(size, _FIRST)
        self.memory: Words = self._stretch.words()
        self.memory[:ARENA_HEADER] = 0
        self.memory[NEXT_WORD] = ARENA_HEADER
        self.memory[GRANTED] = self._stretch.mapped // _WORD
        self.lock = threading.RLock()
        held_while_forking(self.lock)
        self.threads = threads
        self._ceiling = self.memory.size  # what is mapped lies above
        self.mapped: dict[str, tuple[int, int]] = {}
        """Place of the first word of each mapped segment, and the number of its words, by its name
        (`segment`).
        """
        self.watch = Watch()
        """Checks what is looked at of the files that are mapped."""
        self.taken: list[Range] = []
        """The ranges where segments are mapped, or would be by others."""
        self.homes: dict[Path, Range] = {}
        """The ranges of their addresses, by their files: no two of one folder overlap."""
        # Trees die at any time, in any thread, even inside a change: their roots wait here until
        # the next change begins.
        self._dead: deque[int] = deque()
        self.bury: Callable[[int], None] = self._dead.append
        """Note that the owner of one reference to a root is gone; safe from any thread and from
        finalizers, and compiled for their sake.
        """
        self._lasting = reserve_bytes is None and self._stretch.by_need

    def __del__(self, references: Callable[[object], int] = sys.getrefcount) -> None:
        """Leave the stretch to the next arena, unless someone still holds a view of the words."""
        if (
            self._lasting
            and not _spare
            and not self.taken
            and references(self.memory) == _OWN_REFERENCES
        ):
            self._stretch.shrink(_KEPT)
            _spare.append(self._stretch)

    @property
    def bytes_in_use(self) -> int:
        """Bytes in pages that some tree references, after dropping those of trees that died."""
        with self.lock:
            self.sweep()
            return int(self.memory[WORDS_IN_USE]) * _WORD

    @property
    def bytes_touched(self) -> int:
        """Bytes ever taken from the system: the high-water mark."""
        return int(self.memory[NEXT_WORD]) * _WORD

    def sweep(self) -> None:
        """Free what the dead trees alone referenced. Call with the lock held."""
        while self._dead:
            release(self.memory, self._dead.popleft())

    def occurring(self, below: int) -> NDArray[np.bool_]:
        """Mark the numbers from 0 up to this one that stand in some row of some tree, as a key or a
        value. O(rows in pages).

        Rows of mapped files are not looked at.
        """
        noted = np.zeros(below, np.uint8)
        with self.lock:
            self.sweep()
            note_words(self.memory, noted)
        return noted.view(np.bool_)

    def require(self, words: int) -> None:
        """Raise MemoryError unless there are `words` more. Kernels do not check again."""
        if not self.offer(words):
            size = (
                f"the arena of {self.memory.size * _WORD >> 30} GiB, of which the system gave "
                f"{self._stretch.mapped >> 20} MiB,"
            )
            raise MemoryError(f"{size} cannot hold another {words * _WORD >> 20} MiB")

    def offer(self, words: int) -> bool:
        """Have room for `words` more, if that can be."""
        needed = int(self.memory[NEXT_WORD]) + words
        mapped = needed * _WORD <= self._stretch.mapped
        if needed > self._ceiling or not (mapped or self._stretch.grow(needed * _WORD)):
            return False
        self.memory[GRANTED] = min(self._stretch.mapped // _WORD, self._ceiling)
        return True

    def made(self, kernel: Callable[..., Any], *arguments: object) -> Any:
        """Call a kernel that makes a version in this arena, and return its result, the root first.
        The caller holds the lock.

        An interrupt (Ctrl-C) that comes while the kernel runs is handled after it has returned; its
        result would be lost then, with all pages of the version. So a single call, which is C's,
        runs the kernel and keeps the result.
        """
        results: list[Any] = []
        try:
            results.extend(map(kernel, (self.memory,), *zip(arguments)))
        except BaseException:
            for root, *_ in results:
                if (
                    root > 0 and not self.memory[root + REFERENCES]
                ):  # it may be a page that versions have
                    discard(self.memory, root)
            raise
        return results[0]

    def made_in_room(self, kernel: Callable[..., Any], *arguments: object) -> Any:
        """`made` by a kernel that itself sees whether there is room for its pages: where there is
        not it makes nothing, and in place of the root it gives minus the words that it needs. What
        dead trees had is free before. The caller holds the lock. Raises MemoryError.
        """
        if self._dead:
            self.sweep()
        made = self.made(kernel, *arguments)
        if made[0] < 0:
            self.require(-made[0])
            made = self.made(kernel, *arguments)
        return made

    # ── files ─────────────────────────────────────────────────────────────────────────────────────
    def is_free(self, first: int, words: int) -> bool:
        """Check that no page is or will be at these words, and that they are no segment's
        addresses.
        """
        inside = 2 * int(self.memory[NEXT_WORD]) <= first and first + words <= self.memory.size
        return (
            inside
            and not overlapped(first, words, self.taken)
            and not overlapped(first, words, self.homes.values())
        )

    def take(self, first: int, words: int) -> None:
        """Keep these words, which are free, for a file. Call with the lock held."""
        self.taken.append((first, first + words))
        self._ceiling = min(self._ceiling, first)
        self.memory[GRANTED] = min(int(self.memory[GRANTED]), self._ceiling)

    def claim(self, file: Path, first: int, words: int) -> None:
        """Let the segment in a file have these words as addresses, wherever it is. Call with the
        lock held.

        FileDamagedError where another in the folder has some of them: a page below which both are
        could not tell them apart.
        """
        others = (
            home
            for other, home in self.homes.items()
            if other != file and other.parent == file.parent
        )
        if overlapped(first, words, others):
            raise FileDamagedError(file, "has addresses of another segment")
        self.homes[file] = (first, first + words)

    def free(self, file: Path) -> None:
        """Take back `claim`, and `take` where there was one, for a file in which there is no page
        any more.
        """
        with self.lock:
            home = self.homes.pop(file)
            if home in self.taken:
                self.taken.remove(home)
            self._ceiling = min((first for first, _ in self.taken), default=self.memory.size)

    def map_file(self, file: int, place: int, skipped: int, words: int) -> None:
        """Show words [skipped, skipped + words) of a file at `place` + `skipped`, to be read when
        they are; writes stay in this process.

        All are multiples of a page of the system, but for the end of the file. OSError when the
        system refuses.
        """
        address = self.memory.ctypes.data + (place + skipped) * _WORD
        show_file(address, file, skipped * _WORD, words * _WORD)
        self._stretch.note(address, words * _WORD)
        self.memory[WORDS_IN_USE] += words
