# SPDX-License-Identifier: Apache-2.0
"""Processes that share a cache of machine code make each kernel once: who wants one that another is
making waits, and finds it there.

Several begin together wherever work is shared out: the executors of a Spark session, a pool of
processes, the tests. All would make the same kernels, each taking the processor from the others.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from lftj.scantree.jit.directory import kept_in
from lftj.scantree.process.file_locks import lock_byte, unlock_byte

_PATIENCE = 60.0
"""Seconds after which a kernel is made all the same: a process that was stopped in the middle must
not stop others.
"""


@contextmanager
def turn(kernel: str, attend: Callable[[], None] = lambda: None) -> Iterator[None]:
    """While no other process makes the kernel of this name, as far as that can be had. `attend` is
    called while it waits, and may raise.
    """
    file, place = _file(os.getpid()), zlib.crc32(kernel.encode())
    if file is None or not _locked(file, place, attend):
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            unlock_byte(file, place)


@cache
def _file(process: int) -> int | None:
    """A file of the cache, a byte of which is locked for each kernel that is being made. Such locks
    end with the process that has them.
    """
    if (folder := kept_in()) is None:
        return None
    with suppress(OSError):
        return os.open(folder / "being-made", os.O_RDWR | os.O_CREAT, 0o600)
    return None


def _locked(file: int, place: int, attend: Callable[[], None]) -> bool:
    """Lock a byte, waiting for whoever has it; whether that succeeded. Some file systems know no
    locks.
    """
    latest = time.monotonic() + _PATIENCE
    while True:
        try:
            lock_byte(file, place)
        except BlockingIOError:
            if time.monotonic() > latest:
                return False
            attend()
            _wait()
        except OSError:
            return False
        else:
            return True


def _wait() -> None:
    """Let others go on for a moment."""
    time.sleep(0.002)
