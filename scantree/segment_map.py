"""Opening segments: files of pages shown in an arena, to be read when someone looks at them."""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scantree.arena import Arena, Words
from scantree.segment import MAGIC, Segment, SegmentDamagedError, find_home, ranges_of
from scantree.stored_kernels import settle

_CHECKED = 1 << 20  # words of the last append up to which opening reads and checks them


def open_segments(arena: Arena, folder: Path, segments: Sequence[Segment], roots: Sequence[int]) -> list[int]:
    """Map segments and give the page of each root, stored at these addresses (0: none). What is mapped already is not mapped again.

    O(segments) where their homes are free. Pages are never freed: the system may take their memory back, as the files have them. Raises
    SegmentDamagedError, OSError (FileNotFoundError when a file is gone) or MemoryError; then some may be mapped, which does no harm.
    """
    with arena.lock:
        for segment in segments:
            _map(arena, folder, segment)
        places = [arena.mapped[segment.name][0] for segment in segments]
        homes, ends = ranges_of(segments)
        shifts = np.array(places, np.int64) - homes
        found = [_shifted(root, homes, ends, shifts) for root in roots]
        if shifts.any():
            _settle(arena.memory, [page for page in found if page], homes, ends, shifts)
    return found


def _map(arena: Arena, folder: Path, segment: Segment) -> None:
    place, known = arena.mapped.get(segment.name, (-1, 0))
    if known >= segment.words:
        return
    file = os.open(folder / segment.name, os.O_RDONLY)
    try:
        _check(file, segment)
        if place < 0:
            place = segment.home if arena.is_free(segment.home, segment.room) else find_home(arena, segment.room)
            arena.take(place, segment.room)
        arena.mapped[segment.name] = (place, known)
        arena.map_file(file, place, known, segment.words - known)
        arena.mapped[segment.name] = (place, segment.words)
    finally:
        os.close(file)


def _check(file: int, segment: Segment) -> None:
    """That the file has what was appended; of a small last append every byte."""
    if os.fstat(file).st_size < segment.words * 8 or os.pread(file, 24, 0) != np.array([MAGIC, segment.home, segment.room]).tobytes():
        raise SegmentDamagedError(f"{segment.name} is too short, or another file")
    size = segment.words - segment.start
    if size <= _CHECKED and zlib.crc32(os.pread(file, size * 8, segment.start * 8)) != segment.checksum:
        raise SegmentDamagedError(f"{segment.name} is not what was written")


def _shifted(address: int, homes: Words, ends: Words, shifts: Words) -> int:
    if not address:
        return 0
    for home, end, shift in zip(homes.tolist(), ends.tolist(), shifts.tolist(), strict=True):
        if home <= address < end:
            return address + shift
    raise SegmentDamagedError(f"no segment has the page at {address}")


def _settle(memory: Words, pages: Sequence[int], homes: Words, ends: Words, shifts: Words) -> None:
    queue, head, tail = np.empty(max(1024, 2 * len(pages)), np.int64), 0, len(pages)
    queue[:tail] = pages
    while head < tail:
        head, tail = map(int, settle(memory, queue, head, tail, homes, ends, shifts))
        if head < tail:
            queue = np.concatenate([queue[head:tail], np.empty(len(queue), np.int64)])
            head, tail = 0, tail - head
