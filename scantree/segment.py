# SPDX-License-Identifier: Apache-2.0
"""Segments: files of pages, only ever appended to, that another process maps and reads where it
needs to.

A tree is stored by its root's address. What is appended for a new version are the pages that no
segment has yet, so it costs as much as the change; opening costs as much as what is then read. A
segment has a home, a range of words that is most likely free in any arena: mapped there, its pages
name each other rightly as they are. Elsewhere its index pages are relocated once: a page in 256 or
so.

An address means the same in all segments of a folder: their names say their homes, and a new one
gets a home that no other there has. So a page may have children in others; whoever stores trees
knows which segments they need (`Segment`s in a record of the caller's, written after the pages are
synced: a version is there when its record is). Beside a segment stand the checksums of its blocks
(`watched_files`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from lftj.scantree.arena import Arena, Words, overlapped
from lftj.scantree.frozen import frozen
from lftj.scantree.mapping import AT_ONCE, write_at
from lftj.scantree.page_kernels import STORED
from lftj.scantree.process.interrupts import interrupts_wait
from lftj.scantree.rows import distinct_values
from lftj.scantree.segment_homes import BLOCK, find_home, homes_in, new_name
from lftj.scantree.stored_kernels import (
    address_pages,
    page_words,
    relocate,
    take_back_addresses,
    write_pages,
)
from lftj.scantree.stretch import GRAIN
from lftj.scantree.watched_files import (
    SUMS,
    FileDamagedError,
    Sums,
    WatchedFile,
    sums_of,
    write_sums,
)

ROOM = 1 << 21
"""Words that a segment may grow to, if its first append needs no more than a quarter: homes of
small ones are small, so that many may be there.
"""
MAGIC = 0x3153_4547_4150_464C
"""The first word of a segment; home and room come next."""


class SegmentFullError(Exception):
    """A segment's range is used up: begin another. `words`: what all pages that were to be in it
    need.
    """

    def __init__(self, words: int) -> None:
        super().__init__(f"{words} words are too many")
        self.words = words


@frozen(slots=True)
class Segment:
    """A file of pages up to some append; `home`, `room` and `words` count words. `reads`: the names
    of the other segments in which pages of this one have children.
    """

    name: str
    home: int
    room: int
    words: int
    reads: tuple[str, ...] = ()


def needed(segments: Iterable[Segment], addresses: Iterable[int]) -> list[Segment]:
    """Select the segments that hold pages at these addresses (0: none), with all segments they
    refer to. KeyError when one is missing.
    """
    by_name = {segment.name: segment for segment in segments}
    ordered = sorted(by_name.values(), key=lambda segment: segment.home)
    homes = np.array([segment.home for segment in ordered], np.int64)
    places = distinct_values(
        np.searchsorted(homes, [address for address in addresses if address], side="right") - 1
    )
    waiting = [ordered[place].name for place in places.tolist()]
    found: dict[str, Segment] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = by_name[name]
            waiting += found[name].reads
    return list(found.values())


def address_of(arena: Arena, root: int) -> int:
    """Address at which a page is stored; 0 for none."""
    return int(arena.memory[root + STORED]) if root else 0


def ranges_of(segments: Sequence[Segment]) -> tuple[Words, Words]:
    """Homes and ends of segments."""
    homes, rooms = (
        np.array([getattr(segment, name) for segment in segments], np.int64)
        for name in ("home", "room")
    )
    return homes, homes + rooms


# Writing segments: pages that no segment has yet, with the addresses at which they will be found.

_BUFFER = 1 << 18  # words that are written at a time
_CLOSED = -1  # no file has this number


class SegmentFile:
    """A segment that this process appends to, and no other."""

    _file = _CLOSED

    def __init__(
        self, arena: Arena, folder: Path, owner: str, room: int = ROOM, *, read_whole: bool = False
    ) -> None:
        """Makes the file, whose name begins with its `owner`, a word without dashes. OSError when
        it cannot; MemoryError when no range of words is free. `read_whole`: who maps it reads all
        of it, so it is written in large pages of the system, where there are such.
        """
        self._arena = arena
        self._unit = GRAIN // 8 if read_whole else BLOCK
        while not self._begun(folder, owner, room):
            pass

    def _begun(self, folder: Path, owner: str, room: int) -> bool:
        """Make the file; False where another process has the same words. Then, and after an
        exception, there is no file, and the range is free again.
        """
        arena = self._arena
        with arena.lock:
            home = find_home(arena, room, homes_in(folder).values())
            self._path = path = folder / new_name(owner, home, room)
            arena.claim(path, home, room)
            arena.take(home, room)
        with ExitStack() as undo:
            undo.callback(arena.free, path)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            undo.callback(_removed, path)
            undo.callback(self.close)
            others = homes_in(folder)
            del others[path.name]
            if overlapped(home, room, others.values()):
                return False  # two did this at once: the later of them sees both files, or both do
            head = np.array([MAGIC, home, room] + [0] * (BLOCK - 3), np.int64).tobytes()
            write_at(self._file, head, 0)
            write_sums(path, 0, sums_of(head))
            self.segment = Segment(path.name, home, room, BLOCK)
            undo.pop_all()
        return True

    def append(self, roots: Sequence[int], others: Iterable[Segment] = ()) -> Segment:
        """Write what these pages reach and no segment has, and sync. Afterwards `address_of` tells
        where they are.

        `others`: all other segments that have pages below these. The caller keeps the trees alive.
        O(pages written · fan). Raises OSError or SegmentFullError, and then has written nothing.
        """
        queue = _with_addresses(self._arena.memory, roots, self.segment.home + self.segment.words)
        if not len(queue):
            return self.segment
        try:
            self.segment = self._written(queue, [self.segment, *others])
        except BaseException:
            take_back_addresses(self._arena.memory, queue)
            raise
        return self.segment

    def _written(self, queue: Words, segments: Sequence[Segment]) -> Segment:
        memory, start = self._arena.memory, self.segment.words
        last = int(queue[-1])
        needed = int(memory[last + STORED]) + int(page_words(memory, last)) - self.segment.home
        if needed > self.segment.room - BLOCK:
            raise SegmentFullError(needed)
        homes, ends = ranges_of(segments)
        read = np.zeros(len(segments), np.int64)
        unit = self._unit
        buffer = np.empty(min(_BUFFER, needed - start) + unit, np.int64)
        sums: list[Sums] = []
        first = done = left = 0
        while first < len(queue):
            first, words = map(
                int, write_pages(memory, queue, first, buffer[left:-BLOCK], homes, ends, read)
            )
            words += left
            whole = max(0, (start + done + words) // unit * unit - start - done)
            if first == len(queue):
                whole = -(-words // BLOCK) * BLOCK
                buffer[words:whole] = 0
            piece = buffer[:whole].data.cast("B")
            sums.append(sums_of(piece))
            write_at(self._file, piece, 8 * (start + done), max(AT_ONCE, 8 * unit))
            done, left = done + whole, max(0, words - whole)
            buffer[:left] = buffer[whole : whole + left].copy()
        os.fsync(self._file)
        write_sums(self._path, start // BLOCK, np.concatenate(sums))
        reads = {
            segment.name
            for segment, used in zip(segments[1:], read[1:].tolist(), strict=True)
            if used
        }
        return replace(
            self.segment, words=start + done, reads=tuple(sorted(reads.union(self.segment.reads)))
        )

    def close(self) -> None:
        """Write no more. What is appended afterwards raises OSError; the system may give the number
        to another file.
        """
        file, self._file = self._file, _CLOSED
        os.close(file)

    def __del__(self) -> None:
        if self._file != _CLOSED:
            self.close()


def _removed(path: Path) -> None:
    """Remove a segment that was not begun, as far as the system lets."""
    for file in (path, path.with_name(path.name + SUMS)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _with_addresses(memory: Words, roots: Sequence[int], address: int) -> Words:
    """The pages that get addresses now, in the order of these."""
    found = [root for root in dict.fromkeys(roots) if root and memory[root + STORED] == 0]
    for root in found:
        memory[root + STORED] = address
        address += int(page_words(memory, root))
    return _addressed(memory, found, address)


def forget_stored(arena: Arena, roots: Sequence[int]) -> None:
    """Have these pages, and all below, be in no segment, so that the next one has them all.
    O(pages).
    """
    memory = arena.memory
    found = [root for root in dict.fromkeys(roots) if root and memory[root + STORED]]
    for root in found:
        memory[root + STORED] = 0
    _addressed(memory, found, 0)


def _addressed(memory: Words, found: list[int], address: int) -> Words:
    """Give addresses to these pages and those below that have none, from `address` on, or take them
    away where it is 0; return the pages.
    """
    queue, head, tail = np.array(found + [0] * max(1024, len(found)), np.int64), 0, len(found)
    while head < tail:
        head, tail, address = map(int, address_pages(memory, queue, head, tail, address))
        if head < tail:
            queue = np.concatenate([queue, np.empty_like(queue)])
    return queue[:tail]


# Opening segments: files of pages shown in an arena, to be read when someone looks at them.

_CHECKED = 1 << 20  # words up to which opening reads and checks what it maps
_unchecked = threading.local()


@contextmanager
def unchecked_segments() -> Iterator[None]:
    """For the length of a block, have this thread open segments without reading them: pages are
    compared with their checksums once someone has looked at them.
    """
    _unchecked.now = True
    try:
        yield
    finally:
        _unchecked.now = False


def open_segments(
    arena: Arena, folder: Path, segments: Sequence[Segment], roots: Sequence[int]
) -> list[int]:
    """Map segments and give the page of each root, stored at these addresses (0: none). What is
    mapped already is not mapped again.

    O(segments) where their homes are free. Pages are never freed: the system may take their memory
    back, as the files have them. Raises FileDamagedError, OSError (FileNotFoundError when a file is
    gone) or MemoryError; then some may be mapped, which does no harm.
    """
    with arena.lock:
        for segment in segments:
            _map(arena, folder, segment)
        places = [arena.mapped[segment.name][0] for segment in segments]
        homes, ends = ranges_of(segments)
        shifts = np.array(places, np.int64) - homes
        found = [_shifted(root, homes, ends, shifts) for root in roots]
        if shifts.any():
            with interrupts_wait():  # below a relocated page all are taken for relocated
                _relocate(arena.memory, [page for page in found if page], homes, ends, shifts)
    return found


def _map(arena: Arena, folder: Path, segment: Segment) -> None:
    place, known = arena.mapped.get(segment.name, (-1, 0))
    if known >= segment.words:
        return
    path = folder / segment.name
    file = os.open(path, os.O_RDONLY)
    try:
        if (
            os.fstat(file).st_size < segment.words * 8
            or os.pread(file, 24, 0) != np.array([MAGIC, segment.home, segment.room]).tobytes()
        ):
            raise FileDamagedError(path, "is too short, or another file")
        if place < 0:
            at_home = arena.is_free(segment.home, segment.room)
            arena.claim(path, segment.home, segment.room)
            place = segment.home if at_home else find_home(arena, segment.room)
        words = segment.words - known
        watched = WatchedFile(
            path,
            arena.memory.ctypes.data + (place + known) * 8,
            known * 8,
            words * 8,
            owner=arena.memory,
        )
        if whole := words <= _CHECKED and not getattr(_unchecked, "now", False):
            watched.check(np.ones_like(watched.unchecked))
        if segment.name not in arena.mapped:
            arena.take(place, segment.room)
            arena.mapped[segment.name] = (place, known)
        arena.map_file(file, place, known, words)
        arena.mapped[segment.name] = (place, segment.words)
        if not whole:
            arena.watch.add(watched)
    finally:
        os.close(file)


def _shifted(address: int, homes: Words, ends: Words, shifts: Words) -> int:
    if not address:
        return 0
    for home, end, shift in zip(homes.tolist(), ends.tolist(), shifts.tolist(), strict=True):
        if home <= address < end:
            return address + shift
    raise LookupError(f"no segment has the page at {address}")


def _relocate(
    memory: Words, pages: Sequence[int], homes: Words, ends: Words, shifts: Words
) -> None:
    queue, head, tail = np.empty(max(1024, 2 * len(pages)), np.int64), 0, len(pages)
    queue[:tail] = pages
    while head < tail:
        head, tail = map(int, relocate(memory, queue, head, tail, homes, ends, shifts))
        if head < tail:
            queue = np.concatenate([queue[head:tail], np.empty(len(queue), np.int64)])
            head, tail = 0, tail - head
