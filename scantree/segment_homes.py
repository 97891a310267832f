# SPDX-License-Identifier: Apache-2.0
"""Homes of segments: ranges of addresses that no two segments of a folder share, and that are given
back once the files are gone.

A page in memory that was written knows its address in the file. So a home is not free for another
file before every page has forgotten the addresses that it has there.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import numpy as np

from lftj.scantree.arena import Arena, Range, overlapped
from lftj.scantree.stored_kernels import forget_addresses
from lftj.scantree.stretch import GRAIN
from lftj.scantree.watched_files import BLOCK_BYTES

BLOCK = BLOCK_BYTES // 8
"""Words; what is appended begins at a multiple."""
_SUFFIX = ".pages"
_NAME = re.compile(rf"-([0-9a-f]+)-([0-9a-f]+)-[0-9a-f]+\{_SUFFIX}$")
_TRIES = 64


def new_name(owner: str, home: int, room: int) -> str:
    """A name for a segment that is like no other."""
    return f"{owner}-{home:x}-{room:x}-{uuid4().hex}{_SUFFIX}"


def owner_of(name: str) -> str:
    """Whose segment a file is."""
    return name.split("-", 1)[0]


def homes_in(folder: Path) -> dict[str, Range]:
    """The homes of the segments in a folder, by their names, which say them: no file is opened.
    Raises OSError.
    """
    found = ((name, home_named(name)) for name in os.listdir(folder))
    return {name: home for name, home in found if home is not None}


def home_named(name: str) -> Range | None:
    """The home that a file's name says; None where it is no segment."""
    if (said := _NAME.search(name)) is None:
        return None
    home, room = (int(number, 16) for number in said.groups())
    return home, home + room


def find_home(arena: Arena, room: int, others: Iterable[Range] = ()) -> int:
    """A range in the upper half that is free here and none of the others'; which one is left to
    chance, so that it most likely is free elsewhere.
    """
    others = list(others)
    size, grain = arena.memory.size, GRAIN // 8
    for _ in range(_TRIES):
        first = random.randrange(size // 2, max(size - room, size // 2 + 1)) // grain * grain
        if arena.is_free(first, room) and not overlapped(first, room, others):
            return first
    raise MemoryError(f"no {room >> 17} MiB of the arena's range are free for a segment")


def give_back_homes(arena: Arena, folder: Path, kept: Iterable[str]) -> set[str]:
    """Give back the homes of segments of a folder whose files are gone, but for those `kept` by
    name and those that are mapped; the names of these files. Their pages in memory are in no
    segment any more. O(pages of the arena), while nobody changes it. Raises OSError.
    """
    with arena.lock:
        there = {*os.listdir(folder), *kept, *arena.mapped}
        gone = [file for file in arena.homes if file.parent == folder and file.name not in there]
        if gone:
            ranges = np.array(sorted(arena.homes[file] for file in gone), np.int64)
            forget_addresses(arena.memory, ranges[:, 0].copy(), ranges[:, 1].copy())
        for file in gone:
            arena.free(file)
        return {file.name for file in gone}
