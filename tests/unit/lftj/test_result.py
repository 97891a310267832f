from __future__ import annotations

import copy
import datetime
import gzip
import io
import pickle

import numpy as np
import pytest

import lftj
from lftj.engine.versions.result import Result
from lftj.types import BOOL, DATE, FLOAT, INT, STR
from lftj.types.dictionary import Dictionary

COLUMNS = (("id", INT), ("name", STR), ("x", FLOAT))
ROWS = [(1, "one", 0.5), (2, "two", -0.5), (3, "drei\tthree", 1e300)]


@pytest.fixture
def result() -> Result:
    return Result.of_rows(COLUMNS, ROWS, version=7, name="numbers")


def test_rows_in_every_form(result):
    assert result.fetchall() == ROWS
    assert list(result) == ROWS
    assert result.fetchone() == ROWS[0]
    assert result.arrow().column_names == ["id", "name", "x"]
    assert result.df().itertuples(index=False, name=None).__next__() == ROWS[0]
    assert result.pl().rows() == ROWS
    assert len(result) == 3
    assert (result.columns, result.types, result.version) == (
        ("id", "name", "x"),
        (INT, STR, FLOAT),
        7,
    )


def test_an_empty_result_keeps_its_types():
    empty = Result.of_rows((("d", DATE), ("b", BOOL)), [], version=1, name="none")
    assert [str(field.type) for field in empty.arrow().schema] == ["date32[day]", "bool"]
    assert empty.fetchone() is None
    assert not empty
    assert empty.fetchall() == []


def test_a_result_without_columns_is_an_answer():
    yes = Result(
        (), lambda: [np.zeros(1, dtype=np.int64)], 1, Dictionary(), version=2, name="answers"
    )
    no = Result(
        (), lambda: [np.zeros(0, dtype=np.int64)], 0, Dictionary(), version=2, name="answers"
    )
    assert yes
    assert yes.fetchall() == [()]
    assert repr(yes) == "answers: 1 row, version 2 (true)"
    assert not no
    assert repr(no) == "answers: 0 rows, version 2 (false)"


def test_rows_are_read_once_and_late():
    calls = []

    def read():
        calls.append(1)
        return [np.array([5], dtype=np.int64)]

    result = Result((("n", INT),), read, 1, Dictionary(), version=1)
    assert len(result) == 1
    assert calls == []
    assert result.fetchall() == result.fetchall() == [(5,)]
    assert calls == [1]


def test_repr_is_a_table(result):
    assert repr(result).splitlines() == [
        "numbers: 3 rows, version 7",
        " id  name              x",
        "int  str           float",
        "  1  one             0.5",
        "  2  two            -0.5",
        "  3  drei\\tthree  1e+300",
    ]


def test_repr_of_many_rows_shows_the_first_ten():
    rows = [(i, datetime.date(2013, 1, 1) + datetime.timedelta(i)) for i in range(1234)]
    shown = repr(
        Result.of_rows((("n", INT), ("d", DATE)), rows, version=1, name="days")
    ).splitlines()
    assert shown[0] == "days: 1,234 rows, version 1"
    assert shown[3] == "  0  2013-01-01"
    assert len(shown) == 14
    assert shown[-1] == "… 1,224 more"


def test_long_strings_are_cut_in_repr_only():
    result = Result.of_rows((("s", STR),), [("x" * 100,)], version=1, name="long")
    assert repr(result).endswith("x…")
    assert result.fetchone() == ("x" * 100,)


def test_facts_are_written_in_order_of_value_and_limited():
    result = Result.of_rows(
        (("s", STR), ("n", INT)), [("b", 1), ("a", 2), ("c", 3)], version=1, name="r"
    )
    out = io.StringIO()
    result.write_facts(out, {}, limit=2)
    assert out.getvalue() == "a\t2\nb\t1\n"


def test_notebooks_show_a_table_and_text_as_text():
    ws = lftj.connect()
    ws.load(ws.relation("tag", {"x": int, "text": str}), [(i, "<b>&") for i in range(12)])
    page = ws["tag"]._repr_html_()
    assert page.startswith(
        "<p>tag: 12 rows, version 1</p>\n<table>\n<tr><th>x<br><small>int</small></th><th>text<br>"
    )
    assert page.count("<tr><td>") == 10
    assert "<td>&lt;b&gt;&amp;</td>" in page
    assert page.endswith("<p>… 2 more</p>")
    assert ws.query("tag(1, _)")._repr_html_().startswith("<p>answers: 1 row, version 1 (true)</p>")


def test_a_workspace_is_no_sequence_and_is_not_copied():
    ws = lftj.connect()
    ws.relation("tag", {"x": int})
    assert ws._ipython_key_completions_() == ws.snapshot()._ipython_key_completions_() == ["tag"]
    for readable in (ws, ws.snapshot()):
        with pytest.raises(TypeError, match="not iterable"):
            list(readable)
    for hand_on in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match=r"hand on what it holds, ws\[name\].arrow\(\)"):
            hand_on(ws)


