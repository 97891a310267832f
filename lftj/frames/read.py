# SPDX-License-Identifier: Apache-2.0
"""Any data a user may hold, to the coded columns of a relation."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from lftj.errors import ArityError, FrameError, ValueTypeError, WrongValueError
from lftj.frames.carriers import ArrowCarrier, carry_table
from lftj.frames.facts import Parameters, check_table_parameters, read_facts
from lftj.frames.files import carry_file, file_kind, is_table_file, local_path, null_in_text
from lftj.frames.frame import (
    Carrier,
    CodedColumn,
    Columns,
    Frame,
    Late,
    NullPolicy,
    Place,
    Target,
    check_policy,
    not_a_policy,
    with_null_codes,
    without_nulls,
)
from lftj.frames.late_columns import HeldCodes
from lftj.frames.match import ColumnMap, Defaults, by_name_hint, match_columns, may_lack
from lftj.frames.python_columns import code_values
from lftj.frames.wrong_values import with_others
from lftj.scantree.frozen import frozen
from lftj.types import encode_scalar
from lftj.types.dictionary import Dictionary
from lftj.types.expected_texts import ExpectedTexts

# Rows written in Python: tuples by position, dicts by name.


@frozen
class RowsCarrier:
    """Rows turned into columns of Python values. `names` is None for tuples."""

    names: list[Hashable] | None
    values: list[Sequence[object]]
    rows: int
    place: Place = field(default_factory=lambda: Place("row 0"))

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.values)

    def code(self, position: int, target: Target) -> CodedColumn:
        """See `Carrier.code`."""
        return code_values(self.values[position], target)

    def part(self, first: int, end: int) -> RowsCarrier:
        """See `Carrier.part`."""
        values = [column[first:end] for column in self.values]
        return replace(self, values=values, rows=end - first)


_ROWS = (tuple, list, dict)


def _plain_row(row: Any) -> Any:
    """A row of a database's driver as a dict where it tells names, as `sqlite3.Row` does, else as a
    tuple; any other as it is.
    """
    if isinstance(row, (*_ROWS, str, bytes, Mapping)):
        return row
    names = getattr(row, "keys", None)
    if callable(names) and isinstance(row, Iterable):
        return dict(zip(row.keys(), row, strict=True))  # type: ignore[attr-defined]
    return tuple(row) if isinstance(row, Sequence) else row


def carry_rows(
    source: Iterable[object], columns: Columns, defaults: Defaults, mapping: ColumnMap | None
) -> RowsCarrier:
    """Rows of a relation of these columns. A single dict is one row.

    Raises ArityError for a row of another length, FrameError for rows that are neither tuples nor
    dicts or disagree on their keys.
    """
    width = len(columns)
    rows: list[Any] = [source] if isinstance(source, Mapping) else list(source)
    if rows and type(rows[0]) not in _ROWS:
        rows = list(map(_plain_row, rows))
    if not rows:
        return RowsCarrier(None, [()] * width, 0)
    if isinstance(rows[0], Mapping):
        return _carry_dicts(rows, may_lack(columns, defaults, mapping))
    if not all(issubclass(kind, (tuple, list)) for kind in set(map(type, rows))):
        i = next(i for i, row in enumerate(rows) if not isinstance(row, (tuple, list)))
        raise _not_a_row(i, rows[i], width)
    if set(map(len, rows)) != {width}:
        i = next(i for i, row in enumerate(rows) if len(row) != width)
        found, expected = (
            f"{n} {word}{'s' * (n != 1)}"
            for n, word in ((len(rows[i]), "value"), (width, "column"))
        )
        hint = by_name_hint(len(rows[i]), columns, defaults) or (
            "give each row one value for each column; rows of named values may be dicts or a frame"
        )
        raise ArityError(
            f"row {i} has {found}, the relation has {expected}: {_shown(rows[i])}", hint=hint
        )
    return RowsCarrier(None, [[row[i] for row in rows] for i in range(width)], len(rows))


def _carry_dicts(rows: list[Any], lacking: Defaults) -> RowsCarrier:
    """Dicts as columns; what is `lacking` in some, and in others not, is filled."""
    first, fills = rows[0], dict[Any, object]()
    names = list(first)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise _not_a_row(i, row, len(names))
        if row.keys() != first.keys():
            odd = row.keys() ^ first.keys()
            fills |= {name: lacking[name] for name in odd if name in lacking}
            if odd - lacking.keys():
                shown = ", ".join(f'"{name}"' for name in sorted(map(str, odd)))
                raise FrameError(
                    f"row {i} and row 0 differ in their columns: {shown}",
                    hint="give every row the same keys; None is NULL",
                )
        if held := next(
            (name for name, value in row.items() if isinstance(value, (list, tuple, np.ndarray))),
            None,
        ):
            hint = "a dict is one row; for whole columns pass pyarrow.table({…}) or a DataFrame"
            raise ValueTypeError(
                f'row {i}, column "{held}": {_shown(row[held])} is a column, not a value', hint=hint
            )
    names = [*names, *(name for name in fills if name not in first)]
    values: list[Sequence[object]] = [
        [row.get(name, fills[name]) for row in rows]
        if name in fills
        else [row[name] for row in rows]
        for name in names
    ]
    return RowsCarrier(names, values, len(rows))


def _not_a_row(i: int, row: object, width: int) -> FrameError:
    if isinstance(row, (Mapping, tuple, list)):
        return FrameError(
            f"row {i} is not like row 0: found {_shown(row)}",
            hint="give all rows as tuples, or all as dicts",
        )
    hint = (
        "write each row as a tuple: [(…,), (…,)]"
        if width == 1
        else "write a list of tuples, also for one row: [(…, …)]"
    )
    return FrameError(
        f"row {i} is not a row: found {_shown(row)} ({type(row).__name__}), expected a tuple or a "
        f"dict",
        hint=hint,
    )


def _shown(value: object) -> str:
    """`repr`, cut to a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"


