"""Room of what nobody needs any more is given back on closing, and nothing else is missing then."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.faults import workload
from bench.faults.power import giving_back
from lftj.engine.durable import vacuum
from lftj.engine.durable.file_checks import problems
from lftj.engine.live.engine import Engine
from tests.durable.inside import durable_of

PROGRAM = """
.decl sale(name: symbol, shop: number)
.decl shops(shop: number, n: number)
shops(s, count()) :- sale(_, s).
"""

ROWS = 20


def size(path: Path) -> int:
    """Bytes of all files but the one that SQLite leaves to readers."""
    files = (file for file in path.rglob("*") if file.is_file() and file.suffix != ".sqlite-shm")
    return sum(file.stat().st_size for file in files)


def name(number: int) -> str:
    """A string."""
    return f"a name, number {number}"


def replaced(path: Path, commits: int, first: int = 0) -> None:
    """Replace the rows of a workspace by so many others, with new strings, so many times."""
    rows = lambda number: [(name(number * ROWS + each), each % 7) for each in range(ROWS)]  # noqa: E731
    with lftj.connect(path, keep=5, durability="off") as workspace:
        if not first:
            workspace.add_rules(PROGRAM)
            workspace.load("sale", rows(0))
        for number in range(first, first + commits):
            with workspace.transaction() as tx:
                tx.delete("sale", rows(number))
                tx.insert("sale", rows(number + 1))


def test_many_commits_leave_little_more_than_a_fresh_workspace_has(tmp_path: Path) -> None:
    path, fresh = tmp_path / "w.lftj", tmp_path / "fresh.lftj"
    replaced(path, 200)
    with lftj.connect(path, keep=5) as workspace, lftj.connect(fresh) as other:
        assert workspace.verify() == []
        for back in range(5):
            past = workspace.at(workspace.version - back)["sale"].fetchall()
            number = (200 - back) * ROWS
            assert sorted(past) == sorted((name(number + k), k % 7) for k in range(ROWS))
        with pytest.raises(lftj.PastError):
            workspace.at(workspace.version - 9)
        other.add_rules(PROGRAM)
        other.load("sale", workspace["sale"])
    assert size(path) < 3 * size(fresh)
    assert list(problems(Engine(1.0, None), path, deep=True)) == []


def test_strings_that_come_back_are_found_and_others_are_not(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    for first in (0, 40):
        with giving_back():
            replaced(path, 40, first)
        letters = sum(file.stat().st_size for file in (path / "pages").glob("*.letters"))
        assert letters < 15 * len(name(1000)) * ROWS, "no string was forgotten"
    with lftj.connect(path) as workspace:
        there = [name(each) for each in (80 * ROWS, 81 * ROWS - 1)]
        gone = [name(each) for each in (0, 17, 40 * ROWS, 80 * ROWS - 1)]
        for each in gone:
            assert workspace.query(f'sale("{each}", s)').fetchall() == []
        workspace.load("sale", [(each, 99) for each in (*there, *gone)])
        found = [row[0] for row in workspace["sale"] if row[1] == 99]
        assert sorted(found) == sorted((*there, *gone))
        assert len(set(found)) == len(workspace.query("sale(n, 99)").fetchall())
        assert workspace.verify() == []


@pytest.mark.parametrize("keep", [1, 3])
def test_histories_that_give_back_whenever_they_are_closed_stay_what_they_were(
    tmp_path: Path, keep: int
) -> None:
    path, chance, commits = tmp_path / "w.lftj", random.Random(34), 16
    known = workload.expected(commits, workload.step)
    options: dict[str, Any] = {"keep": keep, "durability": "off"}
    workspace = lftj.connect(path, **options)
    reader: Any = None
    for number in range(1, commits + 1):
        workload.step(workspace, number)
        if chance.random() < 0.4:
            durable_of(workspace).checkpoint()
        if chance.random() < 0.5:
            with giving_back():
                workspace.close()
            workspace = lftj.connect(path, **options)
            assert workload.committed(workspace, known) == number
            for back in range(min(keep, workspace.version)):
                past = workspace.at(workspace.version - back)
                assert {name: sorted(past[name]) for name in past.relations} in mains(known)
            reader = reader or lftj.connect(path, read_only=True)
        if reader is not None:
            reader.refresh()
            assert workload.committed(reader, known) == number
            if keep > 1:
                past = reader.at(reader.version - 1)
                assert {name: sorted(past[name]) for name in past.relations} in mains(known)
    workspace.close()
    assert list(problems(Engine(1.0, None), path, deep=True)) == []


def mains(known: list[workload.Rows]) -> list[workload.Rows]:
    """The rows of main alone."""
    return [{name: each for name, each in rows.items() if ":" not in name} for rows in known]


def test_what_is_kept_or_is_little_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("pages are written again")

    monkeypatch.setattr(vacuum, "without_the_dead", never)
    with lftj.connect(tmp_path / "all.lftj", keep="all", durability="off") as workspace:
        workspace.add_rules(PROGRAM)
        for number in range(150):
            workspace.load("sale", [(f"{number} is a name of more than a few letters", number)])
    with lftj.connect(tmp_path / "few.lftj", keep=2, durability="off") as workspace:
        workload.commit(workspace, 1)
    with lftj.connect(tmp_path / "all.lftj", keep="all") as workspace:
        assert len(workspace.at(5)["sale"]) == 4
