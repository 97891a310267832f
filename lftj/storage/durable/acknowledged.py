# SPDX-License-Identifier: Apache-2.0
"""The number of the last acknowledged commit, beside the log: SQLite leaves out what it cannot
read at the end of its write-ahead file, and says nothing. A log that ends before this number is
damaged.

The file is written after each synced commit and never synced itself: after a power cut it may name
an earlier commit, never a later one than the log has. So it costs a commit one write to memory.
"""

from __future__ import annotations

import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

ACKNOWLEDGED = "acknowledged"
_NUMBER = struct.Struct("<QI")  # the number, and its checksum


class Acknowledged:
    """The file below one folder, for the process that writes."""

    def __init__(self, folder: Path):
        """Open it, or make it. Raises OSError."""
        self._file = os.open(folder / ACKNOWLEDGED, os.O_CREAT | os.O_RDWR, 0o644)

    def note(self, number: int) -> None:
        """Note that this commit is on disk. Never raises: an earlier number is true too."""
        with suppress(OSError):
            os.pwrite(self._file, _NUMBER.pack(number, _sum(number)), 0)

    def close(self) -> None:
        """Write no more. Harmless when repeated."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)


def acknowledged(folder: Path) -> int:
    """The number of the last commit that is known to be on disk; 0 where nobody knows."""
    try:
        with (folder / ACKNOWLEDGED).open("rb") as file:
            number, found = _NUMBER.unpack(file.read(_NUMBER.size))
    except (OSError, struct.error):
        return 0
    return number if found == _sum(number) else 0


def _sum(number: int) -> int:
    return zlib.crc32(number.to_bytes(8, "little"))
