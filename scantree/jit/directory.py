"""Where machine code is kept, and how this process is to make it.

Numba's on-disk cache keys a function by its own file only: an edit to a callee in another file leaves the caller's cached machine code in
place, and the old result is served without a word. So the cache lives in a directory named by a hash of *all* kernel sources, and any edit
to any of them starts a fresh one. Set `LFTJ_CACHE_DIR` to choose where those directories go (default: the user's cache directory).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config

# Numba's own types do not tell what this is: settings known at run time only.
_config: Any = config

DISABLED = bool(_config.DISABLE_JIT)
"""Whether kernels run as Python."""

CHECKED = bool(_config.BOUNDSCHECK)
"""Whether every access is checked against the array's bounds."""

ADDRESSES = not (DISABLED or CHECKED)
"""Whether kernels take arrays as numbers, so that words in one array can tell of others."""

_ROOT = Path(__file__).resolve().parent.parent.parent
_MONTHS = 90 * 24 * 60 * 60  # seconds
_PACKAGES = ("lftj", "sensitivity", "scantree", "partition")


def _kernel_sources() -> list[Path]:
    found = [path for package in _PACKAGES for path in (_ROOT / package).rglob("*_kernels.py")]
    return sorted([*found, *Path(__file__).resolve().parent.glob("*.py")])


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {_config.BOUNDSCHECK}".encode())
    for path in _kernel_sources():
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory() -> Path:
    """Where this set of kernel sources keeps its machine code."""
    base = os.environ.get("LFTJ_CACHE_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lftj")
    return Path(base) / f"kernels-{_source_hash()}"


def _can_be_written(directory: Path) -> bool:
    try:
        if not directory.exists():
            directory.mkdir(parents=True, exist_ok=True)
            _forget_unused(directory.parent)
        os.utime(directory)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def _forget_unused(base: Path) -> None:
    """Remove what other kernel sources left there, of versions that no process has used for months."""
    for directory in base.iterdir():
        with suppress(OSError):
            if re.fullmatch(r"kernels-[0-9a-f]{16}", directory.name) and directory.stat().st_mtime < time.time() - _MONTHS:
                shutil.rmtree(directory)


# Numba reads the directory when a function is decorated, so it is set once, here, before any kernel module is imported.
_config.CACHE_DIR = str(cache_directory())

CACHED = not DISABLED and _can_be_written(cache_directory())
"""Whether machine code is kept at all: Numba would otherwise look for a place of its own, next to the sources, where it may grow stale."""
