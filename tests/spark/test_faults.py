"""Workers and drivers that die at bad moments, on real Spark: the answer is right afterwards,
nothing is lost or applied twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.partitioning.steps import Move
from lftj.distributed.stored.stored_files import STATE, records
from tests.spark import faults
from tests.spark.graph import edges, expected, made, open_path, rows_of

NEW = [(3, 99), (99, 5), (0, 3)]


@pytest.fixture
def workspace(spark: Any, tmp_path: Path) -> Any:
    with open_path(spark, tmp_path / "path") as workspace:
        yield workspace


def arm(
    workspace: lftj.Workspace,
    marker: Path,
    fault: str,
    times: int,
    part: int | None = None,
    move: Move | None = None,
) -> None:
    """From now on tasks of the workspace meet a fault, this many times in all."""
    executor: Any = workspace._backend.executor
    plain = type(executor).map
    executor.map = lambda task, payloads, places=None, *, seconds=None: plain(
        executor,
        faults.run,
        [faults.Faulty(payload, str(marker), fault, times, part, move) for payload in payloads],
        places,
    )


@pytest.mark.parametrize("fault", ["kill in the middle", "exit after"])
def test_a_worker_that_dies_in_an_evaluation(
    workspace: lftj.Workspace, tmp_path: Path, fault: str
) -> None:
    arm(workspace, tmp_path / "marker", fault, 1)
    made(workspace, edges())
    assert len(list(tmp_path.glob("marker*"))) == 1
    assert rows_of(workspace) == expected(edges())


@pytest.mark.parametrize("fault", ["exit before", "kill in the middle"])
def test_a_worker_that_dies_in_a_commit(
    workspace: lftj.Workspace, tmp_path: Path, fault: str
) -> None:
    made(workspace, edges())
    arm(workspace, tmp_path / "marker", fault, 1)
    with workspace.transaction() as tx:
        tx.insert("e", NEW)
        tx.delete("e", edges()[:1])
    assert len(list(tmp_path.glob("marker*"))) == 1
    assert tx.inserted("e") == len(NEW)
    assert rows_of(workspace) == expected([*edges()[1:], *NEW])


@pytest.mark.parametrize("move", [Move.REDERIVE, Move.RESUME, Move.SUPERSTEP, Move.TELL])
def test_a_worker_that_dies_in_a_round(
    workspace: lftj.Workspace, tmp_path: Path, move: Move
) -> None:
    made(workspace, edges())
    arm(workspace, tmp_path / "marker", "kill in the middle", 1, move=move)
    with workspace.transaction() as tx:
        tx.insert("e", [(30, 99), (99, 28)])
        tx.delete("e", edges()[-1:])
    assert len(list(tmp_path.glob("marker*"))) == 1
    report = workspace.profile(last=1).iloc[0]
    assert report["rounds"] > 1
    assert report["overdeleted"] > 0
    assert report["anew"] == 0
    assert rows_of(workspace) == expected([*edges()[:-1], (30, 99), (99, 28)])


def test_rounds_that_fail_have_not_been(workspace: lftj.Workspace, tmp_path: Path) -> None:
    made(workspace, edges())
    arm(workspace, tmp_path / "marker", "raise after", 3, part=1, move=Move.SUPERSTEP)
    with pytest.raises(lftj.DistributedError, match="the job failed: RuntimeError: a fault"):
        workspace.load("e", [(30, 99), (99, 28)])
    assert rows_of(workspace) == expected(edges())
    workspace.load("e", [(31, 99), (99, 28)])
    assert rows_of(workspace) == expected([*edges(), (31, 99), (99, 28)])


def test_a_task_that_fails_twice_is_done_at_last(workspace: lftj.Workspace, tmp_path: Path) -> None:
    made(workspace, edges())
    arm(workspace, tmp_path / "marker", "raise", 2, part=1)
    workspace.load("e", NEW)
    assert len(list(tmp_path.glob("marker*"))) == 2
    assert rows_of(workspace) == expected([*edges(), *NEW])


def test_a_job_that_fails_has_not_been(workspace: lftj.Workspace, tmp_path: Path) -> None:
    made(workspace, edges())
    version = workspace.version
    arm(
        workspace, tmp_path / "marker", "raise after", 3, part=1
    )  # the other parts have done theirs, this one has written its files
    with pytest.raises(
        lftj.DistributedError, match="the job failed: RuntimeError: a fault"
    ) as caught:
        workspace.load("e", [*NEW, (5, 6), (6, 7)])
    assert caught.value.code == "E401"
    assert workspace.version == version
    assert rows_of(workspace) == expected(edges())
    # Workers remember a commit that never became true; another one on the same version must not
    # build on it.
    workspace.load("e", NEW)
    assert rows_of(workspace) == expected([*edges(), *NEW])


def test_workers_killed_between_commits(workspace: lftj.Workspace) -> None:
    made(workspace, edges())
    executor = workspace._backend.executor
    for process in set(executor.map("tests.spark.faults:process", range(4))):
        os.kill(process, signal.SIGKILL)
    workspace.load("e", NEW)
    assert rows_of(workspace) == expected([*edges(), *NEW])


def test_workers_that_start_anew_open_what_was_stored(
    workspace: lftj.Workspace, tmp_path: Path
) -> None:
    made(workspace, edges())
    executor, manifest = workspace._backend.executor, workspace._backend.manifest
    for _ in range(600):
        found = records(tmp_path / "path" / STATE)
        stored = {
            name.part
            for name in found
            if manifest.has_done(name.version, name.token, name.part, name.steps)
        }
        if len(stored) == 3:
            break
        time.sleep(0.1)
    for process in set(executor.map("tests.spark.faults:process", range(4))):
        os.kill(process, signal.SIGKILL)
    workspace.load("e", NEW)
    cost = workspace.profile(last=1).iloc[0]
    assert (cost["built"], cost["opened"]) == (0, 3)
    assert rows_of(workspace) == expected([*edges(), *NEW])


@pytest.mark.parametrize(
    "moment", ["before the manifest", "while the manifest is written", "after the manifest"]
)
def test_a_driver_that_dies(spark: Any, tmp_path: Path, moment: str) -> None:
    path = tmp_path / "path"
    with open_path(spark, path) as workspace:
        made(workspace, edges())
        version = workspace.version
    # A driver of its own, in a process without Spark: it runs the parts itself, and dies.
    program = (
        f"from tests.spark.faults import die_in_a_commit; die_in_a_commit({str(path)!r}, "
        f"{NEW!r}, {moment!r})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=300)
    assert done.returncode == -signal.SIGKILL
    happened = moment == "after the manifest"
    with open_path(spark, path) as workspace:
        assert workspace.version == version + happened
        assert rows_of(workspace) == expected([*edges(), *NEW] if happened else edges())
        assert workspace.load("e", NEW) == (0 if happened else len(NEW))
        assert rows_of(workspace) == expected([*edges(), *NEW])
        named = workspace._backend.manifest.files()
        assert {file.name for file in (path / "rows").iterdir()} >= named
    assert not list(path.glob("*.tmp"))
