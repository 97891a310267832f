"""`lftj run --db`, whose next run follows what changed, and `lftj watch`: files that change are
commits.
"""

from __future__ import annotations

import os
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.cli import main, watch

PROGRAM = """
.type Id <: number
.decl edge(x: Id, y: Id)
.input edge
.decl path(x: Id, y: Id)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.decl chosen(x: number)
chosen(1). chosen(2).
.decl shown(x: number)
.output shown
shown(x) :- chosen(x), x > 1.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program and its facts."""
    (tmp_path / "p.dl").write_text(PROGRAM)
    write(tmp_path / "edge.facts", [(1, 2), (2, 3)])
    return tmp_path


def write(file: Path, rows: list[tuple[int, int]]) -> None:
    """Write facts, as a file that nobody mistakes for the one before."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text("".join(f"{x}\t{y}\n" for x, y in rows))
    os.utime(file, ns=(before + 10**9, before + 10**9))


def run(folder: Path, *more: str, status: int = 0) -> str:
    """Run the program with a workspace that lasts; what it said on standard error."""
    words = ["run", str(folder / "p.dl"), "-F", str(folder), "-D", str(folder / "out")]
    with redirect_stderr(StringIO()) as said:
        assert main([*words, "--db", str(folder / "w.lftj"), *more]) == status, said.getvalue()
    return said.getvalue()


def outcome(folder: Path, name: str) -> list[str]:
    """The lines of an output."""
    return (folder / "out" / f"{name}.csv").read_text().splitlines()


def test_the_next_run_follows_what_changed(folder: Path) -> None:
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "1\t3", "2\t3"]
    write(folder / "edge.facts", [(3, 4), (2, 3), (1, 2)])
    (folder / "p.dl").write_text(
        PROGRAM.replace("chosen(2)", "chosen(3)").replace("path(y, z)", "path(y, z)")
    )
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "1\t3", "1\t4", "2\t3", "2\t4", "3\t4"]
    assert outcome(folder, "shown") == ["3"]
    run(folder)
    with lftj.connect(folder / "w.lftj") as workspace:
        changes = [row[3] for row in workspace.log()]
        assert changes[-1] == "chosen +1 -1, edge +1, path +3, shown +1 -1"
        assert workspace.version == 2, "a run that changes nothing makes no version"
        assert workspace.verify() == []


@pytest.mark.parametrize("flags", [(), ("--alter",)])
@pytest.mark.parametrize("column", ['z: symbol = "fr"', "z: number?"])
def test_a_relation_with_a_file_is_declared_otherwise(
    folder: Path, column: str, flags: tuple[str, ...]
) -> None:
    run(folder)
    text = PROGRAM.replace("edge(x: Id, y: Id)", f"edge(x: Id, y: Id, {column})")
    text = text.replace("edge(x, y)", "edge(x, y, _)").replace("edge(y, z)", "edge(y, z, _)")
    (folder / "p.dl").write_text(text)
    (folder / "edge.facts").write_text("2\t3\t7\n3\t4\t8\n")
    run(folder, *flags)
    assert outcome(folder, "path") == ["2\t3", "2\t4", "3\t4"]
    assert outcome(folder, "shown") == ["2"], "facts of the text are there"
    with lftj.connect(folder / "w.lftj") as workspace:
        assert workspace.verify() == []


def test_rules_come_and_go_with_the_program(folder: Path) -> None:
    run(folder)
    with lftj.connect(folder / "w.lftj") as workspace:
        kept = workspace.rules[0]
    changed = PROGRAM.replace("path(x, z) :- path(x, y), edge(y, z).", "")
    (folder / "p.dl").write_text(
        f"{changed}\n.decl lone(x: Id)\n.output lone\nlone(x) :- edge(x, _), !edge(_, x)."
    )
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "2\t3"]
    assert outcome(folder, "lone") == ["1"]
    with lftj.connect(folder / "w.lftj") as workspace:
        assert len(workspace.rules) == 3
        assert kept in workspace.rules, "a rule that stays is not made anew"
        assert workspace.verify() == []
    (folder / "p.dl").write_text(PROGRAM.replace("edge(x: Id, y: Id)", "edge(x: Id, y: symbol)"))
    run(folder, status=1)
    (folder / "p.dl").write_text(PROGRAM)
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "1\t3", "2\t3"]


def test_rules_in_whose_place_others_stand_stay_as_they_are(folder: Path) -> None:
    rules = (
        ".decl far(x: Id, y: Id) far(x, m) :- m = max y : { edge(x, y) }.\n"
        ".decl last(x: number) last(x) :- x = max y : { edge(_, x), y = x }. last(3).\n"
    )
    (folder / "p.dl").write_text(PROGRAM + rules)
    for _ in range(3):
        run(folder)
    with lftj.connect(folder / "w.lftj") as workspace:
        assert len(workspace.rules) == 5
        assert (list(workspace["far"]), list(workspace["last"])) == ([(2, 3)], [(3,)])


def test_a_type_that_is_defined_otherwise_is_refused_where_others_use_it(folder: Path) -> None:
    run(folder)
    with lftj.connect(folder / "w.lftj") as workspace:
        workspace.add_rules(".decl mine(x: Id)")
    (folder / "p.dl").write_text(PROGRAM.replace(".type Id <: number", ".type Id = number"))
    assert "E165" in run(folder, status=1)
    (folder / "p.dl").write_text(PROGRAM + ".decl mine(x: symbol)")
    assert "E160" in run(folder, status=1)


def test_declarations_and_types_change_with_the_program(folder: Path) -> None:
    run(folder)
    (folder / "p.dl").write_text(PROGRAM.replace(".type Id <: number", ".type Id = number"))
    run(folder)
    (folder / "p.dl").write_text(PROGRAM.replace("number", "symbol").replace("x > 1", 'x > "1"'))
    assert "E" in run(folder, status=1), "facts are numbers yet"
    text = PROGRAM.replace("Id <: number", "Id <: symbol")
    (folder / "p.dl").write_text(text)
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "1\t3", "2\t3"]
    with lftj.connect(folder / "w.lftj") as workspace:
        assert list(workspace["edge"]) == [("1", "2"), ("2", "3")]
        assert workspace.programs == {"main": text}
        assert workspace.verify() == []


def test_a_program_is_beside_others_and_is_told_of_them(folder: Path) -> None:
    run(folder)
    with lftj.connect(folder / "w.lftj") as workspace:
        workspace.program("path(x, x) :- edge(x, _).", name="loops")
        workspace.add_rule("shown(7) :- edge(_, _).")
    assert "1 rule of the workspace belong to no program" in run(folder)
    assert outcome(folder, "path") == ["1\t1", "1\t2", "1\t3", "2\t2", "2\t3"]
    assert outcome(folder, "shown") == ["2", "7"]
    (folder / "p.dl").write_text(PROGRAM.partition(".decl path")[0])
    assert "E327" in run(folder, status=1)
    run(folder, "--drop")
    with lftj.connect(folder / "w.lftj") as workspace:
        assert list(workspace.relations) == ["edge"]
    run(folder, "--name", "second")
    with lftj.connect(folder / "w.lftj") as workspace:
        assert sorted(workspace.programs) == ["loops", "main", "second"]


def test_facts_of_a_text_and_of_its_file_are_told_apart(folder: Path) -> None:
    (folder / "p.dl").write_text(PROGRAM + "edge(1, 2). edge(9, 9).")
    run(folder)
    write(folder / "edge.facts", [(2, 3)])
    run(folder)
    assert outcome(folder, "path") == ["1\t2", "1\t3", "2\t3", "9\t9"]
    (folder / "p.dl").write_text(PROGRAM)
    run(folder)
    assert outcome(folder, "path") == ["2\t3"]


class Looks:
    """Waits between two looks, in which steps happen; then an interrupt."""

    def __init__(self, *steps: Any):
        self._steps = list(steps)

    def __call__(self, seconds: float) -> None:
        if not self._steps:
            raise KeyboardInterrupt
        self._steps.pop(0)()


def test_files_that_change_become_commits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts, program = folder / "edge.facts", folder / "p.dl"
    looks = Looks(
        lambda: write(facts, [(1, 2)]),
        lambda: None,
        lambda: facts.write_text("no number\n"),
        lambda: None,
        lambda: write(facts, [(1, 2), (7, 1)]),
        lambda: program.write_text(PROGRAM.replace("x > 1", "x > 0")),
    )
    with pytest.raises(KeyboardInterrupt):
        watch.watch(folder, None, db=folder / "w.lftj", output_dir=str(folder / "out"), wait=looks)
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "version 1: chosen +2, edge +2, path +3, shown +1",
        "version 2: edge -1, path -2",
        "version 3: edge +1, path +2",
        "version 4: shown +1",
    ]
    assert printed.err.count("E2") == 1, printed.err
    assert outcome(folder, "path") == ["1\t2", "7\t1", "7\t2"]
    assert outcome(folder, "shown") == ["1", "2"]


def test_a_folder_is_watched_with_one_program(folder: Path) -> None:
    (folder / "q.dl").write_text(PROGRAM)
    with pytest.raises(lftj.FrameError, match=r"has p\.dl, q\.dl"):
        watch.watch(folder, None)


def test_parameters_that_mean_nothing_are_warned_of_once_for_each_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, text = folder / "p.dl", PROGRAM.replace(".input edge", '.input edge(seperator=",")')
    program.write_text(f'.pragma "provenance" "explain"\n{text}')
    changed = text.replace(".output path", '.output path(IO=file, colour="red")')
    looks = Looks(
        lambda: write(folder / "edge.facts", [(1, 2)]),
        lambda: program.write_text(changed),
    )
    with pytest.raises(KeyboardInterrupt):
        watch.watch(folder, None, wait=looks)
    warnings = capsys.readouterr().err.splitlines()
    assert [line.partition(" is ignored")[0] for line in warnings] == [
        "warning: .input edge: unknown parameter 'seperator'",
        'warning: .pragma "provenance"',
        "warning: .input edge: unknown parameter 'seperator'",
        "warning: .output path: unknown parameter 'colour'",
    ]
    assert main(["watch", str(folder), "--intervall", "1"]) == 2
    assert "unrecognized arguments: --intervall" in capsys.readouterr().err
