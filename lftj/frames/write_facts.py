# SPDX-License-Identifier: Apache-2.0
"""Text files, out: Soufflé's facts, and CSV and TSV with header and quotes as `load` reads them.

Rows are in ascending order of their values, strings by code point, floats with all the digits that
tell them apart and no `.0`.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import BinaryIO, TextIO, cast

import numpy as np
import pyarrow as pa

from lftj.errors import FrameError
from lftj.frames.facts import FactsLayout, Parameters
from lftj.frames.files import DELIMITERS, file_kind, is_compressed, is_table_file, local_path
from lftj.frames.frame import Columns
from lftj.frames.out import decode_column, to_values, value_order
from lftj.frames.text_columns import NULL_TEXT
from lftj.frames.whole_files import whole_write
from lftj.types import NULL_CODE, Type, float_text
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import arrow_array, arrow_scalar
from lftj.types.texts import Texts

_ORDER_MARK = "\ufeff"


def write_facts(
    destination: str | os.PathLike[str] | TextIO | BinaryIO,
    columns: Columns,
    code_columns: Sequence[np.ndarray],
    parameters: Parameters,
    texts: Texts,
    *,
    rows: int = 0,
    limit: int | None = None,
) -> None:
    """Writes rows as `.output` does, to a path (gzip with `compress`, or where it ends in `.gz`) or
    an open file, as UTF-8 where it is a binary one.

    `rows` counts rows without columns; `limit` writes that many rows at most. With `headers` the
    first line names the columns; with `rfc4180` strings stand in quotes, and so does a column of
    another type that is written with the delimiter. Without quotes a field that holds the delimiter
    or a line break could not be read back: FrameError (E232). Raises
    FrameError (E232) when the file cannot be written, which leaves it as it was before.
    """
    layout = FactsLayout.of(parameters)
    path = (
        local_path(destination, written=True)
        if isinstance(destination, (str, os.PathLike))
        else None
    )
    if path is None and not hasattr(destination, "write"):
        raise FrameError(
            f"{destination!r} is no file to write to",
            code="E231",
            hint="pass a path or an open file",
        )
    if limit is not None and not (isinstance(limit, int) and limit >= 0):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FrameError(
            f"limit is a number of rows of at least 0, found {limit!r}",
            code="E231",
            hint="leave it out for all rows",
        )
    if path is not None and is_table_file(path):
        hint = "name it .csv or .facts, or write result.arrow() as what the file is named for"
        raise FrameError(
            f"facts are text, and {path.name} is named as a table", code="E231", hint=hint
        )
    text = format_facts(columns, code_columns, layout, texts, rows=rows, limit=limit)
    if path is None and not isinstance(destination, (io.RawIOBase, io.BufferedIOBase)):
        cast("TextIO", destination).write(text)
        return
    packed = layout.compress or (path is not None and is_compressed(path))
    data = gzip.compress(text.encode(), mtime=0) if packed else text.encode()
    with (
        whole_write(path)
        if path is not None
        else nullcontext(cast("BinaryIO", destination)) as sink
    ):
        sink.write(data)


def write_delimited(
    destination: str | os.PathLike[str] | TextIO | BinaryIO,
    columns: Columns,
    code_columns: Sequence[np.ndarray],
    texts: Texts,
    null: str | None = None,
) -> None:
    """Write rows as CSV, or as TSV where the path ends so: a header, strings in quotes, `.gz`
    compressed. `null`: the field that stands for NULL.

    Raises FrameError (E231) for another ending and for rows without columns, (E232) as
    `write_facts`.
    """
    named = isinstance(destination, (str, os.PathLike))
    kind = file_kind(local_path(destination, written=True)) if named else ".csv"
    if kind not in DELIMITERS:
        hint = "name it .csv or .tsv, also with .gz: load(…) goes by the ending"
        raise FrameError(f"{os.fspath(destination)} is not named as CSV", code="E231", hint=hint)  # type: ignore[arg-type]
    if not columns:
        raise FrameError(
            "CSV has no rows without columns",
            code="E231",
            hint="write_facts writes a line () for such a row",
        )
    parameters = {"rfc4180": "true", "headers": "true", "delimiter": DELIMITERS[kind]}
    if null is not None:
        parameters["null"] = null
    write_facts(destination, columns, code_columns, parameters, texts)


def format_facts(
    columns: Columns,
    code_columns: Sequence[np.ndarray],
    layout: FactsLayout,
    texts: Texts,
    *,
    rows: int = 0,
    limit: int | None = None,
) -> str:
    """The text of a fact file, in memory. About 0.3 µs a row on top of the sorting; floats and
    decimals 0.5 µs each.
    """
    header = ""
    if layout.headers:
        names = [name for name, _ in columns]
        header = _header(names, layout) if layout.header is None else f"{layout.header}\n"
    if not columns:
        return header + "()\n" * (rows if limit is None else min(rows, limit))
    order = value_order([type for _, type in columns], code_columns, texts)[:limit]
    if not len(order):
        return header
    chosen = [codes[order] for codes in code_columns]
    if layout.null == "" and len(columns) == 1:
        layout = replace(layout, null='""' if layout.rfc4180 else "")
    plain = all(type.name in _PLAIN and not type.optional for _, type in columns)
    if len(order) <= _FEW and plain:
        return header + _few_lines(columns, chosen, layout, texts)
    last = len(columns) - 1
    fields = [
        _written(type, codes, name, layout, texts, place == last)
        for place, ((name, type), codes) in enumerate(zip(columns, chosen, strict=True))
    ]
    line = pc.binary_join_element_wise(*fields, _text(layout.delimiter))
    return header + _end_to_end(pc.binary_join_element_wise(line, _text(""), _text("\n")))


def _header(names: list[str], layout: FactsLayout) -> str:
    """The line of column names, in quotes where they need them: what was declared in Python may
    hold any characters.
    """
    fields = list[str]()
    for place, name in enumerate(names):
        last = place == len(names) - 1
        odd = not name or "\r" in name or _is_damaged(name, layout, last)
        if odd and not layout.rfc4180:
            raise FrameError(
                f"the column name {name!r} {_damage(name, layout)} and could not be read back",
                code="E232",
                hint="write .output …(rfc4180=true), which puts it in quotes, or no headers",
            )
        quoted = odd or (layout.rfc4180 and '"' in name)
        fields.append(_in_quotes(name) if quoted else name)
    return layout.delimiter.join(fields) + "\n"


def _in_quotes(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


_FEW = 200
"""Rows whose text is made without Arrow's functions, which take longer to import than that."""
_PLAIN = {"int": str, "str": str, "float": float_text}


