"""The strings of a process below a path, so that stored codes mean something to others: files that are only ever appended to.

A process writes a file of its own. One that begins with the strings of others, since it opened a state of theirs, goes on behind them: its
codes are told by a chain, some strings of one file, then some of the next.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa

from lftj.dictionary import Dictionary

Chain = list[tuple[str, int]]
"""(file, strings) pairs: the first strings come from the first file, and so on."""

_HEAD = 4  # words before each append: strings, bytes, checksum, a number that no other file begins with
_MARK = 0x3153_474E_4952_5453


class StringsDamagedError(Exception):
    """A file of strings is not what its chain says."""


class StoredStrings:
    """What a dictionary has on disk below one folder."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._chain: Chain = []
        self._name = _new_name()
        self._size = 0  # bytes of the own file
        self._stored = 0  # strings that are in files

    def written(self, folder: Path) -> Chain:
        """Write what is new, and sync; the chain that tells all codes given out so far. O(new strings)."""
        if not all((folder / name).exists() for name, _ in self._chain):  # someone removed it: all is written again
            self._chain, self._name, self._size, self._stored = [], _new_name(), 0, 0
        offsets, data = self._dictionary.flat()
        count, first = len(offsets) - 1, self._stored
        if count > first:
            lengths, content = np.diff(offsets[first:]), data[offsets[first] : offsets[count]]
            body = lengths.astype(np.int64).tobytes() + content.tobytes()
            head = np.array([count - first, len(content), zlib.crc32(body), _MARK], np.int64).tobytes()
            file = os.open(folder / self._name, os.O_WRONLY | os.O_CREAT, 0o644)
            try:
                os.pwrite(file, head + body, self._size)
                os.fsync(file)
            finally:
                os.close(file)
            self._size += len(head) + len(body)
            own = self._chain.pop()[1] if self._chain and self._chain[-1][0] == self._name else 0
            self._chain.append((self._name, own + count - first))
            self._stored = count
        return list(self._chain)

    def knows(self, chain: Chain) -> bool:
        """Whether codes that a chain tells are those of the dictionary."""
        if len(chain) > len(self._chain):
            return False
        pairs = list(zip(chain, self._chain, strict=False))
        alike = all(name == own and strings == held for (name, strings), (own, held) in pairs[:-1])
        return alike and all(name == own and strings <= held for (name, strings), (own, held) in pairs[-1:])

    def take(self, folder: Path, chain: Chain) -> None:
        """Fill the dictionary, which is empty, with the strings of a chain, and those that the last file has since. O(strings)."""
        assert not len(self._dictionary)
        for place, (name, strings) in enumerate(chain):
            last = place == len(chain) - 1
            before = len(self._dictionary)
            for piece in _pieces(folder / name):
                missing = strings - (len(self._dictionary) - before)
                if not last and missing <= 0:
                    break
                self._dictionary.encode(piece if last else piece[:missing])
            found = len(self._dictionary) - before
            if found < strings:
                raise StringsDamagedError(f"{name} has {found} strings, not {strings}")
            self._chain.append((name, found))
        self._stored = len(self._dictionary)


def _new_name() -> str:
    return f"strings-{uuid4().hex}"


def _pieces(file: Path) -> Iterator[pa.LargeStringArray]:
    """What was appended, append by append, as far as it is whole."""
    content = file.read_bytes()
    place = 0
    while place + 8 * _HEAD <= len(content):
        count, size, checksum, mark = np.frombuffer(content, np.int64, _HEAD, place).tolist()
        body = content[place + 8 * _HEAD : place + 8 * _HEAD + 8 * count + size]
        if mark != _MARK or len(body) < 8 * count + size or zlib.crc32(body) != checksum:
            return
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(np.frombuffer(body, np.int64, count), out=offsets[1:])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(body[8 * count :])]
        yield pa.LargeStringArray.from_buffers(count, buffers[1], buffers[2])
        place += 8 * _HEAD + len(body)
