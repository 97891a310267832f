# SPDX-License-Identifier: Apache-2.0
"""Mapped files, and checksums of their blocks: what was looked at is compared before anyone relies
on it.

Beside a file stand the checksums of its blocks. Reading all of a file when it is mapped would cost
as much as the file has, where a change looks at a few pages. So a process asks its system, when it
is done, which pages of the files it has looked at, and checks the blocks of these: each once. Where
the system does not tell, all blocks are checked.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Container
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lftj.scantree.mapping import write_at

BLOCK_BYTES = 1 << 14
"""Bytes under one checksum, no less than a page of any system."""
_AT_ONCE = 64  # neighbouring blocks that are read together
SUMS = ".sums"
"""Ending of the name of a file of checksums."""
_WORDS = 8  # bytes of a page's entry in the system's list
_LOOKED_AT = np.uint64(3 << 62)  # in memory, or swapped
_PAGES = "/proc/self/pagemap"

Sums = NDArray[np.uint32]


class FileDamagedError(Exception):
    """A file is not what was written."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file} {reason}")
        self.file = file


def sums_of(content: bytes | memoryview) -> Sums:
    """The checksum of each block; the last one may be shorter."""
    view = memoryview(content).cast("B")
    return np.array(
        [
            zlib.crc32(view[first : first + BLOCK_BYTES])
            for first in range(0, len(view), BLOCK_BYTES)
        ],
        np.uint32,
    )


def write_sums(file: Path, first: int, sums: Sums) -> None:
    """Write and sync the checksums of blocks from the number `first` on. Raises OSError."""
    handle = os.open(f"{file}{SUMS}", os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        write_at(handle, sums.tobytes(), 4 * first)
        os.fsync(handle)
    finally:
        os.close(handle)


@dataclass(eq=False)
class WatchedFile:
    """Bytes [first, first + size) of a file, mapped at `address`; `first` is where a block begins.
    `tail`: the checksum of the last block, where the file may have gone on in it since. `owner`
    keeps the mapping alive.
    """

    file: Path
    address: int
    first: int
    size: int
    tail: int | None = None
    owner: object = None
    unchecked: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.unchecked = np.ones(-(-self.size // BLOCK_BYTES), np.bool_)

    def check(self, blocks: NDArray[np.bool_]) -> int:
        """Compare those of these blocks that nobody compared; the bytes read. FileDamagedError,
        also where the file is gone.
        """
        numbers = np.flatnonzero(self.unchecked & blocks)
        if not len(numbers):
            return 0
        try:
            sums = np.fromfile(
                f"{self.file}{SUMS}",
                np.uint32,
                len(self.unchecked),
                offset=4 * (self.first // BLOCK_BYTES),
            )
            read = self._compare(numbers, sums)
        except OSError as reason:
            raise FileDamagedError(self.file, f"cannot be read: {reason}") from None
        self.unchecked[numbers] = False
        return read

    def _compare(self, numbers: NDArray[np.int64], sums: Sums) -> int:
        blocks, known = numbers.tolist(), sums[numbers[numbers < len(sums)]].tolist()
        known += [-1] * (len(blocks) - len(known))
        if self.tail is not None and blocks[-1] == len(self.unchecked) - 1:
            known[-1] = self.tail
        at = read = 0
        handle = os.open(self.file, os.O_RDONLY)
        try:
            while at < len(blocks):
                end, start = at + 1, blocks[at] * BLOCK_BYTES
                while end < len(blocks) and blocks[end] - blocks[at] == end - at < _AT_ONCE:
                    end += 1
                size = min((end - at) * BLOCK_BYTES, self.size - start)
                content = memoryview(os.pread(handle, size, self.first + start))
                read += len(content)
                for place in range(0, size, BLOCK_BYTES):
                    if zlib.crc32(content[place : place + BLOCK_BYTES]) != known[at]:
                        raise FileDamagedError(
                            self.file,
                            f"is not what was written, from byte {self.first + start + place} on",
                        )
                    at += 1
        finally:
            os.close(handle)
        return read

    def looked_at(self, pages: int) -> NDArray[np.bool_]:
        """The blocks that this process has looked at, by the system's list of pages,
        which is open.
        """
        size = os.sysconf("SC_PAGE_SIZE")
        count = -(-self.size // size)
        entries = np.frombuffer(
            os.pread(pages, count * _WORDS, self.address // size * _WORDS), np.uint64
        )
        if len(entries) < count:
            raise OSError("the system's list of pages ends early")
        starts = np.arange(0, count, BLOCK_BYTES // size)
        return np.logical_or.reduceat(entries & _LOOKED_AT != 0, starts)


class Watch:
    """The mapped files of a process of which not all blocks are checked. `read`: the bytes read to
    check them so far.
    """

    def __init__(self) -> None:
        self.read = 0
        self._files: list[WatchedFile] = []
        self._lock = threading.Lock()

    def add(self, file: WatchedFile) -> None:
        """Check what is looked at of this file from now on."""
        with self._lock:
            self._files.append(file)

    @property
    def files(self) -> int:
        """Mapped pieces of files with blocks that are not checked."""
        return len(self._files)

    def check(self, *, everything: bool = False, of: Container[Path] | None = None) -> None:
        """Check what was looked at of all files, or `of` some, or all of them. Raises
        FileDamagedError.

        O(blocks looked at since the last time), and a byte for 512 of the files.
        """
        with self._lock:
            asked = [file for file in self._files if of is None or file.file in of]
            if not asked:
                return
            pages = None if everything else _opened_pages()
            try:
                for file in asked:
                    self.read += file.check(_blocks(file, pages))
            finally:
                if pages is not None:
                    os.close(pages)
            self._files = [file for file in self._files if file.unchecked.any()]


def _opened_pages() -> int | None:
    try:
        return os.open(_PAGES, os.O_RDONLY)
    except OSError:
        return None


def _blocks(file: WatchedFile, pages: int | None) -> NDArray[np.bool_]:
    if pages is not None:
        try:
            return file.looked_at(pages)
        except OSError:
            pass
    return np.ones_like(file.unchecked)
