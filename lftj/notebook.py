"""`%load_ext lftj`: rules, facts and questions in cells of IPython and of notebooks.

    %%datalog
    .decl edge(x: number, y: number)
    edge(1, 2).
    ? edge(x, _).

`%%datalog NAME` names the variable that holds the workspace; by default it is `ws`, and it is made
where there is none. `%datalog edge(x, _)` asks one question, and can stand behind `rows =`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lftj.errors import DeclarationError

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace
    from lftj.engine.result import Result

_DEFAULT = "ws"


def load(shell: Any) -> None:
    """Give IPython's shell the magic `datalog`, for lines and cells."""
    shell.register_magic_function(partial(_datalog, shell), "line_cell", "datalog")


def _datalog(shell: Any, line: str, cell: str | None = None) -> Result | None:
    """A question's answer, or what a cell says. Of a cell with several questions the last answer;
    the others are shown before. Raises LftjError; then nothing of the cell's rules has happened.
    """
    if cell is None:
        return _workspace(shell, _DEFAULT).query(_question(line))
    workspace = _workspace(shell, line.strip() or _DEFAULT)
    rules, questions = _parts(cell)
    if rules.strip():
        _add(workspace, rules)
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


def _add(workspace: Workspace, rules: str) -> None:
    """Add rules and facts in one transaction, and print what it changed."""
    with workspace.transaction() as tx:
        tx.add_rules(rules, file="<cell>")
    changed = [_change(name, tx.changes(name)) for name in tx.changes()]
    if changed:
        print(f"version {workspace.version}: {', '.join(changed)}")


def _change(name: str, change: Result) -> str:
    signs = [row[-2] for row in change.fetchall()]
    counts = {"+": signs.count(1), "−": signs.count(-1)}
    return " ".join([name, *(f"{sign}{count:,}" for sign, count in counts.items() if count)])


def _show(answer: Result) -> None:
    import_module("IPython.display").display(answer)
