# SPDX-License-Identifier: Apache-2.0
"""Rows as the command line prints them: tables, which a terminal gets as wide as it is and a pipe
whole, and CSV, JSON and Parquet for other programs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from lftj.engine.versions.result import Result
from lftj.errors import CommandError, FrameError
from lftj.frames.whole_files import whole_write

FORMATS = ("table", "csv", "json", "jsonl", "parquet")
"""Formats by the names that options have; files are also known by these endings."""
SHOWN_ROWS = 40
"""Rows of a table at a terminal, where nothing else is said."""
_AT_ONCE = 65_536  # rows whose values are Python's at one time
_ORDERED = 100_000  # rows that are put in order to show the first of them
_LEAST = 6  # letters of a column that others leave room


def at_terminal() -> bool:
    """Test for a terminal behind standard output."""
    return sys.stdout is not None and sys.stdout.isatty()  # pyright: ignore[reportUnnecessaryComparison] -- a process may have none


def write(
    result: Result,
    format: str | None = None,
    output: Path | None = None,
    rows: int | None = None,
    null: str | None = None,
) -> None:
    """Write a result to a file or standard output, rows in ascending order of their values.

    `format`: one of FORMATS, by default what the ending of the file's name says, or a table.
    `rows` of a table: by default 40 at a terminal, and all elsewhere. `null`: the
    field of CSV that stands for NULL. Raises CommandError (E390),
    FrameError (E231, E232).
    """
    format = format or _format_of(output)
    if output is not None:
        _into_file(result, format, output, rows, null)
        return
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FrameError("standard output is closed", code="E232", hint="name a file")
    if format == "parquet":
        if at_terminal():
            raise CommandError("Parquet is not for terminals", hint="name a file, rows.parquet")
        sys.stdout.buffer.write(_parquet(result))
    elif format == "csv" and result.columns:
        result.write_csv(sys.stdout, null=null)
    else:
        for line in lines(result, format, rows):
            print(line)


def _format_of(output: Path | None) -> str:
    """The format of a file by its name. Raises CommandError (E390)."""
    if output is None:
        return FORMATS[0]
    ending = output.suffix.removeprefix(".")
    if ending not in FORMATS[1:]:
        raise CommandError(
            f"{output.name} ends in none of {', '.join(f'.{each}' for each in FORMATS[1:])}",
            hint="rename it, or name a format",
        )
    return ending


def _into_file(
    result: Result, format: str, output: Path, rows: int | None, null: str | None
) -> None:
    """Write a file, whole or not at all."""
    with whole_write(output) as sink:
        if format == "parquet":
            sink.write(_parquet(result))
        elif format == "csv" and result.columns:
            result.write_csv(sink, null=null)
        else:
            for line in lines(result, format, rows, width=0):
                sink.write(f"{line}\n".encode())


def _parquet(result: Result) -> bytes:
    if not result.columns:
        raise CommandError("Parquet has no rows without columns", hint="choose the format json")
    sink: Any = import_module("pyarrow").BufferOutputStream()
    import_module("pyarrow.parquet").write_table(_sorted(result).arrow(), sink)
    return sink.getvalue().to_pybytes()


def lines(
    result: Result, format: str = "table", rows: int | None = None, width: int | None = None
) -> Iterator[str]:
    """Yield a result as lines of text. Of one without columns its truth.

    `width` of a table: by default that of the terminal, without bound elsewhere; 0: without bound.
    """
    if format == "table":
        yield from _table(result, rows, _width() if width is None else width)
    elif not result.columns:
        yield "true" if result else "false"
    else:
        yield from _json(_sorted(result), array=format == "json")


def _sorted(result: Result) -> Result:
    return result.sort(*result.columns)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size().columns if at_terminal() else 0


# ── tables ────────────────────────────────────────────────────────────────────────────────────────
def _table(result: Result, rows: int | None, width: int) -> Iterator[str]:
    """A title, the columns and the rows. Values are cut where they are wider than `width`."""
    count = len(result)
    title = f"{result.name}: {count:,} row{'' if count == 1 else 's'}, version {result.version}"
    yield title if result.columns else f"{title} ({'true' if count else 'false'})"
    if not result.columns:
        return
    shown = min(count, (SHOWN_ROWS if width else count) if rows is None else rows)
    if shown == count or count <= _ORDERED:
        result = _sorted(result)
    table = result.head(shown).arrow()
    heads = [result.columns, tuple(map(str, result.types))]
    widths = [max(map(_room, pair)) for pair in zip(*heads, strict=True)]
    for rooms in map(_rooms, _parts(table)):
        widths = list(map(max, widths, rooms))
    fitting = _fitting(widths, width) if width else widths
    right = [type.numeric for type in result.types][: len(fitting)]
    names, types = (_line(head, fitting, right) for head in heads)
    left_out = len(widths) - len(fitting)
    yield f"{names}  … {left_out} more column{'s' * (left_out > 1)}" if left_out else names
    yield types
    for part in _parts(table):
        for row in zip(*part, strict=True):
            yield _line(row, fitting, right)
    if shown < count:
        yield f"… {count - shown:,} more"


def _parts(table: Any) -> Iterator[list[list[str]]]:
    """The columns of a table as texts, for some rows at a time."""
    for first in range(0, len(table), _AT_ONCE):
        yield [_texts(column) for column in table[first : first + _AT_ONCE].columns]


def _rooms(columns: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(_room, column)) for column in columns]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    """A row of a table; columns of numbers are flush right."""
    return "  ".join(map(_padded, row, widths, right)).rstrip()


def _texts(column: Any) -> list[str]:
    return [_cell(value) for value in column.to_pylist()]


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]


def _fitting(widths: list[int], width: int) -> list[int]:
    """Widths that fit into a line: the widest columns are cut to one width, and where that is too
    small for all, the last columns are left out.
    """
    least = [min(each, _LEAST) for each in widths]
    while len(least) > 1 and sum(least) + 2 * len(least) > width - 20 * (len(least) < len(widths)):
        least.pop()
    note = 20 if len(least) < len(widths) else 0
    widths = widths[: len(least)]
    room = max(width - note - 2 * (len(widths) - 1), 1)
    most = max(widths)
    while sum(min(each, most) for each in widths) > room and most > 1:
        most -= 1
    return [min(each, most) for each in widths]


def _room(text: str) -> int:
    """Columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _padded(text: str, width: int, right: bool) -> str:
    if _room(text) > width:
        while text and _room(text) > width - 1:
            text = text[:-1]
        text += "…"
    space = " " * (width - _room(text))
    return space + text if right else text + space


# ── for programs ──────────────────────────────────────────────────────────────────────────────────
def _json(result: Result, *, array: bool) -> Iterator[str]:
    """An object for each row: a line each, or all in one array."""
    table, count = result.arrow(), len(result)
    if array and not count:
        yield "[]"
        return
    for first in range(0, count, _AT_ONCE):
        for place, row in enumerate(table[first : first + _AT_ONCE].to_pylist(), first):
            text = json.dumps(_plain(row), ensure_ascii=False)
            if array:
                text = f"{'[' if place == 0 else ' '}{text}{']' if place + 1 == count else ','}"
            yield text


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Values as JSON has them: dates, times and decimals as text, so that no digit is lost."""
    return {name: _value(value) for name, value in row.items()}


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # no infinity, no NaN
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
