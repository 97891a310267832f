# SPDX-License-Identifier: Apache-2.0
"""The strings of a process below a path, so that stored codes mean something to others.

A process writes a file of its own. One that begins with the strings of others, since it opened a
state of theirs, goes on behind them: its codes are those of a chain, some strings of one file, then
some of the next. Whoever opens a chain maps its files one behind the other, and reads of them what
it looks for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lftj.scantree.mapping import reserve, show_file
from lftj.scantree.process.forking import held_while_forking
from lftj.scantree.watched_files import BLOCK_BYTES, FileDamagedError, Watch, WatchedFile
from lftj.storage.durable.strings_file import (
    StringsFile,
    StringsHead,
    ends_of,
    letters_of,
    table_file,
)
from lftj.types.dictionary import Dictionary
from lftj.types.text_index import Table, gaps

Chain = list[tuple[str, int]]
"""(file, strings) pairs: the first strings come from the first file, and so on."""

_LONGEST = 16
"""Files of a chain, after which all strings are written into one."""
_ROOM = 1 << 22
"""Bytes behind what is mapped, or as many as that: strings come there, as many at least as make it
worth while to copy all when they need more.
"""


def chain_of(data: Iterable[Sequence[Any]]) -> Chain:
    """The chain that a record holds. Raises ValueError or TypeError."""
    return [(file, strings) for file, strings in data]


class StoredStrings:
    """Strings of a dictionary on disk, below one folder. `watch`: checks the blocks of mapped files
    that are read.
    """

    def __init__(self, dictionary: Dictionary, watch: Watch) -> None:
        self._dictionary, self._watch = dictionary, watch
        self._chain: Chain = []  # without the own file
        self._stored = 0  # strings that are in files
        self._file: StringsFile | None = None
        self._lock = threading.Lock()  # a part may be stored while another takes what others wrote
        held_while_forking(self._lock)

    def written(self, folder: Path) -> Chain:
        """Write what is new, and sync; the chain that tells all codes given out so far. O(new
        strings).
        """
        with self._lock:
            return self._written(folder)

    def _written(self, folder: Path) -> Chain:
        offsets, data = self._dictionary.flat()
        if len(self._chain) > _LONGEST or not all(
            ends_of(folder, name).exists() for name, _ in self.chain()
        ):
            self._chain, self._file, self._stored = (
                [],
                None,
                0,
            )  # many, or someone removed one: all is written again
            self._watch.check(everything=True)
        if len(offsets) - 1 > self._stored:
            file = self._file or StringsFile(folder, self._stored, int(offsets[self._stored]))
            strings = file.write(offsets, data, self._dictionary.forgotten)
            self._file, self._stored = file, len(offsets) - 1
            return [*self._chain, (file.name, strings)]
        return self.chain()

    def chain(self) -> Chain:
        """The chain of all that is stored."""
        return (
            self._chain
            if self._file is None
            else [*self._chain, (self._file.name, self._file.strings)]
        )

    def knows(self, chain: Chain) -> bool:
        """Test for a chain whose codes are those of the dictionary."""
        own = self.chain()
        if len(chain) > len(own):
            return False
        pairs = list(zip(chain, own, strict=False))
        alike = all(
            name == known and strings == held for (name, strings), (known, held) in pairs[:-1]
        )
        return alike and all(
            name == known and strings <= held for (name, strings), (known, held) in pairs[-1:]
        )

    def take(self, folder: Path, chain: Chain) -> bool:
        """Have the dictionary begin with the strings of a chain, and those that the last file has
        since. False, and nothing happens, where it has strings that are not the first of these.

        O(files + bytes of strings that it has). Raises OSError, ValueError, TypeError or
        FileDamagedError; then nothing has happened.
        """
        if not chain:
            return True
        with self._lock:
            mapped = _MappedChain(folder, chain)
            mapped.check_ends()
            ends = mapped.ends.view(np.int64)
            if not self._dictionary.begin(ends, mapped.letters, mapped.count, mapped.tables):
                return False
            for file in mapped.files:
                self._watch.add(file)
            self._chain, self._file, self._stored = mapped.chain, None, mapped.count
        return True


class _MappedChain:
    """The files of a chain as two arrays and tables. `chain`: with all that the last file has."""

    def __init__(self, folder: Path, chain: Chain) -> None:
        heads = [StringsHead.of(folder, name) for name, _ in chain]
        counts = [
            first + strings
            for first, (_, strings) in zip([head.first for head in heads], chain, strict=True)
        ]
        counts[-1] = heads[-1].count
        self.count = counts[-1]
        self.chain = [
            (name, count - head.first)
            for (name, _), count, head in zip(chain, counts, heads, strict=True)
        ]
        self.ends, self.letters = (
            np.frombuffer(reserve(size + max(size, _ROOM)), np.uint8)
            for size in (heads[-1].ends[1], heads[-1].letters[1])
        )
        self.files: list[WatchedFile] = []
        self.tables: list[Table] = []
        for place, ((name, strings), head, count) in enumerate(
            zip(chain, heads, counts, strict=True)
        ):
            following = heads[place + 1] if place + 1 < len(heads) else None
            if (
                count < head.first + strings
                or count > head.count
                or (following and following.first != count)
            ):
                raise FileDamagedError(
                    folder / name, f"has {head.count - head.first} strings, not {strings}"
                )
            ends, letters = (
                (head.ends, head.letters)
                if following is None
                else (_until(head.ends, following.ends), _until(head.letters, following.letters))
            )
            last = following is None
            self._show(ends_of(folder, name), self.ends, ends, head.tails[0] if last else None)
            self._show(
                letters_of(folder, name), self.letters, letters, head.tails[1] if last else None
            )
            self._find(folder, name, head, count)

    def check_ends(self) -> None:
        """Compare those ends that are read at once, as strings without a table are entered: a
        damaged one may lead anywhere.

        Raises FileDamagedError.
        """
        read = [*gaps(self.tables, self.count), (self.count, self.count)]
        for file in (file for file in self.files if file.owner is self.ends):
            blocks = np.zeros_like(file.unchecked)
            for first, last in read:
                begin, end = (
                    self.ends.ctypes.data + 8 * code - file.address for code in (first, last + 1)
                )
                blocks[max(0, begin // BLOCK_BYTES) : max(0, -(-end // BLOCK_BYTES))] = True
            file.check(blocks)

    def _show(
        self, file: Path, array: np.ndarray, stretch: tuple[int, int], tail: int | None
    ) -> None:
        first, size = stretch[0], stretch[1] - stretch[0]
        if size <= 0:
            return
        handle = os.open(file, os.O_RDONLY)
        try:
            if os.fstat(handle).st_size < size:
                raise FileDamagedError(file, "is too short")
            if stretch[1] > array.size:
                raise MemoryError(f"there is no address space for {file}")
            show_file(array.ctypes.data + first, handle, 0, size)
        finally:
            os.close(handle)
        self.files.append(WatchedFile(file, array.ctypes.data + first, 0, size, tail, array))

    def _find(self, folder: Path, name: str, head: StringsHead, count: int) -> None:
        """Map the tables with strings of the chain."""
        for first, last, count_of_slots in head.tables:
            if first >= count:
                continue
            file = table_file(folder, name, first, last)
            size = 8 * count_of_slots
            slots = np.frombuffer(reserve(size), np.uint8)
            self._show(file, slots, (0, size), None)
            self.tables.append(Table(slots.view(np.int64), first, min(last, count)))


def _until(stretch: tuple[int, int], following: tuple[int, int]) -> tuple[int, int]:
    return stretch[0], min(stretch[1], following[0])
