# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled before they are called: all of a group at once, so that no commit has to wait
for one in the middle.

A group is compiled once for a machine: a file in the cache says that it was, and a process that
finds it reads each kernel when it is called. Helpers do the work, one for each of two cores: the
first begins with the kernels that take longest, the second with the shortest, and each waits for
what the other is making (`lftj.scantree.jit.compile_lock`) and finds it in the cache. This process
only waits, and looks at limits and interrupts; then the helpers are killed, and whatever they
finished is there the next time. Where there is no cache that helpers share, the kernels are
compiled here, and limits are looked at between two of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from lftj.scantree.jit import announcing, processes
from lftj.scantree.jit.compile_lock import turn
from lftj.scantree.jit.directory import CHECKED, DISABLED, cache_directory, kept_in

_ready: set[str] = set()


def compile_groups(groups: Mapping[str, str], attend: Callable[[], None] = lambda: None) -> float:
    """Compile those of these groups that no process has compiled on this machine; the seconds that
    it took.

    A group by its name: lines `module kernel kinds`, the kernel that takes longest first; a line
    that is indented goes on with the one before. Kinds are those of `lftj.scantree.jit.kinds`.
    `attend` is called some twenty times a second, or between two kernels, and may raise; then no
    group counts as compiled.
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
            for name in names if kept_in() else ():
                with suppress(OSError):
                    _marker(name).touch()
    _ready.update(groups)
    return time.perf_counter() - started


def missing_groups(groups: Iterable[str]) -> list[str]:
    """The groups that are not known to be compiled on this machine."""
    if DISABLED or CHECKED:  # checked kernels take arrays where others take addresses
        return []
    return [
        name for name in groups if name not in _ready and not (kept_in() and _marker(name).exists())
    ]


def lines_of(groups: Iterable[str]) -> list[str]:
    """The kernels of groups, one line each."""
    return [
        " ".join(line.split())
        for group in groups
        for line in group.replace("\n  ", " ").split("\n")
        if line
    ]


def _marker(group: str) -> Path:
    return cache_directory() / f"compiled-{group}"


def _compile(line: str) -> None:
    module_name, kernel, *kinds = line.split()
    from lftj.scantree.jit.kinds import kind, named

    named(module_name, kernel).compile_ahead(tuple(map(kind, kinds)))


# ── helpers ───────────────────────────────────────────────────────────────────────────────────────
_HELPER = (
    "from lftj.scantree.jit.ahead import compile_lines; "
    "compile_lines(sys.stdin.read().split('\\n'), {directory!r})"
)
_WORTH_IT = 8  # kernels for which other processes are started


def compile_lines(lines: Iterable[str], directory: str) -> None:
    """Compile kernels by their lines, in silence. Raises ValueError where this process keeps them
    in another directory.
    """
    if directory != str(cache_directory()):
        raise ValueError(f"kernels are kept in {cache_directory()}, not in {directory}")
    processes.end_with_parent()
    with announcing.said_by(lambda text: None):
        for line in lines:
            _compile(line)


def _helped(lines: list[str], attend: Callable[[], None]) -> bool:
    """Have other processes compile these; whether they did. They are gone when this returns or
    raises: one that is not ready then would only read what it has not seen.
    """
    if not (kept_in() and len(lines) >= _WORTH_IT and processes.interpreter()):
        return False
    started: list[processes.Helper] = []

    def ready() -> bool:
        return any(helper.poll() == 0 for helper in started)

    with processes.gone_afterwards(started):
        with suppress(OSError):
            for order in (lines, lines[::-1])[: processes.cores()]:
                started.append(_helper(order))
        processes.wait_for(
            lambda: ready() or all(each.poll() is not None for each in started), attend
        )
        return ready()


def _helper(lines: list[str]) -> processes.Helper:
    """Start a process that compiles these kernels in their order."""
    return processes.start(_HELPER.format(directory=str(cache_directory())), lines)
