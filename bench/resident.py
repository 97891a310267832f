"""Resident memory of this process, as the system tells it.

Not by `getrusage`: there a process begins with the peak of the one that started it, which may have
had a larger benchmark before.
"""

from __future__ import annotations

from pathlib import Path


def resident_bytes() -> int:
    """Bytes now."""
    return _status("VmRSS")


def peak_bytes() -> int:
    """The most there ever were."""
    return _status("VmHWM")


def _status(what: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) * 1024
