"""Tables of Delta and Iceberg as data, and as feeds: what changed between versions is applied once,
and then the relation has the rows of the table.
"""

from __future__ import annotations

import datetime
import decimal
import os
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import lftj
from lftj import frames

pytestmark = pytest.mark.filterwarnings("ignore:Delete operation did not match")
SCHEMA = pa.schema([("x", pa.int64()), ("s", pa.string()), ("p", pa.int64())])
COLUMNS = {"x": int, "s": str | None, "p": int}
Row = tuple[int, str | None, int]


def table_of(rows: list[Row]) -> pa.Table:
    return pa.table(list(map(list, zip(*rows, strict=True))) or [[], [], []], schema=SCHEMA)


def drawn(random: random.Random, rows: int) -> list[Row]:
    """Rows of which many are equal, and some have NULL."""
    return [
        (random.randrange(6), random.choice(["a", "b", None]), random.randrange(2))
        for _ in range(rows)
    ]


class Delta:
    """A table of Delta that changes at random."""

    def __init__(self, path: Path, captures: bool, partitioned: bool):
        self.path = str(path)
        deltalake.write_deltalake(
            self.path,
            table_of([]),
            partition_by=["p"] if partitioned else None,
            configuration={"delta.enableChangeDataFeed": "true"} if captures else None,
        )

    def handle(self) -> Any:
        return deltalake.DeltaTable(self.path)

    def change(self, random: random.Random) -> None:
        table, kind = self.handle(), random.randrange(7)
        if kind <= 1:
            deltalake.write_deltalake(table, table_of(drawn(random, 5)), mode="append")
        elif kind == 2:
            table.delete(f"x = {random.randrange(6)}")
        elif kind == 3:
            table.update({"s": "'u'"}, predicate=f"x = {random.randrange(6)}")
        elif kind == 4:
            table.optimize.compact()
        elif kind == 5:
            deltalake.write_deltalake(table, table_of(drawn(random, 8)), mode="overwrite")
        elif table.version():
            table.restore(random.randrange(table.version()))

    def rows(self) -> set[Any]:
        return set(map(tuple, map(dict.values, self.handle().to_pyarrow_table().to_pylist())))


class Iceberg:
    """A table of Iceberg that changes at random."""

    def __init__(self, path: Path):
        path.mkdir()
        self.catalog = SqlCatalog("c", uri=f"sqlite:///{path}/c.db", warehouse=f"file://{path}")
        self.catalog.create_namespace("db")
        self.catalog.create_table("db.t", schema=SCHEMA)

    def handle(self) -> Any:
        return self.catalog.load_table("db.t")

    def change(self, random: random.Random) -> None:
        table, kind = self.handle(), random.randrange(5)
        if kind <= 1:
            table.append(table_of(drawn(random, 5)))
        elif kind == 2:
            table.delete(f"x = {random.randrange(6)}")
        elif kind == 3:
            table.overwrite(table_of(drawn(random, 8)))
        elif table.snapshots():
            older = random.choice(table.snapshots()).snapshot_id
            table.manage_snapshots().set_current_snapshot(older).commit()

    def rows(self) -> set[Any]:
        return set(map(tuple, map(dict.values, self.handle().scan().to_arrow().to_pylist())))


MAKERS: dict[str, Callable[[Path], Any]] = {
    "delta": lambda path: Delta(path, captures=False, partitioned=False),
    "partitioned": lambda path: Delta(path, captures=False, partitioned=True),
    "captured": lambda path: Delta(path, captures=True, partitioned=False),
    "captured, partitioned": lambda path: Delta(path, captures=True, partitioned=True),
    "iceberg": Iceberg,
}


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("seed", range(2))
def test_a_feed_of_a_table_that_changes_at_random_has_its_rows(
    kind: str, seed: int, tmp_path: Path
) -> None:
    chance, table = random.Random(seed), MAKERS[kind](tmp_path / "table")
    ws = lftj.connect()
    ws.relation("r", COLUMNS)
    ws.add_rules(".decl n(x: number, n: number) n(x, count()) :- r(x, _, _).")
    for _ in range(14):
        for _ in range(chance.randrange(1, 3)):
            table.change(chance)
        with ws.transaction() as tx:
            tx.apply_changes("r", table.handle(), feed="lake")
        assert set(ws["r"].fetchall()) == table.rows()
        with ws.transaction() as tx:
            assert tx.apply_changes("r", table.handle(), feed="lake") == 0
    assert not ws.verify()


