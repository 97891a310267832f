"""Programs in files, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

PATHS = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


def program(folder: Path, text: str) -> str:
    """The path of a program with this text."""
    (folder / "program.dl").write_text(text)
    return str(folder / "program.dl")
