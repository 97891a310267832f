"""Rows written in Python: tuples by position, dicts by name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lftj.errors import ArityError, FrameError, ValueTypeError
from lftj.frames.frame import CodedColumn, Place, Target
from lftj.frames.python_columns import code_values


@dataclass(frozen=True)
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


def carry_rows(source: Iterable[object], width: int) -> RowsCarrier:
    """Rows of a relation of `width` columns. A single dict is one row.

    Raises ArityError for a row of another length, FrameError for rows that are neither tuples nor dicts or disagree on their keys.
    """
    rows: list[Any] = [source] if isinstance(source, Mapping) else list(source)
    if not rows:
        return RowsCarrier(None, [()] * width, 0)
    if isinstance(rows[0], Mapping):
        return _carry_dicts(rows)
    if not all(issubclass(kind, (tuple, list)) for kind in set(map(type, rows))):
        i = next(i for i, row in enumerate(rows) if not isinstance(row, (tuple, list)))
        raise _not_a_row(i, rows[i], width)
    if set(map(len, rows)) != {width}:
        i = next(i for i, row in enumerate(rows) if len(row) != width)
        found, columns = (f"{n} {word}{'s' * (n != 1)}" for n, word in ((len(rows[i]), "value"), (width, "column")))
        hint = "give each row one value for each column; rows of named values may be dicts or a frame"
        raise ArityError(f"row {i} has {found}, the relation has {columns}: {_shown(rows[i])}", hint=hint)
    return RowsCarrier(None, [[row[i] for row in rows] for i in range(width)], len(rows))


def _carry_dicts(rows: list[Any]) -> RowsCarrier:
    first = rows[0]
    names = list(first)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise _not_a_row(i, row, len(names))
        if row.keys() != first.keys():
            odd = ", ".join(f'"{name}"' for name in sorted(map(str, row.keys() ^ first.keys())))
            raise FrameError(f"row {i} and row 0 differ in their columns: {odd}", hint="give every row the same keys; None is NULL")
        if held := next((name for name, value in row.items() if isinstance(value, (list, tuple, np.ndarray))), None):
            hint = "a dict is one row; for whole columns pass pyarrow.table({…}) or a DataFrame"
            raise ValueTypeError(f'row {i}, column "{held}": {_shown(row[held])} is a column, not a value', hint=hint)
    return RowsCarrier(names, [[row[name] for row in rows] for name in names], len(rows))


def _not_a_row(i: int, row: object, width: int) -> FrameError:
    if isinstance(row, (Mapping, tuple, list)):
        return FrameError(f"row {i} is not like row 0: found {_shown(row)}", hint="give all rows as tuples, or all as dicts")
    hint = "write each row as a tuple: [(…,), (…,)]" if width == 1 else "write a list of tuples, also for one row: [(…, …)]"
    return FrameError(f"row {i} is not a row: found {_shown(row)} ({type(row).__name__}), expected a tuple or a dict", hint=hint)


def _shown(value: object) -> str:
    """`repr`, cut to a line."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
