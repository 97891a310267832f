"""Defaults of columns: rows by name that leave columns out, from wherever they come."""

from __future__ import annotations

import datetime
import io
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lftj
from lftj.cli import main
from lftj.errors import (
    ArityError,
    DeclarationError,
    FrameError,
    LftjError,
    ParseError,
    ProgramErrors,
    StillNeededError,
    UnknownNameError,
    ValueTypeError,
)
from tests.distributed.inline import InlineExecutor

ROW = {"id": 2, "who": "bob"}
FILLED = (2, "bob", "FR", None)


def items(ws: lftj.Workspace) -> list[tuple[Any, ...]]:
    return sorted(ws["item"].fetchall())


def altered(ws: lftj.Workspace | None = None, *, key: str | None = "id") -> lftj.Workspace:
    ws = ws or lftj.connect(keep="all")
    ws.relation("item", {"id": int, "who": str}, key=key)
    ws.load("item", [(1, "ann")])
    ws.alter("item", add={"land": str, "mail": "str?"}, default={"land": "FR"})
    return ws


def written(folder: Path, name: str) -> Path:
    table = pa.table({"who": ["bob"], "id": [2]})
    if name.endswith("parquet"):
        pq.write_table(table, folder / name)
    elif name.endswith("arrow"):
        with (
            pa.OSFile(str(folder / name), "wb") as file,
            pa.ipc.new_file(file, table.schema) as out,
        ):
            out.write_table(table)
    else:
        mark = "\t" if name.endswith("tsv") else ","
        (folder / name).write_text(f"who{mark}id\nbob{mark}2\n", encoding="utf-8")
    return folder / name


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict": lambda _: ROW,
    "dicts": lambda _: [ROW],
    "pandas": lambda _: pd.DataFrame([ROW]),
    "polars": lambda _: pl.DataFrame([ROW]),
    "arrow": lambda _: pa.Table.from_pylist([ROW]),
    "csv": lambda folder: written(folder, "rows.csv"),
    "tsv": lambda folder: written(folder, "rows.tsv"),
    "parquet": lambda folder: written(folder, "rows.parquet"),
    "ipc": lambda folder: written(folder, "rows.arrow"),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("call", ["insert", "upsert", "sync"])
def test_rows_by_name_get_what_they_leave_out(source: str, call: str, tmp_path: Path) -> None:
    ws = altered()
    with ws.transaction() as tx:
        getattr(tx, call)("item", SOURCES[source](tmp_path))
    first = [] if call == "sync" else [(1, "ann", "FR", None)]
    assert items(ws) == [*first, FILLED]
    assert ws.verify() == []


def test_what_is_inserted_is_deleted_by_the_same_rows() -> None:
    ws = altered()
    ws.load("item", [ROW])
    with ws.transaction() as tx:
        tx.delete("item", [ROW], missing="error")
    assert items(ws) == [(1, "ann", "FR", None)]


def test_each_row_leaves_out_its_own_columns() -> None:
    ws = altered()
    ws.load("item", [ROW, {"id": 3, "who": "c", "land": "IT"}, {"id": 4, "who": "d", "mail": "m"}])
    assert items(ws)[1:] == [FILLED, (3, "c", "IT", None), (4, "d", "FR", "m")]


def test_an_optional_column_that_is_declared_may_be_left_out_too() -> None:
    ws = lftj.connect()
    ws.relation("r", {"a": int, "b": int | None, "c": int | None}, default={"c": 7})
    ws.load("r", [{"a": 1}, {"a": 2, "c": None}])
    assert sorted(ws["r"].fetchall(), key=repr) == [(1, None, 7), (2, None, None)]


def test_columns_that_are_mapped_are_there() -> None:
    ws = altered()
    frame = pa.table({"n": [2], "who": ["bob"], "more": [1]})
    ws.load("item", frame, columns={"id": "n"})
    assert items(ws)[1:] == [FILLED]
    with pytest.raises(FrameError, match='no column "country"'):
        ws.load("item", frame, columns={"id": "n", "land": "country"})


