"""Unsigned columns: nothing below 0 gets into one, by rules or by data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lftj

DECLARED = (
    ".decl a(x: unsigned) .decl n(x: number) .decl f(x: float) .decl s(x: symbol) .decl d(x: "
    "unsigned)\n"
)


def _workspace(text: str) -> lftj.Workspace:
    ws = lftj.connect()
    ws.add_rules(DECLARED + text)
    return ws


@pytest.mark.parametrize(
    "rule",
    [
        "d(x - y) :- a(x), a(y).",
        "d(x - 4) :- a(x).",
        "d(y) :- a(x), y = x - 4.",
        "d(x) :- a(x), x - 4u < 9u.",
        "d(-x) :- a(x).",
        "d(bnot x) :- a(x).",
        "d(x bshl 63) :- a(x).",
        "d(x * 9223372036854775807) :- a(x).",
        "d(to_unsigned(x)) :- n(x).",
        "d(as(x, unsigned)) :- n(x).",
        "d(itou(x)) :- n(x).",
        "d(ftou(x)) :- f(x).",
        "d(to_unsigned(x)) :- s(x).",
        "d(s) :- s = sum y : { a(x), y = x - 4 }.",
        "d(sum(x - 4)) :- a(x).",
        "d(m) :- m = max y : { n(x), y = to_unsigned(x) }.",
        "d(sum(x * 9223372036854775807)) :- a(x).",
        "d(x) :- a(x), !( a(y), y - 4 = x ).",
    ],
)
def test_a_result_below_zero_is_an_overflow(rule: str):
    ws = _workspace('a(3). a(5). n(-1). f(-1.5). s("-3").')
    with pytest.raises(lftj.ValueRangeError) as caught:
        ws.add_rules(rule)
    assert caught.value.code == "E220"
    assert ws["d"].fetchall() == []


@pytest.mark.parametrize(
    ("rule", "rows"),
    [
        ("d(x - y) :- a(x), a(y), x >= y.", [0, 2]),
        ("d(x / 2 + x % 2) :- a(x).", [2, 3]),
        ("d(x bxor 1) :- a(x).", [2, 4]),
        ("d(lnot x) :- a(x).", [0]),
        ("d(x bshl 2) :- a(x).", [12, 20]),
        ("d(min(x, 4)) :- a(x).", [3, 4]),
        ("d(s) :- s = sum x : { a(x) }.", [8]),
        ("d(max(x)) :- a(x).", [5]),
        ("d(m) :- a(y), m = max x : { a(x), x < y }.", [3]),
        ("d(m) :- m = max x : { a(x), x > 100 }.", []),
        ("d(s) :- s = sum x : { a(x), x > 100 }.", [0]),
        ("d(to_unsigned(x + 1)) :- n(x).", [0]),
        ("d(ftou(x + 4.2)) :- f(x).", [2]),
        ("d(0xffu) :- true.", [255]),
        ("d(x) :- a(x), to_number(x) - 4 < 0.", [3]),
        ("d(min(x)) :- a(x). d(min(x + 1)) :- d(x), x < 2.", [3]),
    ],
)
def test_what_stays_in_range(rule: str, rows: list[int]):
    ws = _workspace("a(3). a(5). n(-1). f(-1.5).")
    ws.add_rules(rule)
    assert sorted(x for (x,) in ws["d"].fetchall()) == rows


FRAMES = {
    "tuples": [(1,), (-2,)],
    "odd tuples": [(1,), (np.int64(-2),)],
    "arrow": pa.table({"x": pa.array([1, -2], pa.int8())}),
    "arrow with NULL": pa.table({"x": pa.array([None, 1, -2], pa.int64())}),
    "pandas": pd.DataFrame({"x": [1, -2]}),
    "objects": pd.DataFrame({"x": pd.Series([1, -2], dtype=object)}),
    "polars": pl.DataFrame({"x": [1, -2]}),
    "numpy": np.array([[1], [-2]]),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_frames_with_negative_numbers_are_refused(frame: object):
    ws = lftj.connect()
    ws.relation("a", {"x": "unsigned"})
    with pytest.raises(lftj.ValueRangeError, match=r"-2 is outside the range of unsigned, 0 …"):
        ws.load("a", frame, nulls="drop")
    assert ws["a"].fetchall() == []


def test_files_and_results_with_negative_numbers_are_refused(tmp_path: Path):
    ws = _workspace("n(-2). n(7).")
    for name, text in (("a.facts", "1\n-2\n"), ("b.csv", "x\n1\n-2\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(
        lftj.ValueRangeError, match=r"line 2, .*-2 is outside the range of unsigned"
    ):
        ws.load("a", tmp_path / "a.facts", facts={})
    with pytest.raises(
        lftj.ValueRangeError, match=r"line 3, .*-2 is outside the range of unsigned"
    ):
        ws.load("a", tmp_path / "b.csv")
    with pytest.raises(lftj.ValueRangeError, match="-2 is outside the range of unsigned"):
        ws.load("a", ws["n"])
    ws.load("a", ws.query("n(x), x > 0"))
    assert ws["a"].fetchall() == [(7,)]


def test_unsigned_arrow_columns_are_loaded_and_given_as_integers():
    ws = lftj.connect()
    ws.relation("a", {"x": lftj.UNSIGNED})
    ws.load("a", pa.table({"x": pa.array([1, 2**63 - 1], pa.uint64())}))
    assert ws["a"].arrow().schema.field("x").type == pa.int64()
    with pytest.raises(lftj.ValueRangeError, match="outside the range of unsigned"):
        ws.load("a", pa.table({"x": pa.array([2**63], pa.uint64())}))


def test_a_view_follows_changes_and_a_commit_that_goes_below_zero_is_undone():
    ws = _workspace("a(5). a(7). d(x - 5) :- a(x).")
    with pytest.raises(lftj.ValueRangeError):
        ws.load("a", [(4,)])
    ws.load("a", [(9,)])
    assert sorted(ws["d"].fetchall()) == [(0,), (2,), (4,)]
