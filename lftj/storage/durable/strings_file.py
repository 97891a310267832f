# SPDX-License-Identifier: Apache-2.0
"""The strings that one process gave codes to, in files that others map: where each ends, their
letters, and tables that find their codes.

The ends of strings 0 … n and their letters are two long arrays; a file has a stretch of each, from
the block on in which its first string begins, so that the files of several processes, mapped one
behind the other, make the arrays again. Tables of codes are never changed: each covers a range of
codes, and ranges of like size are put together, so that there are few and a string is entered
seldom. Few strings are in no table. A small head, written last, tells how far all that goes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from uuid import uuid4

import numpy as np

from lftj.frames.whole_files import whole_file
from lftj.scantree.frozen import frozen
from lftj.scantree.mapping import write_at
from lftj.scantree.watched_files import BLOCK_BYTES, SUMS, sums_of, write_sums
from lftj.storage.durable.sealed import sealed, unsealed
from lftj.types.text_index import Table, slots_for

NOT_IN_TABLES = 1024
"""Strings that may be in no table, so that whoever opens a file enters them."""


Covered = tuple[int, int, int]
"""A table: its first code, the one after its last, and the number of its slots."""


def _covered(first: int, last: int, slots: int = 0) -> Covered:
    """A table. Up to format 3 there were slots for all codes of the range."""
    return first, last, slots or slots_for(last - first)


@frozen
class StringsHead:
    """Head of a file: it holds strings [first, count) of its process, whose letters lie at [start,
    stop); the tables of their codes, each with the range that it covers and the number of its
    slots; and the checksums of the last block of ends and of letters, which may be written again.
    """

    first: int
    count: int
    start: int
    stop: int
    tables: tuple[Covered, ...] = ()
    tails: tuple[int, int] = (0, 0)

    @property
    def ends(self) -> tuple[int, int]:
        """The first byte, at a block, and the end of the stretch of ends."""
        return _block(8 * self.first), 8 * (self.count + 1)

    @property
    def letters(self) -> tuple[int, int]:
        """The first byte, at a block, and the end of the stretch of letters."""
        return _block(self.start), self.stop

    @staticmethod
    def of(folder: Path, name: str) -> StringsHead:
        """The head of a file. Raises OSError, ValueError or TypeError."""
        return StringsHead.read(head_of(folder, name).read_bytes())

    @staticmethod
    def read(content: bytes) -> StringsHead:
        """The head that a file holds. Raises ValueError or TypeError."""
        found = unsealed(content)
        return StringsHead(
            **{
                **found,
                "tables": tuple(_covered(*each) for each in found["tables"]),
                "tails": tuple(found["tails"]),
            }
        )


def head_of(folder: Path, name: str) -> Path:
    """The file of the head."""
    return folder / f"{name}.head"


def ends_of(folder: Path, name: str) -> Path:
    """The file of ends."""
    return folder / f"{name}.ends"


def letters_of(folder: Path, name: str) -> Path:
    """The file of letters."""
    return folder / f"{name}.letters"


def table_file(folder: Path, name: str, first: int, last: int) -> Path:
    """The file of the table of codes [first, last)."""
    return folder / f"{name}.{first}-{last}.codes"


def files_of(folder: Path, names: Iterable[str]) -> set[str]:
    """The names of all files that those who open these need."""
    found: set[str] = set()
    for name in names:
        head = f"{name}.head"
        try:
            tables = StringsHead.of(folder, name).tables
        except (OSError, ValueError, TypeError):
            continue
        parts = [
            ends_of(folder, name),
            letters_of(folder, name),
            *(table_file(folder, name, first, last) for first, last, _ in tables),
        ]
        found |= {head, *(part.name for part in parts), *(part.name + SUMS for part in parts)}
    return found


class StringsFile:
    """A file that this process appends to, and no other."""

    def __init__(self, folder: Path, first: int, start: int) -> None:
        """For strings from `first` on, whose letters begin at `start`. Nothing is written yet."""
        self.name = f"strings-{uuid4().hex}"
        self._folder = folder
        self._head = StringsHead(first, first, start, start)

    @property
    def strings(self) -> int:
        """Number of strings in the file."""
        return self._head.count - self._head.first

    def write(
        self, offsets: np.ndarray, data: np.ndarray, forgotten: np.ndarray | None = None
    ) -> int:
        """Write what is new of the strings that end at these offsets of data, and sync; how many
        strings are in the file. Codes that are `forgotten` are in tables, so that nobody enters
        them. O(new strings).

        Raises OSError; what was there before is there still.
        """
        folder, head, count = self._folder, self._head, len(offsets) - 1
        if count > head.count:
            stop = int(offsets[count])
            ends = _append(
                ends_of(folder, self.name),
                offsets.view(np.uint8),
                head.ends[0],
                8 * head.count,
                8 * (count + 1),
            )
            letters = _append(letters_of(folder, self.name), data, head.letters[0], head.stop, stop)
            tables = self._tables(offsets, data, count, forgotten)
            new = StringsHead(head.first, count, head.start, stop, tables, (ends, letters))
            with whole_file(head_of(folder, self.name)) as sink:
                sink.write(sealed(asdict(new)))
            self._head = new
        return count - head.first

    def _tables(
        self,
        offsets: np.ndarray,
        data: np.ndarray,
        count: int,
        forgotten: np.ndarray | None,
    ) -> tuple[Covered, ...]:
        """The tables once those that are not longer than what comes behind them are put together
        with it.
        """
        tables = list(self._head.tables)
        first = tables[-1][1] if tables else self._head.first
        gone = forgotten is not None and len(forgotten) and forgotten[-1] >= first
        if count - first < NOT_IN_TABLES and not gone:
            return tuple(tables)
        while tables and tables[-1][1] - tables[-1][0] <= count - first:
            first = tables.pop()[0]
        slots = Table.of(offsets, data, first, count, forgotten).slots
        _append(
            table_file(self._folder, self.name, first, count),
            slots.view(np.uint8),
            0,
            0,
            slots.nbytes,
        )
        return (*tables, (first, count, len(slots)))


def _block(byte: int) -> int:
    return byte // BLOCK_BYTES * BLOCK_BYTES


def _append(file: Path, array: np.ndarray, base: int, first: int, last: int) -> int:
    """Write bytes [first, last) of an array to a file that begins with its byte `base`, and the
    checksums of the blocks that they are in; the checksum of the last one.
    """
    begin = max(base, _block(first))
    content = np.ascontiguousarray(array[begin:last]).data
    handle = os.open(file, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        write_at(handle, content, begin - base)
        os.fsync(handle)
    finally:
        os.close(handle)
    sums = sums_of(content)
    write_sums(file, (begin - base) // BLOCK_BYTES, sums)
    return int(sums[-1]) if len(sums) else 0
