"""`python -m bench code_lines [--under FOLDER] [--files] [--json FILE]`: lines of code by room, a
package of its own, and public names with a docstring.

A line counts where a token stands on it that is no comment, docstring or import; a string over
several lines counts as often.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

from rich.console import Console
from rich.table import Table

from bench.journey.counting import ROOT

PACKAGES = ("lftj", "partition", "scantree", "sensitivity")

_NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Size(NamedTuple):
    """Files, lines of code, and docstrings of public names: of modules, classes, functions, and
    what is assigned.
    """

    files: int
    lines: int
    docstrings: int

    def and_(self, other: Size) -> Size:
        """Both together."""
        return Size(*(one + more for one, more in zip(self, other, strict=True)))


NOTHING = Size(0, 0, 0)


def size_of(text: str) -> Size:
    """The size of one file."""
    tree = ast.parse(text)
    left_out = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_text(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return Size(1, len(lines - left_out), sum(_documented(tree.body)))


def _is_text(node: ast.AST | None) -> TypeGuard[ast.Expr]:
    """Test for a statement that is a string: a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _documented(body: list[ast.stmt]) -> Iterator[bool]:
    """True for each docstring in the body of a module or class: its own, those behind public names
    that are assigned, and those of public classes and functions.
    """
    for before, node in zip([None, *body], body, strict=False):
        if _is_text(node):
            yield before is None or _public(before)
        elif isinstance(node, _DEFINES) and _public(node):
            if isinstance(node, ast.ClassDef):
                yield from _documented(node.body)
            else:
                yield ast.get_docstring(node) is not None


def _public(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(map(_public, node.targets))
    if isinstance(node, ast.AnnAssign):
        return _public(node.target)
    if isinstance(node, ast.Tuple):
        return any(map(_public, node.elts))
    name = node.name if isinstance(node, _DEFINES) else getattr(node, "id", "_")
    return not name.startswith("_")


def counted(under: str = "", by_file: bool = False) -> dict[str, Size]:
    """The size of each package, or each file, whose path begins so."""
    found: dict[str, Size] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = str((path if by_file else path.parent).relative_to(ROOT))
            if name.startswith(under):
                found[name] = found.get(name, NOTHING).and_(size_of(path.read_text("utf-8")))
    return found


def table(found: dict[str, Size]) -> Table:
    """All sizes, the largest first, and their sum."""
    shown = Table(title="code lines: no blank lines, comments, docstrings, imports")
    for heading in ("room", *Size._fields):
        shown.add_column(heading, justify="left" if heading == "room" else "right")
    for name in sorted(found, key=lambda name: -found[name].lines):
        shown.add_row(name, *(f"{number:,}" for number in found[name]))
    total = NOTHING
    for each in found.values():
        total = total.and_(each)
    shown.add_section()
    shown.add_row("all", *(f"{number:,}" for number in total))
    return shown


def main(words: list[str]) -> int:
    """The exit code, 0."""
    parser = argparse.ArgumentParser(prog="bench code_lines", description=__doc__)
    parser.add_argument("--under", default="", metavar="FOLDER", help="what begins so only")
    parser.add_argument("--files", action="store_true", help="file by file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all sizes to FILE")
    arguments = parser.parse_args(words)
    found = counted(arguments.under, arguments.files)
    Console(width=None if sys.stdout.isatty() else 140).print(table(found))
    if arguments.json is not None:
        sizes = {name: size._asdict() for name, size in found.items()}
        arguments.json.write_text(json.dumps(sizes, indent=2) + "\n", encoding="utf-8")
    return 0