def _few_lines(
    columns: Sequence[tuple[str, Type]],
    code_columns: Sequence[np.ndarray],
    layout: FactsLayout,
    texts: Texts,
) -> str:
    """The lines of a few rows of plain types."""
    fields = list[list[str]]()
    for place, ((name, type), codes) in enumerate(zip(columns, code_columns, strict=True)):
        texts_of = list(map(_PLAIN[type.name], to_values(type, codes, texts)))
        last = place == len(columns) - 1
        damaged = (text for text in texts_of if _is_damaged(text, layout, last))
        if layout.rfc4180:
            if type.name == "str" or next(damaged, None) is not None:
                texts_of = [_in_quotes(text) for text in texts_of]
        elif (found := next(damaged, None)) is not None:
            raise _cannot_be_read(found, name, layout)
        fields.append(texts_of)
    return "".join(f"{layout.delimiter.join(row)}\n" for row in zip(*fields, strict=True))


def _is_damaged(text: str, layout: FactsLayout, last: bool) -> bool:
    """Test for a text that would be read as another one, or as several: where a delimiter follows,
    also one that would begin before its end.
    """
    follows = "" if last else layout.delimiter[:-1]
    marks = layout.delimiter in text + follows or "\n" in text
    return marks or text.endswith("\r") or text.startswith(_ORDER_MARK)


def _cannot_be_read(text: str, name: str, layout: FactsLayout) -> FrameError:
    return FrameError(
        f'column "{name}": the field {text!r} {_damage(text, layout)} and could not be read back',
        code="E232",
        hint="write .output …(rfc4180=true), which puts it in quotes, or another delimiter",
    )


