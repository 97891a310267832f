# SPDX-License-Identifier: Apache-2.0
"""The lock of the one process that writes below a folder. The system gives it back when its holder
dies; the file names the holder for those who come second.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from lftj.scantree.process.file_locks import lock_file, unlock_file

LOCK = "writer.lock"
LOG = "log.sqlite"
"""The log of a workspace of one process (`log_file`), by which such a folder is known."""
_LONGEST = 4096


class HeldError(Exception):
    """Another one has the lock. `holder` says who, and since when."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


class ProcessLock:
    """A locked file, held from its making to `release`, or until nobody has this object. A forked
    child has the file too, but the lock is its parent's.
    """

    _file: int | None = None

    def __init__(self, file: int):
        """`file`: open, and locked where its file system knows locks."""
        self._process, self._file = os.getpid(), file

    @property
    def ours(self) -> bool:
        """True in the process that took it."""
        return self._process == os.getpid()

    def passed_on(self) -> int:
        """The locked file, for another lock to go on with: this one holds nothing any more."""
        assert self._file is not None
        file, self._file = self._file, None
        return file

    def release(self) -> None:
        """Let others write. Harmless when repeated."""
        if (file := self._file) is not None:
            self._file = None
            if self.ours:
                with suppress(OSError):  # there may be no locks
                    unlock_file(file)  # closing it is not enough where a child has it
            os.close(file)

    def __del__(self) -> None:
        self.release()


class FolderLock(ProcessLock):
    """The lock of a folder, whose file names the holder."""

    def __init__(self, folder: Path):
        """Raises HeldError, or OSError where the file cannot be opened or locked."""
        file = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            lock_file(file)
        except BlockingIOError:
            holder = _holder(file)
            os.close(file)
            raise HeldError(holder) from None
        except OSError:
            os.close(file)
            raise
        super().__init__(file)
        with suppress(OSError):  # a full disk is no reason not to hold it
            _write_holder(file)


def _write_holder(file: int) -> None:
    about = {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
    }
    os.ftruncate(file, 0)
    os.pwrite(file, json.dumps(about).encode(), 0)


def _holder(file: int) -> str:
    """The holder in words."""
    try:
        about = json.loads(os.pread(file, _LONGEST, 0))
        return f"process {about['pid']} on {about['host']}, since {about['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process without a name"
