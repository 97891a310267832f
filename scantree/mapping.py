# SPDX-License-Identifier: Apache-2.0
"""Ranges of address space, and files shown in them."""

from __future__ import annotations

import ctypes
import errno
import gc
import mmap
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

LINUX = sys.platform == "linux" and hasattr(mmap, "MAP_PRIVATE")
NORESERVE = 0x4000  # Linux; the mmap module does not name it
_FIXED = 0x10
_FIXED_NOREPLACE = 0x100000
_HUGE_PAGES = 14  # MADV_HUGEPAGE


def reserve(size: int) -> mmap.mmap:
    """A private range of `size` bytes, or of the largest half, quarter … of it that the system
    grants. Costs nothing until used.

    Before it is less, what nobody has any more is looked for: it may hold ranges.
    """
    named: dict[str, int] = {}
    if hasattr(mmap, "MAP_PRIVATE"):  # on Windows such memory is private anyway
        named["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (NORESERVE if LINUX else 0)
    with suppress(OSError, ValueError):
        return mmap.mmap(-1, size, **named)
    gc.collect()
    while True:
        try:
            return mmap.mmap(-1, size, **named)
        except (OSError, ValueError):
            if size <= 1 << 28:
                raise
            size //= 2


def ask(address: int, size: int) -> bool | None:
    """Map memory that reads as zeros at an address, on Linux; False where something is there, or
    the system refuses, also after what nobody has any more was looked for. None where the system
    maps elsewhere than it is told.
    """
    protection = mmap.PROT_READ | mmap.PROT_WRITE
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE | _FIXED_NOREPLACE
    found = _system().mmap(address, size, protection, flags, -1, 0)
    if found == _FAILED and ctypes.get_errno() == errno.ENOMEM:
        gc.collect()
        found = _system().mmap(address, size, protection, flags, -1, 0)
    if found == _FAILED:
        return False
    if found != address:
        give_back(found, size)
        return None
    _system().madvise(
        address, size, _HUGE_PAGES
    )  # a bulk load takes half the time when the system hands out 2 MiB at once
    return True


def give_back(address: int, size: int) -> None:
    """Unmap these bytes, which nobody looks at any more."""
    _system().munmap(address, size)


def show_file(address: int, file: int, first: int, size: int) -> None:
    """Show bytes [first, first + size) of an open file at an address of a reserved range, read when
    someone looks; writes stay here.

    Address and `first` are multiples of a page of the system. OSError when the system refuses.
    """
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED
    if _system().mmap(address, size, protection, flags, file, first) != address:
        raise OSError(ctypes.get_errno(), "cannot map a file")


AT_ONCE = 1 << 16
"""Bytes of a file that are written at once, where few of them may be read."""


def write_at(file: int, content: bytes | memoryview, place: int, at_once: int = AT_ONCE) -> None:
    """Write all of this at a place of an open file, up to multiples of `at_once` bytes: what is
    written at once the system may hold, and later show to who looks at a byte of it, as one.
    """
    view = memoryview(content).cast("B")
    done = 0
    while done < len(view):
        end = done + at_once - (place + done) % at_once
        done += os.pwrite(file, view[done:end], place + done)


@cache
def _system() -> Any:
    """The system's own calls, which take an address; looked up when they are needed, since not
    every system has them.
    """
    calls = ctypes.CDLL(None, use_errno=True)
    calls.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_longlong,
    ]
    calls.mmap.restype = ctypes.c_void_p
    calls.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    calls.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return calls


_FAILED = ctypes.c_void_p(-1).value
