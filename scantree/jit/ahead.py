"""Kernels compiled before they are called: all of a group at once, so that no commit has to wait
for one in the middle.

A group is compiled once for a machine: a file in the cache says that it was, and a process that
finds it reads each kernel when it is called. Helpers do the work, one for each of two cores: the
first begins with the kernels that take longest, the second with the shortest, and each waits for
what the other is making (`scantree.jit.compile_lock`) and finds it in the cache. This process only
waits, and looks at limits and interrupts; then the helpers are killed, and whatever they finished
is there the next time. Where there is no cache that helpers share, the kernels are compiled here,
and limits are looked at between two of them.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from numba import types

from scantree.jit import announcing
from scantree.jit.compile_lock import turn
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


def compile_groups(groups: Mapping[str, str], attend: Callable[[], None] = lambda: None) -> float:
    """Compile those of these groups that no process has compiled on this machine; the seconds that
    it took.

    A group by its name: lines `module kernel kinds`, the kernel that takes longest first; a line
    that is indented goes on with the one before. A kind is one of `_KINDS`, or
    `module.Class:kind,kind` for a named tuple. `attend` is called some twenty times a second, or
    between two kernels, and may raise; then no group counts as compiled.
    """
    if not missing_groups(groups):
        return 0.0
    started = time.perf_counter()
    with turn("groups", attend):  # of processes that start together one starts helpers
        if names := missing_groups(groups):
            lines = lines_of(groups[name] for name in names)
            with announcing.all_of(len(lines)):
                if not _helped(lines, attend):
                    for line in lines:
                        attend()
                        _compile(line)
            for name in names if CACHED else ():
                with suppress(OSError):
                    _marker(name).touch()
    _ready.update(groups)
    return time.perf_counter() - started


def missing_groups(groups: Iterable[str]) -> list[str]:
    """The groups that are not known to be compiled on this machine."""
    if DISABLED or CHECKED:  # checked kernels take arrays where others take addresses
        return []
    return [
        name for name in groups if name not in _ready and not (CACHED and _marker(name).exists())
    ]


def lines_of(groups: Iterable[str]) -> list[str]:
    """The kernels of groups, one line each."""
    return [line for group in groups for line in group.replace("\n  ", " ").split("\n") if line]


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


# ── helpers ───────────────────────────────────────────────────────────────────────────────────────
_HELPER = (
    "import sys; sys.path[:] = {path!r}; from scantree.jit.ahead import compile_lines; "
    "compile_lines(sys.stdin.read().split('\\n'), {directory!r})"
)
_WORTH_IT = 8  # kernels for which other processes are started
_LOOK = 0.05
"""Seconds between two looks at helpers, limits and interrupts."""


def compile_lines(lines: Iterable[str], directory: str) -> None:
    """Compile kernels by their lines, in silence. Raises ValueError where this process keeps them
    in another directory.
    """
    if directory != str(cache_directory()):
        raise ValueError(f"kernels are kept in {cache_directory()}, not in {directory}")
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with announcing.said_by(lambda text: None):
        for line in lines:
            _compile(line)


def _end_with(parent: int) -> None:
    """End this process soon after the one that started it."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


def _helped(lines: list[str], attend: Callable[[], None]) -> bool:
    """Have other processes compile these; whether they did. They are gone when this returns or
    raises.
    """
    python = re.match(r"python[\d.]*$", Path(sys.executable or "").name)
    if not (CACHED and len(lines) >= _WORTH_IT and python):
        return False
    helpers: list[subprocess.Popen[str]] = []
    try:
        with suppress(OSError):
            for order in (lines, lines[::-1])[: _cores()]:
                helpers.append(_helper(order))
        while any(helper.poll() is None for helper in helpers):
            if any(helper.poll() == 0 for helper in helpers):
                break
            attend()
            time.sleep(_LOOK)
        return any(helper.poll() == 0 for helper in helpers)
    finally:
        for helper in helpers:
            helper.kill()  # all is compiled: it would only read what it has not seen
        for helper in helpers:
            helper.wait()


def _helper(lines: list[str]) -> subprocess.Popen[str]:
    """Start a process that compiles these kernels in their order."""
    code = _HELPER.format(path=sys.path, directory=str(cache_directory()))
    quiet = subprocess.DEVNULL
    helper = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, text=True,
        start_new_session=True,
    )  # fmt: skip
    if helper.stdin is not None:
        with suppress(OSError):
            helper.stdin.write("\n".join(lines))
            helper.stdin.close()
    return helper


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
