# SPDX-License-Identifier: Apache-2.0
"""Locks that keep everything below a path unchanged once it is closed: workers that store parts a
moment later than they were derived are stopped, and waited for.

A file marks the path as open. Workers hold a shared lock on it while they store; the process that
closes the path takes it alone and removes it. Who has it alone may also remove files that no record
names, since nobody is about to name them. The system gives a lock back when its holder dies, so
nobody waits for a worker that is gone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lftj.distributed.objects.file_store import store_of
from lftj.scantree import lock_file
from lftj.syntax import look_now

_FILE = "storing"
_LONGEST = 30.0  # seconds that closing waits
_LOOK = 0.01


def begin_storing(path: Path) -> None:
    """Let workers store below a path."""
    (path / _FILE).touch()
    store_of(path).publish([path / _FILE])


def is_closed(path: Path) -> bool:
    """Tell whether nobody has a path open any more. Of an object store that is not known here."""
    return not (path / _FILE).exists() and store_of(path).shared


def end_storing(path: Path) -> None:
    """Have them store nothing more, and wait for what they are at, half a minute at most. Harmless
    when repeated.
    """
    with suppress(FileNotFoundError):
        file = os.open(path / _FILE, os.O_RDWR)
        try:
            _take_alone(file, _LONGEST)
            os.unlink(path / _FILE)
        finally:
            os.close(file)
    if not (store := store_of(path)).shared:
        with suppress(OSError):
            store.remove([path / _FILE])


def _take_alone(file: int, seconds: float) -> bool:
    """Take the lock alone, waiting so long at most; whether that was done. Where the file system
    has no locks nobody waits.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            lock_file(file)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_LOOK)
        except OSError:
            return False
        else:
            return True


@contextmanager
def nobody_storing(path: Path, seconds: float = 0.0) -> Iterator[bool]:
    """For the length of a block, have nobody store below a path: whether that is so, once those who
    do have been waited for so long. False where the path is closed, or locks tell nothing.
    """
    file = None
    with suppress(OSError):
        file = os.open(path / _FILE, os.O_RDWR)
    if file is None:
        yield False
        return
    if not store_of(path).shared:  # locks are those of one machine
        os.close(file)
        yield False
        return
    try:
        yield _take_alone(file, seconds) and os.fstat(file).st_nlink > 0
    finally:
        os.close(file)


@contextmanager
def storing(path: Path) -> Iterator[bool]:
    """While a part is stored: whether it may be, for the path is open."""
    file = None
    with suppress(OSError):
        file = os.open(path / _FILE, os.O_RDWR)
    if file is None:
        yield not (store := store_of(path)).shared and store.exists(path / _FILE)
        return
    try:
        with suppress(OSError):
            lock_file(file, shared=True)
        yield os.fstat(file).st_nlink > 0
    finally:
        os.close(file)


@contextmanager
def one_at_a_time(file: Path) -> Iterator[None]:
    """For the length of a block, hold the lock of a file of this machine, which the system gives
    back when its holder dies. Who waits for it looks at limits (`attending`), and raises their
    error.
    """
    handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        while True:
            try:
                lock_file(handle)
                break
            except BlockingIOError:
                look_now()
                time.sleep(_LOOK)
        yield
    finally:
        os.close(handle)
