"""Threads that wait for one another's commits share syncs, and each has what it was promised."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import lftj
from bench.faults.hooks import Call, Watcher, watched
from tests.durable.committing import COMMITS, PROGRAM, THREADS, commit_all

ALL = THREADS * COMMITS


class SlowDisk(Watcher):
    """A disk whose syncs take some time and are counted; one of a number fails with an error."""

    def __init__(self, fails: int = 0, error: int = errno.EIO):
        self.syncs, self._fails, self._error = 0, fails, error

    def before(self, call: Call) -> None:
        """Count a sync, wait, and perhaps refuse it."""
        if call.kind != "sync":
            return
        self.syncs += 1
        time.sleep(0.03)
        if self.syncs == self._fails:
            raise OSError(self._error, os.strerror(self._error))


def test_threads_that_wait_share_syncs(tmp_path: Path) -> None:
    disk = SlowDisk()
    with watched(disk), lftj.connect(tmp_path / "w.lftj", keep="all") as workspace:
        workspace.add_rules(PROGRAM)
        heard: list[int] = []
        workspace.subscribe("edge", lambda change: heard.append(change.version))
        begun = disk.syncs
        commit_all(workspace)
        assert disk.syncs - begun < ALL * 2 // 3
        assert workspace.version == 1 + ALL
        assert heard == list(range(2, 2 + ALL))
        assert [row[0] for row in workspace.log()] == list(range(1, 2 + ALL))
        assert len(workspace.at(31)["edge"]) == 30
        assert workspace.verify() == []
        rows = sorted(workspace["reach"])
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert sorted(workspace["reach"]) == rows
        assert len(workspace["edge"]) == ALL


def test_a_thread_alone_syncs_each_commit(tmp_path: Path) -> None:
    disk = SlowDisk()
    with watched(disk), lftj.connect(tmp_path / "w.lftj") as workspace:
        workspace.add_rules(PROGRAM)
        begun = disk.syncs
        for number in range(5):
            workspace.load("edge", [(number, 0)])
        assert disk.syncs - begun == 5


def test_commits_that_share_a_failed_sync_have_not_happened(tmp_path: Path) -> None:
    disk = SlowDisk(fails=12)
    there, refused = set[int](), list[str | None]()
    with watched(disk), lftj.connect(tmp_path / "w.lftj") as workspace:
        workspace.add_rules(PROGRAM)

        def work(thread: int) -> None:
            for number in range(COMMITS):
                try:
                    workspace.load("edge", [(thread * 1000 + number, 0)])
                    there.add(thread * 1000 + number)
                except lftj.DurableError as error:
                    refused.append(error.code)

        threads = [threading.Thread(target=work, args=(each,)) for each in range(THREADS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert there
        assert {x for x, _ in workspace["edge"]} == there
        assert len(there) + len(refused) == ALL
        assert {"E354", "E355"} >= set(refused) >= {"E355"}
        assert workspace.version == 1 + len(there)
        assert workspace.verify() == []
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert {x for x, _ in workspace["edge"]} >= there  # those that failed may be there
        assert workspace.verify() == []


def test_commits_behind_a_transaction_that_goes_on_do_not_wait_for_its_end(tmp_path: Path) -> None:
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        workspace.add_rules(PROGRAM)
        first = workspace.transaction()
        first.insert("edge", [(1, 2)])
        begun, done, go_on = threading.Event(), threading.Event(), threading.Event()

        def second() -> None:
            with workspace.transaction() as tx:
                begun.set()
                tx.insert("edge", [(2, 3)])
                assert go_on.wait(30)

        thread = threading.Thread(target=second)
        thread.start()
        while not workspace._backend.writer.waiting:  # type: ignore[attr-defined]
            time.sleep(0.001)
        third = threading.Thread(target=lambda: (first.commit(), done.set()))
        third.start()
        assert done.wait(30), "a commit waited for the transaction behind it"
        assert begun.wait(30)
        assert sorted(workspace["reach"]) == [(1, 2)]
        go_on.set()
        thread.join()
        third.join()
        assert sorted(workspace["reach"]) == [(1, 2), (1, 3), (2, 3)]
        with pytest.raises(lftj.TransactionError):
            first.commit()


def test_what_threads_acknowledged_together_outlives_a_kill(tmp_path: Path) -> None:
    moments = list(map(str, range(40, 130, 22)))
    command = [sys.executable, "-m", "tests.durable.committing", str(tmp_path), *moments, "100000"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    acknowledged = list(map(int, told))
    assert len(acknowledged) == len(moments) + 1
    assert acknowledged[-1] == ALL
    assert any(0 < each < ALL for each in acknowledged)
