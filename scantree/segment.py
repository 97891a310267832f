"""Segments: files of pages, only ever appended to, that another process maps and reads where it needs to.

A tree is stored by its root's address. What is appended for a new version are the pages that no segment has yet, so it costs as much as
the change; opening costs as much as what is then read. A segment has a home, a range of words that is most likely free in any arena: mapped
there, its pages name each other rightly as they are. Elsewhere its index pages are settled once: a page in 256 or so.

An address means the same in all segments of a folder: their names say their homes, and a new one gets a home that no other there has. So
a page may have children in others; whoever stores trees knows which segments they need (`Segment`s in a record of the caller's, written
after the pages are synced: a version is there when its record is). Beside a segment stand the checksums of its blocks (`watched_files`).
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

from scantree.arena import Arena, Range, Words, overlapped
from scantree.page_kernels import STORED
from scantree.watched_files import BLOCK_BYTES

BLOCK = BLOCK_BYTES // 8
"""Words; what is appended begins at a multiple."""
ROOM = 1 << 27
"""Words that a segment may grow to, if its first append needs no more than a quarter."""
MAGIC = 0x3153_4547_4150_464C
"""The first word of a segment; home and room come next."""
_SUFFIX = ".pages"
_NAME = re.compile(rf"-([0-9a-f]+)-([0-9a-f]+)-[0-9a-f]+\{_SUFFIX}$")
_TRIES = 64


class SegmentFullError(Exception):
    """A segment's range is used up: begin another. `words`: what all pages that were to be in it need."""

    def __init__(self, words: int) -> None:
        super().__init__(f"{words} words are too many")
        self.words = words


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of pages up to some append; `home`, `room` and `words` count words. `reads`: the names of the other segments in which pages of
    this one have children."""

    name: str
    home: int
    room: int
    words: int
    reads: tuple[str, ...] = ()


def needed(segments: Iterable[Segment], addresses: Iterable[int]) -> list[Segment]:
    """Those of the segments in which pages at these addresses (0: none) are, and all below them. KeyError when one is missing."""
    by_name = {segment.name: segment for segment in segments}
    ordered = sorted(by_name.values(), key=lambda segment: segment.home)
    homes = np.array([segment.home for segment in ordered], np.int64)
    places = np.unique(np.searchsorted(homes, [address for address in addresses if address], side="right") - 1)
    waiting = [ordered[place].name for place in places.tolist()]
    found: dict[str, Segment] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = by_name[name]
            waiting += found[name].reads
    return list(found.values())


def address_of(arena: Arena, root: int) -> int:
    """Where the page is stored; 0 for none."""
    return int(arena.memory[root + STORED]) if root else 0


def ranges_of(segments: Sequence[Segment]) -> tuple[Words, Words]:
    """Homes and ends of segments."""
    homes, rooms = (np.array([getattr(segment, name) for segment in segments], np.int64) for name in ("home", "room"))
    return homes, homes + rooms


def new_name(owner: str, home: int, room: int) -> str:
    """A name for a segment that is like no other."""
    return f"{owner}-{home:x}-{room:x}-{uuid4().hex}{_SUFFIX}"


def owner_of(name: str) -> str:
    """Whose segment a file is."""
    return name.split("-", 1)[0]


def homes_in(folder: Path) -> dict[str, Range]:
    """The homes of the segments in a folder, by their names, which say them: no file is opened. Raises OSError."""
    found: dict[str, Range] = {}
    for name in os.listdir(folder):
        if said := _NAME.search(name):
            home, room = (int(number, 16) for number in said.groups())
            found[name] = (home, home + room)
    return found


def find_home(arena: Arena, room: int, others: Iterable[Range] = ()) -> int:
    """A range in the upper half that is free here and none of the others'; which one is left to chance, so that it most likely is free
    elsewhere."""
    others = list(others)
    size = arena.memory.size
    for _ in range(_TRIES):
        first = random.randrange(size // 2, max(size - room, size // 2 + 1)) // BLOCK * BLOCK
        if arena.is_free(first, room) and not overlapped(first, room, others):
            return first
    raise MemoryError(f"no {room >> 17} MiB of the arena's range are free for a segment")
