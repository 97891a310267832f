"""Power cuts: files as a disk may have them at any moment, which kept what was synced, and of the
rest some, none, or torn pieces.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import lftj
from bench.faults.disk import Disk, Step, change
from bench.faults.power import cuts
from lftj.storage.durable import LOG
from lftj.storage.durable.acknowledged import ACKNOWLEDGED
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 9
WAL = f"{LOG}-wal"


def test_a_power_cut_at_any_moment_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    acknowledged = list(cuts(tmp_path, COMMITS, 30, random.Random(34)))
    assert len(set(acknowledged)) > 4


def test_a_disk_keeps_what_was_synced_and_of_the_rest_any_part(tmp_path: Path) -> None:
    disk, contents = Disk(), set()
    for step in (
        Step("link", 1, name="a"),
        Step("write", 1, 0, b"x" * 1024),
        Step("sync", 1),
        Step("sync folder", name="."),
        Step("write", 1, 512, b"y" * 1024),
        Step("rename", 1, name="a", other="b"),
    ):
        disk.go_on(step)
    for seed in range(60):
        there = tmp_path / str(seed)
        disk.cut(there, random.Random(seed))
        (file,) = (file for file in there.iterdir() if file.is_file())
        contents.add((file.name, file.read_bytes()))
    old, new = b"x" * 1024, b"x" * 512 + b"y" * 1024
    half = b"x" * 1024 + b"y" * 512
    assert {("a", old), ("b", old), ("b", new), ("a", half)} <= contents
    content = bytearray(b"abc")
    change(content, Step("truncate", 1, 1))
    change(content, Step("write", 1, 2, b"d"))
    assert content == b"a\0d"


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
        for name in (f"{LOG}-shm", ACKNOWLEDGED):  # as if nobody knew of the commits
            (there / name).unlink()
        with (there / WAL).open("r+b") as wal:
            wal.truncate(size * (place + 1) // 24 - chance.randint(0, 600))
        with lftj.connect(there) as left:
            found.add(workload.committed(left, known))
    workspace.close()
    assert len(found) > 3
