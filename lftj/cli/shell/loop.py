# SPDX-License-Identifier: Apache-2.0
"""`lftj shell`: rules, facts, questions and commands from a terminal or a pipe, each run when it is
complete.

A statement ends with `.` at the end of a line; a command or a declaration ends with its line, or
with that in which its brackets are closed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.shell.asking import ASKING, ask
from lftj.cli.shell.changing import CHANGING, delete, insert
from lftj.cli.shell.command import Group, ShellCommand, words
from lftj.cli.shell.files import FILES, QuitShell, leave
from lftj.cli.shell.session import Session
from lftj.cli.shell.versions import VERSIONS
from lftj.cli.statements import statements
from lftj.errors import CommandError, FileMissingError, LftjError
from lftj.errors.nearest import closest

if TYPE_CHECKING:
    from datetime import timedelta

    from lftj.api.workspace import Workspace

_STATEMENTS = """\
  edge(1, 2).                   add a fact; +edge(1, 2) does too
  -edge(1, _)                   delete the facts that match
  reach(x, y) :- edge(x, y).    add a rule; .decl reach(x: number, y: number) declares a relation
  ? reach(1, y).                ask a question"""
_DIRECTIVES = (".decl", ".type", ".input", ".output", ".printsize", ".limitsize", ".pragma")


def _help(session: Session, rest: str) -> None:
    if rest:
        name = rest if rest.startswith(".") else f".{rest}"
        session.say(_line(name, _command(name)))
        return
    session.say(_STATEMENTS)
    for group in GROUPS:
        session.say(f"\n{group.title}")
        for name, command in group.commands.items():
            session.say(f"  {_line(name, command)}")


def _line(name: str, command: ShellCommand) -> str:
    return f"{f'{name} {command.form}'.rstrip():36}  {command.summary}"


def _read(session: Session, rest: str) -> None:
    (file,) = words(rest, ".read FILE", 1, 1)
    assert isinstance(session, Shell)
    session.run_file(Path(file).expanduser())


_SHELL = Group(
    "The shell",
    {
        ".read": ShellCommand("FILE", "run the statements of a file", _read, "f"),
        ".help": ShellCommand("[COMMAND]", "show this, or the form of one", _help),
        ".quit": ShellCommand("", "end", leave),
    },
)
GROUPS = (ASKING, CHANGING, VERSIONS, FILES, _SHELL)
COMMANDS = {name: command for group in GROUPS for name, command in group.commands.items()}
"""All commands by name."""


def _command(name: str) -> ShellCommand:
    """The command of a name. Raises CommandError (E390)."""
    if name not in COMMANDS:
        near = closest(name, COMMANDS)
        hint = f"did you mean {near}? " if near else ""
        raise CommandError(f"there is no command {name}", hint=f"{hint}`.help` lists commands")
    return COMMANDS[name]


class Shell(Session):
    """Statements over one workspace; `say` prints their results."""

    def run(self, statement: str) -> None:
        """Run one complete statement. Raises LftjError or QuitShell."""
        text = statement.strip()
        limits = nullcontext() if self.seconds is None else self.root.limits(seconds=self.seconds)
        with limits:
            self._run(text)

    def _run(self, text: str) -> None:
        word, *rest = text.split(None, 1)[:2] or [""]
        if text.startswith("?"):
            ask(self, text[1:].removeprefix("-"))  # as Prolog writes it
        elif text.startswith("-"):
            delete(self, text[1:])
        elif text.startswith("+"):
            insert(self, text[1:])
        elif word.startswith(".") and word not in _DIRECTIVES:
            _command(word).run(self, "".join(rest).strip())
        elif text:
            self.add(text)

    def run_all(self, source: Iterable[str]) -> bool:
        """Run statements one after the other; print errors, and go on. False where there was one.
        Raises QuitShell.
        """
        whole = True
        for statement in source:
            whole &= self._ran(statement)
        return whole

    def run_file(self, file: Path) -> None:
        """Run the statements of a file. Raises CommandError (E390) where one failed."""
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines(keepends=True)
        except FileNotFoundError:
            raise FileMissingError(
                f"there is no file {file}", hint=f"paths start at {Path.cwd()}"
            ) from None
        if not self.run_all(statements(lines)):
            raise CommandError(f"not all of {file} was run", hint="the errors above say why")

    def _ran(self, statement: str) -> bool:
        try:
            self.run(statement)
        except (LftjError, OSError, ImportError) as error:
            shown = error if isinstance(error, LftjError) else f"error: {error}"
            print(shown, file=sys.stderr)
            return False
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return False
        return True


def run(
    path: Path | None, *, read_only: bool = False, keep: timedelta | int | str | None = None
) -> bool:
    """Run a shell over a workspace at a path, or in memory, until its input ends; False where a
    statement from a pipe failed.
    """
    from lftj import connect

    terminal = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    options: dict[str, object] = {"read_only": True} if read_only else {}
    if keep is not None:
        options["keep"] = keep
    opening: Callable[..., Workspace] = connect
    with opening(path, **options) as workspace:
        shell = Shell(workspace, print)
        try:
            return _run_through(shell, terminal) or terminal
        finally:
            shell.close()


def _run_through(shell: Shell, terminal: bool) -> bool:
    """Run all that comes. False where something failed, or a transaction was left open."""
    from lftj.cli.prompt import typed
    from lftj.cli.shell.completing import Completion

    completion = Completion(shell, COMMANDS)
    source = typed(completion.of, lambda: shell.prompt) if terminal else statements(sys.stdin or ())
    whole = True
    with suppress(QuitShell):
        whole = shell.run_all(source)
    if shell.open is not None:
        print("the open transaction was rolled back: `.commit` commits one", file=sys.stderr)
        whole = False
    return whole
