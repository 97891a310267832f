"""NumPy arrays: by position, by the names of their fields, in any order of bytes, and what is no
table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest

from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP
from tests.unit.frames.carriers import message, read_back

TWO = [("x", INT), ("y", FLOAT)]


def test_structured_arrays_match_by_name() -> None:
    array = np.array([(1.5, 1), (2.5, 2)], dtype=[("y", "f8"), ("x", "i8")])
    for source in (array, array.view(np.recarray), array[::-1][::-1]):
        assert read_back(source, TWO) == [(1, 1.5), (2, 2.5)]
    assert read_back(array, [("a", FLOAT)], mapping={"a": "y"}) == [(1.5,), (2.5,)]
    assert message(array, [("x", INT), ("z", FLOAT)]).startswith(
        'error[E230]: the array has no column "z"'
    )


def test_the_order_of_bytes_does_not_matter() -> None:
    for order in "<>":
        assert read_back(np.array([[1], [-(2**40)]], dtype=f"{order}i8"), [("x", INT)]) == [
            (1,),
            (-(2**40),),
        ]
        assert read_back(np.array([[1.5]], dtype=f"{order}f4"), [("x", FLOAT)]) == [(1.5,)]
        frame = pandas.DataFrame(
            {"x": np.array([1, 2], dtype=f"{order}i8"), "y": np.array([0.5, 1], dtype=f"{order}f8")}
        )
        assert read_back(frame, TWO) == [(1, 0.5), (2, 1.0)]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_and_masks() -> None:
    assert read_back(np.matrix([[1, 2], [3, 4]]), [("x", INT), ("y", INT)]) == [(1, 2), (3, 4)]
    masked = np.ma.MaskedArray([[1], [2]], mask=[[False], [True]])
    assert read_back(masked, [("x", INT)], nulls="drop") == [(1,)]
    assert "row 1" in message(masked, [("x", INT)])


@pytest.mark.parametrize(
    ("array", "type", "text"),
    [
        (
            np.array([["2020-01-01T05"]], "datetime64[h]"),
            TIMESTAMP,
            'convert it with .astype("datetime64[s]") or "datetime64[us]" first',
        ),
        (np.array([["2020"]], "datetime64[Y]"), DATE, "found datetime64[Y]"),
        (np.array([[1j]]), FLOAT, "expected float, found complex128"),
        (np.array([[b"a"]]), STR, "expected str, found"),
        (np.array([1, 2]), INT, "array.reshape(-1, 1) is one column"),
        (np.array(5), INT, "an array of 0 dimensions is no table"),
        (np.zeros((1, 1, 1)), INT, "an array of 3 dimensions is no table"),
        (np.zeros((1, 1), [("x", "i8")]), INT, "pass array.ravel()"),
        (np.array([[1]]), BOOL, "expected bool, found int64"),
    ],
)
def test_refused(array: Any, type: Any, text: str) -> None:
    assert text in message(array, [("x", type)])
