"""Care for files: checked, compacted, dumped and loaded, copied while commits go on, and what is
left of damaged ones.
"""

from __future__ import annotations

import importlib
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.cli import main
from lftj.errors import DurableError
from tests.durable import workload
from tests.durable.inside import durable_of

COMMITS = 12


def filled(path: Path, commits: int = COMMITS) -> Any:
    workspace = lftj.connect(path)
    for number in range(1, commits + 1):
        workload.commit(workspace, number)
        if number % 4 == 0:
            durable_of(workspace).checkpoint()
    return workspace


def test_check_finds_nothing_where_nothing_is_damaged(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "w.lftj"
    with filled(path):
        assert main(["check", str(path), "--deep"]) == 0  # while another one writes
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.count("is in order") == 2


def test_check_names_damage_of_any_file(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "w.lftj"
    filled(path).close()
    files = [*workload.pages_of(path), path / "log.sqlite"]
    for file in (file for file in files if file.stat().st_size):
        content = file.read_bytes()
        place = min(len(content) - 1, len(content) * 2 // 3)
        file.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        status, out = main(["check", str(path), "--deep"]), capsys.readouterr().out
        if status == 0:  # a page of the log or of a file that nothing uses
            with lftj.connect(path, read_only=True) as reader:
                assert workload.committed(reader, workload.expected(COMMITS)) == COMMITS
        else:
            assert "problem" in out
        if file.suffix in (".pages", ".ends", ".letters"):
            assert status == 1, f"{file.name}: {out}"
            assert file.name in out
        file.write_bytes(content)


def test_a_dump_is_loaded_as_it_was(tmp_path: Path, capsys: Any) -> None:
    path, folder, other = (tmp_path / name for name in ("w.lftj", "dump", "other.lftj"))
    with filled(path) as workspace:
        workspace.relation("keyed", {"k": int, "d": "decimal(10,2)"}, key="k")
        workspace.view("shown", {"x": str})
        workspace.add_rules(
            ".type Id <: number .type Key = Id .decl ids(i: Id) ids(3). shown(x) :- edge(x, _)."
        )
        workspace.load("keyed", [(1, 2), (2, 3)])
        workspace.load("reach", [("by", "hand")])  # a row of a derived relation's own
        assert main(["dump", str(path), str(folder)]) == 0
        before = workload.rows(workspace)
        assert before["reach"]
    assert main(["load", str(folder), str(other)]) == 0
    with lftj.connect(other) as again:
        assert workload.rows(again) == before
        assert again.relations["keyed"].key == ("k",)
        again.add_rules(".type Key = Id .decl ids(i: Key)")
        with pytest.raises(lftj.ProgramErrors, match="E160"):
            again.add_rules(".decl ids(i: number)")
        assert again.verify() == []
        with again.transaction() as tx:
            tx.delete("reach", [("by", "hand")])
        assert ("by", "hand") not in again["reach"].fetchall()
        with pytest.raises(lftj.KeyViolationError):
            again.load("keyed", [(1, 5)])
    assert main(["load", str(folder), str(other)]) == 1
    assert main(["load", str(tmp_path), str(tmp_path / "third.lftj")]) == 1
    assert main(["dump", str(path), str(folder)]) == 1
    assert "E351" in capsys.readouterr().err


def test_what_is_left_of_a_damaged_workspace_is_written(tmp_path: Path, capsys: Any) -> None:
    path, folder = tmp_path / "w.lftj", tmp_path / "dump"
    with lftj.connect(path) as workspace:
        for name in ("small", "large"):
            workspace.relation(name, {"x": int})
        workspace.load("large", [(number * 7,) for number in range(100_000)])
        workspace.load("small", [(1,)])
        durable_of(workspace).checkpoint()
        workspace.load("small", [(2,)])
    (pages,) = (file for file in workload.pages_of(path) if file.suffix == ".pages")
    content = pages.read_bytes()
    place = len(content) // 2
    pages.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    assert main(["dump", str(path), str(folder)]) == 1
    assert main(["dump", str(path), str(tmp_path / "rest"), "--salvage"]) == 1
    assert "not what was written" in capsys.readouterr().out
    with lftj.connect() as rest:
        rest.load(
            "small", rest.relation("small", {"x": int}) and tmp_path / "rest/rows/small.parquet"
        )
        assert sorted(rest["small"].fetchall()) == [(1,), (2,)]
    assert not (tmp_path / "rest/rows/large.parquet").exists()


def test_a_backup_is_whole_while_commits_go_on(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    known = workload.expected(40)
    with filled(path) as workspace:
        over = threading.Event()

        def go_on() -> None:
            for number in range(COMMITS + 1, 41):
                workload.commit(workspace, number)
                if over.is_set():
                    break

        thread = threading.Thread(target=go_on)
        thread.start()
        for number in range(4):
            workspace.backup(tmp_path / f"{number}.lftj")
            durable_of(workspace).checkpoint()
        over.set()
        thread.join()
        with lftj.connect(path, read_only=True) as reader:
            reader.backup(tmp_path / "4.lftj")
        with pytest.raises(DurableError, match="something at"):
            workspace.backup(path)
    for number in range(5):
        with lftj.connect(tmp_path / f"{number}.lftj") as copied:
            version = workload.committed(copied, known)
            assert version >= COMMITS
            if version < 40:
                workload.commit(copied, version + 1)
    with pytest.raises(DurableError, match="no files to copy"):
        lftj.connect().backup(tmp_path / "none.lftj")


def test_room_of_dropped_versions_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("lftj.engine.durable.schedule._PAUSE", 0)
    path = tmp_path / "w.lftj"
    tuning = lftj.Tuning(checkpoint_commits=50)
    with lftj.connect(path, durability="off", tuning=tuning) as workspace:
        workspace.add_rules(".decl e(x: number) .decl n(c: number) n(count()) :- e(_).")
        workspace.load("e", [(number,) for number in range(20_000)])
        for number in range(1000):
            workspace.load("e", [(20_000 + number * 7,)])
            if number % 50 == 0:
                durable_of(workspace)._due.wait()
    assert main(["dump", str(path), str(tmp_path / "dump")]) == 0
    assert main(["load", str(tmp_path / "dump"), str(tmp_path / "fresh.lftj")]) == 0
    used, fresh = (
        sum(file.stat().st_size for file in each.rglob("*") if file.is_file())
        for each in (path, tmp_path / "fresh.lftj")
    )
    assert used <= 3 * fresh, (used, fresh)
    assert main(["compact", str(path)]) == 0
    smaller = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    assert smaller <= 1.2 * fresh, (smaller, fresh)
    assert main(["info", str(path)]) == 0
    assert "21,001 rows" in capsys.readouterr().out
    with lftj.connect(path) as workspace:
        assert workspace["n"].fetchall() == [(21_000,)]
        workspace.load("e", [(-1,)])
        assert workspace["n"].fetchall() == [(21_001,)]


def test_a_dump_is_of_the_branch_that_is_named(tmp_path: Path, capsys: Any) -> None:
    path, folder, other = (tmp_path / name for name in ("w.lftj", "dump", "other.lftj"))
    with filled(path) as workspace:
        branch = workspace.branch("trial")
        branch.load("edge", [("a", "b")])
        branch.add_rules('.decl here(y: symbol) here(y) :- edge("a", y).')
    assert main(["dump", str(path), str(folder), "--branch", "trial"]) == 0
    assert main(["load", str(folder), str(other)]) == 0
    with lftj.connect(other) as again:
        assert list(again["here"]) == [("b",)]
    assert main(["dump", str(path), str(tmp_path / "none"), "--branch", "none"]) == 1
    assert "E380" in capsys.readouterr().err


def test_commands_import_the_aggregates_that_they_are_told_of(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, path = f"aggregates_{tmp_path.name.replace('-', '_')}", tmp_path / "w.lftj"
    (tmp_path / f"{name}.py").write_text(
        "import lftj\n"
        'biggest = lftj.UserAggregate("biggest", 0, lambda v: v, max, '
        "argument_types=(lftj.INT,), result_type=lftj.INT)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with lftj.connect(path) as workspace:
        workspace.add_aggregate(importlib.import_module(name).biggest)
        workspace.add_rules(".decl v(x: int) .decl b(y: int) b(biggest(x)) :- v(x).")
        workspace.load("v", [(3,), (5,)])
    dump = str(tmp_path / "dump")
    for words in (["check", "--deep"], ["info"], ["compact"], ["dump", dump]):
        monkeypatch.delitem(sys.modules, name)
        command = [words[0], str(path), *words[1:]]
        assert main(command) == 1
        assert f"--import {name}" in capsys.readouterr().err
        assert main([*command, "--import", name]) == 0
    assert main(["load", dump, str(tmp_path / "other.lftj"), "--import", name]) == 0
    with lftj.connect(tmp_path / "other.lftj") as again:
        assert again["b"].fetchall() == [(5,)]
