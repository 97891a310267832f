"""Writing segments: pages that no segment has yet, with the addresses at which they will be found."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from scantree.arena import Arena, Words
from scantree.page_kernels import STORED
from scantree.segment import BLOCK, MAGIC, ROOM, Segment, SegmentFullError, find_home, ranges_of
from scantree.stored_kernels import address_pages, page_words, take_back_addresses, write_pages

_BUFFER = 1 << 18  # words that are written at a time


class SegmentFile:
    """A segment that this process appends to, and no other."""

    def __init__(self, arena: Arena, folder: Path, name: str, room: int = ROOM) -> None:
        """Makes the file, which must not exist. OSError when it cannot; MemoryError when no range of words is free."""
        self._arena = arena
        with arena.lock:
            home = find_home(arena, room)
            arena.take(home, room)
        self._file = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        _write(self._file, np.array([MAGIC, home, room], np.int64).tobytes(), 0)
        self.segment = Segment(name, home, room, BLOCK, BLOCK, 0)

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
        first = done = checksum = 0
        while first < len(queue):
            first, words = map(int, write_pages(memory, queue, first, buffer[:-BLOCK], homes, ends, read))
            if first == len(queue):
                padded = -(-(done + words) // BLOCK) * BLOCK - done
                buffer[words:padded] = 0
                words = padded
            piece = buffer[:words].data.cast("B")
            checksum = zlib.crc32(piece, checksum)
            _write(self._file, piece, start + done)
            done += words
        os.fsync(self._file)
        reads = {segment.name for segment, used in zip(segments[1:], read[1:].tolist(), strict=True) if used}
        reads = tuple(sorted(reads.union(self.segment.reads)))
        return replace(self.segment, words=start + done, start=start, checksum=checksum, reads=reads)

    def close(self) -> None:
        """Write no more."""
        os.close(self._file)


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


def _write(file: int, content: bytes | memoryview, word: int) -> None:
    content, place = memoryview(content), word * 8
    while len(content):
        written = os.pwrite(file, content, place)
        content, place = content[written:], place + written
