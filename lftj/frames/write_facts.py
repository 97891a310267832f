"""Soufflé's fact files, out: rows in ascending order of their values, strings by code point, floats with all their digits."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import numpy as np

from lftj.dictionary import Dictionary
from lftj.errors import FrameError
from lftj.frames.facts import FactsLayout, Parameters
from lftj.frames.frame import Columns
from lftj.frames.out import to_values, value_order
from lftj.types import Type


def write_facts(
    destination: str | os.PathLike[str] | TextIO,
    columns: Columns,
    code_columns: Sequence[np.ndarray],
    parameters: Parameters,
    dictionary: Dictionary,
    *,
    rows: int = 0,
) -> None:
    """Writes rows as `.output` does, to a path (gzip with `compress`) or an open text file. `rows` counts rows without columns.

    With `headers` the first line names the columns; with `rfc4180` strings stand in quotes. Without quotes a string that holds the
    delimiter or a line break could not be read back: FrameError (E232). Raises FrameError (E232) when the file cannot be written.
    """
    layout = FactsLayout.of(parameters)
    text = format_facts(columns, code_columns, layout, dictionary, rows=rows)
    if not isinstance(destination, (str, os.PathLike)):
        destination.write(text)
        return
    data = text.encode()
    try:
        Path(destination).write_bytes(gzip.compress(data, mtime=0) if layout.compress else data)
    except OSError as reason:
        raise FrameError(f"{destination} cannot be written: {reason.strerror}", code="E232") from None


def format_facts(
    columns: Columns, code_columns: Sequence[np.ndarray], layout: FactsLayout, dictionary: Dictionary, *, rows: int = 0
) -> str:
    """The text of a fact file, in memory."""
    header = layout.delimiter.join(name for name, _ in columns) + "\n" if layout.headers else ""
    if not columns:
        return header + "()\n" * rows
    order = value_order([type for _, type in columns], code_columns, dictionary)
    fields = [_written(type, codes[order], name, layout, dictionary) for (name, type), codes in zip(columns, code_columns, strict=True)]
    return header + "".join(layout.delimiter.join(row) + "\n" for row in zip(*fields, strict=True))


def _written(type: Type, codes: np.ndarray, name: str, layout: FactsLayout, dictionary: Dictionary) -> list[str]:
    """The fields of one column."""
    values = to_values(type, codes, dictionary)
    if type.name == "str":
        return _written_strings(values, name, layout)
    if type.name == "bool":
        return ["true" if value else "false" for value in values]
    if type.name == "timestamp":
        return [value.isoformat(" ") for value in values]
    if type.name == "decimal":
        return [format(value, "f") for value in values]
    return [repr(value) if type.name == "float" else str(value) for value in values]


def _written_strings(values: list[str], name: str, layout: FactsLayout) -> list[str]:
    if layout.rfc4180:
        return ['"' + value.replace('"', '""') + '"' for value in values]
    for value in values:
        if layout.delimiter in value or "\n" in value or value.endswith("\r"):
            shown = repr(layout.delimiter)
            message = f'column "{name}": the string {value!r} holds the delimiter {shown} or a line break and could not be read back'
            raise FrameError(message, code="E232", hint="write .output …(rfc4180=true), which puts strings in quotes, or another delimiter")
    return values
