# SPDX-License-Identifier: Apache-2.0
"""Places in rule text: from character offsets to `Span`s."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from lftj.errors import Span

_REST = re.compile(r"[^\S\n\r]*(?!//|/\*)([^\n\r]?)")
_OWNER = re.compile(r"[^\W\d][\w?]*\.\Z")
_NAME = re.compile(r"[^\W\d][\w?]*")


class Source:
    """One text with the offsets of its lines.

    Lines end where `str.splitlines` says that they end, since that is how errors show them. `span`
    costs O(log lines).
    """

    def __init__(self, text: str, file: str | None = None, within: tuple[str, str] = ("", "")):
        """`within`: what is read before and behind `text`, whole lines and the end of one. Places
        are those in `text` alone.
        """
        self.shown = text
        before, behind = within
        self._lines_before = len(before.splitlines())
        self.start = len(before)
        self.end = len(before) + len(text)
        """The place behind the given text in `self.text`; `start` is its first."""
        self.text = text = f"{before}{text}{behind}"
        self.file = file
        lines = text.splitlines(keepends=True)
        if not lines or lines[-1].splitlines() != [lines[-1]]:
            lines.append("")
        self._starts = [0, *accumulate(len(line) for line in lines[:-1])]

    def span(self, start: int, end: int) -> Span:
        """The place of `text[start:end]`. What stands behind the given text is at its end."""
        start, end = min(start, self.end), min(end, self.end)
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        return Span(line, column, end_line, end_column, self.file, self.shown)

    def goes_on(self, offset: int) -> bool:
        """Test for text behind an offset, on its line."""
        rest = _REST.match(self.text, offset)
        return rest is not None and bool(rest[1])

    def dotted(self, span: Span) -> tuple[str, Span] | None:
        """`graph.edge` and its place where it ends at the name that `span` begins with, without
        spaces between.
        """
        offset = self._starts[span.line + self._lines_before - 1] + span.column - 1
        before = _OWNER.search(self.text, max(offset - 100, 0), offset)
        name = _NAME.match(self.text, offset)
        if before is None or name is None:
            return None
        return before[0] + name[0], self.span(before.start(), name.end())

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1 where the text begins."""
        line = bisect_right(self._starts, offset)
        return line - self._lines_before, offset - self._starts[line - 1] + 1


def join(first: Span, last: Span) -> Span:
    """Span from the start of `first` to the end of `last`."""
    return Span(first.line, first.column, last.end_line, last.end_column, first.file, first.source)
