"""Tables of Delta that follow views: each version once, whoever dies when."""

from __future__ import annotations

import datetime
import decimal
import random
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

import lftj
from lftj.frames import DeltaSink

RULES = """
    .decl e(x: number, s: symbol?)
    .decl v(x: number, s: symbol?, n: number)
    v(x, s, n) :- e(x, s), n = count : { e(x, _) }.
"""


def rows_of(path: Path, version: int | None = None) -> list[tuple[Any, ...]]:
    table = deltalake.DeltaTable(path, version=version).to_pyarrow_table()
    return sorted(map(tuple, map(dict.values, table.to_pylist())), key=repr)


def shown(ws: lftj.Workspace) -> list[tuple[Any, ...]]:
    return sorted(ws["v"].fetchall(), key=repr)


def change(ws: lftj.Workspace, chance: random.Random) -> None:
    rows = [(chance.randrange(5), chance.choice(["a", 'it\'s "q"', None])) for _ in range(3)]
    with ws.transaction() as tx:
        tx.delete("e", rows[:2]) if chance.random() < 0.5 else tx.insert("e", rows)


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("seed", range(3))
def test_a_table_follows_through_deaths_at_any_moment(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer dies before the commit of Delta, after it, or not at all, and another goes on."""
    chance, path = random.Random(seed), tmp_path / "table"
    ws = lftj.connect(tmp_path / "ws")
    ws.add_rules(RULES)
    write = DeltaSink._write
    dies = {"when": ""}

    def mortal(self: DeltaSink, act: Any) -> None:
        if dies["when"] == "before":
            raise Killed
        write(self, act)
        if dies["when"] == "after":
            raise Killed

    monkeypatch.setattr(DeltaSink, "_write", mortal)
    for _ in range(12):
        change(ws, chance)
        dies["when"] = chance.choice(["", "", "before", "after"])
        try:
            assert ws.write_delta("v", path, name="sink") == ws.version
        except Killed:
            ws.close()
            ws = lftj.connect(tmp_path / "ws")
        dies["when"] = ""
        if chance.random() < 0.7:
            before = deltalake.DeltaTable(path).version() if path.exists() else None
            was = rows_of(path) if before is not None else None
            ws.write_delta("v", path, name="sink")
            assert rows_of(path) == shown(ws)
            if was == shown(ws):  # nothing is written twice
                assert deltalake.DeltaTable(path).version() == before
    ws.write_delta("v", path, name="sink")
    assert rows_of(path) == shown(ws)
    ws.close()


def test_each_commit_is_one_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "table"
    ws = lftj.connect(keep="all")
    ws.add_rules(RULES)
    ws.load("e", [(1, "a"), (2, None)])
    ws.write_delta("v", path, name="sink")
    ws.subscribe("v", lambda change: ws.write_delta("v", path, name="sink") and None)
    chance = random.Random(5)
    wanted = {deltalake.DeltaTable(path).version(): shown(ws)}
    for _ in range(10):
        before = shown(ws)
        change(ws, chance)
        if shown(ws) != before:
            wanted[len(wanted)] = shown(ws)
    assert deltalake.DeltaTable(path).version() == len(wanted) - 1 > 3
    for version, rows in wanted.items():
        assert rows_of(path, version) == rows


def test_a_commit_without_deletions_appends(tmp_path: Path) -> None:
    path = tmp_path / "table"
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    ws.load("r", [(x,) for x in range(1000)])
    ws.write_delta("r", path, name="sink")
    before = set(deltalake.DeltaTable(path).file_uris())
    ws.load("r", [(1001,)])
    ws.write_delta("r", path, name="sink")
    assert before < set(deltalake.DeltaTable(path).file_uris())


def test_two_that_write_one_version_write_it_once(tmp_path: Path) -> None:
    first, second = (DeltaSink(str(tmp_path / "t"), "w", None) for _ in range(2))
    rows = pa.table({"x": [1, 2]})
    first.replace(rows, 1)
    sinks = [DeltaSink(str(tmp_path / "t"), "w", None) for _ in range(2)]
    more = pa.table({"x": [3], "__diff__": [1], "__version__": [2]})
    sinks[0].change(more, 2)
    with pytest.raises(lftj.FrameError, match="cannot be written") as caught:
        sinks[1].change(more, 2)
    assert caught.value.code == "E232"
    assert rows_of(tmp_path / "t") == [(1,), (2,), (3,)]
    assert second.version is None


def test_a_table_of_others_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "table"
    deltalake.write_deltalake(path, pa.table({"x": [7]}))
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    with pytest.raises(lftj.FrameError, match="has rows that 'sink' did not write") as caught:
        ws.write_delta("r", path, name="sink")
    assert caught.value.code == "E235"
    assert rows_of(path) == [(7,)]
    ws.relation("other", {"x": int})
    ws.write_delta("r", tmp_path / "second", name="sink")
    with pytest.raises(lftj.ConsumerError, match="reads `r`, not `other`"):
        ws.write_delta("other", tmp_path / "second", name="sink")


def test_another_workspace_and_another_schema_write_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "table"
    for rows in ([(1,), (2,)], [(2,), (3,)]):  # in memory: each process begins anew
        ws = lftj.connect()
        ws.relation("r", {"x": int})
        ws.load("r", rows)
        ws.write_delta("r", path, name="sink")
        assert rows_of(path) == rows
    ws.alter("r", add={"y": str}, default={"y": "new"})
    ws.write_delta("r", path, name="sink")
    assert rows_of(path) == [(2, "new"), (3, "new")]


def test_values_of_all_types_are_deleted_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "table"
    columns = {
        "i": int,
        "f": float,
        "s": str,
        "b": bool,
        "d": datetime.date,
        "t": datetime.datetime,
        "m": "decimal(10,2)",
        "A b\"'`": "int?",
    }
    day, moment = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3, 4, 5, 6)
    rows = [
        (n, n / 3, f"{n}'\"", n % 2 == 0, day, moment, decimal.Decimal(n) / 100, n % 3 or None)
        for n in range(-3, 4)
    ]
    ws = lftj.connect()
    ws.relation("r", columns)
    ws.load("r", rows)
    ws.write_delta("r", path, name="sink")
    with ws.transaction() as tx:
        tx.delete("r", rows[2:5])
        tx.insert("r", [(9, *rows[0][1:])])
    ws.write_delta("r", path, name="sink")
    back = lftj.connect()
    back.relation("r", columns)
    back.load("r", path)
    assert sorted(back["r"].fetchall()) == sorted(ws["r"].fetchall())
    assert len(back["r"]) == 5
    ws.relation("u", {"u": lftj.UNSIGNED})
    ws.load("u", [(2**63 - 1,)])
    ws.write_delta("u", tmp_path / "u", name="u")
    assert rows_of(tmp_path / "u") == [(2**63 - 1,)]


def test_what_is_written_is_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[int]()
    change = DeltaSink.change
    monkeypatch.setattr(
        DeltaSink, "change", lambda *given: (seen.append(len(given[1])), change(*given))[1]
    )
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    ws.load("r", [(x,) for x in range(5000)])
    ws.write_delta("r", tmp_path / "t", name="sink")
    with ws.transaction() as tx:
        tx.delete("r", [(7,)])
        tx.insert("r", [(9000,), (9001,)])
    ws.write_delta("r", tmp_path / "t", name="sink")
    assert seen == [3]
