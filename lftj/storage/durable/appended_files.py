# SPDX-License-Identifier: Apache-2.0
"""Files that grow at their end, stretch by stretch, as they are written and copied elsewhere: those
of pages and of strings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lftj.scantree.arena import overlapped
from lftj.scantree.mapping import write_at
from lftj.scantree.segment_homes import home_named, homes_in
from lftj.scantree.watched_files import BLOCK_BYTES, sums_of, write_sums
from lftj.storage.durable.strings_file import (
    StringsHead,
    ends_of,
    head_of,
    letters_of,
    table_file,
)


def appended_sizes(
    folder: Path, record: Mapping[str, Any]
) -> tuple[dict[str, int], dict[str, str]]:
    """The files of a record with the bytes that they have, and the heads of its strings."""
    sizes = {segment["name"]: 8 * segment["words"] for segment in record["segments"]}
    heads: dict[str, str] = {}
    for name, _ in record["strings"]:
        heads[name] = head_of(folder, name).read_text()
        head = StringsHead.read(heads[name].encode())
        sizes[ends_of(folder, name).name] = head.ends[1] - head.ends[0]
        sizes[letters_of(folder, name).name] = head.letters[1] - head.letters[0]
        for first, last, slots in head.tables:
            sizes[table_file(folder, name, first, last).name] = 8 * slots
    return sizes, heads


def take_head(folder: Path, name: str, text: str) -> None:
    """Have a head of strings here, unless a later one is."""
    file = head_of(folder, name)
    with suppress(OSError, ValueError, TypeError):  # none is here, or a damaged one
        if StringsHead.of(folder, name).count >= StringsHead.read(text.encode()).count:
            return
    waiting = file.with_name(f"{file.name}.tmp")
    waiting.write_text(text)
    os.replace(waiting, file)


def require_own_homes(folder: Path, files: Iterable[str]) -> None:
    """Raise OSError where a segment lies, by chance, where another one of this machine does that
    was made without knowing of it.
    """
    homes = homes_in(folder)
    for name in files:
        if (own := home_named(name)) is not None:
            others = [home for other, home in homes.items() if other != name]
            if overlapped(own[0], own[1] - own[0], others):
                raise OSError(f"{name} lies where another file does")


def read_stretch(file: Path, first: int, last: int) -> bytes:
    with file.open("rb") as source:
        source.seek(first)
        content = source.read(last - first)
    if len(content) < last - first:
        raise OSError(f"{file} is too short")
    return content


def write_stretch(file: Path, first: int, content: bytes) -> None:
    """Write a stretch of a file, with the checksums of its blocks."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        write_at(handle, memoryview(content), first)
        begin = first // BLOCK_BYTES * BLOCK_BYTES
        blocks = os.pread(handle, first - begin, begin) + content
    finally:
        os.close(handle)
    write_sums(file, begin // BLOCK_BYTES, sums_of(blocks))


def size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
