"""Files that earlier versions wrote open, and are what they were."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

import lftj
from lftj.storage.durable.log_file import FORMAT
from tests.durable.inside import durable_of

FORMATS = Path(__file__).parent / "formats"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A workspace of format 1, as its writer left it when it was killed: a checkpoint of version 2,
    and two commits after it, which are in the write-ahead file.
    """
    shutil.unpack_archive(FORMATS / "format_1.zip", tmp_path)
    path = tmp_path / "format_1.lftj"
    assert format_of(path) == 1
    return path


def format_of(path: Path) -> int:
    """The format that the log of a workspace names, which the copy of it is asked for."""
    copy = shutil.copytree(path, path.with_name(f"{path.name}-asked"), dirs_exist_ok=True)
    connection = sqlite3.connect(copy / "log.sqlite")
    try:
        return connection.execute("PRAGMA user_version").fetchone()[0]
    finally:
        connection.close()
        shutil.rmtree(copy)


def test_a_log_of_format_1_is_read_by_readers_as_it_is(first: Path) -> None:
    with lftj.connect(first, read_only=True) as workspace:
        assert sorted(workspace["road"]) == [("Basel", "Bern"), ("Genf", "Lyon")]
        assert len(workspace.at(3)["reach"]) == 6
        assert [row[0] for row in workspace.log()] == [2, 3, 4]
        assert workspace.verify() == []
    assert format_of(first) == 1


def test_a_log_of_format_1_is_brought_to_this_one_and_goes_on(first: Path) -> None:
    with lftj.connect(first) as workspace:
        assert workspace.version == 4
        assert sorted(workspace["reach"]) == [("Basel", "Bern"), ("Genf", "Lyon")]
        assert sorted(workspace["degree"]) == [("Basel", 1), ("Genf", 1)]
        assert workspace.verify() == []
        consumer = workspace.consumer("mailer", "reach", since=3, timeout=0)
        with workspace.transaction(message="back again") as tx:
            tx.insert("road", [("Bern", "Genf")])
        assert [(each.version, len(each)) for each in consumer] == [(4, 4), (5, 4)]
        consumer.ack()
    assert format_of(first) == FORMAT
    with lftj.connect(first) as workspace:
        assert workspace.log().fetchall()[-1][2] == "back again"
        assert len(workspace["reach"]) == 6
        assert workspace.consumer("mailer", "reach").version == 5
        assert durable_of(workspace).log.integrity() == []
        assert workspace.verify() == []


def test_a_log_of_format_2_is_read_and_goes_on_with_branches(tmp_path: Path) -> None:
    shutil.unpack_archive(FORMATS / "format_2.zip", tmp_path)
    path = tmp_path / "format_2.lftj"
    assert format_of(path) == 2
    with lftj.connect(path, read_only=True) as reader:
        assert list(reader.branches) == ["main"]
        assert len(reader.at(3)["reach"]) == 6
        assert [row[2] for row in reader.log()][-2:] == ["to France", "works near Bern"]
    with lftj.connect(path) as workspace:
        assert [len(each) for each in workspace.consumer("mailer", "reach", timeout=0)] == [3, 4]
        branch = workspace.branch("what-if")
        branch.load("road", [("Bern", "Genf")])
    assert format_of(path) == FORMAT
    with lftj.connect(path) as workspace:
        assert len(workspace["reach"]) == 2
        assert len(workspace.branch("what-if")["reach"]) == 6
        assert workspace.branch("what-if").verify() == []


def test_a_log_of_format_3_goes_on_with_the_branches_and_merges_that_it_has(tmp_path: Path) -> None:
    shutil.unpack_archive(FORMATS / "format_3.zip", tmp_path)
    path = tmp_path / "format_3.lftj"
    assert format_of(path) == 3
    with lftj.connect(path) as workspace:
        assert list(workspace.branches) == ["main", "later", "trial"]
        assert sorted(workspace["far"]) == [("Bern",)]
        assert sorted(workspace.branch("later")["far"]) == [("Bern",), ("Genf",), ("Lyon",)]
        trial = workspace.branch("trial")
        assert sorted(trial["far"]) == [("Bern",), ("Genf",), ("Lyon",), ("Nice",)]
        workspace.merge(trial)
        trial.merge("main")
        for branch in workspace.branches.values():
            assert branch.verify() == []
        roads = [("Basel", "Bern"), ("Chur", "Bern"), ("Genf", "Lyon"), ("Lyon", "Nice")]
        assert sorted(workspace["road"]) == sorted(trial["road"]) == roads
        assert [row[2] for row in workspace.log()][-2:] == ["works near Bern", "merge trial"]


def test_a_log_of_format_4_goes_on_without_the_strings_that_were_forgotten(tmp_path: Path) -> None:
    shutil.unpack_archive(FORMATS / "format_4.zip", tmp_path)
    path = tmp_path / "format_4.lftj"
    assert format_of(path) == 4
    with lftj.connect(path, keep=2) as workspace:
        assert list(workspace.branches) == ["main", "trial"]
        assert len(workspace["reach"]) == 10
        assert len(workspace.at(5)["reach"]) == 6
        workspace.load("road", [("gone 8", "gone 7"), ("Genf", "gone 7")])
        assert ("gone 8", "Lyon") in workspace["reach"].fetchall()
        assert sorted(workspace.query('reach("gone 7", y), y != "gone 7"'))[0] == ("Basel",)
        workspace.merge("trial")
        assert ("gone 8", "Nice") in workspace["reach"].fetchall()
        for branch in workspace.branches.values():
            assert branch.verify() == []
