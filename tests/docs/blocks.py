"""Fenced blocks of the pages, and how each kind is run.

- `python`: the blocks of one page run in one namespace, in order. A line that ends in `# → value`
  must be an expression with that `repr`.
- `text` with `title="printed"`: what the python block above it printed.
- any kind with another `title="name"`: written as a file of that name into the page's own folder.
- `console`: lines `$ lftj …` run in that folder, and what they print must be the lines below; other
  commands are not run.
- `datalog` without a title: must pass the checks that `lftj check` makes. Rules that are no program
  stand as `text`.

The site of the pages knows no other marks than titles: from any other on it shows a page as one
paragraph.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = "# → "


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is that of its first line of content."""

    kind: str
    options: str
    text: str
    line: int

    @property
    def title(self) -> str | None:
        """The file name in `title="…"`."""
        found = re.search(r'title="([^"]+)"', self.options)
        return found[1] if found and not self.printed else None

    @property
    def printed(self) -> bool:
        """True for a block that shows the output of the block above."""
        return 'title="printed"' in self.options


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page that name their kind."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(m[1], m[2], m[3], text.count("\n", 0, m.start()) + 2) for m in FENCE.finditer(text)
    ]


def run_python(block: Block, namespace: dict[str, Any], page: Path) -> int:
    """Run a block and check its expected values; returns how many there were."""
    source = "\n" * (block.line - 1) + block.text
    lines = source.splitlines()
    checked = 0
    for statement in ast.parse(source, filename=str(page)).body:
        last = lines[(statement.end_lineno or 1) - 1]
        if EXPECTED in last:
            assert isinstance(statement, ast.Expr), (
                f"{page.name}:{statement.lineno}: only an expression can be compared"
            )
            value = eval(compile(ast.Expression(statement.value), str(page), "eval"), namespace)
            assert repr(value) == last.split(EXPECTED, 1)[1].strip(), (
                f"{page.name}:{statement.lineno}"
            )
            checked += 1
        else:
            exec(compile(ast.Module([statement], []), str(page), "exec"), namespace)
    return checked


def commands(block: Block) -> list[tuple[str, str]]:
    """(command, printed) for each `$ command` of a console block."""
    parts = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]
