"""Places in rule text: from character offsets to `Span`s."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from lftj.errors import Span


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
        self.text = text = f"{before}{text}{behind}"
        self.file = file
        lines = text.splitlines(keepends=True)
        if not lines or lines[-1].splitlines() != [lines[-1]]:
            lines.append("")
        self._starts = [0, *accumulate(len(line) for line in lines[:-1])]

    def span(self, start: int, end: int) -> Span:
        """The place of `text[start:end]`."""
        line, column = self.place(start)
        end_line, end_column = self.place(end)
        return Span(line, column, end_line, end_column, self.file, self.shown)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1 where the text begins."""
        line = bisect_right(self._starts, offset)
        return line - self._lines_before, offset - self._starts[line - 1] + 1

    def after(self, span: Span, most: int) -> str:
        """The text behind a place, up to `most` characters."""
        offset = self._starts[span.end_line + self._lines_before - 1] + span.end_column - 1
        return self.text[offset : offset + most]


def join(first: Span, last: Span) -> Span:
    """Span from the start of `first` to the end of `last`."""
    return Span(first.line, first.column, last.end_line, last.end_column, first.file, first.source)
