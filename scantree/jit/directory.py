# SPDX-License-Identifier: Apache-2.0
"""The folders of machine code, and the settings by which this process makes it.

Numba's on-disk cache keys a function by its own file only: an edit to a callee in another file
leaves the caller's cached machine code in place, and the old result is served without a word. So
the cache lives in a directory named by a hash of *all* kernel sources, the processor and the
versions of what compiles: any edit to any kernel starts a fresh one, and all installations of the
same sources share one, wherever they are. The library of kernels (`lftj.scantree.jit.library`)
depends on the sources alone, and its folder too. Set `LFTJ_CACHE_DIR` to choose where those
directories go (default: the user's cache directory). Numba's index is a pickle, and a library is
code, so only a folder that others cannot write is used (`lftj.scantree.process.private_folders`),
else one that this process makes for itself.

Numba's settings are read as Numba reads them, without importing it.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import platform
import re
import sys
import time
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lftj.scantree.process.private_folders import UnsafeFolderError, private_folder


def _is_set(name: str) -> bool:
    """One of Numba's switches: as Numba has it where it is there already, else by the
    environment.
    """
    if sys.modules.get("numba") is not None:
        from numba.core import config

        settings: Any = config
        return bool(getattr(settings, name, None))
    with suppress(ValueError):
        return bool(int(os.environ.get(f"NUMBA_{name}", "0")))
    return False


DISABLED = _is_set("DISABLE_JIT")
"""True when kernels run as Python."""

CHECKED = _is_set("BOUNDSCHECK")
"""True when every access is checked against the array's bounds."""

ADDRESSES = not (DISABLED or CHECKED)
"""True when kernels take arrays as numbers, so that words in one array can point into others."""

_LFTJ = Path(__file__).absolute().parents[2]
_MONTHS = 90 * 24 * 60 * 60  # seconds
_ENDINGS = ("_kernels.py", "kernel_signatures.py")
_COMPILING = (
    "dispatchers", "entry_points", "kinds", "libraries", "lowerings", "made_memory", "memory",
    "object_code", "remembered_types", "shared_object", "table",
)  # fmt: skip
"""Modules of this package that machine code depends on."""


def _kernel_sources() -> list[Path]:
    """All that machine code is made from: kernels, their signatures, and what compiles them."""
    found = [Path(__file__).absolute().parent / f"{name}.py" for name in _COMPILING]
    for folder, _, files in os.walk(_LFTJ, followlinks=True):
        found += [Path(folder, name) for name in files if name.endswith(_ENDINGS)]
    return sorted(found)


@cache
def sources_hash() -> str:
    """Hash all kernel sources, whatever folder they are in."""
    digest = hashlib.sha256()
    for path in _kernel_sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_LFTJ).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def require_numba() -> None:
    """Look for Numba, without importing it. Raises ImportError with a remedy where it is not
    installed.
    """
    for name in ("numba", "llvmlite"):
        try:
            found = find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            raise ImportError(
                f"no machine code of the kernels fits this machine and these sources, and "
                f'compiling needs {name}: pip install "numba>=0.68,<0.69"'
            )


def _identity() -> str:
    """Hash everything that Numba's machine code depends on, except the place of the sources."""
    require_numba()
    import llvmlite
    import llvmlite.binding
    import numba
    import numpy as np
    from numba.core import codegen, config

    settings: Any = config
    name = settings.CPU_NAME or llvmlite.binding.get_host_cpu_name()
    features = settings.CPU_FEATURES
    processor = (name, codegen.get_host_cpu_features() if features is None else features)
    versions = (
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        sys.implementation.cache_tag,
        platform.machine(),
        sys.abiflags,
    )
    switches = settings.BOUNDSCHECK, settings.OPT, settings.LOOP_VECTORIZE, settings.SLP_VECTORIZE
    known = repr((versions, switches, processor, sources_hash()))
    return hashlib.sha256(known.encode()).hexdigest()[:16]


def user_folder() -> Path:
    """The folder that the user's settings name for machine code."""
    base = os.environ.get("LFTJ_CACHE_DIR") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lftj"
    )
    return Path(base)


def library_folder() -> Path:
    """The folder in it for the library of these sources."""
    return user_folder() / f"kernels-{sources_hash()}"


@cache
def _wanted() -> Path:
    """The folder in it for what Numba compiles one by one."""
    return user_folder() / f"kernels-{_identity()}"


def _usable() -> Path | None:
    """The folder that machine code is kept in, made if need be; one of this process alone where the
    user's cannot be used.
    """
    wanted = _wanted()
    try:
        return begun(wanted)
    except UnsafeFolderError as reason:
        problem, remedy = (
            str(reason),
            "chmod go-w it, or set LFTJ_CACHE_DIR to a folder that only you can write",
        )
    except OSError as reason:
        problem, remedy = str(reason), "set LFTJ_CACHE_DIR to a folder that can be written"
    text = "machine code is not kept in %s: %s. This process compiles for itself. Remedy: %s"
    logging.getLogger("lftj").warning(text, wanted.parent, problem, remedy)
    import tempfile  # only where machine code is made

    with suppress(OSError, UnsafeFolderError):
        made = tempfile.mkdtemp(prefix="lftj-kernels-")
        atexit.register(_remove, made, os.getpid())
        return private_folder(made)
    return None


def begun(wanted: Path) -> Path:
    """The folder, marked as used now. Raises UnsafeFolderError, OSError."""
    import tempfile

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
    import shutil

    if process == os.getpid():
        shutil.rmtree(directory, ignore_errors=True)


def _forget_unused(base: Path) -> None:
    """Remove what other kernel sources left there, of versions that no process has used
    for months.
    """
    import shutil

    for directory in base.iterdir():
        with suppress(OSError):
            if (
                re.fullmatch(r"kernels-[0-9a-f]{16}", directory.name)
                and directory.stat().st_mtime < time.time() - _MONTHS
            ):
                shutil.rmtree(directory)


@cache
def kept_in() -> Path | None:
    """The folder that Numba keeps machine code in, or None where it keeps none. Imports Numba."""
    return None if DISABLED else _usable()


def cache_directory() -> Path:
    """The directory for what Numba compiles of these kernels, even if none is kept. Imports
    Numba.
    """
    return kept_in() or _wanted()