def read(
    source: Any,
    columns: Columns,
    *,
    dictionary: Dictionary,
    nulls: NullPolicy = "error",
    mapping: ColumnMap | None = None,
    defaults: Sequence[tuple[str, object]] = (),
    facts: Parameters | None = None,
    null: str | None = None,
    place: Place | None = None,
    late_from: int | None = None,
    expected: Sequence[ExpectedTexts | None] | None = None,
) -> Frame:
    """The rows of `source` as codes, one int64 array per column of the relation, in input order.

    `source`: tuples or lists (by position), a dict (one row) or dicts, rows of a database's driver
    (`sqlite3.Row` by its names); an Arrow table, batch or reader; a pandas, Polars or Spark
    DataFrame, or anything else that offers an Arrow stream; a result (by position); a NumPy array
    of two dimensions (by position) or of named fields; a path to a `.csv .tsv .facts .parquet
    .arrow` file; a table of `deltalake` or `pyiceberg`. Frames with names match by name and must
    have the relation's columns and no others, but for those with `defaults`, and optional ones,
    which are NULL where they are left out; `mapping` (relation column → frame column) renames, and
    lets other columns be. `nulls`: "error" raises at the first NULL or NaN, "drop" leaves such rows
    out and counts them. `facts`: read the path or open file as Soufflé's facts, with these
    parameters of `.input` (`{}`: none), whatever its ending; Parquet and Arrow files stay what they
    are, and take none but the name. `null`: the field that is NULL in a file of text. `place`: what
    messages call the source, where it is an Arrow table or batch, or rows. `late_from`: from so
    many rows on columns are given late (`Frame`). `expected`: codes that the strings of each column
    probably have.

    Nothing is converted but integers to wider ones and timestamps to microseconds, where exact.
    Raises FrameError, FileMissingError, ArityError, NullValueError, ValueTypeError,
    ValueRangeError; each names row and column (and the line of a text file). Cost: one copy of the
    data for Arrow; about 30 ns a value for uniform tuples; 50 ns a field for text.
    """
    check_policy(nulls)
    is_path = isinstance(source, (str, os.PathLike))
    source = local_path(source) if is_path else source
    if facts is not None and is_path and is_table_file(source):
        check_table_parameters(facts, source)
        facts = None
    if facts is not None or (is_path and file_kind(source) == ".facts"):
        if null is not None:
            facts = {**(facts or {}), "null": null}
        if mapping is not None:
            raise FrameError(
                "a fact file has no column names, so columns= cannot pick any",
                hint='write facts={"columns": "0:2:1"}',
            )
        if not is_path and not hasattr(source, "read"):
            raise FrameError(
                f"facts= is for files, found {type(source).__name__}",
                code="E231",
                hint="pass a path, or leave facts= out",
            )
        return read_facts(source, columns, facts or {}, dictionary, nulls)
    filled = dict(defaults)
    carrier = (
        carry_file(source, null)
        if is_path
        else None
        if type(source) is list
        else carry_table(source)
    )
    if null is not None and not is_path:
        raise null_in_text(type(source).__name__)
    if carrier is None:
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            hint = (
                "pass rows as a list of tuples, a pandas, Polars, Arrow or Spark table, or the "
                "path of a file"
            )
            raise FrameError(f"{type(source).__name__} holds no rows", code="E231", hint=hint)
        carrier = carry_rows(source, columns, filled, mapping)
        if not carrier.rows:  # as many a change has none to insert, or none to delete
            return Frame([np.empty(0, np.int64) for _ in columns], 0)
    if place is not None and isinstance(carrier, (ArrowCarrier, RowsCarrier)):
        carrier = replace(carrier, place=place)
    late = late_from is not None and carrier.rows >= late_from > 0
    positions = match_columns(carrier, columns, mapping, filled)
    targets = [
        Target(name, type, dictionary, carrier.place, likely)
        for (name, type), likely in zip(columns, expected or repeat(None), strict=False)
    ]
    try:
        if late:
            return _read_late(carrier, targets, positions, filled, nulls)
        coded = [
            _coded(carrier, target, position, filled)
            for position, target in zip(positions, targets, strict=True)
        ]
        return without_nulls(coded, columns, carrier.rows, nulls, carrier.place)
    except WrongValueError as error:
        found = with_others(error, carrier, targets, positions, nulls == "error")
        if (mixed := not_a_policy(null)) is not None:
            found.hint = f"{found.hint}; {mixed}" if found.hint else mixed
        raise found from None


