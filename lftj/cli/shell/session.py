# SPDX-License-Identifier: Apache-2.0
"""State of a shell: a workspace and one of its branches, the version that is read, the open
transaction, and the form of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli import output
from lftj.cli.shell.typed import TYPED, retell
from lftj.engine.programs.text_difference import appended
from lftj.errors import CommandError
from lftj.program.checks.facts import is_fact
from lftj.syntax import tree
from lftj.syntax.parser import parse

if TYPE_CHECKING:
    from lftj.api.change_stream import Consumer
    from lftj.api.snapshot import Snapshot
    from lftj.api.transaction import Transaction
    from lftj.api.workspace import Workspace
    from lftj.engine.versions.result import Result


class Session:
    """A shell's state; `say` prints lines of text."""

    def __init__(self, workspace: Workspace, say: Callable[[str], None]):
        self.say = say
        self.root = workspace
        self.workspace = workspace
        self.past: Snapshot | None = None
        self.open: Transaction | None = None
        self.last: Transaction | None = None
        self.format = "table"
        self.rows: int | None = None
        self.seconds: float | None = None
        self.consumers: dict[tuple[str, str], Consumer] = {}
        """Consumers that were read here, by branch and name."""
        self._before = 0

    # ── where it is ───────────────────────────────────────────────────────────────────────────────
    @property
    def reader(self) -> Workspace | Snapshot:
        """The version that questions are about."""
        return self.workspace if self.past is None else self.past

    @property
    def branch(self) -> str:
        """Name of the branch."""
        return getattr(self.workspace, "name", "main")

    @property
    def prompt(self) -> str:
        """The prompt: branch, version and `*` for an open transaction, where they are not usual."""
        branch = "" if self.branch == "main" else f" {self.branch}"
        past = "" if self.past is None else f"@{self.past.version}"
        return f"lftj{branch}{past}{'*' if self.open is not None else ''}> "

    def require_no_transaction(self, what: str) -> None:
        """Raise CommandError (E390) inside a transaction."""
        if self.open is not None:
            raise CommandError(
                f"a transaction is open: {what} comes after it", hint="`.commit` or `.rollback`"
            )

    def require_transaction(self) -> Transaction:
        """The open transaction. Raises CommandError (E390) where there is none."""
        if self.open is None:
            raise CommandError("no transaction is open", hint="`.begin` begins one")
        return self.open

    def begin(self, message: str | None) -> None:
        """Begin a transaction for all that follows."""
        self._before = self.workspace.version
        self.open = self.workspace.transaction(message=message)

    def commit(self, message: str | None) -> None:
        """Commit the open transaction. Where that is refused it is open no more."""
        tx = self.require_transaction()
        try:
            tx.commit(message=message) if message else tx.commit()
        finally:
            self.open = None
        self.committed(tx, self._before)

    def close(self) -> bool:
        """End the session; False where a transaction was open, which is rolled back."""
        if self.open is None:
            return True
        self.open.rollback()
        self.open = None
        return False

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    @contextmanager
    def writing(self) -> Generator[Transaction]:
        """The open transaction, or one of its own, which is committed and told of. Raises
        CommandError (E390) where a past version is looked at.
        """
        if self.past is not None:
            raise CommandError(
                f"version {self.past.version} is past, and stays as it is",
                hint="`.at now` goes back to the last version",
            )
        if self.open is not None:
            yield self.open
            retell(self.open)
            return
        before = self.workspace.version
        with self.workspace.transaction() as tx:
            yield tx
            retell(tx)
        self.committed(tx, before)

    def committed(self, tx: Transaction, before: int) -> None:
        """Note a commit, and say what it changed."""
        self.last = tx
        if names := tx.changes():
            self.say(f"version {tx.version}: {', '.join(sorted(names))} changed")
        elif tx.version > before:
            self.say(f"version {tx.version}")

    def add(self, text: str) -> None:
        """Insert facts; put rules and declarations behind those that were typed before, so that one
        that is typed again is no other one.
        """
        parsed = parse(text, "<shell>")
        facts = all(isinstance(each, tree.Rule) and is_fact(each) for each in parsed.clauses)
        with self.writing() as tx:
            if facts:
                tx.add_rules(parsed)
            else:
                before = typed_text(tx)
                tx.program(appended(before, text), name=TYPED, file="<shell>")

    # ── answers ───────────────────────────────────────────────────────────────────────────────────
    def show(self, result: Result, file: Path | None = None) -> None:
        """Print rows in the form that was chosen, or write them to a file."""
        if file is not None:
            output.write(result, output=file, rows=self.rows)
            self.say(f"{file}: {len(result):,} row{'' if len(result) == 1 else 's'}")
        elif self.format == "csv" and result.columns:
            output.write(result, "csv")
        else:
            for line in output.lines(result, self.format, self.rows):
                self.say(line)


def typed_text(tx: Transaction) -> str:
    """The text of what was typed, as the transaction has it."""
    programs = tx._open().program.catalog.programs  # pyright: ignore[reportPrivateUsage]
    return programs[TYPED].text if TYPED in programs else ""
