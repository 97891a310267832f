# SPDX-License-Identifier: Apache-2.0
"""Reports that fold: titles with lines, tables and further reports below them, as a tree of text
and as HTML for notebooks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows of cells below their headings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Fold:
    """A title, and what is shown where it is open. `open`: it is so at first."""

    title: str
    below: Sequence[Line | Table | Fold]
    open: bool = True


def to_text(fold: Fold) -> str:
    """A report as a tree of text, all of it open."""
    return "\n".join(_lines(fold, ""))


def _lines(item: Line | Table | Fold, indent: str) -> Iterator[str]:
    if isinstance(item, Line):
        yield f"{indent}{item.text}"
    elif isinstance(item, Table):
        rows = [item.columns, *item.rows]
        widths = [max(len(row[place]) for row in rows) for place in range(len(item.columns))]
        for row in rows:
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield f"{indent}{'  '.join(cells)}".rstrip()
    else:
        yield f"{indent}{item.title}"
        for each in item.below:
            yield from _lines(each, f"{indent}  ")


def to_html(fold: Fold, name: str) -> str:
    """A report as nested `<details>` of this class, without scripts, in the colours of the page
    around it. All text is escaped.
    """
    return f'<div class="{name}">{"".join(_html(fold))}</div>'


def _html(item: Line | Table | Fold) -> Iterator[str]:
    if isinstance(item, Line):
        yield f"<div>{escape(item.text)}</div>"
    elif isinstance(item, Table):
        yield f"<table><tr>{''.join(f'<th>{escape(each)}</th>' for each in item.columns)}</tr>"
        for row in item.rows:
            yield f"<tr>{''.join(f'<td>{escape(each)}</td>' for each in row)}</tr>"
        yield "</table>"
    else:
        yield f'<details{" open" if item.open else ""} style="margin-left: 1em">'
        yield f"<summary>{escape(item.title)}</summary>"
        for each in item.below:
            yield from _html(each)
        yield "</details>"


def to_pre(text: str, name: str) -> str:
    """Text with its indentation as HTML of this class. All of it is escaped."""
    return f'<pre class="{name}">{escape(text)}</pre>'
