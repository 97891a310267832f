"""A workspace on real Spark: data that executors read, commits, and reading back."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from tests.spark.graph import edges, expected, made, open_path, rows_of


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("edges") / "edges.parquet"
    xs, ys = zip(*edges(), strict=True)
    pyarrow.parquet.write_table(pa.table({"x": xs, "y": ys}), path, row_group_size=60)
    return path


@pytest.fixture(scope="module")
def big(
    spark: Any, parquet: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[lftj.Workspace]:
    with open_path(spark, tmp_path_factory.mktemp("big")) as workspace:
        yield made(workspace, parquet)


def test_views_of_parquet_are_those_of_one_process(big: lftj.Workspace) -> None:
    assert rows_of(big) == expected(edges())


def test_another_number_of_parts(spark: Any, tmp_path: Path) -> None:
    rows = edges()
    with made(open_path(spark, tmp_path), rows[:100]) as workspace:
        past = workspace.snapshot()
        assert workspace.repartition(5)
        assert rows_of(workspace) == expected(rows[:100])
        workspace.load("e", rows[100:])
        assert rows_of(workspace) == expected(rows)
        assert rows_of(past) == expected(rows[:100])
        assert sorted(map(tuple, past["reach"].to_spark().collect())) == rows_of(past)["reach"]
    with open_path(spark, tmp_path, 5) as workspace:
        assert not workspace.verify()


def test_timestamps_of_spark_are_instants_in_utc(spark: Any, tmp_path: Path) -> None:
    """In a session of another zone, too; cast to one without a zone they are as shown."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        _instants(spark, tmp_path)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)


def _instants(spark: Any, tmp_path: Path) -> None:
    there = spark.sql("select 1 as x, timestamp'2024-07-04 12:00' as t")
    instants, local = tmp_path / "instants.parquet", tmp_path / "local.parquet"
    there.write.parquet(str(instants))
    there.selectExpr("x", "cast(t as timestamp_ntz) as t").write.parquet(str(local))
    with open_path(spark, tmp_path / "path") as parts, lftj.connect() as alone:
        for workspace in (parts, alone):
            workspace.relation("e", {"x": int, "t": datetime.datetime})
            assert workspace.load("e", instants) == 1
            if workspace is parts:
                assert workspace.load("e", there) == 0
            assert workspace["e"].fetchall() == [(1, datetime.datetime(2024, 7, 4, 3))]
            assert workspace.load("e", local) == 1
            assert len(workspace["e"]) == 2


