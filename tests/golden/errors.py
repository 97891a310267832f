"""Folders of programs with mistakes: beside each `.dl` a `.txt` with the whole message that a user
reads, letter by letter.

`python -m tests.golden.errors` writes the messages anew; read the difference before you keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lftj.errors import ProgramErrors
from lftj.program.program import Program
from lftj.syntax.parser import parse

HERE = Path(__file__).parent


def _parse(case: Path) -> None:
    parse(case.read_text(encoding="utf-8"), file=case.name)


def _check(case: Path) -> None:
    Program().add(parse(case.read_text(encoding="utf-8"), file=case.name))


# Folder → what raises the message.
PHASES: dict[str, Callable[[Path], None]] = {"errors_syntax": _parse, "errors_program": _check}


@dataclass(frozen=True)
class Mistake:
    """One program, and the phase that has to refuse it."""

    path: Path

    @property
    def name(self) -> str:
        """Folder and file, for the test's name."""
        return f"{self.path.parent.name}/{self.path.stem}"

    def message(self) -> str:
        """The text of the errors; empty when there are none."""
        try:
            PHASES[self.path.parent.name](self.path)
        except ProgramErrors as errors:
            return f"{errors}\n"
        return ""

    def kept(self) -> str:
        """The message as it was last read and found good."""
        return self.path.with_suffix(".txt").read_text(encoding="utf-8")


def mistakes() -> list[Mistake]:
    """All of them, by folder and name."""
    return [Mistake(path) for folder in PHASES for path in sorted((HERE / folder).glob("*.dl"))]


if __name__ == "__main__":
    for mistake in mistakes():
        mistake.path.with_suffix(".txt").write_text(mistake.message(), encoding="utf-8")
