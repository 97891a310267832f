# SPDX-License-Identifier: Apache-2.0
"""Locks on open files between processes; the one place that knows how a system has them.

POSIX has `fcntl`, Windows `msvcrt`; each is imported when the first lock is taken. A lock ends with
the process that has it.
"""

from __future__ import annotations

import errno
import os
import sys
from types import ModuleType

_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_FAR = 1 << 30
"""Offset of the byte that Windows locks. A locked byte cannot be read, so it lies beyond the end of
the file.
"""


def lock_file(file: int, *, shared: bool = False, wait: bool = False) -> None:
    """Take the lock on an open file. BlockingIOError where another has it, another OSError where
    the file system knows no locks.

    A shared lock is waited for, and another one with `wait`; Windows has no shared ones, and there
    it is taken alone.
    """
    if (fcntl := _fcntl()) is not None:
        alone = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        fcntl.flock(file, fcntl.LOCK_SH if shared else alone)
    else:
        _lock_bytes(file, _FAR, wait=shared or wait)


def unlock_file(file: int) -> None:
    """Give the lock on a file back, also where a forked child has the file."""
    if (fcntl := _fcntl()) is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
    else:
        _unlock_bytes(file, _FAR)


def lock_byte(file: int, place: int) -> None:
    """Take the lock on one byte of an open file. Raises as `lock_file` does."""
    if (fcntl := _fcntl()) is None:
        _lock_bytes(file, place)
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except OSError as reason:
        if reason.errno in _HELD:
            raise BlockingIOError(reason.errno, "another process has the lock") from None
        raise


def unlock_byte(file: int, place: int) -> None:
    """Give the lock on one byte back."""
    if (fcntl := _fcntl()) is not None:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)
    else:
        _unlock_bytes(file, place)


def _fcntl() -> ModuleType | None:
    try:
        import fcntl
    except ImportError:
        return None
    return fcntl


def _lock_bytes(file: int, place: int, wait: bool = False) -> None:
    msvcrt = _msvcrt()
    os.lseek(file, place, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    except OSError as reason:
        raise BlockingIOError(errno.EAGAIN, "another process has the lock") from reason


def _unlock_bytes(file: int, place: int) -> None:
    msvcrt = _msvcrt()
    os.lseek(file, place, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_UNLCK, 1)


def _msvcrt() -> ModuleType:
    """Windows' module. OSError where there is none either."""
    if "msvcrt" not in sys.builtin_module_names:
        raise OSError(errno.ENOTSUP, "this system has no locks on files")
    import msvcrt

    return msvcrt
