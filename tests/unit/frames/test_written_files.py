"""`load` reads every file that a result writes as it was: CSV, TSV, Parquet and Soufflé's facts,
for values of every type.
"""

from __future__ import annotations

import datetime
import io
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import lftj
from lftj.engine.versions.result import Result
from lftj.frames import read, to_tuples, value_order
from lftj.types import INT, STR, Type, type_of_python
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import COLUMNS, ROWS

QUOTED = {"rfc4180": "true"}
WAYS = {
    "rows.csv": lambda result, path: result.write_csv(path),
    "rows.csv.gz": lambda result, path: result.write_csv(path),
    "rows.tsv": lambda result, path: result.write_csv(path),
    "rows.parquet": lambda result, path: result.write_parquet(path),
    "rows.parquet.gz": lambda result, path: result.write_parquet(path),
    "rows.txt": lambda result, path: result.write_facts(path, QUOTED),
    "rows.facts": lambda result, path: result.write_facts(path),
}
ODD = [
    "",
    " ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    '"',
    '""',
    ",",
    'a"b',
    "a\tb",
    "\ufeff",
    "\ufeffa",
    "NULL",
    "()",
    "#",
    "é\u2028",
    "\0",
    "\\N",
]


def written(
    name: str, columns: list[tuple[str, Type]], rows: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows that come back from a file of this name, which are those of the result, in ascending
    order of their values.
    """
    result = Result.of_rows(columns, rows, version=1, name="rows")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        WAYS[name](result, path)
        dictionary = Dictionary()
        found = read(
            path, columns, dictionary=dictionary, facts=QUOTED if name == "rows.txt" else None
        )
        types = [type for _, type in columns]
        assert not types or value_order(types, found.columns, dictionary).tolist() == list(
            range(found.rows)
        )
        back = to_tuples(types, found.columns, dictionary, rows=found.rows)
        assert in_any_order(back) == in_any_order(result.fetchall())
        return back


def in_any_order(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("name", sorted(set(WAYS) - {"rows.facts"}))
def test_rows_of_every_type_come_back(name: str) -> None:
    @given(ROWS)
    @example([])
    def check(rows: list[tuple[Any, ...]]) -> None:
        assert written(name, list(COLUMNS), rows) == sorted(rows)

    check()


@pytest.mark.parametrize("name", sorted(set(WAYS) - {"rows.facts"}))
@pytest.mark.parametrize(
    "columns",
    [
        [("s", STR)],
        [("s", STR), ("n", INT)],
        [("n", INT), ('odd "name"\n', STR)],
        [("\ufeff", STR)],
    ],
)
def test_odd_strings_and_odd_names_come_back(name: str, columns: list[tuple[str, Type]]) -> None:
    rows = [
        tuple(text if type == STR else place for _, type in columns)
        for place, text in enumerate(ODD)
    ]
    assert in_any_order(written(name, columns, rows)) == in_any_order(rows)


@pytest.mark.parametrize("text", ODD)
def test_facts_come_back_or_are_refused(text: str) -> None:
    for columns, row in (([("s", STR)], (text,)), ([("n", INT), ("s", STR)], (1, text))):
        if set(text) & set("\t\n\ufeff") or text.endswith("\r"):
            with pytest.raises(lftj.FrameError, match=r"E232(.|\n)*rfc4180"):
                written("rows.facts", columns, [row])
        else:
            assert written("rows.facts", columns, [row]) == [row]


_DELIMITERS = [*"\t ,;:-.+eituTnd0159|#é\0", "::", ";;", "--", ". ", "00", "→→", " - "]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=3),
    st.sampled_from(_DELIMITERS) | st.text(max_size=3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    ROWS,
)
def test_facts_with_any_delimiter_come_back_or_are_refused(
    chosen: list[tuple[str, Type]],
    delimiter: str,
    quoted: bool,
    headers: bool,
    many: bool,
    rows: list[tuple[Any, ...]],
) -> None:
    places = [place for _, type in chosen for place, each in enumerate(COLUMNS) if each[1] == type]
    columns = [(f"c{n}", type) for n, (_, type) in enumerate(chosen)]
    held = [tuple(row[place] for place in places) for row in rows] * (201 if many else 1)
    result = Result.of_rows(columns, held, version=1, name="rows")
    parameters = {"delimiter": delimiter, "rfc4180": str(quoted), "headers": str(headers)}
    sink, dictionary = io.BytesIO(), Dictionary()
    try:
        result.write_facts(sink, parameters)
    except lftj.FrameError as error:
        if quoted and error.code != "E231":
            raise
        event(error.code)
        return
    sink.seek(0)
    found = read(sink, columns, dictionary=dictionary, facts=parameters)
    types = [type for _, type in columns]
    back = to_tuples(types, found.columns, dictionary, rows=found.rows)
    assert in_any_order(back) == in_any_order(result.fetchall())


@pytest.mark.parametrize(
    ("type", "value", "delimiter"),
    [
        ("timestamp", datetime.datetime(2013, 1, 31, 12), " "),
        ("timestamp", datetime.datetime(2013, 1, 31, 12), ":"),
        ("date", datetime.date(2013, 1, 31), "-"),
        ("decimal(6,2)", Decimal("1.5"), "."),
        ("bool", True, "e"),
        ("int", -3, "-"),
        ("float", 0.5, "."),
        ("float", 1e-7, "e"),
        ("float", float("inf"), "n"),
        ("str", "a:", "::"),
    ],
)
@pytest.mark.parametrize("copies", [1, 300])
def test_fields_of_any_type_are_looked_at_for_the_delimiter(
    type: str, value: Any, delimiter: str, copies: int, tmp_path: Path
) -> None:
    columns = [("v", type_of_python(type)), ("n", INT)]
    rows = [(value, 7)] * copies
    result = Result.of_rows(columns, rows, version=1, name="rows")
    path = tmp_path / "r.facts"
    with pytest.raises(lftj.FrameError, match=r'E232.*column "v": the field'):
        result.write_facts(path, {"delimiter": delimiter})
    assert not path.exists()
    if len(delimiter) == 1:
        parameters = {"delimiter": delimiter, "rfc4180": "true"}
        result.write_facts(path, parameters)
        dictionary = Dictionary()
        found = read(path, columns, dictionary=dictionary, facts=parameters).columns
        assert to_tuples([each for _, each in columns], found, dictionary) == rows


def test_facts_of_every_type_come_back() -> None:
    @given(ROWS)
    def check(rows: list[tuple[Any, ...]]) -> None:
        plain = [
            tuple(repr(value) if isinstance(value, str) else value for value in row) for row in rows
        ]
        assert written("rows.facts", list(COLUMNS), plain) == sorted(plain)

    check()


@pytest.mark.parametrize("rows", [[], [()]])
def test_rows_without_columns_come_back_from_facts_and_are_refused_elsewhere(
    rows: list[tuple[()]],
) -> None:
    assert written("rows.facts", [], rows) == written("rows.txt", [], rows) == rows
    for name in ("rows.csv", "rows.parquet"):
        with pytest.raises(lftj.FrameError, match=r"no rows without columns(.|\n)*facts"):
            written(name, [], rows)


def test_a_name_says_what_is_in_the_file(tmp_path: Path) -> None:
    result = Result.of_rows([("x", INT)], [(1,)], version=1, name="rows")
    for write, name, words in (
        (
            result.write_facts,
            "x.csv",
            "facts have no header, and x.csv is named as a file with one(.|\n)*write_csv",
        ),
        (result.write_facts, "x.tsv.gz", "write_csv"),
        (result.write_facts, "x.parquet", "named as a table"),
        (result.write_csv, "x.facts", "x.facts is not named as CSV(.|\n)*name it .csv or .tsv"),
        (result.write_csv, "x.parquet", "is not named as CSV"),
        (result.write_parquet, "x.csv", "x.csv is not named as Parquet(.|\n)*name it .parquet"),
    ):
        with pytest.raises(lftj.FrameError, match=words):
            write(tmp_path / name)
        assert not (tmp_path / name).exists()
    result.write_facts(tmp_path / "x.csv", {})  # asked for in so many words, and read so
    assert read(tmp_path / "x.csv", [("x", INT)], dictionary=Dictionary(), facts={}).columns[
        0
    ].tolist() == [1]


def test_csv_goes_to_open_files_too() -> None:
    text, binary = io.StringIO(), io.BytesIO()
    for sink in (text, binary):
        Result.of_rows(
            [("x", INT), ("s", STR)], [(2, 'a"b'), (1, "")], version=1, name="rows"
        ).write_csv(sink)
    assert text.getvalue() == 'x,s\n1,""\n2,"a""b"\n'
    assert binary.getvalue() == text.getvalue().encode()
