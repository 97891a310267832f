"""Power cuts: files as a disk may have them at any moment, which kept what was synced, and of the
rest some, none, or a torn piece.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.storage.durable.log import FILE
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 9
WAL = f"{FILE}-wal"


class Disk:
    """The files below a folder, and how much of each was synced. `cut` is called at each sync, and
    at each write of page files.
    """

    def __init__(self, path: Path):
        self.path = path
        self.synced: dict[str, int] = {}
        self.acknowledged, self.acknowledged_wal = 0, 0
        self.cuts: list[Path] = []

    def acknowledge(self, version: int) -> None:
        """Note that a commit returned: what SQLite wrote of it is synced."""
        self.acknowledged = version
        self.acknowledged_wal = (self.path / WAL).stat().st_size

    @contextmanager
    def watched(self, monkeypatch: pytest.MonkeyPatch, cut: Callable[[], None]) -> Iterator[None]:
        """Within, syncs are noted."""
        sync, write, replace = os.fsync, os.pwrite, os.replace

        def synced(file: int) -> None:
            name = os.readlink(f"/proc/self/fd/{file}")
            cut()
            sync(file)
            self.synced[name] = os.fstat(file).st_size if os.path.isfile(name) else 0
            cut()

        def written(file: int, content: Any, place: int) -> int:
            cut()
            return write(file, content, place)

        def replaced(source: Any, target: Any, **named: Any) -> None:
            replace(source, target, **named)
            self.synced[str(target)] = self.synced.pop(str(source), 0)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replaced)
            patch.setattr(os, "fsync", synced)
            patch.setattr(os, "pwrite", written)
            yield

    def cut(self, there: Path, chance: random.Random) -> None:
        """Copy what may be left after a power cut now."""
        shutil.copytree(self.path, there)
        for file in workload.pages_of(there):
            kept = self.synced.get(str(self.path / "pages" / file.name), 0)
            size = file.stat().st_size
            if size > kept:
                with file.open("r+b") as opened:
                    opened.truncate(chance.choice([kept, size, chance.randint(kept, size)]))
        if (wal := there / WAL).exists():
            least = min(self.acknowledged_wal, wal.stat().st_size)
            torn(wal, least, chance)
        (there / f"{FILE}-shm").unlink(missing_ok=True)


def torn(file: Path, least: int, chance: random.Random) -> None:
    """Of a file keep the first `least` bytes, and some of the rest; behind it may be anything."""
    size = file.stat().st_size
    left = chance.randint(least, size)
    with file.open("r+b") as opened:
        opened.truncate(left)
        if chance.random() < 0.5:
            opened.seek(left)
            opened.write(chance.randbytes(512 - left % 512))


def test_a_power_cut_at_any_moment_keeps_what_was_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, chance = workload.expected(COMMITS), random.Random(34)
    disk = Disk(tmp_path / "w.lftj")
    cuts: list[tuple[Path, int]] = []

    def cut() -> None:
        if workspace is not None and chance.random() < 0.3:
            there = tmp_path / f"{len(cuts)}.lftj"
            disk.cut(there, chance)
            cuts.append((there, disk.acknowledged))

    workspace = None
    workspace = lftj.connect(disk.path)
    with disk.watched(monkeypatch, cut):
        for number in range(1, COMMITS + 1):
            workload.commit(workspace, number)
            disk.acknowledge(number)
            cut()
            if number % 2 == 0:
                durable_of(workspace).checkpoint()
                cut()
    workspace.close()
    assert len(cuts) > 20
    assert any((there / WAL).exists() for there, _ in cuts)
    for there, acknowledged in cuts:
        with lftj.connect(there) as left:
            version = workload.committed(left, known)
            assert acknowledged <= version <= acknowledged + 1
            if version < COMMITS:
                workload.commit(left, version + 1)
                assert workload.committed(left, known) == version + 1


def test_a_write_ahead_file_cut_anywhere_leaves_some_version_whole(tmp_path: Path) -> None:
    known, chance = workload.expected(COMMITS), random.Random(35)
    path = tmp_path / "w.lftj"
    workspace = lftj.connect(path)
    for number in range(1, COMMITS + 1):
        workload.commit(workspace, number)
        if number == 3:
            durable_of(workspace).checkpoint()
    found = set[int]()
    size = (path / WAL).stat().st_size
    for place in range(24):
        there = tmp_path / f"{place}.lftj"
        shutil.copytree(path, there)
        (there / f"{FILE}-shm").unlink()
        with (there / WAL).open("r+b") as wal:
            wal.truncate(size * (place + 1) // 24 - chance.randint(0, 600))
        with lftj.connect(there) as left:
            found.add(workload.committed(left, known))
    workspace.close()
    assert len(found) > 3
