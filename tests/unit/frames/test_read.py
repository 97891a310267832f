"""Rows written in Python that are refused, with the exact words."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.types import INT
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
        "error[E210]: row 0, column \"dst\": expected int, found '2' (str)\n  help: convert it "
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
