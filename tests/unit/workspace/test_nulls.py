"""Optional columns: what goes in and comes out, and what rules say of NULL."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj

LEAST = -(2**63)
COLUMNS: dict[str, Any] = {
    "x": int,
    "a": int | None,
    "f": float | None,
    "s": str | None,
    "b": "bool?",
    "d": "decimal(6,2)?",
    "t": datetime.date | None,
    "m": "timestamp?",
}
DAY = datetime.date(2020, 1, 2)
ROWS = [
    (1, None, None, None, None, None, None, None),
    (2, 5, -1.5, "", True, Decimal("1.25"), DAY, datetime.datetime(1999, 1, 1)),
    (3, -7, 0.0, "\\M", False, None, None, None),
    (4, LEAST + 1, math.inf, None, None, Decimal("-0.01"), None, datetime.datetime(2000, 2, 2, 3)),
]  # fmt: skip


def workspace(rows: list[tuple[Any, ...]] = ROWS) -> lftj.Workspace:
    ws = lftj.connect()
    ws.relation("r", COLUMNS)
    ws.load("r", rows)
    return ws


def program(text: str, **rows: list[tuple[Any, ...]]) -> lftj.Workspace:
    ws = lftj.connect()
    ws.add_rules(text)
    with ws.transaction() as tx:
        for name, some in rows.items():
            tx.insert(name, some)
    return ws


# ── in and out ────────────────────────────────────────────────────────────────────────────────────
def test_types_say_that_they_are_optional():
    ws = workspace()
    assert list(map(str, ws["r"].types)) == [
        "int", "int?", "float?", "str?", "bool?", "decimal(6,2)?", "date?", "timestamp?",
    ]  # fmt: skip
    ws.add_rules(".decl q(a: number?, d: decimal(5,2)?) .decl F[x: symbol]: float?")
    assert list(map(str, ws["q"].types)) == ["int?", "decimal(5,2)?"]
    assert str(ws["F"].types[1]) == "float?"


def test_rows_come_back_as_they_were():
    ws = workspace()
    assert sorted(ws["r"].fetchall()) == ROWS
    assert "NULL" in repr(ws["r"])


@pytest.mark.parametrize("form", ["arrow", "pl", "df", "result"])
def test_frames_take_them_both_ways(form: str):
    source = workspace()["r"]
    ws = workspace([])
    ws.load("r", source if form == "result" else getattr(source, form)())
    assert sorted(ws["r"].fetchall()) == ROWS


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"x": [1, 2], "f": [0.5, None], "s": pa.array([None, "a"]), "t": ["u", "v"]}),
        polars.DataFrame({"x": [1, 2], "f": [0.5, None], "s": [None, "a"], "t": ["u", "v"]}),
        pandas.DataFrame({"x": [1, 2], "f": [0.5, math.nan], "s": [None, "a"], "t": ["u", "v"]}),
        pandas.DataFrame(
            {"x": pandas.array([1, 2], "Int64"), "f": pandas.array([0.5, None], "Float64")}
            | {"s": [pandas.NA, "a"], "t": ["u", "v"]}
        ),
        [{"x": 1, "f": 0.5, "s": None, "t": "u"}, {"x": 2, "f": None, "s": "a", "t": "v"}],
    ],
    ids=["arrow", "polars", "pandas", "pandas nullable", "dicts"],
)
def test_a_relation_like_data_is_optional_where_it_has_null(data: Any, tmp_path: Path):
    ws = lftj.connect()
    made = ws.relation("r", data)
    assert str(made) == "<Relation r(x: int, f: float?, s: str?, t: str)>"
    ws.load(made, data)
    assert ws["r"].fetchall() == [(1, 0.5, None, "u"), (2, None, "a", "v")]
    if isinstance(data, pa.Table):
        pyarrow.parquet.write_table(data, tmp_path / "r.parquet")
        assert str(lftj.connect().relation("r", tmp_path / "r.parquet")) == str(made)


def test_pandas_gets_nullable_types():
    frame = workspace()["r"].df()
    assert [str(frame[name].dtype) for name in "afb"] == ["Int64", "Float64", "boolean"]
    assert frame["a"].tolist()[1:3] == [5, -7]
    assert frame["a"].isna().sum() == 1
    assert frame["s"].tolist() == [None, "", "\\M", None]


def test_pandas_makes_floats_of_integers_with_gaps():
    ws = lftj.connect()
    ws.relation("r", {"a": int | None, "f": float | None, "s": str | None})
    gaps = {"a": [1, None], "f": [math.nan, 2.0], "s": [math.nan, pandas.NA]}
    ws.load("r", pandas.DataFrame(gaps))
    assert set(ws["r"].fetchall()) == {(1, None, None), (None, 2.0, None)}
    with pytest.raises(lftj.ValueTypeError, match="found float64"):
        ws.load("r", pandas.DataFrame({"a": [1.5, None], "f": [1.0, 2.0], "s": ["", ""]}))


@pytest.mark.parametrize("make", [pa.table, polars.DataFrame])
def test_nan_is_no_null_elsewhere(make: Any):
    ws = lftj.connect()
    ws.relation("r", {"f": float | None})
    with pytest.raises(lftj.NullValueError, match="NaN is not a value"):
        ws.load("r", make({"f": [1.0, math.nan]}))
    ws.load("r", make({"f": [1.0, None]}))
    assert set(ws["r"].fetchall()) == {(1.0,), (None,)}


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.facts", "r.parquet", "r.csv.gz"])
def test_files(name: str, tmp_path: Path):
    source, path = workspace()["r"], tmp_path / name
    write = {"csv": source.write_csv, "tsv": source.write_csv, "facts": source.write_facts}
    write.get(name.split(".")[1], source.write_parquet)(path)
    ws = workspace([])
    ws.load("r", path)
    assert sorted(ws["r"].fetchall()) == ROWS


def test_files_write_an_empty_field_and_for_text_a_word(tmp_path: Path):
    workspace(ROWS[:1])["r"].write_facts(tmp_path / "r.facts")
    assert (tmp_path / "r.facts").read_text() == "1\t\t\t\\N\t\t\t\t\n"
    ws = lftj.connect()
    ws.relation("s", {"s": str | None})
    ws.load("s", [("\\N",)])
    with pytest.raises(lftj.FrameError, match="is how files write NULL"):
        ws["s"].write_facts(tmp_path / "s.facts")


def test_a_file_of_one_column(tmp_path: Path):
    ws = lftj.connect()
    ws.relation("o", {"a": int | None})
    ws.load("o", [(None,), (1,)])
    ws["o"].write_csv(tmp_path / "o.csv")
    other = lftj.connect()
    other.relation("o", {"a": int | None})
    other.load("o", tmp_path / "o.csv")
    assert set(other["o"].fetchall()) == {(None,), (1,)}


def _table(values: list[int | None]) -> pa.Table:
    return pa.table({"a": pa.array(values, pa.int64())})


@pytest.mark.parametrize(
    "data", [[(LEAST,)], [(None,), (LEAST,)], _table([LEAST]), _table([None, LEAST])]
)
def test_the_least_integer_is_refused(data: Any):
    ws = lftj.connect()
    ws.relation("o", {"a": int | None})
    with pytest.raises(lftj.ValueRangeError, match="outside the range of int") as caught:
        ws.load("o", data)
    assert caught.value.code == "E220"
    assert "stands for NULL" in str(caught.value)


def test_a_rule_that_derives_the_least_integer_fails():
    ws = program(".decl p(x: number) .decl h(x: number?) h(x) :- p(x).")
    with pytest.raises(lftj.ValueRangeError) as caught:
        ws.load("p", [(LEAST,)])
    assert caught.value.code == "E220"


def test_sorted_results_have_null_last():
    rows = workspace()["r"]
    assert [row[0] for row in rows.sort("a").fetchall()] == [4, 3, 2, 1]
    assert [row[0] for row in rows.sort("a", descending=True).fetchall()] == [2, 3, 4, 1]
    assert [row[0] for row in rows.sort("s", "x", descending=True).fetchall()] == [3, 2, 4, 1]


def test_keys_and_choice_domains_have_values():
    ws = lftj.connect()
    with pytest.raises(lftj.DeclarationError, match="`x` of `k` is optional, and is in its key"):
        ws.relation("k", {"x": int | None, "y": int}, key="x")
    with pytest.raises(lftj.ProgramErrors, match="is in its choice domain"):
        ws.add_rules(".decl c(x: number?, y: number) choice-domain x")
    with pytest.raises(lftj.ProgramErrors, match="is in its key"):
        ws.add_rules(".decl F[x: number?]: number")


def test_rows_with_null_are_equal():
    ws = workspace([])
    ws.load("r", ROWS[:1])
    ws.load("r", ROWS[:1])
    assert len(ws["r"]) == 1
    with ws.transaction() as tx:
        tx.insert("r", ROWS[1:2])
        tx.delete("r", ROWS[:1])
    assert ws["r"].fetchall() == ROWS[1:2]


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────
RULES = """
.decl r(x: number, y: number?)
.decl s(y: number?)
.decl p(y: number)
.decl h(x: number, y: number?)
.decl j(x: number)
"""
FACTS: dict[str, list[tuple[Any, ...]]] = {
    "r": [(1, None), (2, 5), (3, 7), (4, None), (5, 2)],
    "s": [(None,), (5,)],
    "p": [(7,), (LEAST,)],
}
MEANINGS = {
    "h(x, y) :- r(x, y).": set(FACTS["r"]),
    "h(x, y) :- r(x, y), s(y).": {(2, 5)},
    "h(x, y) :- r(x, y), p(y).": {(3, 7)},
    "h(x, y) :- r(x, y), z = y.": {(2, 5), (3, 7), (5, 2)},
    "h(x, y) :- r(x, y), !s(y).": {(1, None), (3, 7), (4, None), (5, 2)},
    "h(x, y) :- p(x), x > 0, !s(x), y = x.": {(7, 7)},
    "j(x) :- r(x, y), y != 5.": {(3,), (5,)},
    "j(x) :- r(x, y), y = y.": {(2,), (3,), (5,)},
    "j(x) :- r(x, y), !(y = 5).": {(1,), (3,), (4,), (5,)},
    "j(x) :- r(x, y), !(y < 5).": {(1,), (2,), (3,), (4,)},
    "j(x) :- r(x, y), is_null(y).": {(1,), (4,)},
    "j(x) :- r(x, y), !is_null(y).": {(2,), (3,), (5,)},
    "j(x) :- r(x, y), (is_null(y) ; y = 5).": {(1,), (2,), (4,)},
    "j(x) :- p(x), is_null(x).": set[Any](),
    "j(a) :- r(a, y), r(b, y), a != b.": set[Any](),
    "h(x, y + 1) :- r(x, y).": {(1, None), (2, 6), (3, 8), (4, None), (5, 3)},
    "h(x, -y) :- r(x, y), y > 4.": {(2, -5), (3, -7)},
    "h(x, coalesce(y, x, 0)) :- r(x, y).": {(1, 1), (2, 5), (3, 7), (4, 4), (5, 2)},
    "h(x, strlen(to_string(y))) :- r(x, y).": {(1, None), (2, 1), (3, 1), (4, None), (5, 1)},
    "h(x, if(y > 3, 1, 0)) :- r(x, y).": {(1, 0), (2, 1), (3, 1), (4, 0), (5, 0)},
    "h(x, if(x > 1, y, 0)) :- r(x, y).": {(1, 0), (2, 5), (3, 7), (4, None), (5, 2)},
    "h(x, n) :- r(x, y), n = count : { s(y) }.": {(1, 0), (2, 1), (3, 0), (4, 0), (5, 0)},
    "h(0, y) :- is_null(y).": {(0, None)},
}


@pytest.mark.parametrize("rule", MEANINGS)
def test_what_a_rule_means(rule: str):
    ws = program(RULES + rule, **FACTS)
    assert set(ws[rule[0]].fetchall()) == MEANINGS[rule]
    assert ws.verify() == []


GROUPS = {
    "h(x, sum(y)) :- g(x, y).": {(1, None), (2, 12), (3, 1)},
    "h(x, min(y)) :- g(x, y).": {(1, None), (2, 5), (3, 1)},
    "h(x, max(y)) :- g(x, y).": {(1, None), (2, 7), (3, 1)},
    "h(x, count()) :- g(x, y).": {(1, 1), (2, 3), (3, 1)},
    "h(x, count(y)) :- g(x, y).": {(1, 0), (2, 2), (3, 1)},
    "h(x, count(x)) :- g(x, _).": {(1, 1), (2, 3), (3, 1)},
    "h(count(), y) :- g(_, y).": {(2, None), (1, 5), (1, 7), (1, 1)},
    "h(count(y), sum(y)) :- g(_, y).": {(3, 13)},
    "h(x, sum(y)) :- g(x, y), x > 9.": set[Any](),
    "h(x, s) :- g(x, _), s = sum y : { g(x, y), !is_null(y) }.": {(1, 0), (2, 12), (3, 1)},
    "h(1, s) :- s = arg_max(x, y) : { g(x, y), !is_null(y) }.": {(1, 2)},
    "h(1, s) :- s = arg_max(x, y) : { g(x, y) }.": {(1, 2)},
    "h(x, s) :- g(x, _), s = sum y : { g(x, y) }.": {(1, None), (2, 12), (3, 1)},
    "h(x, s) :- g(x, _), s = sum y : { g(x, y), y > 1 }.": {(1, 0), (2, 12), (3, 0)},
    "h(x, s) :- g(x, _), s = sum y : { g(z, y), z < x }.": {(1, 0), (2, None), (3, 12)},
    "h(x, s) :- g(x, _), s = min y : { g(z, y), z < x }.": {(2, None), (3, 5)},
    "h(x, s) :- g(x, _), s = last(y, z) : { g(z, y), z <= x }.": {(1, None), (2, 7), (3, 1)},
    "h(x, n) :- g(x, _), n = count y : { g(x, y) }.": {(1, 0), (2, 2), (3, 1)},
    "h(x, n) :- g(x, _), n = count(y) : { g(z, y), z > x }.": {(1, 3), (2, 1), (3, 0)},
    "h(x, max y : { g(x, y) }) :- g(x, _).": {(1, None), (2, 7), (3, 1)},
    "h(x, coalesce(max y : { g(x, y) }, 0)) :- g(x, _).": {(1, 0), (2, 7), (3, 1)},
    "h(x, s) :- g(x, _), s = max y : { g(x, y) }, g(_, s).": {(2, 7), (3, 1)},
    "h(x, s) :- g(x, _), s = 1 + max y : { g(x, y) }.": {(2, 8), (3, 2)},
    "h(x, s) :- g(x, _), s = max y : { g(x, y) }, !(s > 1).": {(1, None), (3, 1)},
    "h(x, s) :- g(x, s), s = max y : { g(x, y) }.": {(2, 7), (3, 1)},
    "h(x, m) :- m = max y : { g(x, y) }.": {(2, 7)},
    "h(1, s) :- s = sum t : { g(_, y), t = max z : { g(_, z), z <= y } }.": {(1, 13)},
    "h(1, 2) :- _ = min y : { g(1, y) }.": {(1, 2)},
    "h(1, arg_min(x, y)) :- g(x, y).": {(1, 3)},
    "h(x, last(y, y)) :- g(x, y).": {(1, None), (2, 7), (3, 1)},
    "h(x, count_distinct(y)) :- g(x, y).": {(1, 0), (2, 2), (3, 1)},
    "h(count_distinct(x), count_distinct(y)) :- g(x, y).": {(3, 3)},
}


@pytest.mark.parametrize("rule", GROUPS)
def test_aggregates(rule: str):
    text = f".decl g(x: number, y: number?) .decl h(x: number, y: number?)\n{rule}"
    rows: list[tuple[int, int | None]] = [(1, None), (2, 5), (2, None), (2, 7), (3, 1)]
    ws = program(text, g=rows)
    assert set(ws["h"].fetchall()) == GROUPS[rule]
    with ws.transaction() as tx:
        tx.delete("g", [(2, 5), (2, 7), (1, None)])
        tx.insert("g", [(3, None), (4, 4)])
    assert ws.verify() == []


JOINS = {
    "j(c, a) :- customer(c), (order(c, a), a > 10)?.": {(1, 20), (2, None), (3, 30), (4, None)},
    "j(c=c, a=a) :- customer(c=c), (order(c=c, a=a), a > 10)?.": {
        (1, 20), (2, None), (3, 30), (4, None)
    },
    "j(c, coalesce(a, 0)) :- customer(c), (order(c, a))?, c > 2.": {(3, 30), (4, 0)},
    "j(c, 1) :- customer(c), (order(c, a))?, c > 2.": {(3, 1), (4, 1)},
    "j(c, count()) :- customer(c), (order(c, a))?.": {(1, 2), (2, 1), (3, 1), (4, 1)},
    "j(c, count(a)) :- customer(c), (order(c, a))?.": {(1, 2), (2, 1), (3, 1), (4, 0)},
    "j(c, a) :- customer(c), (order(c, a))?, a > 10.": {(1, 20), (3, 30)},
    "j(c, s) :- customer(c), (order(c, a))?, (ship(a, s))?, c > 1.": {
        (2, None), (3, 8), (4, None)
    },
    "j(c, a) :- (order(c, a))?, customer(c), is_null(a).": {(4, None)},
    "j(c, a) :- customer(c), (a = max b : { order(c, b) })?.": {
        (1, 20), (2, 7), (3, 30), (4, None)
    },
    "j(c, a) :- order(c, b), (a = last(d, d) : { order(c, d), d < b })?.": {
        (1, None), (1, 5), (2, None), (3, None)
    },
}  # fmt: skip


@pytest.mark.parametrize("rule", JOINS)
def test_left_joins(rule: str):
    declared = """
    .decl customer(c: number) .decl order(c: number, a: number) .decl ship(a: number, s: number)
    .decl j(c: number, a: number?)
    """
    ws = program(
        declared + rule,
        customer=[(1,), (2,), (3,), (4,)],
        order=[(1, 5), (1, 20), (2, 7), (3, 30)],
        ship=[(30, 8), (5, 9)],
    )
    assert set(ws["j"].fetchall()) == JOINS[rule]
    with ws.transaction() as tx:
        tx.delete("order", [(3, 30), (2, 7)])
        tx.insert("order", [(4, 11)])
    assert ws.verify() == []
    assert str(program(declared + str(ws.rules[0])).rules[0]) == str(ws.rules[0])


def test_left_joins_in_python():
    ws = lftj.connect()
    customer = ws.relation("customer", {"c": int})
    order = ws.relation("order", {"c": int, "a": int})
    c, a = lftj.vars("c a")
    j = ws.view("j", {"c": int, "a": int | None})
    ws.add_rule(j(c, a) <= customer(c) & lftj.optional(order(c, a) & (a > 10)))
    ws.load(customer, [(1,), (2,)])
    ws.load(order, [(1, 20), (2, 5)])
    assert set(ws["j"].fetchall()) == {(1, 20), (2, None)}
    assert set(ws.query(j(c, a) & lftj.fn.is_null(a)).fetchall()) == {(2, None)}


REFUSED = {
    "j(y) :- r(_, y).": ("E134", "column `x` of `j` is int, and may be NULL here"),
    "j(sum(y)) :- r(_, y).": ("E134", "column `x` of `j` is int, and may be NULL here"),
    "j(s) :- s = sum y : { r(_, y) }.": ("E134", "column `x` of `j` is int, and may be NULL here"),
    "j(s) :- s = last(x, y) : { r(x, y) }.": ("E134", "column `x` of `j` is int, and may be NULL"),
    "j(s) :- p(x), (s = max y : { r(x, y) } ; s = 1).": ("E134", "column `x` of `j` is int, and"),
    "j(x) :- r(x, y), choice((y), (x)).": ("E134", "`y` may be NULL, and is chosen by"),
    "j(x) :- p(x), is_null(y).": ("E142", "nothing says which type `y` has"),
    "j(x) :- p(x), (r(x, x))?.": ("E140", "binds no variable of its own"),
    "h(1, -9223372036854775808) :- p(_).": ("E220", "is outside the range of int"),
    "j(x) :- r(x, -9223372036854775808).": ("E220", "is outside the range of int"),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_what_is_refused(rule: str):
    code, message = REFUSED[rule]
    with pytest.raises(lftj.ProgramErrors, match=message) as caught:
        lftj.connect().add_rules(RULES + rule)
    assert caught.value.errors[0].code == code
    assert caught.value.errors[0].hint


def test_rows_are_explained():
    ws = program(RULES + "h(x, sum(y)) :- r(x, y). j(x) :- r(x, y), !s(y), !(y = 7).", **FACTS)
    for name in "hj":
        for row in ws[name].fetchall():
            assert ws.explain(name, row).row == row


@pytest.mark.parametrize("rule", GROUPS)
def test_groups_are_explained(rule: str):
    text = f".decl g(x: number, y: number?) .decl h(x: number, y: number?)\n{rule}"
    ws = program(text, g=[(1, None), (2, 5), (2, None), (2, 7), (3, 1)])
    for row in GROUPS[rule]:
        assert ws.explain("h", row).row == row


# ── schemas that change ───────────────────────────────────────────────────────────────────────────
def altered(rows: list[tuple[Any, ...]], type: Any) -> lftj.Workspace:
    ws = lftj.connect()
    ws.relation("r", {"x": int, "a": type})
    ws.load("r", rows)
    return ws


def test_a_column_becomes_optional():
    ws = altered([(1, 2)], int)
    ws.alter("r", retype={"a": int | None})
    ws.load("r", [(2, None)])
    assert set(ws["r"].fetchall()) == {(1, 2), (2, None)}
    with pytest.raises(lftj.ValueRangeError) as caught:
        altered([(1, LEAST)], int).alter("r", retype={"a": int | None})
    assert caught.value.code == "E220"


def test_a_column_becomes_required():
    ws = altered([(1, 2), (2, None)], int | None)
    with pytest.raises(lftj.DeclarationError, match="is NULL in 1 row") as caught:
        ws.alter("r", retype={"a": int})
    assert caught.value.code == "E172"
    ws.alter("r", retype={"a": int}, compute={"a": "coalesce(a, -1)"})
    assert set(ws["r"].fetchall()) == {(1, 2), (2, -1)}
    assert list(map(str, ws["r"].types)) == ["int", "int"]


def test_optional_columns_are_added_and_computed(tmp_path: Path):
    with lftj.connect(path=tmp_path / "data") as ws:
        ws.relation("r", {"x": int, "a": int | None})
        ws.load("r", [(1, 2), (2, None)])
        ws.alter("r", add={"s": str | None})
        ws.alter("r", add={"n": float | None}, compute={"n": "to_float(a)"})
        expected = {(1, 2, None, 2.0), (2, None, None, None)}
        assert set(ws["r"].fetchall()) == expected
    with lftj.connect(path=tmp_path / "data") as ws:
        assert set(ws["r"].fetchall()) == expected
        assert list(map(str, ws["r"].types)) == ["int", "int?", "str?", "float?"]


# ── other evaluators ──────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("by", ["substitution", "sql-duckdb"])
@pytest.mark.parametrize("rule", [each for each in MEANINGS if "-92" not in each])
def test_what_others_say_of_a_rule(rule: str, by: str):
    facts = {**FACTS, "p": [(7,)]}
    assert set(lftj.evaluate(RULES + rule, facts, by=by)[rule[0]].fetchall()) == {
        row for row in MEANINGS[rule] if LEAST not in row
    }


@pytest.mark.parametrize("by", ["substitution", "sql-duckdb"])
@pytest.mark.parametrize("rule", GROUPS)
def test_what_others_say_of_a_group(rule: str, by: str):
    text = f".decl g(x: number, y: number?) .decl h(x: number, y: number?)\n{rule}"
    rows: list[tuple[int, int | None]] = [(1, None), (2, 5), (2, None), (2, 7), (3, 1)]
    assert set(lftj.evaluate(text, {"g": rows}, by=by)["h"].fetchall()) == GROUPS[rule]


# ── changes from elsewhere ────────────────────────────────────────────────────────────────────────
def test_events_of_another_database_have_null():
    ws = lftj.connect()
    ws.relation("r", {"id": int, "a": int | None, "s": str | None}, key="id")
    first, second = {"id": 1, "a": None, "s": "x"}, {"id": 1, "a": 3, "s": None}
    other = {"id": 2, "a": None, "s": None}
    with ws.transaction() as tx:
        tx.apply_changes("r", [{"op": "c", "before": None, "after": first}])
        tx.apply_changes("r", [{"op": "u", "before": first, "after": second}])
        tx.apply_changes("r", [{"op": "c", "before": None, "after": other}])
    assert set(ws["r"].fetchall()) == {(1, 3, None), (2, None, None)}
    with ws.transaction() as tx:
        tx.upsert("r", [(1, None, None), (2, None, "y")])
    assert set(ws["r"].fetchall()) == {(1, None, None), (2, None, "y")}


def test_one_group_of_null_is_one_entry_of_a_change_set():
    ws = program(
        ".decl r(x: number, y: number?) .decl h(y: number?, n: number) h(y, count()) :- r(_, y).",
        r=[(1, None)],
    )
    seen: list[Any] = []
    ws.subscribe("h", lambda change: seen.extend(row[:3] for row in change.fetchall()))
    ws.load("r", [(2, None), (3, None)])
    assert seen == [(None, 1, -1), (None, 3, 1)]