def test_folders_of_parquet_are_read(spark: Any, parquet: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    spark.read.parquet(str(parquet)).coalesce(2).write.parquet(str(plain))
    by_day = tmp_path / "by_day"
    for day in (1, 2):
        (by_day / f"day={day}").mkdir(parents=True)
        pyarrow.parquet.write_table(
            pa.table({"x": [day, 5]}), by_day / f"day={day}" / "rows.parquet"
        )
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        assert workspace.load("e", plain) == len(edges())
        assert sorted(workspace["e"].fetchall()) == edges()
        workspace.relation("seen", {"x": int, "day": int})
        assert workspace.load("seen", by_day) == 4  # the names of the folders say the day
        assert sorted(workspace["seen"].fetchall()) == [(1, 1), (2, 2), (5, 1), (5, 2)]
        with pytest.raises(lftj.FrameError, match='no column "day"'):
            workspace.load("seen", parquet)
        assert (
            workspace.load("e", plain.as_uri()) == 0
        )  # places that Spark knows by a URI, as s3a:// and hdfs://, are left to it
        (tmp_path / "texts").mkdir()
        (tmp_path / "texts" / "rows.txt").write_text("x,day\n1,2\n")
        for unreadable in (tmp_path / "texts", (tmp_path / "nothing").as_uri()):
            with pytest.raises(lftj.FrameError, match=r"cannot be read: .*") as caught:
                workspace.load("seen", unreadable)
            assert caught.value.code == "E232"


def test_a_commit_changes_what_it_touches(big: lftj.Workspace) -> None:
    before = rows_of(big)
    gone, came = edges()[:2], [(3, 99), (99, 5)]
    with big.transaction() as tx:
        tx.delete("e", gone)
        tx.insert("e", came)
    after = expected(sorted({*edges()[2:], *came}))
    assert rows_of(big) == after
    for name in before:
        signed = {(row[:-2], row[-2]) for row in tx.changes(name).fetchall()}
        won, lost = set(after[name]) - set(before[name]), set(before[name]) - set(after[name])
        assert signed == {(row, 1) for row in won} | {(row, -1) for row in lost}, name
    with big.transaction() as tx:
        tx.insert("e", gone)
        tx.delete("e", came)
    assert rows_of(big) == before
    assert big.verify() == []
    assert rows_of(big) == before


def test_deletions_below_recursion_in_rounds_are_followed(big: lftj.Workspace) -> None:
    before, gone = rows_of(big), [edge for edge in edges() if edge[0] > 25][::9]
    with big.transaction() as tx:
        tx.delete("e", gone)
        tx.insert("e", [(26, 99)])
    report, after = (
        big.profile(last=1).iloc[0],
        expected([*sorted(set(edges()) - set(gone)), (26, 99)]),
    )
    assert rows_of(big) == after
    assert report["anew"] == 0
    assert (
        report["overdeleted"] > len(set(before["linked"]) - set(after["linked"])) > 0
    )  # some have another derivation
    signed = {(row[:-2], row[-2]) for row in tx.changes("linked").fetchall()}
    assert signed == {
        (row, 2 * (row in after["linked"]) - 1)
        for row in set(before["linked"]) ^ set(after["linked"])
    }
    with big.transaction() as tx:
        tx.insert("e", gone)
        tx.delete("e", [(26, 99)])
    assert rows_of(big) == before


def test_a_relation_that_is_sliced_only_touches_one_part(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path, 4) as workspace:
        workspace.relation("sale", {"shop": str, "item": int, "price": float})
        workspace.load(
            "sale",
            [("a", i, i / 10) for i in range(9)]
            + [("b", i, 1.5) for i in range(5)]
            + [("ü", 1, 2.0)],
        )
        workspace.add_rules(
            ".decl turnover(s: symbol, n: number, p: float) turnover(s, count(), sum(p)) :- "
            "sale(s, _, p)."
        )
        workspace.load("sale", [("b", 7, 0.1)])
        report = workspace.profile(last=1).iloc[0]
        assert (report["parts"], report["rows"]) == (1, 1 + 2)
        assert sorted(workspace["turnover"].fetchall()) == [
            ("a", 9, 3.6),
            ("b", 6, 7.6),
            ("ü", 1, 2.0),
        ]


def test_frames_of_spark_come_in_and_go_out(
    spark: Any, big: lftj.Workspace, tmp_path: Path
) -> None:
    frame = big["tri"].to_spark()
    assert frame.schema.simpleString() == "struct<x:bigint,n:bigint>"
    assert frame.rdd.getNumPartitions() == 3
    assert sorted(map(tuple, frame.collect())) == sorted(big["tri"].fetchall())
    big["two"].write_parquet(str(tmp_path / "two"))
    with open_path(spark, tmp_path / "path") as other:
        other.relation("pair", {"a": int, "b": int})
        written = spark.read.parquet(str(tmp_path / "two"))
        assert other.load("pair", written, columns={"a": "z", "b": "x"}) == len(big["two"])
        assert sorted(other["pair"].fetchall()) == sorted((z, x) for x, z in big["two"].fetchall())
        with other.transaction() as tx:
            tx.delete("pair", written.where("x > 5"), columns={"a": "z", "b": "x"})
        assert all(b <= 5 for _, b in other["pair"].fetchall())


def test_columns_are_taken_by_their_very_names(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path / "path") as workspace:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", spark.sql("select 1L `a.b`, 2L y"), columns={"x": "a.b"})
        workspace.load("e", spark.sql("select 3L x, 4L y, 5L X"), columns={"x": "x", "y": "X"})
        assert workspace["e"].fetchall() == [(1, 2), (3, 5)]


def test_what_is_wrong_with_the_data_is_said_as_in_one_process(
    spark: Any, big: lftj.Workspace
) -> None:
    before = big.version
    with pytest.raises(lftj.NullValueError, match=r'column "y": NULL is not a value'):
        big.load("e", spark.createDataFrame([(1, 2), (3, None)], "x long, y long"))
    with pytest.raises(lftj.FrameError, match='no column "y"'):
        big.load("e", spark.createDataFrame([], "x long, z long"))
    unread = spark.range(1).selectExpr(
        "id + raise_error('this was read') x", "timestamp '2013-01-01 12:00:00' y"
    )
    with pytest.raises(
        lftj.ValueTypeError, match=r'column "y": expected int, found timestamp\[us, tz=UTC\]'
    ):
        big.load("e", unread)
    with pytest.raises(lftj.ValueTypeError, match=r'column "y": interval year cannot be sent'):
        big.load("e", spark.range(1).selectExpr("id x", "interval 1 year y"))
    assert big.version == before
    assert big.load("e", spark.createDataFrame([edges()[0]], "x long, y long")) == 0
    assert big.version == before


@pytest.mark.parametrize("broken", [3, 8, 11])
def test_a_bad_value_in_a_frame_is_named_by_its_row_in_the_whole_frame(
    spark: Any, tmp_path: Path, broken: int
) -> None:
    rows = [(row, None if row == broken else str(row), (1, 0, -1)[row % 3]) for row in range(12)]
    frame = spark.createDataFrame(
        spark.sparkContext.parallelize(rows, 5), "x long, s string, n int"
    )
    with open_path(spark, tmp_path) as workspace:
        workspace.relation("e", {"x": int, "s": str})
        said = f'row {broken}, column "s": NULL is not a value'
        with pytest.raises(lftj.NullValueError) as caught:
            workspace.load("e", frame.drop("n"))
        assert caught.value.message == said
        with pytest.raises(lftj.NullValueError) as caught:
            workspace.feed("e", "rows", sign="n")(frame, 0)
        assert caught.value.message == said


def test_rows_that_may_not_be_there_are_those_of_all_parts(spark: Any, tmp_path: Path) -> None:
    rows = [(row % 12, str(row % 12)) for row in range(24)]
    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, 5), "x long, s string")
    told = list[str]()
    for workspace, data in ((lftj.connect(), rows), (open_path(spark, tmp_path), frame)):
        with workspace:
            workspace.relation("e", {"x": int, "s": str})
            workspace.load("e", rows[:7])
            with pytest.raises(lftj.MissingRowError) as caught, workspace.transaction() as tx:
                tx.insert("e", data, existing="error")
            told.append(str(caught.value))
    assert told[0] == told[1]
    assert "and 2 more are already there" in told[0]


def test_keys_are_checked_by_the_parts(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path) as workspace:
        workspace.relation("acct", {"id": int, "country": str}, key="id")
        workspace.load("acct", [(1, "FR"), (2, "DE")])
        with pytest.raises(
            lftj.KeyViolationError, match="relation `acct` has two rows of one key"
        ) as caught:
            workspace.load("acct", [(2, "FR"), (3, "IT")])
        assert sorted(caught.value.rows) == [(2, "DE"), (2, "FR")]
        assert sorted(workspace["acct"].fetchall()) == [(1, "FR"), (2, "DE")]


def test_a_path_is_opened_by_one_and_goes_on_where_it_ended(spark: Any, tmp_path: Path) -> None:
    with made(open_path(spark, tmp_path), edges()) as workspace:
        version = workspace.version
        with pytest.raises(lftj.DistributedError) as caught:
            open_path(spark, tmp_path)
    assert caught.value.code == "E402"
    with pytest.raises(lftj.DistributedError, match="holds 3 parts, the executor has 2"):
        open_path(spark, tmp_path, 2)
    with open_path(spark, tmp_path) as workspace:
        assert workspace.version == version
        workspace.load("e", [(0, 1000)])
        assert rows_of(workspace) == expected([*edges(), (0, 1000)])