def test_rows_of_the_old_width_are_told_to_come_by_name() -> None:
    ws = altered()
    with pytest.raises(ArityError) as problem:
        ws.load("item", [(2, "bob")])
    assert problem.value.hint == (
        "give rows by name, as dicts or a frame: then what they leave out is filled (land is 'FR', "
        "mail is NULL)"
    )
    with pytest.raises(FrameError, match="has 2 columns") as by_place:
        ws.load("item", ws.query("item(id, who, _, _)"))
    assert by_place.value.hint == problem.value.hint


def test_a_name_that_is_no_column_is_an_error_still() -> None:
    ws = altered()
    with pytest.raises(FrameError, match='columns that the relation lacks: "lnd"'):
        ws.load("item", pd.DataFrame([{**ROW, "lnd": "IT"}]))
    with pytest.raises(FrameError, match='differ in their columns: "lnd"'):
        ws.load("item", [ROW, {**ROW, "lnd": "IT"}])
    with pytest.raises(FrameError, match='no column "who"'):
        ws.load("item", [{"id": 3}])


# ── feeds ─────────────────────────────────────────────────────────────────────────────────────────
NEWS = {"id": 3, "who": "cyd", "land": "IT"}
FEEDS: dict[str, Any] = {
    "events": [{"op": "c", "before": None, "after": ROW}, {"op": "c", "after": NEWS}],
    "dicts": [{"op": "c", **ROW}, {"op": "c", **NEWS}],
    "polars": pl.DataFrame([{"op": "c", **ROW}]),
}


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize("key", ["id", None])
def test_changes_from_elsewhere_get_what_they_leave_out(feed: str, key: str | None) -> None:
    ws = altered(key=key)
    with ws.transaction() as tx:
        tx.apply_changes("item", FEEDS[feed])
    assert items(ws)[1:] == [FILLED, (3, "cyd", "IT", None)][: len(FEEDS[feed])]
    with ws.transaction() as tx:
        tx.apply_changes("item", [{"op": "u", "before": ROW, "after": {**ROW, "land": "ES"}}])
    assert items(ws)[1] == (2, "bob", "ES", None)
    with ws.transaction() as tx:
        tx.apply_changes("item", [{"op": "d", "before": {**ROW, "land": "ES"}}])
    assert FILLED[:2] not in [row[:2] for row in items(ws)]


def test_a_change_without_a_column_that_has_no_default_is_told_what_it_needs() -> None:
    ws = altered()
    with pytest.raises(FrameError, match="no column 'who'") as problem, ws.transaction() as tx:
        tx.apply_changes("item", [{"op": "c", "after": {"id": 2}}])
    assert problem.value.hint == "it needs id, who; others are passed over"
    with pytest.raises(FrameError, match="no column 'who'"), ws.transaction() as tx:
        tx.apply_changes("item", pl.DataFrame({"op": ["c"], "id": [2]}))


# ── declarations ──────────────────────────────────────────────────────────────────────────────────
TYPES: list[tuple[str, str, Any]] = [
    ("number", "-3", -3),
    ("unsigned", "3", 3),
    ("float", "1.5", 1.5),
    ("symbol", '"a \\"b\\""', 'a "b"'),
    ("bool", "true", True),
    ("date", 'date("2013-01-31")', datetime.date(2013, 1, 31)),
    ("timestamp", 'timestamp("2013-01-31 12:00:00")', datetime.datetime(2013, 1, 31, 12)),
    ("decimal(8,2)", 'decimal("2.50")', Decimal("2.50")),
    ("number?", "4", 4),
]


@pytest.mark.parametrize(("type", "text", "value"), TYPES, ids=[each[0] for each in TYPES])
def test_a_default_survives_text_files_and_dumps(
    type: str, text: str, value: Any, tmp_path: Path
) -> None:
    with lftj.connect(tmp_path / "w.lftj") as ws:
        ws.add_rules(f".type t <: {type.rstrip('?')}\n.decl r(a: number, b: {type} = {text})")
        ws.add_rules(f".decl s(a: number, b: t = {text})")
        ws.load("r", [{"a": 1}])
        shown = str(ws.relations["r"])
    with lftj.connect(tmp_path / "w.lftj") as ws:
        assert str(ws.relations["r"]) == shown
        ws.load("r", [{"a": 2}])
    assert main(["dump", str(tmp_path / "w.lftj"), str(tmp_path / "dump")]) == 0
    assert main(["load", str(tmp_path / "dump"), str(tmp_path / "again.lftj")]) == 0
    with lftj.connect(tmp_path / "again.lftj") as ws:
        ws.load("r", [{"a": 3}])
        assert sorted(ws["r"].fetchall()) == [(1, value), (2, value), (3, value)]
        assert ws.relations["s"].default == ws.relations["r"].default == {"b": value}


