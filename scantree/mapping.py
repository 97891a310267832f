"""Ranges of address space, and files shown in them."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import sys
from contextlib import suppress
from functools import cache
from typing import Any

NORESERVE = 0x4000  # Linux; the mmap module does not name it
_FIXED = 0x10


def reserve(size: int) -> mmap.mmap:
    """A private range of `size` bytes, or of the largest half, quarter … of it that the system grants. Costs nothing until used.

    Before it is less, what nobody has any more is looked for: it may hold ranges.
    """
    named: dict[str, int] = {}
    if hasattr(mmap, "MAP_PRIVATE"):  # on Windows such memory is private anyway
        named["flags"] = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (NORESERVE if sys.platform == "linux" else 0)
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


def show_file(address: int, file: int, first: int, size: int) -> None:
    """Show bytes [first, first + size) of an open file at an address of a reserved range, read when someone looks; writes stay here.

    Address and `first` are multiples of a page of the system. OSError when the system refuses.
    """
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _FIXED
    if _system_map()(address, size, protection, flags, file, first) != address:
        raise OSError(ctypes.get_errno(), "cannot map a file")


def write_at(file: int, content: bytes | memoryview, place: int) -> None:
    """Write all of this at a place of an open file, a little at a time: what is written at once the system may hold, and later show to who
    looks at a byte of it, as one."""
    view = memoryview(content).cast("B")
    done = 0
    while done < len(view):
        done += os.pwrite(file, view[done : done + _AT_ONCE], place + done)


_AT_ONCE = 1 << 16


@cache
def _system_map() -> Any:
    """The system's own call, which takes an address; looked up when it is needed, since not every system has it."""
    call = ctypes.CDLL(None, use_errno=True).mmap
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong]
    call.restype = ctypes.c_void_p
    return call
