# SPDX-License-Identifier: Apache-2.0
"""Rows as they are shown: as text, and as a table in notebooks."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from lftj.engine.calls.options import with_named_options
from lftj.frames import CodedRows

SHOWN_ROWS = 10
"""Number of rows that are shown."""


@with_named_options
class ShownRows(CodedRows):
    """Rows with a name, columns and a version, of which the first are shown."""

    name: str
    version: int
    columns: tuple[str, ...]

    @abstractmethod
    def _first(self, rows: int) -> list[tuple[Any, ...]]:
        """The first rows, at most so many."""

    def __repr__(self) -> str:
        title = self._title()
        if not self.columns:
            return title
        cells = self._cells()
        numeric = [type.numeric for type in self.types]
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = [
            "  ".join(_pad(cell, widths[i], numeric[i]) for i, cell in enumerate(row)).rstrip()
            for row in cells
        ]
        return "\n".join([title, *lines, *self._more()])

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        from html import escape

        heads, types, *rows = [[escape(cell) for cell in row] for row in self._cells()]
        lines = (
            [[f"{head}<br><small>{type}</small>" for head, type in zip(heads, types, strict=True)]]
            if heads
            else []
        )
        table = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in row)}</tr>" for row in lines]
        table += [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows if row]
        return "\n".join(
            [
                f"<p>{escape(self._title())}</p>",
                "<table>",
                *table,
                "</table>",
                *(f"<p>{more}</p>" for more in self._more()),
            ]
        )

    def _title(self) -> str:
        title = (
            f"{self.name}: {len(self):,} row{'' if len(self) == 1 else 's'}, version {self.version}"
        )
        return title if self.columns else f"{title} ({'true' if len(self) else 'false'})"

    def _cells(self) -> list[list[str]]:
        """Names, types and the first rows."""
        return [
            list(self.columns),
            list(map(str, self.types)),
            *([_shown(value) for value in row] for row in self._first(SHOWN_ROWS)),
        ]

    def _more(self) -> list[str]:
        return [f"… {len(self) - SHOWN_ROWS:,} more"] if len(self) > SHOWN_ROWS else []


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else "NULL" if value is None else str(value)
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= 40 else text[:39] + "…"


def _pad(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)
