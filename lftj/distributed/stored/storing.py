"""Locks that keep everything below a path unchanged once it is closed: workers that store parts a
moment later than they were derived are stopped, and waited for.

A file marks the path as open. Workers hold a shared lock on it while they store; the process that
closes the path takes it alone and removes it. The system gives a lock back when its holder dies, so
nobody waits for a worker that is gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lftj.scantree.file_locks import lock_file

_FILE = "storing"
_LONGEST = 30.0  # seconds that closing waits
_LOOK = 0.01


def begin_storing(path: Path) -> None:
    """Let workers store below a path."""
    (path / _FILE).touch()


def end_storing(path: Path) -> None:
    """Have them store nothing more, and wait for what they are at, half a minute at most. Harmless
    when repeated.
    """
    with suppress(FileNotFoundError):
        file = os.open(path / _FILE, os.O_RDWR)
        try:
            end = time.monotonic() + _LONGEST
            while _held_by_others(file) and time.monotonic() < end:
                time.sleep(_LOOK)
            os.unlink(path / _FILE)
        finally:
            os.close(file)


def _held_by_others(file: int) -> bool:
    try:
        lock_file(file)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    return False


@contextmanager
def storing(path: Path) -> Iterator[bool]:
    """While a part is stored: whether it may be, for the path is open."""
    file = None
    with suppress(OSError):
        file = os.open(path / _FILE, os.O_RDWR)
    if file is None:
        yield False
        return
    try:
        with suppress(OSError):
            lock_file(file, shared=True)
        yield os.fstat(file).st_nlink > 0
    finally:
        os.close(file)
