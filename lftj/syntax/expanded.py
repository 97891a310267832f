# SPDX-License-Identifier: Apache-2.0
"""Text that a preprocessor made, which knows where each of its lines was written."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.errors import Span
from lftj.errors.base import lines_of
from lftj.scantree.frozen import frozen


@frozen(slots=True)
class Origin:
    """Origin of a line: file, number and the line as it stands there."""

    file: str
    line: int
    written: str


class ExpandedText(str):
    """The text itself; `origins` has one place for each line, `files` the text of each file."""

    origins: tuple[Origin, ...]
    files: Mapping[str, str]

    def __new__(
        cls, text: str, origins: tuple[Origin, ...] = (), files: Mapping[str, str] | None = None
    ) -> ExpandedText:
        made = super().__new__(cls, text)
        made.origins, made.files = origins, files or {}
        return made

    def written_at(self, span: Span) -> Span:
        """The place in the files of a place in this text. Columns are exact but within what a macro
        stands for.
        """
        lines = lines_of(self)
        first, last = (min(max(number, 1), len(lines)) - 1 for number in (span.line, span.end_line))
        if first < 0:
            return span
        start, end = self.origins[first], self.origins[last]
        column = _column(lines[first], start.written, span.column)
        if (start.file, start.line) > (end.file, end.line) or start.file != end.file:
            end_line, end_column = start.line, len(start.written) + 1
        else:
            end_line, end_column = (
                end.line,
                _column(lines[last], end.written, span.end_column, ends=True),
            )
        if end_line == start.line:
            end_column = max(end_column, column + 1)
        return Span(start.line, column, end_line, end_column, start.file, self.files[start.file])


def _column(shown: str, written: str, column: int, *, ends: bool = False) -> int:
    """The column of the written line for one of the shown line, which differ where macros stand."""
    before = _alike(shown, written)
    most = min(len(shown), len(written)) - before
    behind = min(_alike(shown[::-1], written[::-1]), most)
    if column - 1 < before or (column - 1 == before and shown == written):
        return column
    if column - 1 >= len(shown) - behind:
        return column + len(written) - len(shown)
    while before and (written[before - 1].isalnum() or written[before - 1] == "_"):
        before -= 1  # where the macro's name begins
    return len(written) - behind + 1 if ends else before + 1


def _alike(one: str, other: str) -> int:
    """Length of the common prefix of two strings."""
    pairs = enumerate(zip(one, other, strict=False))
    return next(
        (place for place, (left, right) in pairs if left != right), min(len(one), len(other))
    )