def test_no_default_is_said_takes_what_is_there() -> None:
    ws = altered()
    columns = {"id": int, "who": str, "land": str, "mail": "str?"}
    ws.relation("item", columns, key="id")
    ws.add_rules(".decl item(id: number, who: symbol, land: symbol, mail: symbol?) key(id)")
    assert ws.relations["item"].default == {"land": "FR"}
    with pytest.raises(DeclarationError) as problem:
        ws.relation("item", columns, key="id", default={"land": "GB"})
    call = "ws.alter('item', default={'land': 'GB'})"
    assert call in str(problem.value)
    eval(call)
    ws.relation("item", columns, key="id", default={"land": "GB"})


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ("r(a: number = x)", "is no constant"),
        ("r(a: number = _)", "is no constant"),
        ("r(a: number = range(1, 3))", "is no constant"),
        ('r(a: number = "x")', "as the default of `a`"),
        ("r(a: unsigned = -1)", "as the default of `a`"),
        ("f[a: number = 1]: number", "a default of a function's argument"),
    ],
)
def test_what_is_no_default_is_refused(declared: str, error: str) -> None:
    with pytest.raises((ProgramErrors, ParseError), match=error):
        lftj.connect().add_rules(f".decl {declared}")


def test_what_is_no_default_in_python_is_refused() -> None:
    ws = lftj.connect()
    with pytest.raises(ValueTypeError, match="as the default of `a`"):
        ws.relation("r", {"a": int}, default={"a": "x"})
    with pytest.raises(UnknownNameError, match="no column `b`"):
        ws.relation("r", {"a": int}, default={"b": 1})
    ws.function("f", {"a": int}, int)
    with pytest.raises(DeclarationError, match="is a function"):
        ws.alter("f", default={"a": 1})


def test_heads_by_name_have_defaults() -> None:
    ws = lftj.connect()
    ws.add_rules(
        '.decl a(x: number) a(1). .decl b(x: number, y: number = 5, z: symbol = "u")'
        ' b(x=x) :- a(x). b(2, z="v"). b(x=3, y=4).'
    )
    assert sorted(ws["b"].fetchall()) == [(1, 5, "u"), (2, 5, "v"), (3, 4, "u")]
    assert str(ws.rules[0]) == 'b(x, 5, "u") :- a(x).'


# ── alterations ───────────────────────────────────────────────────────────────────────────────────
def test_a_default_goes_with_its_column() -> None:
    ws = altered()
    ws.alter("item", rename={"land": "country"}, to="product")
    assert ws.relations["product"].default == {"country": "FR"}
    before = ws.version
    ws.alter("product", default={"country": "GB", "id": 9})
    assert ws.relations["product"].default == {"id": 9, "country": "GB"}
    assert ws.at(before).relations["product"].default == {"country": "FR"}
    ws.alter("product", drop="country", default={"id": None})
    assert ws.relations["product"].default == {}
    ws.load("product", [ROW])
    assert sorted(ws["product"].fetchall()) == [(1, "ann", None), (2, "bob", None)]


def test_a_default_changes_no_row_and_no_view() -> None:
    ws = altered()
    ws.add_rules(".decl v(id: number) v(id) :- item(id=id).")
    before = ws.version
    ws.alter("item", default={"land": "GB"})
    (change,) = ws.changes("item", since=before, timeout=0)
    assert isinstance(change, lftj.SchemaChange)
    assert change.steps == ("item: land by default 'GB'",)
    assert list(ws.changes("v", since=before, timeout=0)) == []
    ws.load("item", [ROW])
    assert items(ws) == [(1, "ann", "FR", None), (2, "bob", "GB", None)]
    assert sorted(ws["v"].fetchall()) == [(1,), (2,)]


