"""The directory of machine code, and the settings by which this process makes it.

Numba's on-disk cache keys a function by its own file only: an edit to a callee in another file
leaves the caller's cached machine code in place, and the old result is served without a word. So
the cache lives in a directory named by a hash of *all* kernel sources, the processor and the
versions of what compiles: any edit to any kernel starts a fresh one, and all installations of the
same sources share one, wherever they are. Set `LFTJ_CACHE_DIR` to choose where those directories go
(default: the user's cache directory). Numba's index is a pickle, so only a folder that others
cannot write is used (`scantree.private_folders`), else one that this process makes for itself.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import numba
import numpy as np
from numba.core import codegen, config

from scantree.private_folders import UnsafeFolderError, private_folder

# Numba's own types do not tell what this is: settings known at run time only.
_config: Any = config

DISABLED = bool(_config.DISABLE_JIT)
"""True when kernels run as Python."""

CHECKED = bool(_config.BOUNDSCHECK)
"""True when every access is checked against the array's bounds."""

ADDRESSES = not (DISABLED or CHECKED)
"""True when kernels take arrays as numbers, so that words in one array can point into others."""

_ROOT = Path(__file__).resolve().parent.parent.parent
_MONTHS = 90 * 24 * 60 * 60  # seconds
_PACKAGES = ("lftj", "sensitivity", "scantree", "partition")


def _kernel_sources() -> list[Path]:
    found = [path for package in _PACKAGES for path in (_ROOT / package).rglob("*_kernels.py")]
    return sorted([*found, *Path(__file__).resolve().parent.glob("*.py")])


def _processor() -> tuple[str, str]:
    """Name and features of the processor, as Numba tells machine code apart by them."""
    name = _config.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    features = (
        _config.CPU_FEATURES
        if _config.CPU_FEATURES is not None
        else codegen.get_host_cpu_features()
    )
    return name, features


def _identity() -> str:
    """Hash everything that machine code depends on, except the place of the sources."""
    versions = (
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        sys.implementation.cache_tag,
        platform.machine(),
        sys.abiflags,
    )
    settings = _config.BOUNDSCHECK, _config.OPT, _config.LOOP_VECTORIZE, _config.SLP_VECTORIZE
    digest = hashlib.sha256(repr((versions, settings, _processor())).encode())
    for path in _kernel_sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_ROOT).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _wanted() -> Path:
    """The folder that the user's settings name for this set of kernel sources."""
    base = os.environ.get("LFTJ_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lftj"
    )
    return Path(base) / f"kernels-{_identity()}"


def _usable() -> Path | None:
    """The folder that machine code is kept in, made if need be; one of this process alone where the
    user's cannot be used.
    """
    wanted = _wanted()
    try:
        return _begun(wanted)
    except UnsafeFolderError as reason:
        problem, remedy = (
            str(reason),
            "chmod go-w it, or set LFTJ_CACHE_DIR to a folder that only you can write",
        )
    except OSError as reason:
        problem, remedy = str(reason), "set LFTJ_CACHE_DIR to a folder that can be written"
    text = "machine code is not kept in %s: %s. This process compiles for itself. Remedy: %s"
    logging.getLogger("lftj").warning(text, wanted.parent, problem, remedy)
    with suppress(OSError, UnsafeFolderError):
        made = tempfile.mkdtemp(prefix="lftj-kernels-")
        atexit.register(_remove, made, os.getpid())
        return private_folder(made)
    return None


def _begun(wanted: Path) -> Path:
    """The folder, marked as used now. Raises UnsafeFolderError, OSError."""
    fresh = not wanted.exists()
    directory = private_folder(wanted)
    if fresh:
        with suppress(OSError):
            _forget_unused(directory.parent)
    os.utime(directory)
    with tempfile.TemporaryFile(dir=directory):
        return directory


def _remove(directory: str, process: int) -> None:
    """Remove the folder of a process at its end, not at that of a child."""
    if process == os.getpid():
        shutil.rmtree(directory, ignore_errors=True)


def _forget_unused(base: Path) -> None:
    """Remove what other kernel sources left there, of versions that no process has used
    for months.
    """
    for directory in base.iterdir():
        with suppress(OSError):
            if (
                re.fullmatch(r"kernels-[0-9a-f]{16}", directory.name)
                and directory.stat().st_mtime < time.time() - _MONTHS
            ):
                shutil.rmtree(directory)


_directory = None if DISABLED else _usable()

CACHED = _directory is not None
"""True when machine code is kept on disk."""


def cache_directory() -> Path:
    """The directory for the machine code of this set of kernel sources, even if none is kept."""
    return _directory or _wanted()
