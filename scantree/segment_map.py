"""Opening segments: files of pages shown in an arena, to be read when someone looks at them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from scantree.arena import Arena, Words
from scantree.segment import MAGIC, Segment, find_home, ranges_of
from scantree.stored_kernels import settle
from scantree.watched_files import FileDamagedError, WatchedFile

_CHECKED = 1 << 20  # words up to which opening reads and checks what it maps


def open_segments(arena: Arena, folder: Path, segments: Sequence[Segment], roots: Sequence[int]) -> list[int]:
    """Map segments and give the page of each root, stored at these addresses (0: none). What is mapped already is not mapped again.

    O(segments) where their homes are free. Pages are never freed: the system may take their memory back, as the files have them. Raises
    FileDamagedError, OSError (FileNotFoundError when a file is gone) or MemoryError; then some may be mapped, which does no harm.
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
    path = folder / segment.name
    file = os.open(path, os.O_RDONLY)
    try:
        if os.fstat(file).st_size < segment.words * 8 or os.pread(file, 24, 0) != np.array([MAGIC, segment.home, segment.room]).tobytes():
            raise FileDamagedError(path, "is too short, or another file")
        if place < 0:
            at_home = arena.is_free(segment.home, segment.room)
            arena.claim(path, segment.home, segment.room)
            place = segment.home if at_home else find_home(arena, segment.room)
        words = segment.words - known
        watched = WatchedFile(path, arena.memory.ctypes.data + (place + known) * 8, known * 8, words * 8, owner=arena.memory)
        if words <= _CHECKED:
            watched.check(np.ones_like(watched.unchecked))
        if segment.name not in arena.mapped:
            arena.take(place, segment.room)
            arena.mapped[segment.name] = (place, known)
        arena.map_file(file, place, known, words)
        arena.mapped[segment.name] = (place, segment.words)
        if words > _CHECKED:
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


def _settle(memory: Words, pages: Sequence[int], homes: Words, ends: Words, shifts: Words) -> None:
    queue, head, tail = np.empty(max(1024, 2 * len(pages)), np.int64), 0, len(pages)
    queue[:tail] = pages
    while head < tail:
        head, tail = map(int, settle(memory, queue, head, tail, homes, ends, shifts))
        if head < tail:
            queue = np.concatenate([queue[head:tail], np.empty(len(queue), np.int64)])
            head, tail = 0, tail - head
