"""Rows written in Python that are refused, with the exact words."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.frames import read, to_tuples
from lftj.types import INT, Type
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import message

EDGE = [("src", INT), ("dst", INT)]


ROWS = [
    (
        [(1, 2), (1, 2, 3)],
        "error[E120]: row 1 has 3 values, the relation has 2 columns: (1, 2, 3)\n"
        "  help: give each row one value for each column; rows of named values may be dicts or a "
        "frame",
    ),
    (
        (1, 2),
        "error[E230]: row 0 is not a row: found 1 (int), expected a tuple or a dict\n"
        "  help: write a list of tuples, also for one row: [(…, …)]",
    ),
    (
        ["ab"],
        "error[E230]: row 0 is not a row: found 'ab' (str), expected a tuple or a dict\n"
        "  help: write a list of tuples, also for one row: [(…, …)]",
    ),
    (
        {"src": [1, 2], "dst": [2, 3]},
        'error[E210]: row 0, column "src": [1, 2] is a column, not a value\n'
        "  help: a dict is one row; for whole columns pass pyarrow.table({…}) or a DataFrame",
    ),
    (
        [{"src": 1, "dst": 2}, {"src": 1}],
        'error[E230]: row 1 and row 0 differ in their columns: "dst"\n  help: give every row the '
        "same keys; None is NULL",
    ),
    (
        7,
        "error[E231]: int holds no rows\n"
        "  help: pass rows as a list of tuples, a pandas, Polars, Arrow or Spark table, or the "
        "path of a file",
    ),
    (
        [(1, 2), (1, "2")],
        "error[E210]: row 1, column \"dst\": expected int, found '2' (str)\n  help: convert it "
        "with int(…), or declare the column str",
    ),
    (
        [(1, "2"), (2, "3")],
        "error[E210]: row 0, column \"dst\": expected int, found '2' (str)\n  row 1, column "
        "\"dst\": expected int, found '3' (str)\n  help: convert it "
        "with int(…), or declare the column str",
    ),
    (
        [(1, 2), (1, 2**63)],
        'error[E220]: row 1, column "dst": 9223372036854775808 is outside the range of int, '
        "-9223372036854775808 … 9223372036854775807",
    ),
    (
        [(1, True)],
        'error[E210]: row 0, column "dst": expected int, found True (bool)\n  help: convert it '
        "with int(…), or declare the column bool",
    ),
    (
        np.zeros((1, 3), dtype=np.int64),
        "error[E230]: the array has 3 columns, the relation has 2 (src, dst)",
    ),
]


@pytest.mark.parametrize(
    ("source", "text"), ROWS, ids=lambda value: None if isinstance(value, str) else repr(value)[:30]
)
def test_rows_that_are_none(source: object, text: str) -> None:
    assert message(source, EDGE) == text


def test_tuples_and_dicts_do_not_mix() -> None:
    as_tuples, as_dicts = (1, 2), {"src": 1, "dst": 2}
    for rows, shown in (([as_tuples, as_dicts], as_dicts), ([as_dicts, as_tuples], as_tuples)):
        assert message(rows, EDGE) == (
            f"error[E230]: row 1 is not like row 0: found {shown!r}\n  help: give all rows as "
            f"tuples, or all as dicts"
        )


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE e (dst INTEGER, src INTEGER)")
    connection.execute("INSERT INTO e VALUES (2, 1), (3, 2)")
    yield connection
    connection.close()


def test_rows_of_sqlite_are_taken_by_their_names(database: sqlite3.Connection) -> None:
    assert rows_of(database.execute("SELECT src, dst FROM e"), EDGE) == [(1, 2), (2, 3)]
    database.row_factory = sqlite3.Row
    for order in ("src, dst", "dst, src"):
        assert rows_of(database.execute(f"SELECT {order} FROM e"), EDGE) == [(1, 2), (2, 3)]
        rows = database.execute(f"SELECT {order} FROM e").fetchall()
        assert rows_of(rows, EDGE) == [(1, 2), (2, 3)]
    assert 'it has "A", "dst"' in message(
        database.execute("SELECT src AS A, dst FROM e").fetchall(), EDGE
    )
    assert "row 1 is not like row 0" in message([*rows[:1], (1, 2)], EDGE)
    with lftj.connect() as ws:
        ws.load(ws.relation("e", dict(EDGE), key="src"), rows)
        with ws.transaction() as tx:
            tx.delete("e", keys=database.execute("SELECT dst FROM e WHERE dst = 3").fetchall())
        assert ws["e"].fetchall() == [(1, 2)]


def test_rows_of_other_drivers_are_taken_as_sequences() -> None:
    class Row(Sequence[int]):
        """A row that is a sequence, and no tuple."""

        def __init__(self, *values: int):
            self._values = values

        def __getitem__(self, place: Any) -> Any:
            return self._values[place]

        def __len__(self) -> int:
            return len(self._values)

    assert rows_of([Row(1, 2), Row(2, 3), (4, 5)], EDGE) == [(1, 2), (2, 3), (4, 5)]
    assert "row 1 has 1 value" in message([Row(1, 2), Row(3)], EDGE)
    assert "expected a tuple or a dict" in message([Row(1, 2), "ab"], EDGE)


def rows_of(source: object, columns: list[tuple[str, Type]]) -> list[tuple[Any, ...]]:
    """Rows as they are read."""
    dictionary = Dictionary()
    frame = read(source, columns, dictionary=dictionary)
    return to_tuples([type for _, type in columns], frame.columns, dictionary, rows=frame.rows)
