"""One writer, many readers, in several processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lftj
from lftj.engine.durable.file_checks import problems
from lftj.engine.live.engine import Engine
from lftj.errors import DurableError
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 12


def test_a_reader_in_another_process_sees_versions_whole(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as writer:
        workload.commit(writer, 1)
        command = [sys.executable, "-m", "tests.durable.reading", str(path), str(COMMITS)]
        reader = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert reader.stdout is not None
        seen = [int(reader.stdout.readline())]
        for number in range(2, COMMITS + 1):
            workload.commit(writer, number)
        seen += [int(line) for line in reader.stdout]
        assert reader.wait(timeout=60) == 0
    assert seen[0] == 1
    assert seen[-1] == COMMITS
    assert seen == sorted(seen)


def test_a_reader_survives_that_pages_and_commits_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = workload.expected(COMMITS)
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as writer:
        workload.commit(writer, 1)
        durable_of(writer).checkpoint()
        with lftj.connect(path, read_only=True) as reader:
            before = reader.snapshot()
            for number in range(2, COMMITS + 1):
                workload.commit(writer, number)
                if number % 3 == 0:
                    durable_of(writer).checkpoint()
            assert durable_of(reader).log.since(1, 0) is None, "no commit was removed"
            assert workload.committed(reader, known) == 1
            opened = durable_of(reader).open

            def seen_meanwhile() -> None:
                assert workload.committed(reader, known) == 1
                opened()

            monkeypatch.setattr(durable_of(reader), "open", seen_meanwhile)
            assert reader.refresh() == COMMITS
            assert workload.committed(reader, known) == COMMITS
            assert workload.rows(before) == known[1]
            assert before.query("edge(x, y)").fetchall() == before["edge"].fetchall()
            assert before.verify() == []
            row = known[1]["reach"][0]
            assert lftj.check_proof(before.explain("reach", row), known[1]) is None


def test_a_reader_waits_for_a_version_and_no_longer_than_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as writer:
        workload.commit(writer, 1)
        with lftj.connect(path, read_only=True) as reader:
            assert not reader.wait_for(2, timeout=0.01)
            workload.commit(writer, 2)
            assert reader.version == 1
            assert reader.wait_for(2, timeout=60)
            assert reader.version == 2
        assert writer.wait_for(2, timeout=0)
        assert writer.refresh() == 2


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as writer:
        workload.commit(writer, 1)
    with lftj.connect(path, read_only=True) as reader:
        with pytest.raises(DurableError, match="open with read_only=True") as caught:
            reader.load("edge", [("a", "b")])
        assert caught.value.code == "E356"
        assert reader.query("edge(x, y)").fetchall() == reader["edge"].fetchall()
    with lftj.connect(path) as writer:
        assert writer.version == 1


def test_a_second_writer_is_told_who_the_first_one_is(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path):
        with pytest.raises(DurableError) as caught:
            lftj.connect(path)
        assert caught.value.code == "E350"
        assert f"process {os.getpid()} on {os.uname().nodename}, since 20" in str(caught.value)
    lftj.connect(path).close()


def test_a_forked_child_does_not_write(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as writer:
        workload.commit(writer, 1)
        if (pid := os.fork()) == 0:
            code = 1
            try:
                workload.rows(writer)
                writer.load("edge", [("a", "b")])
            except DurableError as error:
                writer.close()
                code = 0 if error.code == "E350" else 2
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        workload.commit(writer, 2)
    with lftj.connect(path) as writer:
        assert workload.committed(writer, workload.expected(2)) == 2


def test_there_is_nothing_to_read_where_nothing_is(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    for attempt in (
        lambda: lftj.connect(path, read_only=True),
        lambda: lftj.connect(path, create=False),
        lambda: lftj.connect(path, copy=True),
    ):
        with pytest.raises(DurableError, match="there is no workspace") as caught:
            attempt()
        assert caught.value.code == "E351"
    assert not (tmp_path / "w.lftj").exists()
    (tmp_path / "other").write_text("mine")
    for path in (tmp_path, tmp_path / "other"):
        with pytest.raises(DurableError, match="is no workspace") as caught:
            lftj.connect(path)
        assert caught.value.code == "E351"
    assert [file.name for file in tmp_path.iterdir()] == ["other"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_folder_that_nobody_can_write_to_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    """Root may write anywhere, so the system's answer is patched."""
    path = tmp_path / "w.lftj"
    workspace = lftj.connect(path)
    for number in range(1, 4):
        workload.commit(workspace, number)
    there = path if closed else shutil.copytree(path, tmp_path / "copy.lftj")
    workspace.close()
    (there / "log.sqlite-shm").unlink(missing_ok=True)
    assert (there / "log.sqlite-wal").exists() != closed, "commits are in the write-ahead file"
    real, known = os.access, workload.expected(3)
    monkeypatch.setattr(os, "access", lambda at, mode: mode != os.W_OK and real(at, mode))
    with lftj.connect(there, read_only=True) as reader:
        assert workload.committed(reader, known) == 3
        assert reader.refresh() == 3
        assert not reader.wait_for(4, timeout=0.01)
        reader.backup(tmp_path / "backup.lftj")
    assert list(problems(Engine(1.0, None), there, deep=True)) == []
    assert not (there / "log.sqlite-shm").exists(), "SQLite was let there"
    with lftj.connect(tmp_path / "backup.lftj") as again:
        assert workload.committed(again, known) == 3


def test_a_reader_that_follows_reads_the_past_although_its_checkpoint_is_gone(
    tmp_path: Path,
) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path, keep=3) as writer:
        workload.commit(writer, 1)
        durable_of(writer).checkpoint()
        with lftj.connect(path, read_only=True) as reader:
            known = [workload.rows(reader)]
            changes = reader.changes("edge", timeout=0)
            given = 0
            for number in range(2, 16):
                workload.commit(writer, number)
                if number % 3 == 0:
                    durable_of(writer).checkpoint()
                reader.refresh()
                known.append(workload.rows(writer))
                assert workload.rows(reader) == known[-1]
                for back in range(min(3, number)):
                    assert workload.rows(reader.at(reader.version - back)) == known[-1 - back]
                if number % 4 == 0:
                    given += sum(change.version > 0 for change in changes)
            writer.close()
            reader.refresh()
            assert workload.rows(reader.at(reader.version - 2)) == known[-3]
            assert given == 11
