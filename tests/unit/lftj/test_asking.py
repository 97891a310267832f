"""`lftj query`, `why`, `why-not`, `log`, `diff`, and the forms in which rows are printed."""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lftj
from lftj.cli import main, output

LONG = "a text that is longer than what a terminal shows of it, whatever it is about"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A workspace at a path, with a past and a branch."""
    made = tmp_path / "w.lftj"
    with lftj.connect(made, keep="all", durability="off") as ws:
        ws.add_rules(
            ".decl grant(who: symbol, what: symbol, n: number)\n.decl may(who: symbol)\n"
            "may(w) :- grant(w, _, n), n > 1."
        )
        ws.load("grant", [("ann", "x\ty", 1), ("bob", LONG, 2)])
        ws.load("grant", [("cyd", "é", 3)])
        ws.branch("trial").load("grant", [("dev", "z", 4)])
    return str(made)


def run(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    return status, *capsys.readouterr()


def answers(capsys: pytest.CaptureFixture, *arguments: str) -> str:
    status, out, err = run(capsys, *arguments)
    assert (status, err) == (0, "")
    return out


def test_a_pipe_gets_all_rows_and_whole_strings(path: str, capsys: pytest.CaptureFixture) -> None:
    out = answers(capsys, "query", path, "grant(who, what, n)")
    assert out.splitlines()[0] == "answers: 3 rows, version 3"
    assert LONG in out
    assert "x\\ty" in out
    assert answers(capsys, "query", path, "grant(who, _, _)", "--rows", "1").endswith("… 2 more\n")
    assert answers(capsys, "query", path, 'may("bob")').strip().endswith("(true)")


def test_null_is_printed_as_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    program = tmp_path / "p.dl"
    program.write_text('.decl r(x: number, s: symbol?) r(1, s) :- is_null(s). r(2, "b").')
    out = answers(capsys, "query", str(program), "r(x, s)", "--format", "csv", "--null", "NA")
    assert out == 'x,s\n1,NA\n2,"b"\n'


def test_rows_are_printed_for_other_programs(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    rows = [("ann", "x\ty", 1), ("bob", LONG, 2), ("cyd", "é", 3)]
    question = ("query", path, "grant(who, what, n)")
    found = list(csv.reader(io.StringIO(answers(capsys, *question, "--format", "csv"))))
    assert [(who, what, int(n)) for who, what, n in found[1:]] == rows
    for form in ("json", "jsonl"):
        out = answers(capsys, *question, "--format", form)
        loaded = json.loads(out) if form == "json" else list(map(json.loads, out.splitlines()))
        assert [tuple(each.values()) for each in loaded] == rows
    assert answers(capsys, "query", path, 'may("zed")', "--format", "json") == "false\n"
    assert answers(capsys, "query", path, 'grant("zed", x, y)', "--format", "json") == "[]\n"
    answers(capsys, *question, "-o", str(tmp_path / "rows.parquet"))
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 3
    for ending in ("csv", "jsonl"):
        answers(capsys, *question, "-o", str(tmp_path / f"rows.{ending}"))
        assert LONG in (tmp_path / f"rows.{ending}").read_text(encoding="utf-8")


def test_values_of_parameters_have_the_types_of_their_columns(
    path: str, capsys: pytest.CaptureFixture
) -> None:
    asked = ("query", path, "grant(?, x, ?)")
    assert "1 row," in answers(capsys, *asked, "bob", "2")
    assert "0 rows," in answers(capsys, *asked, 'bob", _, _); grant("ann', "2")
    status, _, err = run(capsys, *asked, "bob", "two")
    assert (status, "expected int, found 'two'" in err) == (1, True)
    status, _, err = run(capsys, *asked, "bob")
    assert (status, "the question has 2 parameters, found 1 value" in err) == (1, True)
    typed = "x = as(?, float), y = as(?, unsigned), x > 1.0"
    assert "1 row," in answers(capsys, "query", path, typed, "1.5", "7")


def test_versions_and_branches_are_asked(path: str, capsys: pytest.CaptureFixture) -> None:
    asked = ("query", path, "may(w)", "--format", "csv")
    assert answers(capsys, *asked, "--at", "2") == 'w\n"bob"\n'
    assert answers(capsys, *asked, "--branch", "trial") == 'w\n"bob"\n"cyd"\n"dev"\n'
    assert answers(capsys, "diff", path, "2", "3") == "grant +1\nmay +1\n"
    assert answers(capsys, "diff", path, "main", "trial", "may", "--format", "csv") == (
        'who,__diff__,__version__\n"dev",1,4\n'
    )
    log = answers(capsys, "log", path, "--format", "jsonl").splitlines()
    assert [json.loads(each)["rows"] for each in log][-1] == "grant +1, may +1"
    for arguments in (
        ("query", path, "may(w)", "--at", "99"),
        ("query", path, "may(w)", "--at", "then"),
        ("query", path, "may(w)", "--branch", "nope"),
        ("query", path, "nope(w)"),
        ("diff", path, "main", "nope"),
        ("diff", path, "2", "3", "nope"),
        ("diff", path, "2", "3", "--format", "csv"),
        ("query", f"{path}x", "may(w)"),
        ("query", path, "may(w)", "-o", "rows.xyz"),
        ("query", path, 'may("bob")', "--format", "parquet"),
    ):
        status, out, err = run(capsys, *arguments)
        assert (status, out) == (1, ""), arguments
        assert "help: " in err, arguments
    assert run(capsys, "query", path)[0] == run(capsys, "query", path, "x", "--format", "x")[0] == 2


def test_reasons_of_one_row(path: str, capsys: pytest.CaptureFixture) -> None:
    assert "may(w) :- grant(w, _, n), n > 1." in answers(capsys, "why", path, "may('bob').")
    assert "fails" in answers(capsys, "why-not", path, "may('ann')")
    status, _, err = run(capsys, "why", path, 'may("ann")')
    assert (status, f"write lftj why-not {path} 'may(\"ann\")'" in err) == (1, True)
    status, _, err = run(capsys, "why-not", path, 'may("bob")')
    assert (status, f"write lftj why {path} " in err) == (1, True)


def test_a_program_over_its_facts_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "p.dl").write_text(
        ".decl edge(x: number, y: number)\n.input edge\n.decl two(x: number, z: number)\n"
        "two(x, z) :- edge(x, y), edge(y, z).\n"
    )
    of = (str(tmp_path / "p.dl"), "-F", str(tmp_path))
    assert answers(capsys, "query", *of, "two(x, z)", "--format", "csv") == "x,z\n1,3\n"
    assert "edge(2, 3)" in answers(capsys, "why", *of, "two(1, 3)")


def test_a_table_is_as_wide_as_the_terminal() -> None:
    with lftj.connect() as ws:
        columns = {"name": str, "text": str, "n": int} | {f"c{place}": int for place in range(12)}
        ws.load(
            ws.relation("r", columns), [("一二三", LONG, 7, *range(12)), ("x", "y", 8, *range(12))]
        )
        for width in (20, 40, 60, 100, 300):
            title, *lines = output.lines(ws["r"], width=width)
            assert title == "r: 2 rows, version 1"
            assert all(output._room(line) <= width for line in lines), width
            if width >= 60:
                assert all("7" in line or "8" in line for line in lines[2:])
        lines = list(output.lines(ws["r"], width=60))
        assert "more columns" in lines[1]
        assert "…" in lines[4]
        assert list(output.lines(ws["r"], rows=1, width=60))[-1] == "… 1 more"


def test_every_type_has_a_form_in_json() -> None:
    with lftj.connect() as ws:
        moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
        columns = {
            "d": datetime.date, "t": datetime.datetime, "m": "decimal(18,2)", "f": float, "b": bool,
        }  # fmt: skip
        row = (moment.date(), moment, Decimal("1234567890123456.70"), float("inf"), True)
        ws.load(ws.relation("r", columns), [row])
        (line,) = output.lines(ws["r"], "jsonl")
        assert json.loads(line) == {
            "d": "2026-01-02",
            "t": "2026-01-02T03:04:05",
            "m": "1234567890123456.70",
            "f": "inf",
            "b": True,
        }
