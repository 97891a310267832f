"""Kernels compiled before they are called: all of a group at once, so that no commit has to wait
for one in the middle.

A group is compiled once for a machine: a file in the cache says that it was, and a process that
finds it reads each kernel when it is called. Two processes share the work where there are two
cores: this one begins with the kernels that take longest, a helper with the shortest, and each
waits for what the other is making (`scantree.jit.compile_lock`) and finds it in the cache.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from numba import types

from scantree.jit import announcing
from scantree.jit.decorators import compile_seconds
from scantree.jit.directory import CACHED, CHECKED, DISABLED, cache_directory

_array: Any = types.Array
_tuple_of: Any = types.BaseTuple.from_types
_KINDS: Mapping[str, Any] = {
    "i": types.int64, "b": types.boolean,
    "W": _array(types.int64, 1, "C"), "R": _array(types.int64, 2, "C"),
    "A": _array(types.int64, 2, "A"),
    "B": _array(types.boolean, 1, "C"), "U8": _array(types.uint8, 1, "C"),
    "U32": _array(types.uint32, 1, "C"),
    "I8": _array(types.int8, 1, "C"), "I32": _array(types.int32, 1, "C"),
}  # fmt: skip
"""Types by the letters of a signature: numbers, words, rows, rows with strides, and arrays of other
words.
"""

_ready: set[str] = set()


def compile_groups(groups: Mapping[str, str]) -> float:
    """Compile those of these groups that no process has compiled on this machine; the seconds that
    it took.

    A group by its name: lines `module kernel kinds`, the kernel that takes longest first; a line
    that is indented goes on with the one before. A kind is one of `_KINDS`, or
    `module.Class:kind,kind` for a named tuple.
    """
    names = (
        []
        if DISABLED or CHECKED  # checked kernels take arrays where others take addresses
        else [
            name
            for name in groups
            if name not in _ready and not (CACHED and _marker(name).exists())
        ]
    )
    _ready.update(groups)
    lines = [
        line for name in names for line in groups[name].replace("\n  ", " ").split("\n") if line
    ]
    if not lines:
        return 0.0
    before = compile_seconds()
    with announcing.all_of(len(lines)), _helped(lines):
        for line in lines:
            _compile(line)
    if CACHED:
        for name in names:
            with suppress(OSError):
                _marker(name).touch()
    return compile_seconds() - before


def _marker(group: str) -> Path:
    return cache_directory() / f"compiled-{group}"


def _compile(line: str) -> None:
    module_name, kernel, *kinds = line.split()
    _named(module_name, kernel).compile_ahead(tuple(map(_kind, kinds)))


def _kind(text: str) -> Any:
    name, _, fields = text.partition(":")
    if not fields:
        return _KINDS[name]
    module_name, _, class_name = name.rpartition(".")
    return _tuple_of(
        tuple(_KINDS[field] for field in fields.split(",")), _named(module_name, class_name)
    )


def _named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


# ── the helper ────────────────────────────────────────────────────────────────────────────────────
_HELPER = (
    "import sys; sys.path[:] = {path!r}; from scantree.jit.ahead import compile_lines; "
    "compile_lines(sys.stdin.read().split('\\n'))"
)
_WORTH_IT = 8  # kernels for which another process is started


def compile_lines(lines: Iterable[str]) -> None:
    """Compile kernels by their lines, in silence."""
    with announcing.said_by(lambda text: None):
        for line in lines:
            _compile(line)


@contextmanager
def _helped(lines: list[str]) -> Any:
    """Have another process compile these meanwhile, from the end; it is gone when the block is
    over.
    """
    helper = None
    if (
        CACHED
        and len(lines) >= _WORTH_IT
        and _cores() > 1
        and re.match(r"python[\d.]*$", Path(sys.executable or "").name)
    ):
        with suppress(OSError):
            helper = subprocess.Popen(
                [sys.executable, "-c", _HELPER.format(path=sys.path)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                text=True, start_new_session=True,
            )  # fmt: skip
    try:
        if helper is not None and helper.stdin is not None:
            with suppress(OSError):
                helper.stdin.write("\n".join(reversed(lines)))
                helper.stdin.close()
        yield
    finally:
        if helper is not None:
            helper.kill()  # all is compiled: it would only read what it has not seen
            helper.wait()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
