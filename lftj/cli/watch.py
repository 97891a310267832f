# SPDX-License-Identifier: Apache-2.0
"""`lftj watch`: a program whose views follow the files of its facts, each change of which is a
commit.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.directives import check_directives, directives_of, layout_of, of_kind
from lftj.cli.renewing import renew
from lftj.cli.run import Folders, read_input, read_program, warn_of_ignored, write_outputs
from lftj.errors import FrameError, LftjError
from lftj.syntax import tree

if TYPE_CHECKING:
    from lftj.api.workspace import Workspace

Stamp = tuple[int, int, int] | None
"""Time of the last change, size and number of a file; None where there is none."""


def watch(
    folder: Path,
    program: str | None,
    *,
    db: Path | None = None,
    output_dir: str | None = None,
    seconds: float = 0.5,
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Evaluate a program over the facts of a folder, print what changes, and go on as files change.
    Ends by an interrupt. Where a file cannot be read, an error is printed, and what was there
    before stays.

    `program`: a file; by default the one whose name ends in `.dl` in the folder. Raises any
    LftjError that the first evaluation meets.
    """
    import lftj

    watched = _Watched(folder, program or str(_program_in(folder)), output_dir)
    with lftj.connect(db) as workspace:
        watched.look(workspace)
        while True:
            wait(seconds)
            try:
                watched.look(workspace)
            except LftjError as error:
                print(error, file=sys.stderr, flush=True)


def _program_in(folder: Path) -> Path:
    found = sorted(folder.glob("*.dl"))
    if len(found) != 1:
        names = ", ".join(each.name for each in found) or "none"
        raise FrameError(
            f"{folder} has to have one program, and has {names}",
            code="E232",
            hint="name it: lftj watch DIR PROGRAM",
        )
    return found[0]


class _Watched:
    """A program and the files of its facts as they were last read."""

    def __init__(self, folder: Path, program: str, output_dir: str | None):
        self._folder, self._program, self._output_dir = folder, program, output_dir
        self._text, self._file = "", ""
        self._directives: list[tree.Directive] = []
        self._stamps: dict[str, Stamp] = {}
        self._inside = Folders(folder, Path(output_dir or "."))

    def look(self, workspace: Workspace) -> None:
        """Commit what changed in files since the last look, and print it. Raises LftjError; the
        same files are not looked at again before they change.
        """
        stamps = self._stamps_now()
        changed = [name for name in stamps if stamps[name] != self._stamps.get(name, ())]
        self._stamps |= stamps
        if not changed:
            return
        version = workspace.version
        with workspace.transaction(message=f"watch: {', '.join(changed)}") as tx:
            if self._program in changed:
                text, file = read_program(self._program)
                parsed = _parsed(text, file)
                directives = directives_of(parsed)
                check_directives(directives, from_input=False)
                warn_of_ignored(parsed, directives)
                self._text, self._file, self._directives = text, file, directives
                stamps |= self._stamps_now()
                changed = list(stamps)
            inputs = [
                each
                for each in of_kind(self._directives, "input")
                if str(self._path(each)) in changed
            ]
            renew(workspace, tx, self._text, self._file, [each.relation for each in inputs])
            for directive in inputs:
                with self._inside.reading(directive):
                    read_input(tx, directive, self._folder)
        self._stamps |= stamps
        if workspace.version > version:
            _tell(workspace)
        if self._output_dir is not None:
            outputs = [each for each in self._directives if each.kind != "printsize"]
            write_outputs(workspace, outputs, self._output_dir, self._inside)

    def _stamps_now(self) -> dict[str, Stamp]:
        files = [Path(self._program), *map(self._path, of_kind(self._directives, "input"))]
        return {str(file): _stamp(file) for file in files}

    def _path(self, directive: tree.Directive) -> Path:
        _, layout = layout_of(directive)
        return Path(layout.path(directive.relation, self._folder, output=False))


def _parsed(text: str, name: str) -> tree.ParsedProgram:
    from lftj.syntax.parser import parse

    return parse(text, name)


def _stamp(file: Path) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _tell(workspace: Workspace) -> None:
    """Print the last commit: the rows that each relation won and lost."""
    last = workspace.log().fetchall()[-1]
    print(f"version {last[0]}: {last[3] or 'no rows'}", flush=True)
