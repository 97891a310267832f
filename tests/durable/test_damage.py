"""Files that are not what was written, and disks that take nothing more."""

from __future__ import annotations

import random
import shutil
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.faults import filling, flipping
from bench.faults.flipping import flips
from bench.faults.refusing import refusals
from lftj.engine.durable import durable
from lftj.errors import DurableError
from lftj.scantree import segment
from lftj.storage.durable import LOG
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 10


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with two checkpoints and commits after them, whose log is one file."""
    path = tmp_path_factory.mktemp("whole") / "w.lftj"
    workspace = lftj.connect(path)
    for number in range(1, COMMITS + 1):
        workload.commit(workspace, number)
        if number in (4, 7):
            durable_of(workspace).checkpoint()
    durable_of(workspace).abandon()
    return path


def altered(path: Path, there: Path, statement: str) -> Path:
    """A copy of a workspace after a statement on its log."""
    copy = Path(shutil.copytree(path, there / "w.lftj"))
    with closing(sqlite3.connect(copy / LOG)) as log, log:
        log.execute(statement)
    return copy


def test_a_flipped_byte_gives_an_error_or_no_wrong_row(tmp_path: Path) -> None:
    outcomes = list(flips(tmp_path, COMMITS, 60, random.Random(36)))
    assert {None, "E353"} <= set(outcomes)


def test_a_damaged_write_ahead_file_is_not_taken_for_a_shorter_one(tmp_path: Path) -> None:
    path = flipping.whole(tmp_path / "w.lftj", COMMITS)
    wal = path / f"{LOG}-wal"
    content = bytearray(wal.read_bytes())
    content[200] ^= 1
    wal.write_bytes(content)
    for way in ({}, {"read_only": True}, {"copy": True}):
        with pytest.raises(DurableError, match=r"ends with commit \d, and commit 10 was") as caught:
            lftj.connect(path, **way)
        assert caught.value.code == "E353"
    wal.unlink()
    with pytest.raises(DurableError, match="and commit 10 was written"):
        lftj.connect(path)


def test_a_folder_that_was_moved_or_replaced_takes_no_more_commits(tmp_path: Path) -> None:
    known, path, away = workload.expected(4), tmp_path / "w.lftj", tmp_path / "away.lftj"
    for replaced in (False, True):
        workspace = lftj.connect(path)
        workload.commit(workspace, 1)
        workload.commit(workspace, 2)
        copy = shutil.copytree(path, tmp_path / "copy.lftj")
        path.rename(away)
        if replaced:
            Path(copy).rename(path)
        with pytest.raises(DurableError, match="moved or replaced") as caught:
            workload.commit(workspace, 3)
        assert caught.value.code == "E355"
        assert workload.rows(workspace) == known[2]
        workspace.close()
        for left in (path, away) if replaced else (away, tmp_path / "copy.lftj"):
            with lftj.connect(left) as again:
                assert workload.committed(again, known) == 2
                workload.commit(again, 3)
                assert workload.committed(again, known) == 3
            shutil.rmtree(left)


def test_each_write_and_sync_may_fail(tmp_path: Path) -> None:
    refused = list(refusals(tmp_path, 4, 16, random.Random(37)))
    assert {call.kind for call in refused} >= {"write", "sync"}


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    whole: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "w.lftj"))
    with closing(sqlite3.connect(copy / LOG)) as log, log:
        text, before = log.execute(
            "SELECT record, sum FROM checkpoints WHERE number = 7"
        ).fetchone()
        body = text.rpartition(b"\n")[0].replace(b'"trees": [[', b'"trees": [[9', 1)
        sealed = body + b"\n%d" % zlib.crc32(body, before)
        log.execute("UPDATE checkpoints SET record = ? WHERE number = 7", (sealed,))
    with lftj.connect(copy) as workspace:
        assert workload.committed(workspace, workload.expected(COMMITS)) == COMMITS


def test_commits_that_were_taken_out_of_the_log_are_missed(whole: Path, tmp_path: Path) -> None:
    copy = altered(whole, tmp_path, "DELETE FROM commits WHERE number = 9")
    with pytest.raises(DurableError, match="commits are missing") as caught:
        lftj.connect(copy)
    assert caught.value.code == "E353"


def test_nothing_of_a_log_runs(whole: Path, tmp_path: Path) -> None:
    copy = altered(
        whole, tmp_path, "CREATE TRIGGER t AFTER INSERT ON commits BEGIN DELETE FROM commits; END"
    )
    with pytest.raises(DurableError, match="other tables") as caught:
        lftj.connect(copy)
    assert caught.value.code == "E353"


def test_a_newer_format_is_refused_by_name(whole: Path, tmp_path: Path) -> None:
    copy = altered(whole, tmp_path, "PRAGMA user_version=99")
    with pytest.raises(DurableError, match="has format 99, this version reads up to 4") as caught:
        lftj.connect(copy)
    assert caught.value.code == "E352"


def test_another_database_is_no_workspace(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    path.mkdir()
    with closing(sqlite3.connect(path / LOG)) as log, log:
        log.execute("CREATE TABLE t (x)")
    with pytest.raises(DurableError, match="is no log of lftj") as caught:
        lftj.connect(path)
    assert caught.value.code == "E351"


def test_a_writer_that_died_with_pages_unchecked_has_all_of_them_checked(
    tmp_path: Path,
) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workspace.relation("e", {"x": str})
        workspace.load("e", [(f"{number:07}",) for number in range(200_000)])
        durable_of(workspace).checkpoint()
        workspace.load("e", [("a",)])
    letters = next(file for file in workload.pages_of(path) if file.suffix == ".letters")
    content = bytearray(letters.read_bytes())
    content[700_000] ^= 1
    letters.write_bytes(content)
    first = lftj.connect(path)  # reads none of it
    assert len(first["e"]) == 200_001
    durable_of(first).abandon()
    with pytest.raises(DurableError, match="not what was written") as caught:
        lftj.connect(path)
    assert caught.value.code == "E353"


def test_damaged_strings_are_never_shown(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workspace.relation("e", {"x": str})
        workspace.load("e", [(f"{number:07}",) for number in range(200_000)])
    letters = next(file for file in workload.pages_of(path) if file.suffix == ".letters")
    content = bytearray(letters.read_bytes())
    content[700_000] ^= 1
    letters.write_bytes(content)
    reader = lftj.connect(path, read_only=True)
    with pytest.raises(DurableError, match="not what was written"):
        reader["e"].fetchall()
    reader.close()


def test_no_proof_rests_on_damaged_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workspace.add_rules(".decl e(x: number) .decl v(x: number) v(x) :- e(x), x != 4.")
        workspace.load("e", [(number * 7,) for number in range(5000)])
    before, after = ((7_000 + more).to_bytes(8, "little") for more in (0, 1))
    damaged = 0
    for file in workload.pages_of(path):
        content = file.read_bytes()
        damaged += content.count(before)
        file.write_bytes(content.replace(before, after))
    assert damaged
    monkeypatch.setattr(segment, "_CHECKED", 0)  # as if there were more than opening reads
    for value in (7_000, 7_001):
        for proofs in (None, 2):
            with lftj.connect(path, read_only=True) as reader:
                with pytest.raises(DurableError, match="not what was written") as caught:
                    reader.explain("v", (value,), proofs=proofs)
                assert caught.value.code == "E353"


def test_a_full_disk_rolls_back_and_the_next_commit_goes_on(tmp_path: Path) -> None:
    known = workload.expected(3)
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workload.commit(workspace, 1)
        connection = durable_of(workspace).log._connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

        def fill() -> None:
            for number in range(100):
                workspace.load("edge", [(f"{number}{place}", "x") for place in range(1000)])

        with pytest.raises(DurableError, match="full") as caught:
            fill()
        assert caught.value.code == "E354"
        version = workspace.version
        rows = workload.rows(workspace)
        connection.execute("PRAGMA max_page_count=100000")
        with workspace.transaction() as tx:
            tx.delete("edge", [row for row in rows["edge"] if row not in known[1]["edge"]])
        workload.commit(workspace, 2)
        assert workload.rows(workspace) == known[2]
        assert workspace.version > version
    with lftj.connect(path) as workspace:
        assert workload.rows(workspace) == known[2]


def test_a_workspace_outlives_disks_that_are_full_now_and_then(tmp_path: Path) -> None:
    played = list(filling.fillings(tmp_path, 13, [2]))
    assert len(played) >= 2
    assert all(refused > 10 for _, refused in played)


def test_after_an_error_of_the_disk_nothing_more_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = workload.expected(2)
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        workload.commit(workspace, 1)
        log = durable_of(workspace).log
        real = log._connection

        class Failing:
            in_transaction = False

            def __getattr__(self, name: str) -> object:
                return getattr(real, name)

            def execute(self, text: str, *given: Any) -> object:
                if text == "COMMIT":
                    error = sqlite3.OperationalError("disk I/O error")
                    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
                    real.execute("ROLLBACK")
                    raise error
                return real.execute(text, *given)

        monkeypatch.setattr(log, "_connection", Failing())
        with pytest.raises(DurableError, match="disk I/O error"):
            workload.commit(workspace, 2)
        monkeypatch.setattr(log, "_connection", real)
        with pytest.raises(DurableError, match="takes no more commits") as caught:
            workload.commit(workspace, 2)
        assert caught.value.code == "E355"
        assert workload.rows(workspace) == known[1]
    with lftj.connect(path) as workspace:
        assert workload.committed(workspace, known) == 1
        workload.commit(workspace, 2)
        assert workload.committed(workspace, known) == 2


def test_a_checkpoint_that_cannot_be_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.lftj"
    with lftj.connect(path) as workspace:
        for number in range(1, 4):
            workload.commit(workspace, number)

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(durable, "written", full)
            durable_of(workspace).checkpoint()
        workload.commit(workspace, 4)
    with lftj.connect(path) as workspace:
        assert workload.committed(workspace, workload.expected(4)) == 4
