"""Files that executors read: patterns of names, folders that say columns, text."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from lftj.distributed.parts.pieces import FilesTask
from tests.distributed.inline import InlineExecutor


@pytest.fixture
def ws(tmp_path: Path) -> Any:
    return lftj.connect(executor=InlineExecutor(tmp_path / "path"))


def written(file: Path, **columns: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pa.table(columns), file)
    return file


def rows(ws: Any, name: str = "r") -> list[tuple[Any, ...]]:
    return sorted(ws[name].fetchall(), key=repr)


def tasks(ws: Any) -> list[FilesTask]:
    return [task for task in ws._backend.executor.tasks if isinstance(task, FilesTask)]


def test_patterns_of_names(ws: Any, tmp_path: Path) -> None:
    for number in range(4):
        written(tmp_path / f"in/{number}/e-{number}.parquet", x=[number])
    ws.relation("r", {"x": int})
    assert ws.load("r", str(tmp_path / "in" / "[01]" / "*.parquet")) == 2
    assert ws.load("r", tmp_path / "in" / "2*") == 1
    assert ws.load("r", str(tmp_path / "in" / "**" / "e-?.parquet")) == 1
    assert rows(ws) == [(0,), (1,), (2,), (3,)]
    with pytest.raises(lftj.FileMissingError, match="there is no file of"):
        ws.load("r", str(tmp_path / "in" / "9*"))


TYPES: list[tuple[str, object, list[str], list[object]]] = [
    ("int", int, ["7", "-08"], [7, -8]),
    ("str", str, ["7", "a%20b"], ["7", "a b"]),
    (
        "date",
        datetime.date,
        ["2026-01-01", "0001-12-31"],
        [datetime.date(2026, 1, 1), datetime.date(1, 12, 31)],
    ),
    (
        "timestamp",
        datetime.datetime,
        ["2026-01-01 10%3A00%3A00.5", "1970-01-01"],
        [datetime.datetime(2026, 1, 1, 10, 0, 0, 500000), datetime.datetime(1970, 1, 1)],
    ),
    ("bool", bool, ["true", "false"], [True, False]),
    ("float", float, ["0.5", "1e3"], [0.5, 1000.0]),
    (
        "decimal",
        "decimal(10,2)",
        ["1.20", "-3.00"],
        [decimal.Decimal("1.20"), decimal.Decimal("-3.00")],
    ),
    ("optional", int | None, ["7", "__HIVE_DEFAULT_PARTITION__"], [7, None]),
]


@pytest.mark.parametrize(("kind", "type", "texts", "values"), TYPES, ids=[t[0] for t in TYPES])
def test_names_of_folders_are_values_of_the_columns_type(
    ws: Any, tmp_path: Path, kind: str, type: object, texts: list[str], values: list[object]
) -> None:
    for number, text in enumerate(texts):
        written(tmp_path / f"in/p={text}/q=z/{number}.parquet", x=[number])
    written(tmp_path / "in/_temporary/9.parquet", x=[9])
    expected = sorted(((n, value, "z") for n, value in enumerate(values)), key=repr)
    for name, source in (
        ("r", tmp_path / "in"),
        ("s", tmp_path / "in" / "p=*" / "*" / "*.parquet"),
    ):
        ws.relation(name, {"x": int, "p": type, "q": str})
        assert ws.load(name, source) == 2
        assert rows(ws, name) == expected
    ws.relation("t", {"x": int, "day": type})
    assert ws.load("t", tmp_path / "in", columns={"day": "p"}) == 2
    assert rows(ws, "t") == sorted(enumerate(values), key=repr)


def test_a_folder_whose_name_is_no_value_is_named(ws: Any, tmp_path: Path) -> None:
    written(tmp_path / "in/day=soon/0.parquet", x=[1])
    ws.relation("r", {"x": int, "day": datetime.date})
    with pytest.raises(lftj.ValueTypeError) as caught:
        ws.load("r", tmp_path / "in")
    assert caught.value.message == (
        'in/day=soon/0.parquet, column "day": expected date, found "soon" as the name of a folder'
    )
    ws.relation("s", {"x": int})
    with pytest.raises(lftj.FrameError, match='the relation lacks: "day"'):
        ws.load("s", tmp_path / "in")


def test_text_is_read_by_executors(ws: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(5):
        text = f'x,s,d\n{number},"a, ""{number}""",2026-01-0{number + 1}\n7,,2026-01-01\n'
        (tmp_path / "in" / f"{number}.csv").write_text(text)
    (tmp_path / "in" / "_SUCCESS").write_text("")
    plain = lftj.connect()
    columns = {"x": int, "s": str, "d": datetime.date}
    plain.relation("r", columns)
    for number in range(5):
        plain.load("r", tmp_path / "in" / f"{number}.csv")
    for name, source in (("r", tmp_path / "in"), ("s", str(tmp_path / "in" / "*.csv"))):
        ws.relation(name, columns)
        ws._backend.executor.tasks.clear()
        assert ws.load(name, source) == 6
        assert len(tasks(ws)) == 3
        assert rows(ws, name) == rows(plain)
    ws.relation("one", columns)
    ws._backend.executor.tasks.clear()
    assert ws.load("one", tmp_path / "in" / "0.csv") == 2
    assert len(tasks(ws)) == 1
    (tmp_path / "bad.csv").write_text("x,s,d\n1,a,2026-01-01\ntwo,b,2026-01-01\n")
    for each in (plain, ws):
        with pytest.raises(lftj.ValueTypeError, match=r'bad.csv, line 3, column "x"') as caught:
            each.load("r", tmp_path / "bad.csv")
        assert caught.value.code == "E210"


@pytest.mark.parametrize(
    ("column", "type", "said"),
    [
        (pa.array([b"a"]), str, 'column "v": expected str, found binary'),
        (pa.array([[1]]), int, 'column "v": expected int, found list<element: int64>'),
        (pa.array([{"a": 1}]), int, 'column "v": expected int, found struct<a: int64>'),
        (
            pa.array([decimal.Decimal(1), decimal.Decimal(10**20)], pa.decimal128(38, 2)),
            "decimal(18,2)",
            'row 1, column "v": 100000000000000000000.00 is outside the range of decimal(18,2)',
        ),
    ],
)
def test_what_no_column_holds_is_named(
    ws: Any, tmp_path: Path, column: pa.Array, type: object, said: str
) -> None:
    file = written(tmp_path / "f.parquet", v=column)
    for each in (ws, lftj.connect()):
        each.relation("r", {"v": type})
        with pytest.raises(lftj.LftjError) as caught:
            each.load("r", file)
        assert said in str(caught.value)


def test_wide_decimals_with_few_digits_are_values(ws: Any, tmp_path: Path) -> None:
    values = [decimal.Decimal("1.50"), decimal.Decimal("-9999999999999999.99")]
    file = written(tmp_path / "f.parquet", v=pa.array(values, pa.decimal128(38, 10)))
    ws.relation("r", {"v": "decimal(18,2)"})
    ws.load("r", file)
    assert sorted(row[0] for row in ws["r"].fetchall()) == sorted(values)
