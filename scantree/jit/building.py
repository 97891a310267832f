# SPDX-License-Identifier: Apache-2.0
"""Building of the library of kernels: once for these sources and a processor, by Numba in helpers.

Two helpers share the kernels (`lftj.scantree.jit.object_code`); their objects are linked
(`lftj.scantree.jit.shared_object`), written aside and renamed. So whoever is killed leaves nothing
that is taken for a library. Of two that build at once the second waits, and takes what the first
made.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from lftj.scantree.jit import announcing, library, processes
from lftj.scantree.jit.decorators import add_seconds
from lftj.scantree.jit.directory import begun, library_folder
from lftj.scantree.jit.shared_object import link
from lftj.scantree.process.file_locks import lock_byte, unlock_byte

_WORKER = "from lftj.scantree.jit.object_code import main; main({number}, {path!r})"
_ESTIMATE = 50  # seconds of one processor
_PATIENCE = 600.0  # seconds

Attend = Callable[[], None]


class BuildError(Exception):
    """The library could not be built; the message says why."""


def build(lines: Sequence[str], processor: str, folder: Path | None, attend: Attend) -> Path:
    """The library of the kernels of these lines for a processor, built unless it is there.

    It lies in `folder`, or in the user's folder of machine code. Takes a processor about a minute.
    `attend` is called some twenty times a second, and may raise: then helpers are killed, and there
    is no library. Raises BuildError, OSError, UnsafeFolderError.
    """
    folder = begun(library_folder()) if folder is None else folder
    path = folder / library.file_name(processor)
    if library.whole(path):
        return path
    started = time.perf_counter()
    try:
        with (
            announcing.whole_library(len(lines), round(_ESTIMATE / _workers())),
            _alone(folder, attend),
        ):
            if not library.whole(path):
                _write(path, link(_objects(lines, processor, attend), path.name))
    finally:
        add_seconds(time.perf_counter() - started)
    return path


def _workers() -> int:
    return min(2, processes.cores())


def _objects(lines: Sequence[str], processor: str, attend: Attend) -> list[bytes]:
    """Object code of these kernels: each helper compiles a share."""
    if processes.interpreter() is None:
        raise BuildError("this program is no Python interpreter")
    started: list[processes.Helper] = []
    with tempfile.TemporaryDirectory(prefix="lftj-kernels-") as made:
        with processes.gone_afterwards(started):
            for number, share in enumerate(_shared_out(lines)):
                started.append(_worker(number, share, Path(made), processor))
            processes.wait_for(lambda: _all_ended(started, Path(made)), attend)
        return [_object(Path(made), number).read_bytes() for number in range(len(started))]


def _all_ended(workers: Sequence[processes.Helper], made: Path) -> bool:
    """True when all are ready. Raises BuildError where one failed."""
    states = [worker.poll() for worker in workers]
    for number, state in enumerate(states):
        if state:
            said = _object(made, number).with_suffix(".txt").read_text(errors="replace").strip()
            raise BuildError(said.splitlines()[-1] if said else f"a helper ended with {state}")
    return all(state == 0 for state in states)


def _object(made: Path, number: int) -> Path:
    return made / f"{number}.o"


_WITH_TREES = ("apply", "build", "count", "page", "read", "scan", "seek")


def _shared_out(lines: Sequence[str]) -> list[list[str]]:
    """Lines for each helper: for one the kernels of trees and the three with a join inside, which
    have their code in common, the others for another. Each is half of the work. The lines of one
    kernel stay together.
    """
    if _workers() == 1:
        return [list(lines)]
    modules = {f"lftj.scantree.{name}_kernels" for name in _WITH_TREES}
    joins = ("run", "run_improvement", "run_iterations")
    first = [line for line in lines if line.split()[0] in modules or line.split()[1] in joins]
    return [first, [line for line in lines if line not in first]]


def _worker(number: int, lines: list[str], made: Path, processor: str) -> processes.Helper:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")
    }
    environment |= {
        "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "LFTJ_CACHE_DIR": str(made),
        "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",  # it makes a thousand, and none is shown
    }  # fmt: skip
    path = _object(made, number)
    with open(path.with_suffix(".txt"), "w", encoding="utf-8") as errors:
        return processes.start(
            _WORKER.format(number=number, path=str(path)), lines, environment, errors
        )


def _write(path: Path, content: bytes) -> None:
    """Write a library aside, and give it its name when all of it is on the disc."""
    handle, aside = tempfile.mkstemp(prefix="being-written-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            file.write(library.sealed(content))
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        with suppress(OSError):
            os.unlink(aside)


@contextmanager
def _alone(folder: Path, attend: Attend) -> Iterator[None]:
    """While no other process builds in this folder, as far as locks can be had."""
    file = os.open(folder / "being-built", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        latest = time.monotonic() + _PATIENCE
        while time.monotonic() < latest:
            try:
                lock_byte(file, 0)
                break
            except BlockingIOError:
                attend()
                time.sleep(processes.LOOK)
            except OSError:  # this file system knows no locks
                break
        yield
    finally:
        with suppress(OSError):
            unlock_byte(file, 0)
        os.close(file)
