"""`lftj shell` from a pipe."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

import lftj
from lftj.cli import main
from lftj.cli.shell import COMMANDS, Shell
from lftj.cli.shell.completing import Completion
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


def test_a_question_may_be_written_as_in_prolog(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    status, out, err = piped(SCRIPT.replace("? reach", "?- reach"), [], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "answers: 2 rows" in out


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


ROADS = SCRIPT.partition("? reach")[0]


def of(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, before: str = ROADS
) -> str:
    """Output of statements that all succeed, behind others."""
    status, out, err = piped(before + text, [], monkeypatch, capsys)
    assert (status, err) == (0, "")
    return out


def test_consumers_are_listed_read_and_acknowledged(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    path = [str(tmp_path / "w.lftj")]
    script = (
        ".consumers\n.consume mailer edge\n+edge(3, 9).\n+edge(3, 10).\n.consume mailer\n"
        ".consumers\n.begin\n+edge(4, 4).\n.ack mailer\n.commit\n.consumers\n"
    )
    start = ".decl edge(x: number, y: number)\nedge(1, 2).\n"
    status, out, err = piped(start + script, path, monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "  3    9         1            3\n" in out
    assert "  3   10         1            4\n" in out
    assert "mailer of edge: acknowledged up to version 2, 2 behind\n" in out
    assert out.endswith("mailer of edge: acknowledged up to version 4, 1 behind\n")
    script = ".consume mailer\n.consume mailer\n.ack mailer 5\n.consumers\n.drop-consumer mailer\n"
    status, out, err = piped(script + ".consumers\n", path, monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert out.count("  4    4         1            5\n") == 2
    said = "mailer: acknowledged up to version 5\nmailer of edge: acknowledged up to version 5\n"
    assert out.endswith(said)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (".ack mailer\n", "there is no consumer 'mailer'"),
        (".consume mailer\n", "`.consume NAME RELATION` begins one"),
        (".consume m edge\n.ack m 9\n", "consumer 'm' was given changes up to version"),
        (".consume m edge\n.consume m reach\n", "consumer 'm' reads `edge`, not `reach`"),
        (".consume m edge\n.ack m soon\n", "'soon' is no whole number"),
        (".begin\n.consume m edge\n", "what a consumer reads comes after it"),
    ],
)
def test_what_consumers_cannot_do_is_said(
    script: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    status, _, err = piped(ROADS + script, [], monkeypatch, capsys)
    assert status
    assert said in err


def test_rows_are_deleted_by_what_holds_of_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        "edge(7, 7). edge(3, 9).\n-edge(7, _)\n.delete edge(x, y), x + 1 = y, x > 1\n"
        "-edge(x, x)\n-edge(x=5)\n? edge(x, y).\n+edge(8, 8)\n-edge(8, y).\n? edge(8, y).\n"
    )
    out = of(script, monkeypatch, capsys)
    assert "answers: 2 rows" in out
    assert "  1    2\n  3    9\n" in out
    assert out.count("no row of edge matches") == 2
    assert "answers: 0 rows" in out
    refused = ROADS + ".delete x = 1\n-reach(9, 9) :- edge(1, 2).\n.delete nothing(x)\n"
    status, _, err = piped(refused, [], monkeypatch, capsys)
    assert status == 1
    assert "write edge(x, y), x > 3" in err
    assert err.count("error") >= 3


def test_what_was_taken_back_does_not_come_again_with_the_next_rule(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        "edge(5, 6). reach(x, x) :- edge(x, _).\n.remove 2\n-edge(5, 6)\n"
        ".alter edge add w: number = 5\n.alter edge rename y to z\n.alter edge key x\n"
        ".decl more(x: number)\nmore(x) :- edge(x, _, _).\n.rules\n.schema edge\n.text shell\n"
        "? edge(x, z, w).\n"
    )
    out = of(script, monkeypatch, capsys)
    rules = ["reach(x, y) :- edge(x, y, _).", "reach(x, x) :- edge(x, _, _)."]
    assert f"1  {rules[0]}\n2  {rules[1]}\n3  more(x) :- edge(x, _, _).\n" in out
    assert ".decl edge(x: number, z: number, w: number = 5) key(x)\n" in out
    text = out.partition(" key(x)\n")[2].partition("answers")[0]
    assert text == (
        ".decl reach(x: number, y: number)\nreach(x, y) :- edge(x, y, _).\n"
        "reach(x, x) :- edge(x, _, _).\n.decl more(x: number)\nmore(x) :- edge(x, _, _).\n"
    )
    assert "  1    2    5\n  2    3    5\n" in out


def test_schemas_change_as_in_python(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        ".begin\n.alter edge add d: number = x * 2\n.alter edge retype d: float\n"
        '.alter edge add s: symbol = "a, b"\n.alter edge drop y\n.alter edge to road\n.preview\n'
        ".commit all of it\n.alter road key x\n.alter road key none\n? road(x, d, s).\n.log\n"
    )
    before = ".decl edge(x: number, y: number)\nedge(1, 2). edge(2, 3).\n// the closure\n"
    status, out, err = piped(before + script, [], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "~ .decl edge: + d: int = x * 2\n" in out
    assert "  1    2.0  a, b\n  2    4.0  a, b\n" in out
    assert "all of it" in out
    wrong = (
        ".alter edge frobnicate x\n.alter edge add w\n.alter edge rename x y\n.alter nope drop x\n"
    )
    status, _, err = piped(before + wrong, [], monkeypatch, capsys)
    assert status == 1
    assert err.count(".alter NAME add COLUMN: TYPE = VALUE|EXPRESSION") == 3
    assert "nope" in err


def test_rows_come_from_files_in_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "a b.csv").write_text("x,y\n1,5\n9,9\n")
    (tmp_path / "cdc.jsonl").write_text(
        '{"op": "c", "before": null, "after": {"x": 4, "y": 4}, "at": 7}\n'
    )
    file = f'"{tmp_path}/a b.csv"'
    script = (
        f".alter edge key x\n.upsert edge {file}\n? edge(1, y).\n.unload edge {file}\n"
        f".load edge {file}\n.apply edge {tmp_path}/cdc.jsonl kept at\n"
        f".apply edge {tmp_path}/cdc.jsonl kept at\n.sync edge {file}\n? edge(x, y).\n"
    )
    before = ".decl edge(x: number, y: number)\nedge(1, 2). edge(2, 3).\n// the closure\n"
    status, out, err = piped(before + script, [], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert "answers: 1 row, version 4\n  y\nint\n  5\n" in out
    assert "edge: 1 changes applied\n" in out
    assert "edge: 0 changes applied\n" in out
    assert "edge: 0 inserted, 0 updated, 2 deleted\n" in out
    assert out.endswith("  1    5\n  9    9\n")


def test_reasons_versions_and_branches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        ".why reach(1, 3)\n.why-not reach(3, 1)\n+edge(3, 1)\n.why-changed reach(3, 1)\n"
        ".proofs 2 reach(1, 3)\n.analyze edge(1, y)\n.at 3\n? reach(x, y).\n.at now\n"
        ".branch trial\n-edge(1, 2)\n.branches\n.diff main trial edge\n.diff main trial\n"
        ".diff 3 6 edge\n.branch main\n.merge trial\n.history edge 6\n.drop-branch trial\n"
        ".branches\n.log\n.verify\n.memory\n.profile 2\n"
    )
    out = of(script, monkeypatch, capsys)
    assert "by reach(x, z) :- reach(x, y), edge(y, z).  with x = 1, y = 2, z = 3" in out
    assert "it would be there with\n    +edge(3, 1)" in out
    assert "reach(3, 1) came with version 6" in out
    assert "answers: 0 rows, version 3" in out
    assert "  main, version 6\n* trial, version 7\n" in out
    assert "edge -1\nreach -" in out
    assert "version 7\n" in out.partition("edge -1\n")[2]
    assert out.count("* main, version 7\n") == 1
    assert "every view is what its rules derive" in out
    wrong = ROADS + ".why reach(9, 9)\n.why-not reach(1, 2)\n.at 99\n.at yesterday\n.diff a b\n"
    wrong += ".merge nope\n.drop-branch main\n.branch\n.why\n.at 2\nedge(6, 6).\n"
    status, _, err = piped(wrong, [], monkeypatch, capsys)
    assert status == 1
    for said in (
        "write .why-not reach(9, 9)",
        "write .why reach(1, 2)",
        "version 99 is not there yet",
        "'yesterday' is neither a version nor a moment",
        "there is no branch 'a'",
        "expected .branch NAME, nothing follows",
        "`.at now` goes back to the last version",
    ):
        assert said in err


def test_a_transaction_spans_statements(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        ".begin\nedge(3, 4).\n.preview\n? edge(3, y).\n.rollback\n? edge(3, y).\n"
        ".begin\n.remove 1\n-edge(2, 3)\n.commit both\n.rules\n"
    )
    out = of(script, monkeypatch, capsys)
    assert "changes of reach: 3 rows, version 6" in out
    assert out.count("answers: 0 rows") == 2
    assert "version 6: edge, reach changed\n1  reach(x, z)" in out
    left = ROADS + ".commit\n.begin\n.begin\n.branch b\nedge(9, 9).\n.quit\n"
    status, _, err = piped(left, [], monkeypatch, capsys)
    assert status == 1
    assert "no transaction is open" in err
    assert err.count("a transaction is open") == 2
    assert "the open transaction was rolled back" in err


def test_answers_have_the_form_that_was_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = (
        ".format json\n? edge(x, y).\n.format jsonl\n? edge(1, y).\n.format csv\n? edge(1, y).\n"
        f".format table\n.rows 1\n? edge(x, y).\n.rows all\n.write {tmp_path}/e.csv edge\n"
        f".write {tmp_path}/e.parquet ? edge(x, y), x > 1.\n.write {tmp_path}/e.json reach\n"
    )
    out = of(script, monkeypatch, capsys)
    assert '[{"x": 1, "y": 2},\n {"x": 2, "y": 3}]\n{"y": 2}\ny\n2\n' in out
    assert "  1    2\n… 1 more\n" in out
    assert (tmp_path / "e.csv").read_text() == "x,y\n1,2\n2,3\n"
    ws = lftj.connect()
    ws.relation("e", {"x": int, "y": int})
    assert ws.load("e", tmp_path / "e.parquet") == 1
    wrong = f"{ROADS}.write {tmp_path}/e.xyz edge\n.format xml\n.wite x\n.rows -1\n.limit x\n"
    status, _, err = piped(wrong, [], monkeypatch, capsys)
    assert status == 1
    assert "e.xyz ends in none of .csv, .json, .jsonl, .parquet" in err
    assert "did you mean .write? `.help` lists commands" in err


def test_every_command_has_help_and_names_its_form_when_it_is_misused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = ".help\n" + "".join(f".help {name}\n" for name in COMMANDS)
    status, out, err = piped(script, [], monkeypatch, capsys)
    assert (status, err) == (0, "")
    for name, command in COMMANDS.items():
        assert out.count(f"{name} {command.form}".rstrip()) >= 2
    needy = [name for name, command in COMMANDS.items() if command.form[:1] not in ("", "[")]
    for name in needy:
        status, _, err = piped(f"{name}\n", [], monkeypatch, capsys)
        assert (status, "error[E" in err) == (1, True), name


def test_words_are_completed_by_what_stands_before_them(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("x\n")
    with lftj.connect() as ws:
        ws.program(".decl edge(x: number)\n.decl every(x: number)\n", name="paths")
        ws.branch("trial")
        shell = Shell(ws, print)
        completion = Completion(shell, COMMANDS)

        def words(text: str) -> list[str]:
            return [word for word, _ in completion.of(text)]

        assert words(".why-") == [".why-not", ".why-changed"]
        assert words("? ed") == words("reach(x) :- ed") == words(".why ed") == ["edge"]
        assert completion.of("? not_edge, ev") == [("every", 2)]
        assert words(".load e") == ["edge", "every"]
        assert words(f".load edge {tmp_path}/ro") == [f"{tmp_path}/rows.csv"]
        assert words(".branch ") == ["main", "trial"]
        assert words(".diff main tr") == ["trial"]
        assert words(".text p") == ["paths"]
        assert words(".alter edge re") == ["rename", "retype"]
        assert words(".format js") == ["json", "jsonl"]
        assert words(".quit ") == words(".load edge /no/such/fo") == []
        assert shell.prompt == "lftj> "
        shell.run(".branch trial")
        shell.run(".begin")
        assert shell.prompt == "lftj trial*> "
        shell.run(".rollback")


def test_functions_and_values_of_all_types_are_deleted_and_told_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    before = (
        ".decl F[x: number]: float\n.decl d(x: date, y: symbol, z: decimal(6,2))\n"
        ".decl v(x: number)\n"
        "F[1] = 2.5. F[3] = 4.0. v(x) :- F[x] = _.\n"
        'd(date("2026-01-02"), "a\\"b\\n", decimal("1.50")). '
        "v(7) :- d(_, _, _).\n"
    )
    script = (
        '-F[3] = y\n-d(_, "no", _)\n.text shell\n.decl w(x: number)\nw(x) :- v(x).\n? w(x).\n'
        '-d(date("2026-01-02"), _, _)\n? w(x).\n'
    )
    out = of(script, monkeypatch, capsys, before)
    told = out.partition("no row of d matches\n")[2].partition("version")[0]
    assert "F[1] = 2.5.\n" in told
    assert "F[3]" not in told
    assert "  1\n  7\n" in out
    assert out.endswith("  1\n")


def test_a_question_without_a_dot_ends_before_the_next_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    script = "edge(7, 8).\n? edge(7,\n  y)\n.relations\n? edge(x, 8)\n? edge(7, y).\n"
    out = of(script, monkeypatch, capsys)
    assert out.count("answers: 1 row") == 3
    assert "edge: " in out
