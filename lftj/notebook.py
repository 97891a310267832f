# SPDX-License-Identifier: Apache-2.0
"""`%load_ext lftj`: rules, facts and questions in cells of IPython and of notebooks.

    %%datalog
    .decl edge(x: number, y: number)
    edge(1, 2).
    ? edge(x, _).

`%%datalog NAME` names the variable that holds the workspace; by default it is `ws`, and it is made
where there is none. `%datalog edge(x, _)` asks one question, and can stand behind `rows =`.

A cell is a program (`Workspace.program`): run again it changes nothing, and edited it takes back
what it said before. `%%datalog NAME PROGRAM` gives it a name; else it is known by the cell's number
in the notebook, in a terminal by the relations that it declares, and where it declares none by its
text. `%%datalog --alter` alters relations to edited declarations, `--drop` drops what the text has
no more.
"""

from __future__ import annotations

import re
from functools import partial
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lftj.errors import DeclarationError, StillNeededError

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace
    from lftj.engine.versions.result import Result

_DEFAULT = "ws"
_OPTIONS = ("--alter", "--drop")
_DECLARED = re.compile(r"^\s*\.decl\s+([\w?]+)", re.MULTILINE)


def load(shell: Any) -> None:
    """Give IPython's shell the magic `datalog`, for lines and cells."""
    run = _Run()
    shell.events.register("pre_run_cell", run.begins)
    shell.events.register("post_run_cell", run.ends)
    shell.register_magic_function(partial(_datalog, shell, run), "line_cell", "datalog")


class _Run:
    """The cell that is run: its number in the notebook; None in a terminal."""

    def __init__(self) -> None:
        self.cell: str | None = None

    def begins(self, info: Any) -> None:
        self.cell = getattr(info, "cell_id", None)

    def ends(self, _: Any) -> None:
        self.cell = None


def _datalog(shell: Any, run: _Run, line: str, cell: str | None = None) -> Result | None:
    """A question's answer, or what a cell says. Of a cell with several questions the last answer;
    the others are shown before. Raises LftjError; then nothing of the cell's rules has happened.
    """
    if cell is None:
        return _workspace(shell, _DEFAULT).query(_question(line))
    words = line.split()
    named = [word for word in words if word not in _OPTIONS]
    variable, program = (*named, "")[0], " ".join(named[1:])
    workspace = _workspace(shell, variable or _DEFAULT)
    rules, questions = _parts(cell)
    name = program or _name(run.cell, rules)
    if rules.strip() or name in workspace.programs:
        _set(workspace, rules, name, drop="--drop" in words, alter="--alter" in words)
    answers = [workspace.query(question) for question in questions]
    for answer in answers[:-1]:
        _show(answer)
    return answers[-1] if answers else None


def _workspace(shell: Any, name: str) -> Workspace:
    """The workspace in a variable of the user, made where there is no such variable. Raises
    DeclarationError (E160) where it holds something else, or is no name.
    """
    from lftj.api.connect import connect
    from lftj.api.workspace import Workspace

    if not name.isidentifier():
        raise DeclarationError(
            f"{name!r} is no variable", hint="write %%datalog, or %%datalog NAME"
        )
    if name not in shell.user_ns:
        shell.user_ns[name] = connect()
    found = shell.user_ns[name]
    if not isinstance(found, Workspace):
        raise DeclarationError(
            f"the variable {name} holds a {type(found).__name__}, no workspace",
            hint="name another variable: %%datalog NAME",
        )
    return found


def _parts(cell: str) -> tuple[str, list[str]]:
    """The rules of a cell, with empty lines for its questions, and the questions."""
    lines = cell.splitlines()
    asked = [line.lstrip().startswith("?") for line in lines]
    rules = "\n".join("" if ask else line for line, ask in zip(lines, asked, strict=True))
    return rules, [_question(line) for line, ask in zip(lines, asked, strict=True) if ask]


def _question(line: str) -> str:
    return line.strip().removeprefix("?")


def _name(cell: str | None, rules: str) -> str:
    """The name of a cell's program. A text that cannot be read has one too."""
    if cell is not None:
        return f"cell {cell}"
    declared = sorted(set(_DECLARED.findall(rules)))
    return f"cell {', '.join(declared) or sha256(rules.encode()).hexdigest()[:12]}"


def _set(workspace: Workspace, rules: str, name: str, *, drop: bool, alter: bool) -> None:
    """Have rules and facts be a program, in one transaction, and print what it changed."""
    with StillNeededError.in_options(), workspace.transaction() as tx:
        found = tx.program(rules, name=name, file="<cell>", drop=drop, alter=alter)
    changed = [_change(each, tx.changes(each)) for each in tx.changes()]
    if found.went or (found.came and not changed):
        counts = (("+", found.came), ("−", found.went))
        signs = [f"{sign}{len(each)}" for sign, each in counts if each]
        changed.append(" ".join(["rules", *signs]))
    if changed:
        print(f"version {workspace.version}: {', '.join(changed)}")


def _change(name: str, change: Result) -> str:
    signs = [row[-2] for row in change.fetchall()]
    counts = {"+": signs.count(1), "−": signs.count(-1)}
    return " ".join([name, *(f"{sign}{count:,}" for sign, count in counts.items() if count)])


def _show(answer: Result) -> None:
    import_module("IPython.display").display(answer)
