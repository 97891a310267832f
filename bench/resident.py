"""Resident memory of this process, as the system tells it.

Not by `getrusage`: there a process begins with the peak of the one that started it, which may have
had a larger benchmark before.
"""

from __future__ import annotations

import ctypes
from pathlib import Path


def resident_bytes() -> int:
    """Bytes now."""
    return _status("VmRSS")


def peak_bytes() -> int:
    """The most there ever were."""
    return _status("VmHWM")


def forget_freed() -> None:
    """Give freed memory back to the system, and count the peak from now on: what comes next is not
    laid into what something else left behind.
    """
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def _status(what: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024
