# SPDX-License-Identifier: Apache-2.0
"""Words that complete what is typed, by what stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.shell.command import ShellCommand

if TYPE_CHECKING:
    from lftj.cli.shell.session import Session

_WORD = re.compile(r"[\w?.-]*$")
_DECLARE = (".decl", ".type")


class Completion:
    """Completion of statements over the workspace of a session."""

    def __init__(self, session: Session, commands: Mapping[str, ShellCommand]):
        self._session, self._commands = session, commands

    def of(self, text: str) -> list[tuple[str, int]]:
        """Words that may come at the end of a text, each with the number of letters that it takes
        the place of.
        """
        name, space, rest = text.lstrip().partition(" ")
        if name.startswith(".") and not space:
            return [
                (each, len(name)) for each in (*self._commands, *_DECLARE) if each.startswith(name)
            ]
        command = self._commands.get(name)
        if command is None or not space:
            return _beginning(self._names(), _WORD.findall(text)[0])
        if "q" in command.completes:
            return _beginning(self._names(), _WORD.findall(rest)[0])
        *before, last = rest.split(" ")
        kinds = command.completes
        if not kinds:
            return []
        kind = kinds[min(len([each for each in before if each]), len(kinds) - 1)]
        if kind == "f":
            return [(each, len(last)) for each in _files(last)]
        return _beginning(self._of_kind(kind, command), last)

    def _names(self) -> list[str]:
        return [*self._session.reader.relations]

    def _of_kind(self, kind: str, command: ShellCommand) -> list[str]:
        session = self._session
        match kind:
            case "b":
                return [*session.root.branches]
            case "c":
                return [*session.workspace.consumers]
            case "p":
                return [*session.reader.programs]
            case "w":
                return [*command.words]
            case _:
                return self._names()


def _beginning(names: list[str], word: str) -> list[tuple[str, int]]:
    return [(name, len(word)) for name in sorted(names) if word and name.startswith(word)] or (
        [(name, 0) for name in sorted(names)] if not word else []
    )


def _files(begun: str) -> Iterator[str]:
    """Files and folders whose path begins so."""
    path = Path(begun or ".")
    folder = path if begun.endswith("/") or not begun else path.parent
    start = "" if begun.endswith("/") or not begun else path.name
    try:
        found = sorted(each for each in folder.iterdir() if each.name.startswith(start))
    except OSError:
        return
    for each in found:
        shown = begun[: len(begun) - len(start)] + each.name
        yield f"{shown}/" if each.is_dir() else shown
