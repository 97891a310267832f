# SPDX-License-Identifier: Apache-2.0
"""Delimited text to columns of strings, every field as it stands, and the line of each row for
messages.

Arrow splits the text. What it cannot split (delimiters of several characters, a bare carriage
return within an unquoted field) is split in Python, about thirty times slower. Python's `csv` also
finds the line of a bad row, once there is one.
"""

from __future__ import annotations

import codecs
import csv
import io
import threading
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa

from lftj.errors import FrameError
from lftj.scantree.frozen import frozen
from lftj.types.arrow_arrays import arrow_array

_BLOCK = 1 << 22
"""Bytes that are looked at together."""


@frozen
class DelimitedText:
    """The content of one file. `quoted`: fields may be in double quotes and then hold delimiters
    and newlines (RFC 4180).

    `blank_lines`: whether an empty line is a row; `before`: how many of them stand before the
    header and are none. `width`: fields per row, where that is known beforehand.
    """

    name: str
    data: bytes
    delimiter: str
    quoted: bool
    header: bool
    blank_lines: bool
    before: int = 0
    width: int | None = None
    needed: int | None = None
    """Number of fields that each row must have, where rows may be longer: fields are picked by
    their numbers, and further ones are not read.
    """

    def first_record(self) -> tuple[int, list[str]]:
        """The line and the fields of the first record. Raises FrameError (E232) for an empty file
        or text that is not UTF-8.
        """
        first = next(self.records(), None)
        if first is None:
            hint = (
                "the first line must name the columns; an empty relation is a file with that "
                "line only"
            )
            raise FrameError(f"{self.name} is empty", code="E232", hint=hint)
        return first

    def columns(self, width: int) -> list[pa.ChunkedArray]:
        """All fields, as `width` columns of strings, the header left out. Raises FrameError (E232)
        naming the line of a bad row.
        """
        names = [str(i) for i in range(width)]
        self._refuse_lone_returns()
        if len(self.data) == 0 or (
            self.header and not (b"\n" in self.data or b"\r" in self.data)
        ):  # Arrow refuses a header alone
            return [pa.chunked_array([], type=pa.string()) for _ in names]
        if self._needs_python():
            return self._split_in_python(width)
        rows = self._checked_rows(width)
        quoted_header = self.header and self.quoted
        among = quoted_header and len(next(self.records(), (0, []))[1]) == width
        if quoted_header and not among and b"\0" in self.data:
            return self._split_in_python(width)
        try:
            columns = self._split(names, among)
        except pa.ArrowInvalid:
            # It says no line. What is no mistake is read: rows of several lengths, a header alone
            # whose names hold line breaks.
            return self._split_in_python(width)
        return columns if len(columns[0]) == rows else self._split_in_python(width)

    def line_of(self, row: int) -> int | None:
        """The line on which a row starts. O(file), in Python: for messages."""
        try:
            for number, (line, _) in enumerate(self.records()):
                if number == row + (1 if self.header else 0):
                    return line
        except FrameError:
            pass
        return None

    # ── record by record, in Python ───────────────────────────────────────────────────────────────
    def records(self) -> Iterator[tuple[int, list[str]]]:
        """`(line, fields)` of every record, the header included, blank lines left out unless they
        are rows.
        """
        try:
            records = self._quoted_records() if self.quoted else self._plain_records()
            yield from islice(records, self.before if self.blank_lines else 0, None)
        except UnicodeDecodeError:
            raise FrameError(
                f"{self.name}, line {self._undecoded_line()}: the text is not UTF-8",
                code="E232",
                hint="save the file as UTF-8",
            ) from None

    def _lines(self, newline: str) -> io.TextIOWrapper:
        """The text, decoded as it is read: most files are only asked for their first record.
        `newline`: where lines end, as for `open`.
        """
        return io.TextIOWrapper(io.BytesIO(self.data), "utf-8-sig", newline=newline)

    def _undecoded_line(self) -> int:
        """The first line that is not UTF-8, of a file that has one."""
        try:
            self.data.decode("utf-8-sig")
        except UnicodeDecodeError as reason:
            return reason.object.count(b"\n", 0, reason.start) + 1
        raise AssertionError("the text is UTF-8")

    def _plain_records(self) -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(self._lines("\n"), 1):
            line = line.removesuffix("\n").removesuffix("\r")
            if line or self.blank_lines:
                yield number, line.split(self.delimiter)

    def _quoted_records(self) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(self._lines(""), delimiter=self.delimiter, strict=True)
        line = 1
        try:
            while (fields := _next_record(reader)) is not None:
                if fields or self.blank_lines:
                    yield line, fields or [""]
                line = reader.line_num + 1
        except csv.Error as reason:
            hint = 'a field with a quote in it is written "like ""this"""'
            raise FrameError(
                f"{self.name}, line {line}: {reason}", code="E232", hint=hint
            ) from None

    def _split_in_python(self, width: int) -> list[pa.ChunkedArray]:
        rows = [fields for _, fields in self._checked_records(width)]
        return [
            pa.chunked_array([arrow_array([row[i] for row in rows], type=pa.string())])
            for i in range(self.needed or width)
        ]

    def _checked_records(self, width: int) -> Iterator[tuple[int, list[str]]]:
        """Records without the header, each of the right width. Raises FrameError (E232)."""
        least = width if self.needed is None else self.needed
        for line, fields in islice(self.records(), 1 if self.header else 0, None):
            if len(fields) < least or (self.needed is None and len(fields) != width):
                raise FrameError(
                    f"{self.name}, line {line}: expected {least} "
                    f"column{'s' if least != 1 else ''}, found {len(fields)}",
                    code="E232",
                    hint=self._width_hint(fields, width),
                )
            yield line, fields

    def _width_hint(self, fields: list[str], width: int) -> str | None:
        shown = {"\t": "tabs", ",": "commas"}.get(self.delimiter, repr(self.delimiter))
        for other in ("\t", ",", ";", "|", " "):
            if (
                len(fields) == 1
                and other != self.delimiter
                and fields[0].count(other) == width - 1 > 0
            ):
                return f"fields are separated by {shown}; this line seems to use {other!r}"
        return None

    # ── all at once, in Arrow ─────────────────────────────────────────────────────────────────────
    def _needs_python(self) -> bool:
        """Recognise files that Arrow would split elsewhere: it takes one-character delimiters only
        and ends lines at any carriage return.
        """
        if len(self.delimiter) != 1 or not self.delimiter.isascii():
            return True
        return not self.quoted and self.data.count(b"\r") != self.data.count(b"\r\n")

    def _refuse_lone_returns(self) -> None:
        """Refuse a file whose lines end in carriage returns alone. Where fields are not quoted such
        a return is part of a field, and the file would be a single line.
        """
        if not self.quoted and b"\n" not in self.data and b"\r" in self.data.rstrip(b"\r"):
            hint = "save the file with line feeds at the ends of lines"
            raise FrameError(
                f"{self.name}: its lines end in carriage returns alone", code="E232", hint=hint
            )

    def _checked_rows(self, width: int) -> int:
        """The number of rows. Refuses what Arrow passes over in silence: quotes left open or closed
        too early, and empty lines where they are rows.
        """
        if self.quoted and b'"' in self.data and not self._quotes_in_pairs():
            return sum(1 for _ in self._checked_records(width))
        records, empty = self._counted()
        if not self.blank_lines:
            return max(0, records - self.header)
        if empty and width > 1:
            return sum(1 for _ in self._checked_records(width))
        return max(0, records + empty - self.before - self.header)

    def _counted(self) -> tuple[int, int]:
        """The numbers of records and of empty lines, where quotes enclose whole fields: of the ends
        of lines that are not in quotes.
        """
        marks = b'"' if self.quoted else b""
        text, odd, last, lines, empty = self._text(), 0, -1, 0, 0
        if not any(mark in self.data for mark in (b"\r", b"\n\n", *([marks] if marks else []))):
            first = text[:1] == ord("\n")
            lines = self.data.count(b"\n") + bool(len(text) and text[-1] != ord("\n"))
            return lines - int(first.sum()), int(first.sum())
        for start in range(0, len(text), _BLOCK):
            feeds, returns, quotes = (
                np.flatnonzero(text[start : start + _BLOCK] == mark) + start for mark in b'\n\r"'
            )
            alone = text[np.minimum(returns + 1, len(text) - 1)] != ord("\n")
            ends = np.sort(np.concatenate([feeds, returns[alone]]))
            if marks:
                ends = ends[(np.searchsorted(quotes, ends) + odd) % 2 == 0]
                odd += len(quotes)
            sizes = np.diff(ends, prepend=last) - 1
            pairs = (text[ends] == ord("\n")) & (text[ends - 1] == ord("\r"))
            lines += len(ends)
            empty += int(((sizes == 0) | ((sizes == 1) & pairs)).sum())
            last = int(ends[-1]) if len(ends) else last
        return lines - empty + (last < len(text) - 1), empty

    def _text(self) -> np.ndarray:
        """The bytes, without an order mark."""
        marked = self.data.startswith(codecs.BOM_UTF8)
        return np.frombuffer(self.data, np.uint8, offset=len(codecs.BOM_UTF8) if marked else 0)

    def _quotes_in_pairs(self) -> bool:
        """Check that quotes enclose whole fields or are doubled: every first one of two stands
        behind a delimiter, a line end or a quote, and every second one before such. Where quotes
        within unquoted fields upset the count, only `csv` can tell.
        """
        text = self._text()
        beside = np.isin(np.arange(256), list(b'"\r\n' + self.delimiter.encode()))
        odd = 0
        for start in range(0, len(text), _BLOCK):
            quotes = np.flatnonzero(text[start : start + _BLOCK] == ord('"')) + start
            first, second = (
                quotes[odd::2],
                quotes[1 - odd :: 2],
            )  # the quote itself stands for the ends of the file
            if not (
                beside[text[np.maximum(first - 1, 0)]].all()
                and beside[text[np.minimum(second + 1, len(text) - 1)]].all()
            ):
                return False
            odd = (odd + len(quotes)) % 2
        return not odd

    def _split(self, names: list[str], among: bool) -> list[pa.ChunkedArray]:
        """The fields. `among`: the header is read as a row, and cut off: where fields may be quoted
        Arrow skips more than the header, or less, if that holds \\0.
        """
        from pyarrow import csv as arrow_csv  # only where a file is read

        convert = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        )
        parse = arrow_csv.ParseOptions(
            delimiter=self.delimiter,
            quote_char='"' if self.quoted else False,
            newlines_in_values=self.quoted,
            ignore_empty_lines=not self.blank_lines,
        )
        for block in (_BLOCK, len(self.data) + 1):  # a row longer than a block needs the second
            skipped = self.before + self.header  # empty lines count, whether they are rows or not
            if among:
                skipped = 0
            read = arrow_csv.ReadOptions(
                column_names=names, skip_rows_after_names=skipped, block_size=min(block, 2**31 - 1)
            )
            try:
                table = arrow_csv.read_csv(
                    io.BytesIO(self.data),
                    read_options=read,
                    parse_options=parse,
                    convert_options=convert,
                )
            except pa.ArrowInvalid as reason:
                if "straddling" not in str(reason) or block > len(self.data):
                    raise
                continue
            outside = (self.before if self.blank_lines else 0) + self.header
            return table.slice(outside if among else 0).columns
        raise AssertionError("unreachable")


_LONGEST_FIELD = 2**31 - 1
_field_limit = threading.Lock()


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    """The next record, however long its fields; None at the end. Python's limit is one for the
    whole process, so it is put back.
    """
    with _field_limit:
        before = csv.field_size_limit(_LONGEST_FIELD)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(before)
