"""Assignment of a frame's columns to a relation's, and the errors where one is missing."""

from __future__ import annotations

import pyarrow as pa

from lftj.types import INT
from tests.unit.frames.carriers import message, read_back

EDGE = [("src", INT), ("dst", INT)]


def test_missing_column_with_a_guess() -> None:
    assert message(pa.table({"src": [1], "dest": [2]}), EDGE) == (
        'error[E230]: the frame has no column "dst" (did you mean "dest"?); it has "src", "dest"\n'
        '  help: rename the column, or load with columns={"dst": "dest"}'
    )


def test_missing_columns_without_a_guess() -> None:
    assert message(pa.table({"x": [1]}), EDGE) == (
        'error[E230]: the frame has no columns "src", "dst"; it has "x"\n'
        '  help: rename the columns, or load with columns={"src": "…", "dst": "…"}'
    )


def test_a_row_by_name_that_lacks_a_column() -> None:
    assert message({"src": 1}, EDGE) == (
        'error[E230]: row 0 has no column "dst"; it has "src"\n'
        '  help: a row is whole, so give "dst" too; optional columns, which become NULL, and those '
        "with a default may be left out"
    )


def test_extra_columns() -> None:
    assert message(pa.table({"w": [1], "src": [1], "v": [0], "dst": [2]}), EDGE) == (
        'error[E230]: the frame has columns that the relation lacks: "w", "v"\n'
        '  help: leave them out, or name the columns to take: columns={"src": "src", "dst": "dst"}'
    )


def test_doubled_column() -> None:
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["src", "dst", "dst"])
    assert message(table, EDGE) == (
        'error[E230]: the frame has more than one column "dst"\n  help: give each column its own '
        "name"
    )


def test_a_mapping_renames_and_leaves_the_rest() -> None:
    table = pa.table({"b": [2], "src": [1], "w": [9]})
    assert read_back(table, EDGE, mapping={"dst": "b"}) == [(1, 2)]
    assert read_back(table, EDGE, mapping={"src": "w", "dst": "w"}) == [(9, 9)]


def test_a_mapping_may_name_labels_that_are_no_text() -> None:
    import pandas

    assert read_back(pandas.DataFrame([(1, 2)]), EDGE, mapping={"src": 0, "dst": 1}) == [(1, 2)]


def test_a_mapping_for_no_column() -> None:
    assert message(pa.table({"src": [1], "dst": [2]}), EDGE, mapping={"form": "src"}) == (
        'error[E230]: columns= maps "form", but the relation\'s columns are "src", "dst"\n'
        '  help: write columns={"relation column": "frame column"}'
    )
    assert message([(1, 2)], EDGE, mapping={"src": "a"}).startswith(
        "error[E230]: row 0 has no column names"
    )


def test_columns_go_by_name_not_by_place() -> None:
    assert read_back(pa.table({"dst": [2], "src": [1]}), EDGE) == [(1, 2)]
    assert read_back({"dst": 2, "src": 1}, EDGE) == [(1, 2)]


def test_a_mapping_that_is_a_list() -> None:
    assert message(pa.table({"src": [1], "dst": [2]}), EDGE, mapping=["src", "dst"]) == (
        'error[E230]: columns= is a dict, found list\n  help: write columns={"relation column": '
        '"frame column"}'
    )
