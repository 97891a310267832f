"""`lftj shell` from a pipe."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import lftj
from lftj.cli import main
from lftj.cli.statements import is_complete, statements

SCRIPT = """\
.decl edge(x: number, y: number)
.decl reach(x: number,
            y: number)
edge(1, 2). edge(2, 3).
reach(x, y) :- edge(x, y).
reach(x, z) :-
  reach(x, y), edge(y, z).  // the closure
? reach(1, y).
.changes reach
"""


def piped(
    text: str, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    status = main(["shell", *arguments])
    return status, *capsys.readouterr()


def test_a_script_is_run_and_its_workspace_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    path = str(tmp_path / "w.lftj")
    status, out, err = piped(SCRIPT, [path], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "answers: 2 rows" in out
    assert "1    3         1" in out
    (tmp_path / "more.csv").write_text("x,y\n3,4\n")
    more = f".load edge {tmp_path}/more.csv\n.relations\n.rules\n.plan 2\n.profile\n.quit\n? no.\n"
    status, out, err = piped(more, [path], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "reach: 6 rows" in out
    assert "2  reach(x, z) :- reach(x, y), edge(y, z)." in out
    with lftj.connect(path, read_only=True) as reader:
        assert (1, 4) in reader["reach"].fetchall()


def test_errors_have_their_place_and_the_next_statement_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    bad = "reach(x :- edge(x, y).\n.nope\n.plan 7\n.load edge nowhere.csv\n? edge(1, y).\n"
    status, out, err = piped(SCRIPT + bad, [], monkeypatch, capsys)
    assert status == 1
    assert "^" in err
    assert "there is no command .nope" in err
    assert "there is no rule '7'" in err
    assert "nowhere.csv" in err
    assert "answers: 1 row," in out


def test_statements_end_where_they_are_complete() -> None:
    found = list(statements(SCRIPT.splitlines()))
    assert len(found) == 7
    assert found[4] == "reach(x, z) :-\n  reach(x, y), edge(y, z).  // the closure\n"
    assert not is_complete('a("x.')
    assert not is_complete("a(x) :-")
    assert is_complete('a("(").')
    assert is_complete("// nothing")
    assert not is_complete(".decl a(")


def test_a_script_that_is_piped_again_says_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    path = str(tmp_path / "w.lftj")
    versions: list[int] = []
    for _ in range(2):
        assert piped(SCRIPT, [path], monkeypatch, capsys)[::2] == (0, "")
        with lftj.connect(path, read_only=True) as reader:
            assert len(reader.rules) == 2
            versions.append(reader.version)
    assert versions[0] == versions[1]


def test_a_file_is_a_program_of_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "a.dl"
    file.write_text(SCRIPT.partition("? reach")[0])
    _, out, err = piped(f".program {file} paths\n.program\n", [], monkeypatch, capsys)
    assert err == ""
    assert "+ reach(x, y) :- edge(x, y).\n" in out
    assert "version 1: edge, reach changed\npaths: 7 lines\n" in out
