# SPDX-License-Identifier: Apache-2.0
"""The library of kernels: machine code that was compiled ahead, and runs without Numba.

A library is a shared object (`lftj.scantree.jit.building`). Its name holds a hash of all kernel
sources and the processor it is for, so a process takes the one that fits, or none. It lies beside
this module, where a build put it, or in the user's folder of machine code
(`lftj.scantree.jit.directory`), which is used only where nobody else can write. The last bytes of
the file are a hash of the others: one that is damaged is not loaded.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from lftj.scantree.jit.directory import ADDRESSES, library_folder, sources_hash
from lftj.scantree.jit.table import TABLE, pointers
from lftj.scantree.process.private_folders import UnsafeFolderError, private_folder

BUNDLED = Path(__file__).resolve().parent / "machine_code"
"""The folder of the package where builds put libraries."""

_HASH_SIZE = 32
_FASTCALL = 0x0080


class _Method(ctypes.Structure):
    """Python's description of a function that is machine code."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )  # fmt: skip


class Library:
    """A library in this process."""

    def __init__(self, path: Path) -> None:
        """Load it. Raises OSError."""
        self.path = path
        self._code: Any = ctypes.PyDLL(str(path))
        given = pointers()
        for number in range(256):
            getter = getattr(self._code, f"lftj_table/{number}", None)
            if getter is None:
                break
            getter.restype = ctypes.c_void_p
            table = (ctypes.c_void_p * len(TABLE)).from_address(getter())
            table[:] = [given[name] for name in TABLE]

    def function(self, name: str, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """A kernel by `module.name`: all its signatures, and `otherwise` for arguments that fit
        none; None where the library lacks it.
        """
        found = list(self._entry_points(name))
        for entry in reversed(found):
            otherwise = self._function(name, entry, otherwise)
        return otherwise if found else None

    def signatures(self, name: str) -> list[list[str]]:
        """The words of a kernel's signatures, in the order of `function`."""
        found = []
        for number in range(256):
            kinds = getattr(self._code, f"{name}/{number}/kinds", None)
            if kinds is None:
                break
            kinds.restype = ctypes.c_char_p
            found.append(kinds().decode().split())
        return found

    def _entry_points(self, name: str) -> Iterator[int]:
        for number in range(256):
            entry = getattr(self._code, f"{name}/{number}", None)
            if entry is None:
                return
            yield ctypes.cast(entry, ctypes.c_void_p).value or 0

    def _function(self, name: str, entry: int, otherwise: Callable[..., Any]) -> Any:
        method = _Method(name.rpartition(".")[2].encode(), entry, _FASTCALL, None)
        # Never given back: a function points to its description, and may outlive all that Python
        # lets go of when a process ends, modules included.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(method))
        return _new_function()(ctypes.addressof(method), otherwise, name.rpartition(".")[0])


@cache
def _new_function() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, *[ctypes.py_object] * 2]
    return make


# ── which one ─────────────────────────────────────────────────────────────────────────────────────
@cache
def target() -> str | None:
    """The processor that libraries for this process are for: a level of x86-64, or None where none
    can be built or loaded.
    """
    fits = (
        sys.platform == "linux"
        and platform.machine() in ("x86_64", "AMD64")
        and struct.calcsize("P") == 8
        and sys.implementation.name == "cpython"
        and "t" not in getattr(sys, "abiflags", "")
    )
    if not fits:
        return None
    with suppress(ImportError):
        inside = import_module("numpy._core._multiarray_umath")
        features: dict[str, bool] = getattr(inside, "__cpu_features__", {})
        return "x86-64-v3" if features.get("X86_V3", _level_3(features)) else "x86-64-v2"
    return "x86-64-v2"


def _level_3(features: dict[str, bool]) -> bool:
    """Level 3 by NumPy's older versions: no processor has its features without these."""
    return bool(features.get("AVX2") and features.get("FMA3"))


def file_name(processor: str) -> str:
    """The name of the library of these sources for a processor."""
    return f"kernels-{sources_hash()}-{processor}.so"


@cache
def library() -> Library | None:
    """The library of these kernels for this machine, or None where there is none."""
    processor = target()
    if processor is None or not ADDRESSES:
        return None
    name = file_name(processor)
    for place in _places():
        with suppress(OSError):
            if whole(place / name):
                return Library(place / name)
    return None


def _places() -> Iterator[Path]:
    yield BUNDLED
    with suppress(OSError, UnsafeFolderError):
        if (folder := library_folder()).is_dir():
            yield private_folder(folder)


def whole(path: Path) -> bool:
    """True for a library whose content is what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return content[-_HASH_SIZE:] == hashlib.sha256(content[:-_HASH_SIZE]).digest()


def sealed(content: bytes) -> bytes:
    """The content of a library, followed by its hash."""
    return content + hashlib.sha256(content).digest()