def _written(
    type: Type, codes: np.ndarray, name: str, layout: FactsLayout, texts: Texts, last: bool
) -> pa.LargeStringArray:
    """The fields of one column, of which the `last` has no delimiter behind it."""
    if type.optional:
        return _written_with_null(type, codes, name, layout, texts, last)
    fields = _texts_of(type, codes, texts)
    if type.name == "str" and layout.rfc4180:
        return _quoted(fields)
    if type.name != "str" and not set(layout.delimiter) <= _OF_VALUES:
        return fields
    damaged = _damaged(fields, layout, last)
    if not pc.any(damaged).as_py():
        return fields
    if layout.rfc4180:
        return _quoted(fields)
    raise _cannot_be_read(fields.filter(damaged)[0].as_py(), name, layout)


def _written_with_null(
    type: Type, codes: np.ndarray, name: str, layout: FactsLayout, texts: Texts, last: bool
) -> pa.LargeStringArray:
    """The fields of an optional column. In quotes an empty field makes no empty line. Raises
    FrameError (E232) where a value is written as NULL is.
    """
    absent = codes == NULL_CODE
    present = codes[~absent]
    fields = (
        _written(type.required, present, name, layout, texts, last)
        if len(present)
        else pa.array([], pa.large_string())
    )
    null = layout.null
    if null is None and type.name != "str":
        null = '""' if layout.rfc4180 else ""
    elif null is None:
        null = NULL_TEXT
    if pc.any(pc.is_in(fields, pa.array([null, _in_quotes(null)], pa.large_string()))).as_py():
        shown = null or '""'
        problem = f"the text {shown} is how files write NULL, and could not be read back"
        raise FrameError(
            f'column "{name}": {problem}',
            code="E232",
            hint='say null="NA", a text that no field has, or write a Parquet file',
        )
    gaps = pa.array(np.cumsum(~absent) - 1, mask=absent)
    return pc.fill_null(fields.take(gaps), _text(null))


_OF_VALUES = frozenset("0123456789+-.: adefilnrstu")
"""All letters that values of other types than strings are written with: those of numbers, dates and
times, `true`, `false` and `inf`.
"""


def _texts_of(type: Type, codes: np.ndarray, texts: Texts) -> pa.LargeStringArray:
    if type.name in ("float", "decimal"):
        text = float_text if type.name == "float" else "{:f}".format
        return arrow_array(map(text, to_values(type, codes, texts)), type=pa.large_string())
    return decode_column(type, codes, texts).cast(pa.large_string()).combine_chunks()


def _quoted(fields: pa.LargeStringArray) -> pa.LargeStringArray:
    quote, doubled = _text('"'), pc.replace_substring(fields, '"', '""')
    return pc.binary_join_element_wise(quote, doubled, quote, _text(""))


def _damaged(fields: pa.LargeStringArray, layout: FactsLayout, last: bool) -> pa.BooleanArray:
    """As `_is_damaged`, of each."""
    whole = fields
    if not last and len(layout.delimiter) > 1:
        whole = pc.binary_join_element_wise(fields, _text(layout.delimiter[:-1]), _text(""))
    marks = pc.or_(pc.match_substring(whole, layout.delimiter), pc.match_substring(fields, "\n"))
    ends = pc.or_(pc.ends_with(fields, "\r"), pc.starts_with(fields, _ORDER_MARK))
    return pc.or_(marks, ends)


def _damage(text: str, layout: FactsLayout) -> str:
    """The reason why a text cannot stand in a file without quotes."""
    if not text or text.startswith(_ORDER_MARK):
        return "begins with a byte order mark" if text else "is empty"
    return f"holds the delimiter {layout.delimiter!r} or a line break"


def _text(value: str) -> pa.Scalar:
    return arrow_scalar(value)


def _end_to_end(texts: pa.LargeStringArray) -> str:
    """All strings of a fresh, non-empty array in one: their bytes already lie so."""
    _, offsets, data = texts.buffers()
    return data.to_pybytes()[: np.frombuffer(offsets, dtype=np.int64)[len(texts)]].decode()
