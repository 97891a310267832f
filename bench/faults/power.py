"""Power cuts at random moments of a recorded history."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import lftj
from bench.faults import workload
from bench.faults.disk import Disk, Recorder
from bench.faults.hooks import watched
from lftj.engine.durable import vacuum
from lftj.engine.durable.durable import Durable

KEEP = 3
"""Versions that histories keep."""
GOING_ON = 0.25
"""Share of what is left by cuts that gets one more commit, and is opened again."""


def durable_of(workspace: lftj.Workspace) -> Durable:
    """The files of a durable workspace."""
    durable = workspace._backend.durable  # type: ignore[attr-defined]
    assert isinstance(durable, Durable)
    return durable


@contextmanager
def giving_back() -> Iterator[None]:
    """Within, each workspace that is closed with main alone gives back the room that it can."""
    with patch.object(vacuum, "room_in_log", lambda *_: 1 << 60):
        yield


@giving_back()
def history(path: Path, commits: int, recorder: Recorder | None = None) -> None:
    """Commit, with a checkpoint after each third and opened anew after each seventh, when room is
    given back.
    """
    workspace = lftj.connect(path, keep=KEEP)
    for number in range(1, commits + 1):
        workload.step(workspace, number)
        if recorder is not None:
            recorder.acknowledge(number)
        if number % 3 == 0:
            durable_of(workspace).checkpoint()
        if number % 7 == 0:
            workspace.close()
            workspace = lftj.connect(path, keep=KEEP)
    workspace.close()


def cuts(folder: Path, commits: int, number: int, chance: random.Random) -> Iterator[int]:
    """Cut the power so many times, and open what is left; yields commits that were acknowledged.
    Raises AssertionError where a row is wrong or lost, or the workspace does not go on.
    """
    recorder = Recorder(folder / "recorded.lftj")
    with watched(recorder):
        history(recorder.folder, commits, recorder)
    known = workload.expected(commits + 1, workload.step)
    moments = sorted(chance.choices(range(len(recorder.steps) + 1), k=number))
    disk, done = Disk(), 0
    for moment in moments:
        for step in recorder.steps[done:moment]:
            disk.go_on(step)
        done = moment
        there = folder / "cut.lftj"
        disk.cut(there, chance)
        what = f"cut at step {moment}"
        kept = _whole(there, disk.acknowledged, known, what)
        if chance.random() < GOING_ON:
            _goes_on(there, kept, known)
        shutil.rmtree(there)
        yield disk.acknowledged


def _whole(path: Path, acknowledged: int, known: list[workload.Rows], what: str) -> int:
    left = lftj.connect(path)
    kept = workload.committed(left, known)
    assert acknowledged <= kept <= acknowledged + 1, (
        f"{what}: {acknowledged} commits were acknowledged, {kept} are there"
    )
    durable_of(left).abandon()
    return kept


def _goes_on(path: Path, kept: int, known: list[workload.Rows]) -> None:
    with lftj.connect(path) as left:
        workload.step(left, kept + 1)
    with lftj.connect(path, read_only=True) as left:
        assert workload.committed(left, known) == kept + 1