def names_of(source: Any) -> list[Hashable] | None:
    """The names of the columns of `source`, as `read` takes it; None where it has none."""
    if isinstance(source, (str, os.PathLike)):
        carrier = carry_file(local_path(source))
    elif isinstance(source, Mapping) or (
        isinstance(source, (list, tuple)) and source and isinstance(_plain_row(source[0]), Mapping)
    ):
        return list(source if isinstance(source, Mapping) else _plain_row(source[0]))
    else:
        carrier = None if isinstance(source, (list, tuple, set)) else carry_table(source)
    return None if carrier is None or carrier.names is None else list(carrier.names)


def read_options(
    nulls: NullPolicy,
    columns: ColumnMap | None,
    facts: Parameters | None,
    null: str | None = None,
) -> dict[str, Any]:
    """The arguments of `read` that the options of a `load` stand for."""
    return {"nulls": nulls, "mapping": columns, "facts": facts, "null": null}


def _coded(
    carrier: Carrier, target: Target, position: int | None, defaults: Defaults
) -> CodedColumn:
    """Codes and checks a column of one carrier, which is at this position; None: has the default
    in all rows.
    """
    if position is None:
        code = encode_scalar(target.type, defaults.get(target.name), target.dictionary)
        return CodedColumn(np.full(carrier.rows, code, np.int64))
    column = carrier.code(position, target)
    return with_null_codes(column, carrier.place, target.name, target.type)


def _read_late(
    carrier: Carrier,
    targets: Sequence[Target],
    positions: Sequence[int | None],
    defaults: Defaults,
    nulls: NullPolicy,
) -> Frame:
    """The columns of one carrier, given late where every row has a value in each."""
    all_refused = {"carrier": carrier, "targets": targets, "positions": positions}
    refused = partial(with_others, **all_refused, nulls=nulls == "error")
    waiting: list[Late | None] = [None] * len(targets)
    coded: list[CodedColumn] = []
    for number, (position, target) in enumerate(zip(positions, targets, strict=True)):
        if position is not None and isinstance(carrier, ArrowCarrier):
            waiting[number] = carrier.late(position, target, refused)
        waits = waiting[number] is not None
        coded.append(_WAITING if waits else _coded(carrier, target, position, defaults))
    if coded and all(column.absent() is None for column in coded):
        found = [
            each if each is not None else HeldCodes(column.codes)
            for each, column in zip(waiting, coded, strict=True)
        ]
        return Frame([], carrier.rows, late=found)
    coded = [
        column if each is None else CodedColumn(np.array(each()))
        for each, column in zip(waiting, coded, strict=True)
    ]
    columns = [(target.name, target.type) for target in targets]
    return without_nulls(coded, columns, carrier.rows, nulls, carrier.place)


_WAITING = CodedColumn(np.empty(0, np.int64))
