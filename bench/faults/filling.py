"""Disks that are full now and then: by a shim, by the size that a process may give to files, and a
small file system in memory where it can be had.

While the disk is full, a commit is refused or there; as soon as there is room the same workspace
goes on.

`python -m bench.faults.filling FOLDER WAY COMMITS SEED` plays it in a process of its own, and
prints how many calls were refused.
"""

from __future__ import annotations

import errno
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import lftj
from bench.faults import workload
from bench.faults.hooks import Call, Watcher, watched
from bench.faults.power import durable_of
from lftj.engine.durable.folder import TEMPORARY
from lftj.storage.durable import LOG

_MOST_LEFT = 17
"""Power of two below which bytes are left on a full disk: parts of a commit or of a checkpoint."""
_TRIES = 3


class Filled(Protocol):
    """A disk that can be filled."""

    def fill(self, left: int) -> None:
        """Have so many bytes be left."""

    def clear(self) -> None:
        """Have room again."""


class Shim(Watcher):
    """A disk whose files below a folder may grow by so many bytes; of a write that is too long it
    takes a part, as file systems do.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._left: int | None = None

    def fill(self, left: int) -> None:
        """Have so many bytes be left."""
        self._left = left

    def clear(self) -> None:
        """Have room again."""
        self._left = None

    def before(self, call: Call) -> None:
        """Take what a call needs from what is left."""
        if self._left is None or not Path(call.name).is_relative_to(self._folder):
            return
        if call.kind in ("open", "mkdir") and not os.path.exists(call.name) and not self._left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if call.kind == "write":
            size = os.path.getsize(call.name)
            growth = max(0, call.place + len(call.content) - max(size, call.place))
            if growth > self._left:
                fits = call.content[: len(call.content) - growth + self._left]
                with open(call.name, "r+b", buffering=0) as file:
                    file.seek(call.place)
                    file.write(fits)
                self._left = 0
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._left -= growth
        if call.kind == "sync" and not call.by_sqlite and call.name.endswith(TEMPORARY):
            size = os.path.getsize(call.name)  # written through a buffer, and not seen
            self._left -= min(size, self._left)
            if not self._left:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class AllowedSize:
    """A process that may give files no more than a size."""

    def __init__(self, folder: Path):
        self._log = folder / f"{LOG}-wal"

    def fill(self, left: int) -> None:
        """Have so many bytes be left for the write-ahead file."""
        size = self._log.stat().st_size if self._log.exists() else 0
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + left, most))

    def clear(self) -> None:
        """Have room again."""
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


class SmallFileSystem:
    """A file system in memory, with a file that takes all but what is left."""

    def __init__(self, folder: Path):
        self._ballast = folder.parent / "ballast"
        there = str(folder.parent)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", there], check=True)

    def fill(self, left: int) -> None:
        """Have so many bytes be left, in whole pages."""
        with open(self._ballast, "wb", buffering=0) as file, suppress(OSError):
            while file.write(bytes(4096)):
                pass
        os.truncate(self._ballast, max(0, self._ballast.stat().st_size - left))

    def clear(self) -> None:
        """Have room again."""
        self._ballast.unlink()


WAYS = {"shim": Shim, "allowed size": AllowedSize, "file system": SmallFileSystem}


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The ways that can be had here, with what their processes are begun by."""
    yield "shim", []
    yield "allowed size", []
    for unshare in (["unshare", "-m"], ["unshare", "-Urm"]):
        tried = [*unshare, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
        with suppress(OSError):
            if not subprocess.run(tried, capture_output=True, check=False).returncode:
                yield "file system", unshare
                return


def history(path: Path, commits: int, disk: Filled, chance: random.Random) -> int:
    """Commit on a disk that is full at each commit; the number of refused calls. Raises
    AssertionError where a row is wrong or lost, or the workspace does not go on.
    """
    known = workload.expected(commits, workload.step)
    refused = 0
    workspace = lftj.connect(path)
    for number in range(1, commits + 1):
        disk.fill(_left(chance))
        done = False
        for _ in range(_TRIES):
            try:
                workload.step(workspace, number)
            except lftj.DurableError as error:
                _require_full(error)
                refused += 1
            else:
                done = True
                break
            assert workload.rows(workspace) == known[number - 1]
        disk.clear()
        if not done:
            workload.step(workspace, number)
        disk.fill(_left(chance))
        refused += _cared_for(workspace, number)
        assert workload.rows(workspace) == known[number]
        disk.clear()
        if number % 5 == 0:
            disk.fill(_left(chance))
            workspace.close()
            disk.clear()
            workspace = lftj.connect(path)
            assert workload.committed(workspace, known) == number
    workspace.close()
    with lftj.connect(path) as left:
        assert workload.committed(left, known) == commits
    return refused


def _require_full(error: lftj.DurableError) -> None:
    """Raise AssertionError for an error that says more than that there is no room."""
    if error.code != "E354":
        raise AssertionError(error.code) from error


def _left(chance: random.Random) -> int:
    """The bytes that are left now."""
    return int(2 ** chance.uniform(0, _MOST_LEFT))


def _cared_for(workspace: lftj.Workspace, number: int) -> int:
    """Write a checkpoint, and compact after each third commit; the number of refused calls."""
    durable_of(workspace).checkpoint()
    if number % 3 == 0:
        try:
            durable_of(workspace).compact()
        except lftj.DurableError as error:
            _require_full(error)
            return 1
    return 0


def fillings(folder: Path, commits: int, seeds: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Play histories in each way that can be had; yields it and the number of refused calls. Raises
    AssertionError as `history`.
    """
    for way, begin in commands(folder):
        for seed in seeds:
            place = folder / f"{way} {seed}"
            place.mkdir()
            command = [sys.executable, "-m", __name__, str(place), way, str(commits), str(seed)]
            made = subprocess.run([*begin, *command], capture_output=True, text=True, check=False)
            if made.returncode:
                raise AssertionError(f"{way}, seed {seed}: {made.stderr}")
            yield way, int(made.stdout)


def main(folder: str, way: str, commits: str, seed: str) -> None:
    """Play one history and print the number of refused calls."""
    path = Path(folder) / "w.lftj"
    disk = WAYS[way](path)
    with watched(disk if isinstance(disk, Shim) else Watcher()):
        print(history(path, int(commits), disk, random.Random(int(seed))))


if __name__ == "__main__":
    main(*sys.argv[1:])
