"""Writing segments: pages that no segment has yet, with the addresses at which they will be found."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from scantree.arena import Arena, Words, overlapped
from scantree.mapping import write_at
from scantree.page_kernels import STORED
from scantree.segment import BLOCK, MAGIC, ROOM, Segment, SegmentFullError, find_home, homes_in, new_name, ranges_of
from scantree.stored_kernels import address_pages, page_words, take_back_addresses, write_pages
from scantree.watched_files import Sums, sums_of, write_sums

_BUFFER = 1 << 18  # words that are written at a time
_CLOSED = -1  # no file has this number


class SegmentFile:
    """A segment that this process appends to, and no other."""

    _file = _CLOSED

    def __init__(self, arena: Arena, folder: Path, owner: str, room: int = ROOM) -> None:
        """Makes the file, whose name begins with its `owner`, a word without dashes. OSError when it cannot; MemoryError when no range of
        words is free."""
        self._arena = arena
        while True:
            with arena.lock:
                home = find_home(arena, room, homes_in(folder).values())
                self._path = folder / new_name(owner, home, room)
                arena.claim(self._path, home, room)
                arena.take(home, room)
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            others = homes_in(folder)
            del others[self._path.name]
            if not overlapped(home, room, others.values()):
                break
            self.close()  # two processes did this at once: the later of them sees both files, or both do
            self._path.unlink()
        head = np.array([MAGIC, home, room] + [0] * (BLOCK - 3), np.int64).tobytes()
        write_at(self._file, head, 0)
        write_sums(self._path, 0, sums_of(head))
        self.segment = Segment(self._path.name, home, room, BLOCK)

    def append(self, roots: Sequence[int], others: Iterable[Segment] = ()) -> Segment:
        """Write what these pages reach and no segment has, and sync. Afterwards `address_of` tells where they are.

        `others`: all other segments that have pages below these. The caller keeps the trees alive. O(pages written · fan). Raises OSError
        or SegmentFullError, and then has written nothing.
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
        buffer = np.empty(min(_BUFFER, needed - start) + BLOCK, np.int64)
        sums: list[Sums] = []
        first = done = left = 0
        while first < len(queue):
            first, words = map(int, write_pages(memory, queue, first, buffer[left:-BLOCK], homes, ends, read))
            words += left
            whole = words // BLOCK * BLOCK
            if first == len(queue) and words > whole:
                whole += BLOCK
                buffer[words:whole] = 0
            piece = buffer[:whole].data.cast("B")
            sums.append(sums_of(piece))
            write_at(self._file, piece, 8 * (start + done))
            done, left = done + whole, max(0, words - whole)
            buffer[:left] = buffer[whole : whole + left].copy()
        os.fsync(self._file)
        write_sums(self._path, start // BLOCK, np.concatenate(sums))
        reads = {segment.name for segment, used in zip(segments[1:], read[1:].tolist(), strict=True) if used}
        return replace(self.segment, words=start + done, reads=tuple(sorted(reads.union(self.segment.reads))))

    def close(self) -> None:
        """Write no more. What is appended afterwards raises OSError; the system may give the number to another file."""
        file, self._file = self._file, _CLOSED
        os.close(file)

    def __del__(self) -> None:
        if self._file != _CLOSED:
            self.close()


def _with_addresses(memory: Words, roots: Sequence[int], address: int) -> Words:
    """The pages that get addresses now, in the order of these."""
    found = [root for root in dict.fromkeys(roots) if root and memory[root + STORED] == 0]
    for root in found:
        memory[root + STORED] = address
        address += int(page_words(memory, root))
    return _addressed(memory, found, address)


def forget_stored(arena: Arena, roots: Sequence[int]) -> None:
    """Have these pages, and all below, be in no segment, so that the next one has them all. O(pages)."""
    memory = arena.memory
    found = [root for root in dict.fromkeys(roots) if root and memory[root + STORED]]
    for root in found:
        memory[root + STORED] = 0
    _addressed(memory, found, 0)


def _addressed(memory: Words, found: list[int], address: int) -> Words:
    """These pages and those below that got an address, from `address` on, or lost theirs where it is 0."""
    queue, head, tail = np.array(found + [0] * max(1024, len(found)), np.int64), 0, len(found)
    while head < tail:
        head, tail, address = map(int, address_pages(memory, queue, head, tail, address))
        if head < tail:
            queue = np.concatenate([queue, np.empty_like(queue)])
    return queue[:tail]