@pytest.mark.parametrize("hand_on", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_is_alive_in_this_process_is_not_copied(hand_on):
    ws = lftj.connect()
    tag = ws.relation("tag", {"x": int})
    with (
        ws.subscribe("tag", print) as subscription,
        ws.transaction() as tx,
        (limits := ws.limits(work=10**9)),
    ):
        tx.insert(tag, [(1,)])
        for alive, instead in (
            (ws, r"ws\[name\].arrow\(\)"),
            (ws.snapshot(), r"snapshot\[name\]"),
            (tx, r"tx.changes\(name\)"),
            (subscription, "subscribe anew"),
            (limits, r"ws.limits"),
        ):
            with pytest.raises(
                lftj.CopyError, match=rf"E343.*is not copied or pickled\n.*{instead}"
            ) as caught:
                hand_on(alive)
            assert isinstance(caught.value, TypeError)
    assert ws["tag"].fetchall() == [(1,)]


def test_results_are_pickled_and_copied_with_their_rows_and_no_other_strings():
    ws = lftj.connect()
    ws.load(ws.relation("tag", {"x": int, "text": str}), [(1, "a"), (2, "é")])
    ws.load(ws.relation("other", {"text": str}), [("secret",)])
    ws.load(ws.relation("yes", {}), [()])
    other = lftj.connect()
    other.load(other.relation("tag", {"x": int, "text": str}), [(9, "z")])
    for hand_on in (copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))):
        for question in ("tag(x, s)", 'tag(x, "a")', 'tag(1, "a")'):
            result = ws.query(question)
            again = hand_on(ws.query(question))
            assert (again.fetchall(), repr(again), again.types) == (
                result.fetchall(),
                repr(result),
                result.types,
            )
        assert hand_on(ws["yes"]).fetchall() == [()]
        other.load("tag", hand_on(ws["tag"]))
        assert sorted(other["tag"]) == [(1, "a"), (2, "é"), (9, "z")]
    assert b"secret" not in pickle.dumps(ws["tag"])


def test_facts_are_written_without_parameters(tmp_path):
    ws = lftj.connect()
    ws.load(ws.relation("tag", {"x": int, "text": str}), [(1, "a")])
    ws["tag"].write_facts(tmp_path / "tag.facts")
    assert (tmp_path / "tag.facts").read_text() == "1\ta\n"
    ws["tag"].write_facts(tmp_path / "tag.csv.gz", {})
    assert gzip.decompress((tmp_path / "tag.csv.gz").read_bytes()) == b"1\ta\n"
    binary = io.BytesIO()
    ws["tag"].write_facts(binary, limit=1)
    assert binary.getvalue() == b"1\ta\n"
    packed = io.BytesIO()
    ws["tag"].write_facts(packed, {"compress": "true"})
    assert gzip.decompress(packed.getvalue()) == b"1\ta\n"
    for destination, words in (
        (None, "None is no file to write to"),
        ("s3://b/x.csv", "is an address"),
        ("a\0", "is not the path of a file"),
    ):
        with pytest.raises(lftj.FrameError, match=words):
            ws["tag"].write_facts(destination)
    for limit in (-1, "1"):
        with pytest.raises(lftj.FrameError, match="limit is a number of rows of at least 0"):
            ws["tag"].write_facts(io.StringIO(), limit=limit)
    with pytest.raises(
        lftj.FrameError, match=r"facts are text, and tag\.parquet is named as a table"
    ):
        ws["tag"].write_facts(tmp_path / "tag.parquet")


def test_the_first_rows_and_rows_in_order_are_results(result):
    assert result.sort("x").fetchall() == [ROWS[1], ROWS[0], ROWS[2]]
    assert result.sort("name", descending=True).fetchall() == [ROWS[1], ROWS[0], ROWS[2]]
    assert result.sort().fetchall() == ROWS
    assert result.sort("x", descending=True).head(2).fetchall() == [ROWS[2], ROWS[0]]
    assert result.head(0).fetchall() == []
    assert len(result.head(7)) == 3
    assert (result.head(1).columns, result.head(1).version) == (("id", "name", "x"), 7)
    assert pickle.loads(pickle.dumps(result.sort("x").head(1))).fetchall() == [ROWS[1]]
    assert result.fetchall() == ROWS


def test_equal_values_are_ordered_by_the_other_columns():
    rows = [(1, "b"), (2, "a"), (1, "a"), (2, "\uffff"), (2, "😀")]
    unordered = Result.of_rows((("n", INT), ("s", STR)), rows, version=1, name="pairs")
    ordered = [(1, "a"), (1, "b"), (2, "a"), (2, "\uffff"), (2, "😀")]
    assert unordered.sort("n").fetchall() == ordered
    assert unordered.sort("n", descending=True).fetchall() == ordered[::-1]
    assert unordered.sort("s").fetchall() == sorted(rows, key=lambda row: (row[1], row[0]))


def test_rows_by_name(result):
    assert result.to_dicts()[1] == {"id": 2, "name": "two", "x": -0.5}
    with lftj.connect() as workspace:
        workspace.relation("flag", {})
        workspace.load("flag", [()])
        assert workspace["flag"].to_dicts() == [{}]
        assert workspace["flag"].sort().head(3).fetchall() == [()]


@pytest.mark.parametrize("rows", [-1, True, 1.5, "3"])
def test_no_number_of_rows_is_refused(result, rows):
    with pytest.raises(lftj.DeclarationError, match="head takes a number of rows"):
        result.head(rows)
    with pytest.raises(lftj.DeclarationError, match="numbers has no column 'y'"):
        result.sort("y")


def test_columns_are_sorted_each_in_its_direction() -> None:
    workspace = lftj.connect()
    workspace.relation("r", {"k": str, "v": int})
    workspace.load("r", [("a", 1), ("a", 2), ("b", 1), ("b", 3)])
    found = workspace["r"].sort("k", "v", descending=[False, True]).fetchall()
    assert found == [("a", 2), ("a", 1), ("b", 3), ("b", 1)]
    assert workspace["r"].sort("k", descending=[True]).head(1).fetchall() == [("b", 1)]
    with pytest.raises(lftj.DeclarationError, match="2 directions for columns: k"):
        workspace["r"].sort("k", descending=[True, False])