def test_a_default_is_retyped_as_values_are() -> None:
    ws = lftj.connect()
    ws.relation("r", {"a": int, "b": int, "c": str}, default={"b": 3, "c": "x"})
    ws.alter("r", retype={"b": float})
    ws.alter("r", retype={"b": "float?"})
    assert repr(ws.relations["r"].default["b"]) == "3.0"
    with pytest.raises(DeclarationError, match="the default of `c`, 'x'") as problem:
        ws.alter("r", retype={"c": int})
    assert problem.value.hint == "say which there is: default={'c': …}, or None for none"
    ws.alter("r", retype={"c": int}, default={"c": 1})
    ws.load("r", [{"a": 1}])
    assert ws["r"].fetchall() == [(1, 3.0, 1)]


def test_a_computed_column_has_a_default_if_it_is_given_one() -> None:
    ws = altered()
    ws.alter(
        "item",
        add={"twice": int, "n": int},
        compute={"twice": "id * 2", "n": "id"},
        default={"n": 0},
    )
    assert ws.relations["item"].default == {"land": "FR", "n": 0}
    with pytest.raises(FrameError, match='no column "twice"'):
        ws.load("item", [ROW])
    ws.load("item", [{**ROW, "twice": 4}])
    assert items(ws) == [(1, "ann", "FR", None, 2, 1), (2, "bob", "FR", None, 4, 0)]


def test_a_program_says_its_defaults() -> None:
    ws = lftj.connect()
    ws.program(".decl p(a: number, b: number = 3) p(a=1).", name="p")
    ws.load("p", [{"a": 9}])
    other = ".decl p(a: number, b: number = 4) p(a=1). p(a=2)."
    with pytest.raises(StillNeededError, match="b by default 4"):
        ws.program(other, name="p")
    change = ws.program(other, name="p", alter=True)
    assert change.altered == ("p: b by default 4",)
    assert sorted(ws["p"].fetchall()) == [(1, 4), (2, 4), (9, 3)]
    ws.program(".decl p(a: number, b: number) p(1, 4). p(2, 4).", name="p", alter=True)
    assert ws.relations["p"].default == {}
    ws.alter("p", default={"b": 8})  # which no text has said, and so stays
    ws.program(".decl p(a: number, b: number) p(1, 4).", name="p")
    assert ws.relations["p"].default == {"b": 8}
    assert sorted(ws["p"].fetchall()) == [(1, 4), (9, 3)]


def test_the_shell_shows_and_changes_defaults(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "w.lftj")
    with lftj.connect(path) as ws:
        altered(ws)
    for line in (
        '.alter item default land = "GB"',
        '.alter item default who = "x"',
        ".alter item default who none",
    ):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{line}\n.schema item\n"))
        assert main(["shell", path]) == 0
    shown = '.decl item(id: number, who: symbol, land: symbol = "GB", mail: symbol?) key(id)'
    assert shown in capsys.readouterr().out


def test_an_error_leaves_defaults_as_they_were() -> None:
    ws = altered()
    with pytest.raises(LftjError):
        ws.alter("item", default={"land": "GB", "mail": 3})
    assert ws.relations["item"].default == {"land": "FR"}


def test_a_relation_over_parts_has_its_defaults(tmp_path: Path) -> None:
    connect: Any = lftj.connect
    with connect(executor=InlineExecutor(tmp_path / "home")) as ws:
        ws.add_rules('.decl item(id: number, who: symbol, land: symbol = "FR", mail: symbol?)')
        ws.load("item", [ROW, {"id": 3, "who": "c", "land": "IT"}])
        ws.load("item", written(tmp_path, "rows.csv"))
        ws.load("item", pl.DataFrame([{"id": 4, "who": "d"}]))
    with connect(executor=InlineExecutor(tmp_path / "home")) as ws:
        assert ws.relations["item"].default == {"land": "FR"}
        ws.load("item", [{"id": 5, "who": "e"}])
        with ws.transaction() as tx:
            tx.delete("item", [{"id": 5, "who": "e"}])
        assert items(ws) == [FILLED, (3, "c", "IT", None), (4, "d", "FR", None)]
