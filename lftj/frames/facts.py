# SPDX-License-Identifier: Apache-2.0
"""Soufflé's fact files, in: no header, tabs between fields, strings as they stand, whole numbers
also as `0x1f` and `0b101`.

The parameters are those of `.input` and `.output`: `IO` (file, stdin, stdout), `filename`,
`delimiter`, `headers`, `attributeNames` (the header, instead of the columns' names),
`columns="0:2:1"`, `rfc4180`, `compress`. Two things are stricter than in Soufflé: a line with more
fields than columns is an error (`columns` picks some on purpose), and so is an unknown parameter,
but in a directive, where it is ignored with a warning.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from lftj.errors import FrameError, WrongValueError
from lftj.frames.carriers import carry_text
from lftj.frames.delimited import DelimitedText
from lftj.frames.files import read_bytes
from lftj.frames.frame import Columns, Frame, NullPolicy, Target, with_null_codes, without_nulls
from lftj.frames.match import suggestion
from lftj.frames.wrong_values import with_others
from lftj.scantree.frozen import frozen
from lftj.types.dictionary import Dictionary

Parameters = Mapping[str, str | int]
_KNOWN = (
    "IO",
    "filename",
    "delimiter",
    "headers",
    "columns",
    "rfc4180",
    "compress",
    "attributeNames",
    "null",
    "name",
    "operation",
)
_NO_DELIMITER = frozenset("\0\n\r\ufeff")
_WAYS = ("file", "stdin", "stdout", "stdoutprintsize")


@frozen(slots=True)
class FactsLayout:
    """The parameters of a directive. `picked` is the file's field for each column, or None for all
    in order.
    """

    io: str
    filename: str | None
    delimiter: str
    headers: bool
    rfc4180: bool
    compress: bool
    picked: tuple[int, ...] | None
    header: str | None = None
    null: str | None = None
    """The field that is NULL; None: what stands for it in each type."""

    @classmethod
    def of(cls, parameters: Parameters) -> FactsLayout:
        """Reads the parameters. Raises FrameError (E231) for unknown ones and for values they
        cannot have.
        """
        if not isinstance(parameters, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- not everybody runs a type checker
            hint = 'write facts={"delimiter": ","}, or facts={} for none'
            raise FrameError(
                f"parameters of facts are a dict, found {type(parameters).__name__}",
                code="E231",
                hint=hint,
            )
        io = str(parameters.get("IO", "file"))
        if io not in _WAYS:
            raise FrameError(
                f"IO={io} is not supported", code="E231", hint="use IO=file, IO=stdin or IO=stdout"
            )
        for problem, hint in unknown_parameters(parameters).values():
            raise FrameError(problem, code="E231", hint=hint)
        rfc4180 = _truth(parameters, "rfc4180")
        delimiter = str(parameters.get("delimiter", "," if rfc4180 else "\t"))
        if not delimiter or set(delimiter) & _NO_DELIMITER or (rfc4180 and '"' in delimiter):
            raise FrameError(f"delimiter={delimiter!r} cannot separate fields", code="E231")
        if rfc4180 and len(delimiter) > 1:
            hint = "choose a delimiter of one character, or leave rfc4180 out"
            raise FrameError(
                f"delimiter={delimiter!r} cannot separate fields in quotes", code="E231", hint=hint
            )
        header = parameters.get("attributeNames")
        if header is not None and set(str(header)) & _NO_DELIMITER:
            raise FrameError(f"attributeNames={header!r} is no line", code="E231")
        null = parameters.get("null")
        if null is not None and set(str(null)) & {*_NO_DELIMITER, *delimiter, '"'}:
            raise FrameError(
                f"null={null!r} cannot stand in a field",
                code="E231",
                hint="choose a text without delimiter, quote or line break, as NA",
            )
        filename = parameters.get("filename")
        return cls(
            io,
            None if filename is None else str(filename),
            delimiter,
            _truth(parameters, "headers"),
            rfc4180,
            _truth(parameters, "compress"),
            _picked(parameters.get("columns")),
            None if header is None else str(header),
            None if null is None else str(null),
        )

    def path(self, relation: str, directory: str | os.PathLike[str], *, output: bool) -> Path:
        """The file of a relation: `filename`, or the relation's name with `.facts` (in) or `.csv`
        (out, `.csv.gz` if compressed).
        """
        ending = ".facts" if not output else ".csv.gz" if self.compress else ".csv"
        return Path(directory) / (self.filename or relation + ending)


def known_parameters(parameters: Parameters) -> dict[str, str | int]:
    """Restrict parameters to those that mean something."""
    return {name: value for name, value in parameters.items() if name in _KNOWN}


def unknown_parameters(parameters: Parameters) -> dict[str, tuple[str, str]]:
    """The problem with each parameter that is none, and a hint."""
    found = dict[str, tuple[str, str]]()
    for name in parameters:
        if name not in _KNOWN:
            meant = suggestion(name, _KNOWN)
            hint = f"did you mean {meant}?" if meant else f"known are {', '.join(_KNOWN[:8])}"
            found[name] = f"unknown parameter {name!r}", hint
    return found


def check_table_parameters(parameters: Parameters, path: Path) -> None:
    """Raise FrameError (E231) for parameters that mean something for text alone, where the file is
    a Parquet or Arrow table.
    """
    FactsLayout.of(parameters)
    for name in parameters:
        if name in ("delimiter", "headers", "columns", "rfc4180", "compress", "attributeNames",
                    "null"):  # fmt: skip
            hint = "leave it out: columns are taken by their names"
            raise FrameError(
                f"{name} says how text is written, and {path.name} is a table",
                code="E231",
                hint=hint,
            )


def read_facts(
    source: str | os.PathLike[str] | BinaryIO,
    columns: Columns,
    parameters: Parameters,
    dictionary: Dictionary,
    nulls: NullPolicy = "error",
) -> Frame:
    """The rows of a fact file (gzip or not) or of an open binary file. An empty file is an empty
    relation.

    A relation without columns has one line per row, `()` as it is written or any other. An
    empty field is the empty string, and no number; in an optional column of another type than str
    it is NULL, which is `\\N` among strings, or what the parameter `null` says. Raises
    FileMissingError, FrameError (E231, E232), ValueTypeError, ValueRangeError, with line and
    column.
    """
    layout = FactsLayout.of(parameters)
    name = "stdin" if hasattr(source, "read") else Path(source).name  # type: ignore[arg-type]
    data = read_bytes(source)
    if not columns:
        lines = data.decode("utf-8", "replace").splitlines()
        return Frame([], len(lines[layout.headers :]))
    needed = max(layout.picked) + 1 if layout.picked else None
    text = DelimitedText(
        name,
        data,
        layout.delimiter,
        layout.rfc4180,
        layout.headers,
        blank_lines=True,
        needed=needed,
    )
    positions = layout.picked or tuple(range(len(columns)))
    if len(positions) != len(columns):
        picked = ":".join(map(str, positions))
        few, all_ = (
            f"{n} {what}{'s' if n != 1 else ''}"
            for n, what in ((len(positions), "field"), (len(columns), "column"))
        )
        raise FrameError(f'columns="{picked}" picks {few}, the relation has {all_}', code="E231")
    width = _width(text, positions, layout.picked is None)
    carrier = carry_text(text, width, None, facts=True, null=layout.null)
    targets = [Target(column, type, dictionary, carrier.place) for column, type in columns]
    try:
        coded = [
            with_null_codes(carrier.code(position, target), carrier.place, target.name, target.type)
            for position, target in zip(positions, targets, strict=True)
        ]
        return without_nulls(coded, columns, carrier.rows, nulls, carrier.place)
    except WrongValueError as error:
        raise with_others(error, carrier, targets, positions, True) from None


def _width(text: DelimitedText, positions: tuple[int, ...], exact: bool) -> int:
    """Fields per line: as many as columns; when fields are picked, as many as the first line has,
    and all picked must be there.
    """
    if exact:
        return len(positions)
    first = islice(text.records(), 1 if text.header else 0, None)
    line, fields = next(first, (1, [""] * (max(positions) + 1)))
    if len(fields) <= max(positions):
        picked = ":".join(map(str, positions))
        message = (
            f'{text.name}, line {line}: columns="{picked}" counts fields from 0, this line has '
            f"{len(fields)}"
        )
        raise FrameError(message, code="E232")
    return len(fields)


def _truth(parameters: Parameters, name: str) -> bool:
    value = str(parameters.get(name, "false")).casefold()
    if value not in ("true", "false", "1", "0"):
        raise FrameError(f"{name}={value} is neither true nor false", code="E231")
    return value in ("true", "1")


def _picked(value: str | int | None) -> tuple[int, ...] | None:
    if value is None or value == "":
        return None
    parts = str(value).split(":")
    if not all(part.strip().isdecimal() for part in parts):
        raise FrameError(
            f'columns="{value}" is not a list of fields',
            code="E231",
            hint='write field numbers from 0: columns="0:2:1"',
        )
    return tuple(int(part) for part in parts)
