"""CSV and TSV: what is accepted, what is refused with line and column, and that no bytes lead
anywhere else.
"""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lftj.errors import FrameError, LftjError
from lftj.frames import read, read_facts
from lftj.frames.delimited import DelimitedText
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, decimal
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import read_back

XFER = [("src", INT), ("amt", FLOAT), ("who", STR)]


def load(
    text: str | bytes, directory: Path, columns: Any = XFER, name: str = "x.csv", **options: Any
) -> list[tuple[Any, ...]]:
    """The rows of a file with this content."""
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_back(path, columns, **options)


ACCEPTED = [
    ("src,amt,who\n1,2.5,a\n", [(1, 2.5, "a")]),
    ("src,amt,who\n1,2.5,a", [(1, 2.5, "a")]),
    ("src,amt,who\r\n1,2.5,a\r\n", [(1, 2.5, "a")]),
    ("\ufeffsrc,amt,who\n1,2.5,a\n", [(1, 2.5, "a")]),
    ("who,src,amt\na,1,2.5\n", [(1, 2.5, "a")]),
    ("src,amt,who\n +1 , 2e3,\n", [(1, 2000.0, "")]),
    ("src,amt,who\n1,2.5,a\n\n\n2,-inf,b\n\n", [(1, 2.5, "a"), (2, float("-inf"), "b")]),
    ('src,amt,who\n"1","2.5","a ""b"", c\nd"\n', [(1, 2.5, 'a "b", c\nd')]),
    ("src,amt,who\n1,.5, a'\"b \n", [(1, 0.5, " a'\"b ")]),
    ("src,amt,who\n", []),
    ("src,amt,who", []),
    ("src,amt,who\r\n", []),
    ("src,amt,who\n\n\n", []),
    (f"src,amt,who\n1,2.5,{'x' * 6_000_000}\n", [(1, 2.5, "x" * 6_000_000)]),
]