def test_a_change_data_feed_is_read_where_there_is_one(tmp_path: Path) -> None:
    table = Delta(tmp_path / "table", captures=True, partitioned=False)
    deltalake.write_deltalake(table.path, table_of([(x, "a", 1) for x in range(9)]), mode="append")
    table.handle().delete("x = 3")
    found = frames.versioned_table(table.handle())
    assert found is not None
    assert [len(rows) for rows in found.changes(1, ["x", "s"])] == [1, 0]
    assert [len(rows) for rows in found.changes(0, ["x", "s"])] == [1, 9]


def test_a_feed_reads_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that both versions have are not read: the counter is rows that the draft codes."""
    path = str(tmp_path / "table")
    for first in range(0, 4000, 1000):
        rows = pa.table({"x": range(first, first + 1000)})
        deltalake.write_deltalake(path, rows, mode="append")
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    with ws.transaction() as tx:
        assert tx.apply_changes("r", deltalake.DeltaTable(path), feed="f") == 4000
    deltalake.write_deltalake(path, pa.table({"x": [5000]}), mode="append")
    deltalake.DeltaTable(path).delete("x = 1500")
    read, seen = frames.read, list[int]()

    def counted(source: Any, *args: Any, **options: Any) -> Any:
        found = read(source, *args, **options)
        seen.append(found.rows)
        return found

    monkeypatch.setattr(frames, "read", counted)
    with ws.transaction() as tx:
        assert tx.apply_changes("r", deltalake.DeltaTable(path), feed="f") == 2
    assert sum(seen) <= 1000 + 999 + 1 + 1 + 10
    assert len(ws["r"]) == 4000


def test_tables_are_data_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    deltalake.write_deltalake(path, pa.table({"x": [1, 2], "s": ["a", "b"]}))
    deltalake.DeltaTable(path).delete("x = 1")
    ws = lftj.connect()
    ws.relation("like", deltalake.DeltaTable(path))
    for source in (path, str(path), deltalake.DeltaTable(path)):
        ws.relation("r", {"x": int, "s": str})
        assert ws.load("r", source) == 1
        assert ws["r"].fetchall() == [(2, "b")]
        ws.drop_relation("r")
    ws.relation("r", {"x": int, "s": str})
    ws.load("r", deltalake.DeltaTable(path, version=0))
    assert len(ws["r"]) == 2
    with ws.transaction() as tx:
        assert tx.sync("r", path).deleted == 1

    catalog = Iceberg(tmp_path / "ice")
    catalog.handle().append(table_of([(1, "a", 1), (2, None, 1)]))
    catalog.handle().append(table_of([(3, "c", 1)]))
    first = catalog.handle().snapshots()[0].snapshot_id
    for source, rows in (
        (catalog.handle(), 3),
        (catalog.handle().scan(row_filter="x > 1"), 2),
        (catalog.handle().scan(snapshot_id=first), 2),
    ):
        ws.relation("i", COLUMNS)
        assert ws.load("i", source) == rows
        ws.drop_relation("i")


def test_files_that_went_from_a_table_are_not_rows(tmp_path: Path) -> None:
    """A folder of Parquet files that has a log of Delta is what the log says."""
    path = tmp_path / "t.parquet"
    deltalake.write_deltalake(path, pa.table({"x": [1]}))
    deltalake.write_deltalake(path, pa.table({"x": [2]}), mode="overwrite")
    ws = lftj.connect()
    ws.relation("r", path)
    ws.load("r", path)
    assert ws["r"].fetchall() == [(2,)]


def test_values_of_tables(tmp_path: Path) -> None:
    values = {
        "i": pa.array([1, -(2**62)], pa.int64()),
        "small": pa.array([1, -1], pa.int8()),
        "f": pa.array([0.5, -0.0]),
        "s": pa.array(["é", ""]),
        "b": pa.array([True, False]),
        "d": pa.array([datetime.date(2026, 1, 1), datetime.date(1, 1, 1)]),
        "t": pa.array([datetime.datetime(2026, 1, 1, 12, 0, 0, 1), datetime.datetime(1970, 1, 1)]),
        "m": pa.array([decimal.Decimal("1.20"), decimal.Decimal("-0.01")], pa.decimal128(10, 2)),
    }
    given = pa.table(values)
    deltalake.write_deltalake(tmp_path / "d", given)
    catalog = Iceberg(tmp_path / "ice").catalog
    wider = given.set_column(1, "small", given["small"].cast(pa.int32()))
    iceberg = catalog.create_table("db.v", schema=wider.schema)
    iceberg.append(wider)
    expected = sorted(zip(*(column.to_pylist() for column in given.columns), strict=True))
    for source in (tmp_path / "d", iceberg):
        ws = lftj.connect()
        ws.relation("r", source)
        ws.load("r", source)
        assert sorted(ws["r"].fetchall()) == expected


def test_what_a_feed_of_a_table_cannot_be(tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    deltalake.write_deltalake(path, pa.table({"x": [1, 2]}))
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    for options in ({}, {"feed": "f", "position": 3}, {"feed": "f", "position": "x"}):
        with pytest.raises(lftj.OptionError) as caught, ws.transaction() as tx:
            tx.apply_changes("r", deltalake.DeltaTable(path), **options)
        assert caught.value.code == "E171"
    deltalake.DeltaTable(path).delete("x = 1")
    with ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
    with ws.transaction() as tx:  # an older version that comes again
        assert tx.apply_changes("r", deltalake.DeltaTable(path, version=0), feed="f") == 0
    assert ws["r"].fetchall() == [(2,)]
    other = str(tmp_path / "other")
    deltalake.write_deltalake(other, pa.table({"x": [7]}))
    with pytest.raises(lftj.FrameError, match="no version 1") as caught, ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(other), feed="f")
    assert caught.value.code == "E234"
    with ws.transaction() as tx:  # what the hint says
        tx.sync("r", deltalake.DeltaTable(other))
        tx.upsert("feed_position", [("f", 0)])
    deltalake.write_deltalake(other, pa.table({"x": [8]}), mode="append")
    with ws.transaction() as tx:
        assert tx.apply_changes("r", deltalake.DeltaTable(other), feed="f") == 1
    assert sorted(ws["r"].fetchall()) == [(7,), (8,)]


def test_a_table_that_wins_a_column_goes_on(tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    deltalake.write_deltalake(path, pa.table({"x": [1, 2]}))
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    with ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
    more = pa.table({"x": [2, 3], "y": ["a", "b"]})
    deltalake.write_deltalake(path, more, mode="append", schema_mode="merge")
    deltalake.DeltaTable(path).delete("y = 'a'")
    with ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
    assert sorted(ws["r"].fetchall()) == [(1,), (2,), (3,)]


def test_a_key_is_held_by_the_table_too(tmp_path: Path) -> None:
    path = str(tmp_path / "lake")
    deltalake.write_deltalake(path, pa.table({"x": [1, 2], "s": ["a", "b"]}))
    ws = lftj.connect()
    ws.relation("r", {"x": int, "s": str}, key="x")
    with ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
    deltalake.DeltaTable(path).update({"s": "'c'"}, predicate="x = 1")
    with ws.transaction() as tx:
        assert tx.apply_changes("r", deltalake.DeltaTable(path), feed="f") == 2
    assert sorted(ws["r"].fetchall()) == [(1, "c"), (2, "b")]
    deltalake.write_deltalake(path, pa.table({"x": [2], "s": ["d"]}), mode="append")
    version = ws.version
    with pytest.raises(lftj.KeyViolationError), ws.transaction() as tx:
        tx.apply_changes("r", deltalake.DeltaTable(path), feed="f")
    assert ws.version == version
    assert ws["feed_position"].fetchall() == [("f", 1)]


_FOLLOW = """
    import sys, deltalake, lftj
    ws = lftj.connect(sys.argv[1])
    ws.relation("r", {"x": int})
    for version in range(deltalake.DeltaTable(sys.argv[2]).version() + 1):
        with ws.transaction() as tx:
            tx.apply_changes("r", deltalake.DeltaTable(sys.argv[2], version=version), feed="f")
        print(version, flush=True)
"""


def test_a_program_that_is_killed_goes_on_once(tmp_path: Path) -> None:
    table, path = str(tmp_path / "table"), str(tmp_path / "ws")
    for number in range(5):
        deltalake.write_deltalake(table, pa.table({"x": [number, 100]}), mode="append")
        deltalake.DeltaTable(table).delete(f"x = {number - 1} OR x = 100")
    command = [sys.executable, "-c", textwrap.dedent(_FOLLOW), path, table]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(4):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
    with lftj.connect(path) as ws:
        assert ws["feed_position"].fetchall()[0][1] >= 3
        for version in range(10):  # what comes again is passed over
            with ws.transaction() as tx:
                tx.apply_changes("r", deltalake.DeltaTable(table, version=version), feed="f")
        rows = deltalake.DeltaTable(table).to_pyarrow_table()["x"].to_pylist()
        assert sorted(ws["r"].fetchall()) == sorted((x,) for x in set(rows))
