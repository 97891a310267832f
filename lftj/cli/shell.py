"""`lftj shell`: rules, facts, queries and commands from a terminal or a pipe, each run when it is
complete.

A statement ends with `.` at the end of a line; a command or a declaration ends with its line, or
with that in which its brackets are closed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.statements import statements
from lftj.engine.programs.text_difference import appended
from lftj.errors import LftjError
from lftj.program.checks.program_checks import is_fact
from lftj.syntax import tree
from lftj.syntax.parser import parse

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace

HELP = """\
  edge(1, 2).               add a fact
  reach(x, y) :- edge(x, y).    add a rule; .decl reach(x: number, y: number) declares a relation
  ? reach(1, y).            ask a query
  .load NAME FILE           insert a file's rows into a relation
  .program [FILE [NAME]]    have a file be the program of a name; without one, list the programs
  .relations, .rules        list them
  .plan [NUMBER]            show the plan of all rules, or of one of `.rules`
  .profile                  show the work of the last commit
  .changes [NAME]           show what the last commit changed
  .help, .quit              show this, or end"""
_DIRECTIVES = (".decl", ".type", ".input", ".output", ".printsize", ".limitsize", ".pragma")

_TYPED = "shell"
"""Name of the program of what was typed."""


class QuitShell(Exception):
    """`.quit` was typed."""


class Shell:
    """Statements over one workspace; `say` prints their results."""

    def __init__(self, workspace: Workspace, say: Callable[[str], None]):
        self._workspace, self._say = workspace, say
        self._changes: dict[str, object] = {}
        self.commands: dict[str, Callable[[str], None]] = {
            ".changes": self._show_changes,
            ".help": lambda _: say(HELP),
            ".load": self._load,
            ".plan": self._plan,
            ".program": self._program,
            ".profile": self._profile,
            ".quit": self._quit,
            ".relations": self._relations,
            ".rules": self._rules,
        }

    def names(self) -> list[str]:
        """Words that may be completed: commands and relations."""
        return sorted([*self.commands, ".decl", *self._workspace.relations])

    def run(self, statement: str) -> None:
        """Run one complete statement. Raises LftjError or QuitShell."""
        text = statement.strip()
        word, _, rest = text.partition(" ")
        if word in self.commands:
            self.commands[word](rest.strip())
        elif text.startswith("?"):
            result = self._workspace.query(text[1:])
            self._say(repr(result))
        elif word.startswith(".") and word not in _DIRECTIVES:
            raise LftjError(
                f"there is no command {word}", code="E342", hint="`.help` lists commands"
            )
        elif text:
            self._commit(text)

    def _commit(self, text: str) -> None:
        """Insert facts; put rules and declarations behind those that were typed before, so that one
        that is typed again is no other one.
        """
        parsed = parse(text, "<shell>")
        facts = all(isinstance(each, tree.Rule) and is_fact(each) for each in parsed.clauses)
        with self._workspace.transaction() as tx:
            if facts:
                tx.add_rules(parsed)
            else:
                before = self._workspace.programs.get(_TYPED, "")
                tx.program(appended(before, text), name=_TYPED, file="<shell>")
        self._note({name: tx.changes(name) for name in tx.changes()})

    def _program(self, rest: str) -> None:
        file, _, name = rest.partition(" ")
        if not file:
            for each, text in self._workspace.programs.items():
                self._say(f"{each}: {len(text.splitlines()):,} lines")
            return
        from lftj.cli.run import read_program

        text, shown = read_program(file.strip("\"'"))
        with self._workspace.transaction() as tx:
            changed = tx.program(text, name=name.strip() or "main", file=shown)
        if changed:
            self._say(str(changed))
        self._note({each: tx.changes(each) for each in tx.changes()})

    def _load(self, rest: str) -> None:
        name, _, file = rest.partition(" ")
        with self._workspace.transaction() as tx:
            tx.insert(name, Path(file.strip().strip("\"'")).expanduser())
        self._note({each: tx.changes(each) for each in tx.changes()})

    def _note(self, changes: dict[str, object]) -> None:
        self._changes = changes
        if changes:
            self._say(f"version {self._workspace.version}: {', '.join(sorted(changes))} changed")

    def _show_changes(self, name: str) -> None:
        for each in [name] if name else sorted(self._changes):
            if each in self._changes:
                self._say(f"{each}: {self._changes[each]!r}")
            else:
                self._say(f"{each}: no changes")

    def _plan(self, rest: str) -> None:
        rules = self._workspace.rules
        if rest and not (rest.isdecimal() and int(rest) in range(1, len(rules) + 1)):
            raise LftjError(
                f"there is no rule {rest!r}", code="E342", hint="`.rules` numbers the rules"
            )
        self._say(str(self._workspace.plan(rules[int(rest) - 1] if rest else None)))

    def _profile(self, _: str) -> None:
        self._say(str(self._workspace.profile(last=1)))

    def _relations(self, _: str) -> None:
        for name in self._workspace.relations:
            self._say(f"{name}: {len(self._workspace[name]):,} rows")

    def _rules(self, _: str) -> None:
        for number, rule in enumerate(self._workspace.rules, 1):
            self._say(f"{number}  {rule}")

    def _quit(self, _: str) -> None:
        raise QuitShell


def run(path: Path | None) -> bool:
    """Run a shell over a workspace at a path, or in memory, until its input ends; False where a
    statement from a pipe failed.
    """
    from lftj import connect

    terminal = sys.stdin is not None and sys.stdin.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    with connect() if path is None else connect(path) as workspace:
        shell = Shell(workspace, print)
        if terminal:
            from lftj.cli.prompt import typed

            source = typed(shell.names)
        else:
            source = statements(sys.stdin or ())
        whole = True
        try:
            for statement in source:
                whole &= _ran(shell, statement)
        except QuitShell:
            pass
        return whole or terminal


def _ran(shell: Shell, statement: str) -> bool:
    try:
        shell.run(statement)
    except (LftjError, OSError) as error:
        print(error if isinstance(error, LftjError) else f"error: {error}", file=sys.stderr)
        return False
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return False
    return True