@pytest.mark.parametrize(("text", "rows"), ACCEPTED, ids=range(len(ACCEPTED)))
def test_accepted(text: str, rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    assert load(text, tmp_path) == rows


def test_one_column_keeps_its_empty_strings(tmp_path: Path) -> None:
    assert load("who\na\n\nb\n", tmp_path, [("who", STR)]) == [("a",), ("",), ("b",)]


def test_written_forms_of_every_type(tmp_path: Path) -> None:
    columns = [("b", BOOL), ("d", DATE), ("t", TIMESTAMP), ("m", decimal(6, 2))]
    rows = load(
        "b,d,t,m\ntrue,2013-01-31,2013-01-31 23:59:59.000001,-1.5\n"
        "0,1970-01-01,1970-01-01T00:00,1e2\n",
        tmp_path,
        columns,
    )
    assert [str(value) for row in rows for value in row] == [
        *("True", "2013-01-31", "2013-01-31 23:59:59.000001", "-1.50"),
        *("False", "1970-01-01", "1970-01-01 00:00:00", "100.00"),
    ]


def test_lines_that_end_in_carriage_returns_alone(tmp_path: Path) -> None:
    assert load("src,amt,who\r1,2.5,a\r2,2.5,b\r", tmp_path) == [(1, 2.5, "a"), (2, 2.5, "b")]
    assert load("src,amt,who\r", tmp_path) == []


def test_a_header_whose_names_hold_line_breaks(tmp_path: Path) -> None:
    columns = [("a\nb", INT), ("c", STR)]
    assert load('"a\nb",c', tmp_path, columns) == []
    assert load('"a\nb",c\n1,x\n', tmp_path, columns) == [(1, "x")]


def test_fields_longer_than_python_reads_by_default(tmp_path: Path) -> None:
    long = "x" * (csv.field_size_limit() + 1)
    columns = [("a", INT), ("b", STR)]
    assert load(f'a,b\n1,{long}\n2,5" wide\n', tmp_path, columns) == [(1, long), (2, '5" wide')]
    with pytest.raises(LftjError, match=r"x\.csv, line 3, column .a.: expected int, found 'z'"):
        load(f"a,b\n1,{long}\nz,b\n", tmp_path, columns)
    assert csv.field_size_limit() < len(long)


WHOLE = "\n  help: write whole numbers as -12, or declare the column float or str"
REFUSED = [
    (
        XFER,
        "src,amt,who\n1,2.5,a\nz,2.5,b\n",
        "error[E210]: x.csv, line 3, column \"src\": expected int, found 'z'" + WHOLE,
    ),
    (
        XFER,
        'src,amt,who\n1,2.5,"a\nb"\n\n1.5,2.5,b\n',
        "error[E210]: x.csv, line 5, column \"src\": expected int, found '1.5'" + WHOLE,
    ),
    (
        XFER,
        "src,amt,who\n0x10,2.5,b\n",
        "error[E210]: x.csv, line 2, column \"src\": expected int, found '0x10'" + WHOLE,
    ),
    (
        XFER,
        "src,amt,who\n1,2.5,b\n9223372036854775808,1,c\n",
        'error[E220]: x.csv, line 3, column "src": 9223372036854775808 is outside the '
        "range of int, "
        "-9223372036854775808 … 9223372036854775807",
    ),
    (
        XFER,
        # a digit, though none of those that numbers are written with here
        "src,amt,who\n1,\u0661,b\n",
        "error[E210]: x.csv, line 2, column \"amt\": expected float, found '\u0661'\n"
        "  help: write numbers as -1.5 or 2e10, or declare the column str",
    ),
    (
        XFER,
        "src,amt,who\n\u0661,1,b\n",
        "error[E210]: x.csv, line 2, column \"src\": expected int, found '\u0661'" + WHOLE,
    ),
    (
        XFER,
        "src,amt,who\n1,1e999,b\n",
        'error[E220]: x.csv, line 2, column "amt": 1e999 is outside the range of float',
    ),
    (
        XFER,
        "src,amt,who\n1,NA,b\n",
        "error[E210]: x.csv, line 2, column \"amt\": expected float, found 'NA'\n  help: "
        'NULL is an empty field, not the word NA, which null="NA" makes it',
    ),
    (XFER, "src,amt,who\n1,2.5\n", "error[E232]: x.csv, line 2: expected 3 columns, found 2"),
    (
        XFER,
        "src,amt,who\n1,2.5,a\n\n1,2.5,a,b\n",
        "error[E232]: x.csv, line 4: expected 3 columns, found 4",
    ),
    (
        XFER,
        "src;amt;who\n1;2.5;a\n",
        'error[E230]: x.csv has no columns "src", "amt", "who"; it has "src;amt;who"\n'
        "  help: the fields seem to be separated by ';': use commas in .csv files, tabs in .tsv "
        'files, or load by position with facts={"delimiter": ";", "headers": "true", "rfc4180": '
        '"true"}',
    ),
    (
        XFER,
        "",
        "error[E232]: x.csv is empty\n  help: the first line must name the columns; an empty "
        "relation is a file with that line only",
    ),
    (
        XFER,
        'src,amt,who\n1,2.5,"a\n2,2.5,b\n',
        "error[E232]: x.csv, line 2: unexpected end of data\n  help: a field with a quote in it is "
        'written "like ""this"""',
    ),
    (
        XFER,
        'src,amt,who\n1,2.5,"a, ""b"""\n2,2.5,"he said "hi" to me"\n',
        "error[E232]: x.csv, line 3: ',' expected after '\"'\n  help: a field with a quote in "
        'it is written "like ""this"""',
    ),
    (
        XFER,
        b"src,amt,who\n1,2.5,a\n2,2.5,\xff\n",
        "error[E232]: x.csv, line 3: the text is not UTF-8\n  help: save the file as UTF-8",
    ),
    (
        [("d", DATE)],
        "d\n31.1.2013\n",
        "error[E210]: x.csv, line 2, column \"d\": expected date, found '31.1.2013'\n  "
        "help: write dates as 2013-01-31",
    ),
    (
        [("t", TIMESTAMP)],
        "t\n2013-01-31T00:00:00Y\n",
        'error[E210]: x.csv, line 2, column "t": expected timestamp, found '
        "'2013-01-31T00:00:00Y'\n"
        "  help: write timestamps as 2013-01-31 23:59:59.123456, or with a zone, +01:00",
    ),
    (
        [("b", BOOL)],
        "b\nyes\n",
        "error[E210]: x.csv, line 2, column \"b\": expected bool, found 'yes'\n  help: "
        "write true or false",
    ),
    (
        [("m", decimal(4, 2))],
        "m\n1.2\n1.234\n",
        'error[E210]: x.csv, line 3, column "m": 1.234 has more than the 2 decimal places '
        "of decimal(4,2)\n"
        "  help: round it first: value.quantize(…)",
    ),
    (
        [("m", decimal(4, 2))],
        "m\n100\n",
        'error[E220]: x.csv, line 2, column "m": 100 is outside the range of decimal(4,2)',
    ),
    (
        [("m", decimal(4, 2))],
        "m\none\n",
        "error[E210]: x.csv, line 2, column \"m\": expected decimal(4,2), found 'one'\n"
        "  help: write numbers as -1.50, or declare the column str",
    ),
]


@pytest.mark.parametrize(("columns", "text", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(columns: Any, text: str | bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(LftjError) as caught:
        load(text, tmp_path, columns)
    assert str(caught.value) == words


def test_the_first_of_many_bad_fields_is_named(tmp_path: Path) -> None:
    lines = [str(i) if i not in (617, 618, 900) else "bad" for i in range(1000)]
    with pytest.raises(LftjError, match=r"line 619"):
        load("\n".join(["x", *lines]), tmp_path, [("x", INT)])
    with pytest.raises(LftjError, match=r"line 619"):
        load(
            "\n".join(["x", *lines]).replace("\n3\n", "\n\n"), tmp_path, [("x", INT)], nulls="drop"
        )


def test_a_mapping_picks_from_a_wide_file(tmp_path: Path) -> None:
    assert load(
        "id,from,to,w\n1,2,3,4\n",
        tmp_path,
        [("a", INT), ("b", INT)],
        mapping={"a": "from", "b": "to"},
    ) == [(2, 3)]


@pytest.mark.parametrize("before", ["\n", "\r\n\n", "\ufeff\n"])
@pytest.mark.parametrize(
    ("text", "rows"), [("a,b\nx,y\n", [("x", "y")]), ('a\nx\n\n"y"\n', [("",), ("x",), ("y",)])]
)
def test_empty_lines_before_the_header_are_no_rows(
    before: str, text: str, rows: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert sorted(load(before + text, tmp_path, [("a", STR), ("b", STR)][: len(rows[0])])) == rows


def test_empty_lines_before_the_header_are_counted(tmp_path: Path) -> None:
    with pytest.raises(LftjError, match=r"line 4"):
        load("\na\n1\nx\n", tmp_path, [("a", INT)])


# ── any bytes ─────────────────────────────────────────────────────────────────────────────────────
PIECES = st.lists(
    st.sampled_from([*'src,amt\n\r"\t \0', "1", "-", "x", "é", "\n\n", '""', "2.5", "NaN"]),
    max_size=25,
).map("".join)
ANY_BYTES = st.binary(max_size=40) | PIECES.map(str.encode)
TWO = [("src", INT), ("amt", STR)]


@given(
    ANY_BYTES, st.sampled_from(["x.csv", "x.tsv", "x.facts", "x.csv.gz", "x.parquet", "x.arrow"])
)
def test_any_bytes_give_rows_or_our_error(data: bytes, name: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / name
        path.write_bytes(b"src,amt\n" + data if len(data) % 2 and name == "x.csv" else data)
        with contextlib.suppress(LftjError):
            frame = read(path, TWO, dictionary=Dictionary())
            assert len(frame.columns[0]) == len(frame.columns[1]) == frame.rows


@given(PIECES, st.booleans(), st.integers(1, 3))
def test_fast_and_slow_splitting_agree(text: str, quoted: bool, width: int) -> None:
    delimited = DelimitedText(
        "x", text.encode(), ",", quoted, header=False, blank_lines=width == 1 or not quoted
    )
    try:
        delimited._refuse_lone_returns()
        slow = [fields for _, fields in delimited._checked_records(width)]
    except LftjError:
        with pytest.raises(LftjError):
            delimited.columns(width)
        return
    fast = delimited.columns(width)
    assert list(zip(*(column.to_pylist() for column in fast), strict=True)) == [
        tuple(fields) for fields in slow
    ]


@given(
    st.lists(
        st.tuples(
            st.text(
                st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r"), max_size=5
            )
        ),
        max_size=8,
    )
)
def test_facts_take_strings_verbatim(rows: list[tuple[str]]) -> None:
    data = "".join(f"{text}\n" for (text,) in rows).encode()
    dictionary = Dictionary()
    frame = read_facts(io.BytesIO(data), [("s", STR)], {}, dictionary)
    assert dictionary.decode(frame.columns[0]).to_pylist() == [text for (text,) in rows]


def test_python_writes_what_we_read(tmp_path: Path) -> None:
    rows = [(i, i / 7, 'quote " comma , tab \t line \n end') for i in range(50)]
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("src", "amt", "who"), *rows])
    assert load(text.getvalue(), tmp_path) == rows


@pytest.mark.parametrize("quoted", [True, False])
def test_the_first_record_is_read_without_the_rest(quoted: bool) -> None:
    data = b"a,b\n" + b"1,2\n" * 100_000 + b"3,\xff\n"
    text = DelimitedText("x", data, ",", quoted, header=True, blank_lines=False)
    assert text.first_record() == (1, ["a", "b"])
    with pytest.raises(LftjError, match="line 100002: the text is not UTF-8"):
        text.columns(2)


@given(
    st.lists(
        st.sampled_from(["a", '"', '""', ",", "\n", "\r", "\r\n", "\0", "\n\n", '"x\ny"', "é"])
    ),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from([(True, True), (True, False), (False, True)]),
    st.booleans(),
    st.integers(1, 3),
)
@example(["id,na\0me\n7,x\n8,y\n9,z\n"], "", (True, False), True, 2)
@example(["a\0\n\n", '"a\nb"', "\n"], "", (True, False), True, 1)
@settings(max_examples=400)
def test_arrow_gives_the_rows_that_are_there(
    pieces: list[str], mark: str, kind: tuple[bool, bool], header: bool, width: int
) -> None:
    data = (mark + "".join(pieces) + "\nx").encode()
    text = DelimitedText("t", data, ",", *(kind[0], header, kind[1]))

    def columns(split: Callable[[int], list[pa.ChunkedArray]]) -> list[list[str]] | None:
        try:
            return [column.to_pylist() for column in split(width)]
        except FrameError:
            return None

    assert columns(text.columns) == columns(text._split_in_python)


def test_rows_behind_a_header_that_holds_a_zero_byte(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    for name in (b"na\0me", b"\0", b'"\0,\n"', b"n\0\0\0"):
        path.write_bytes(b"id," + name + b"\n7,x\n8,y\n9,z\n")
        assert read_back(path, [("id", INT)], mapping={"id": "id"}) == [(7,), (8,), (9,)]
