"""`%load_ext lftj` in a shell of IPython; word of long work in notebooks and in the log."""

from __future__ import annotations

import logging
import re
import sys
import types
from typing import Any

import pytest

import lftj
from lftj.engine.calls import progress

CELL = """%%datalog
.decl edge(x: number, y: number)
.decl reach(x: number, y: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
edge(1, 2). edge(2, 3).
"""
GRAPH = CELL.removeprefix("%%datalog\n")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Any:
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    made: Any = InteractiveShell()
    made.run_line_magic("load_ext", "lftj")
    yield made
    made.history_manager.end_session()


def ran(shell: Any, cell: str) -> Any:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_a_cell_adds_rules_and_facts_and_asks(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(shell, CELL) is None
    assert "version 1: edge +2, reach +3\n" in capsys.readouterr().out
    assert isinstance(shell.user_ns["ws"], lftj.Workspace)
    answer = ran(shell, "%%datalog\nedge(3, 4).\n? reach(1, y).")
    assert sorted(answer.fetchall()) == [(2,), (3,), (4,)]
    assert "reach +3" in capsys.readouterr().out
    assert ran(shell, "rows = %datalog reach(2, y)\nsorted(rows.fetchall())") == [(3,), (4,)]


def test_a_variable_is_named_and_of_several_questions_all_are_shown(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["mine"] = mine = lftj.connect()
    ran(shell, CELL.replace("%%datalog", "%%datalog mine"))
    assert len(mine["reach"]) == 3
    assert "ws" not in shell.user_ns
    last = ran(shell, "%%datalog mine\n? edge(1, y).\n? edge(2, y).")
    assert last.fetchall() == [(3,)]
    assert "answers: 1 row" in capsys.readouterr().out


def test_an_error_has_the_line_of_the_cell_and_nothing_has_happened(shell: Any) -> None:
    ran(shell, CELL)
    done = shell.run_cell("%%datalog\n? edge(x, _).\nedge(7, 8).\nreach(x) :- edge(x, _).\n")
    assert isinstance(done.error_in_exec, lftj.LftjError)
    assert "<cell>:3:1" in str(done.error_in_exec)
    assert len(shell.user_ns["ws"]["edge"]) == 2
    shell.user_ns["other"] = 5
    for line, message in (("other", "holds a int, no workspace"), ("a-b", "is no variable")):
        done = shell.run_cell(f"%%datalog {line}\nedge(1, 1).")
        assert message in str(done.error_in_exec)


def test_a_notebook_is_told_of_long_work_and_not_of_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    lftj.connect().add_rules(GRAPH)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    lftj.connect().add_rules(GRAPH)
    assert "lftj: evaluating reach: stratum 1 of 1 …\n" in capsys.readouterr().err
    rules = ".decl e(x: number, y: number) .decl s(x: number, y: number) s(x, y) :- e(x, y)."
    ws = lftj.connect()
    ws.add_rules(f"{rules} s(x, z) :- s(y, x), s(y, z), x < z. s(x, y) :- e(x, z), s(z, y).")
    ws.load("e", [(x, (7 * x + 3 * step) % 600) for x in range(600) for step in (1, 2)])
    assert re.search(r"lftj: iteration 2: s \+[\d,]+ …\n", capsys.readouterr().err)


def test_logging_hears_of_work_and_commits(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    ws = lftj.connect()
    with caplog.at_level(logging.DEBUG, "lftj"):
        ws.add_rules(GRAPH)
    heard = [(record.name, record.getMessage()) for record in caplog.records]
    assert ("lftj.commits", "version 1: edge, reach") in heard
    assert ("lftj.progress", "evaluating reach: stratum 1 of 1") in heard


EDITED = """%%datalog
.decl big(x: number)
big(x) :- edge(x, y), y > 2.
"""


def test_a_cell_that_is_run_again_changes_nothing_and_an_edited_one_takes_back(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(shell, CELL)
    for _ in range(2):
        ran(shell, EDITED)
    ws = shell.user_ns["ws"]
    assert (len(ws.rules), ws.version) == (3, 2)
    capsys.readouterr()
    ran(shell, EDITED.replace("y > 2", "y > 1"))
    assert capsys.readouterr().out == "version 3: big +1, rules +1 −1\n"
    assert (len(ws.rules), sorted(ws["big"])) == (3, [(1,), (2,)])
    ran(shell, "%%datalog\nedge(5, 6).")
    ran(shell, "%%datalog\nedge(6, 7).")
    assert len(ws["edge"]) == 4, "cells of a terminal that declare nothing are known by their text"


def test_a_cell_of_a_notebook_is_known_by_its_number_and_any_by_its_name(shell: Any) -> None:
    ran(shell, CELL)
    ws = shell.user_ns["ws"]
    for rule in ("reach(x, x) :- edge(x, _).", "reach(y, y) :- edge(_, y)."):
        shell.run_cell(f"%%datalog\n{rule}", cell_id="a1").raise_error()
        ran(shell, f"%%datalog ws mine\n// mine\n{rule.replace('edge', 'reach')}")
    assert (len(ws.rules), set(ws.programs)) == (4, {"cell edge, reach", "cell a1", "mine"})
    shell.run_cell("%%datalog\n? reach(1, y).", cell_id="a1").raise_error()
    assert (len(ws.rules), set(ws.programs)) == (3, {"cell edge, reach", "mine"})


def test_an_edited_declaration_alters_and_drops_where_the_cell_says_so(shell: Any) -> None:
    first = CELL.replace("%%datalog", "%%datalog ws graph")
    ran(shell, first)
    ws = shell.user_ns["ws"]
    ws.load("edge", [(7, 8)])
    edited = first.replace("edge(x: number, y: number)", "edge(x: number, y: number, z: number?)")
    edited = edited.replace("edge(x, y)", "edge(x, y, _)").replace("edge(y, z)", "edge(y, z, _)")
    edited = edited.replace("edge(1, 2). edge(2, 3).", "")
    with pytest.raises(lftj.LftjError, match=r"(?s)E327.*say --alter, which does"):
        ran(shell, edited)
    ran(shell, edited.replace("%%datalog", "%%datalog --alter"))
    assert ws["edge"].fetchall() == [(7, 8, None)]
    with pytest.raises(lftj.LftjError, match="E327"):
        ran(shell, "%%datalog ws graph\n.decl reach(x: number, y: number)")
    ran(shell, "%%datalog ws graph --drop\n.decl reach(x: number, y: number)")
    assert "edge" not in ws.relations
