"""Files below a path that are gone, damaged or cannot be read, and files of others that are not
what they are named for: all are named.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from tests.distributed.accounts import made, opened
from tests.distributed.inline import InlineExecutor


def test_files_that_are_gone_are_named(tmp_path: Path) -> None:
    with made(opened(tmp_path)) as workspace:
        read = workspace["acct"]
        for file in (tmp_path / "rows").iterdir():
            file.unlink()
        with pytest.raises(lftj.DistributedError, match=r"rows/.*\.arrow is missing") as caught:
            read.fetchall()
        assert caught.value.code == "E403"
        workspace._backend.executor.forget()
        for file in (tmp_path / "state").iterdir():
            file.unlink()
        with pytest.raises(lftj.DistributedError, match=r"rows/.*\.arrow is missing"):
            workspace.load("acct", [(70, "a")])
        for file in tmp_path.glob("manifest-*"):
            file.unlink()
        with pytest.raises(lftj.DistributedError, match="the manifest is missing"):
            workspace.load("acct", [(70, "a"), (71, "a"), (72, "a")])


READINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "rows": lambda workspace, tx, asked: workspace["e"].fetchall(),
    "changes": lambda workspace, tx, asked: tx.changes("e").fetchall(),
    "answers left in files": lambda workspace, tx, asked: asked.fetchall(),
}


@pytest.mark.parametrize("reading", READINGS)
def test_files_that_the_system_cannot_read_now_are_told(reading: str, tmp_path: Path) -> None:
    with opened(tmp_path, tuning=lftj.Tuning(gathered_rows=1)) as workspace:
        workspace.relation("e", {"x": int, "y": int})
        with workspace.transaction() as tx:
            tx.insert("e", [(1, 2), (3, 4)])
        asked = workspace.query("e(x, y)")
        (tmp_path / "rows").rename(tmp_path / "elsewhere")
        (tmp_path / "rows").write_text("")
        with pytest.raises(
            lftj.DistributedError, match=r"cannot be used: .*Not a directory"
        ) as caught:
            READINGS[reading](workspace, tx, asked)
        assert caught.value.code == "E405"
        (tmp_path / "rows").unlink()
        (tmp_path / "elsewhere").rename(tmp_path / "rows")
        assert [row[:2] for row in sorted(READINGS[reading](workspace, tx, asked))] == [
            (1, 2),
            (3, 4),
        ]


def test_files_that_are_not_parquet_are_named(tmp_path: Path) -> None:
    source = tmp_path / "e.parquet"
    pyarrow.parquet.write_table(pa.table({"x": list(range(5000)), "y": list(range(5000))}), source)
    whole = source.read_bytes()
    with opened(tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        for text in (whole[: len(whole) // 2], whole[:500] + bytes(2000) + whole[2500:]):
            source.write_bytes(text)
            with pytest.raises(lftj.FrameError, match=r"e\.parquet cannot be read: ") as caught:
                workspace.load("e", source)
            assert caught.value.code == "E232"
        source.write_bytes(whole)
        assert workspace.load("e", source) == 5000


def test_timestamps_of_int96_are_instants_for_executors_too(tmp_path: Path) -> None:
    moment = pa.array([datetime.datetime(2024, 7, 4, 12)], pa.timestamp("us"))
    source = tmp_path / "e.parquet"
    with opened(tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "t": datetime.datetime})
        workspace.relation("f", {"x": int})
        for int96 in (True, False):
            table = pa.table({"x": [1], "t": moment})
            pyarrow.parquet.write_table(table, source, use_deprecated_int96_timestamps=int96)
            assert workspace.load("f", source, columns={"x": "x"}) == int(int96)
            assert workspace.load("e", source) == int(int96)
        assert workspace["e"].fetchall() == [(1, datetime.datetime(2024, 7, 4, 12))]


def test_a_file_that_says_something_else_of_its_columns_is_damaged(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 1)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("s", {"name": str, "n": int})
    workspace.load("s", [("a", 1), ("b", 2)])
    (file,) = (tmp_path / "rows").glob("*.arrow")
    written = file.read_bytes()
    found = set()
    for at in range(len(written)):  # each of the bytes that no checksum is of, too
        file.write_bytes(written[:at] + bytes([written[at] ^ 4]) + written[at + 1 :])
        try:
            assert sorted(workspace["s"].fetchall()) == [("a", 1), ("b", 2)]
        except lftj.LftjError as error:
            found.add((error.code, type(error)))
    assert found == {("E403", lftj.DistributedError)}
