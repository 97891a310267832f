"""Soufflé's fact files in and out, with the parameters of its directives."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from lftj.errors import FileMissingError, LftjError
from lftj.frames import FactsLayout, read, read_facts, to_tuples, write_facts
from lftj.types import FLOAT, INT, STR
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import COLUMNS, ROWS

EDGE = [("x", INT), ("s", STR)]


def facts(
    text: str, parameters: dict[str, str | int], columns: Any = EDGE
) -> list[tuple[Any, ...]]:
    """The rows of a fact file with this content."""
    dictionary = Dictionary()
    frame = read_facts(io.BytesIO(text.encode()), columns, parameters, dictionary)
    return to_tuples([type for _, type in columns], frame.columns, dictionary, rows=frame.rows)


@pytest.mark.parametrize(
    ("text", "parameters", "rows"),
    [
        ("1\ta\n2\tb\n", {}, [(1, "a"), (2, "b")]),
        ("1\ta\r\n2\tb", {}, [(1, "a"), (2, "b")]),
        ("", {}, []),
        ('1\t"q"\n', {}, [(1, '"q"')]),
        ("1\t\n", {}, [(1, "")]),
        ("1,a b\n", {"delimiter": ","}, [(1, "a b")]),
        ("1::a\n", {"delimiter": "::"}, [(1, "a")]),
        ("1\ta\rb\n", {}, [(1, "a\rb")]),
        ("x\ts\n1\ta\n", {"headers": "true"}, [(1, "a")]),
        ("x\ts\n", {"headers": "true"}, []),
        ("", {"headers": "true"}, []),
        ("b\t0\t1\na\t0\t2\n", {"columns": "2:0"}, [(1, "b"), (2, "a")]),
        ('1,"a, ""b""\nc"\n', {"rfc4180": "true"}, [(1, 'a, "b"\nc')]),
        ("1|a\n", {"IO": "file", "filename": "e.txt", "delimiter": "|"}, [(1, "a")]),
        ("0x1F\t0x1F\n-0b101\tb\n 12 \tc\n", {}, [(31, "0x1F"), (-5, "b"), (12, "c")]),
        ("0xff|b\n", {"delimiter": "|", "columns": "0:0"}, [(255, "0xff")]),
    ],
    ids=range(16),
)
def test_in(text: str, parameters: dict[str, str | int], rows: list[tuple[Any, ...]]) -> None:
    assert facts(text, parameters) == rows


WHOLE = "\n  help: write whole numbers as -12, or declare the column float or str"
REFUSED: list[tuple[str, dict[str, str | int], str]] = [
    (
        "1\ta\n0xg\tb\n",
        {},
        "error[E210]: stdin, line 2, column \"x\": expected int, found '0xg'" + WHOLE,
    ),
    (
        "0x8000000000000000\ta\n",
        {},
        'error[E220]: stdin, line 1, column "x": 9223372036854775808 is outside the range '
        "of int, "
        "-9223372036854775808 … 9223372036854775807",
    ),
    ("1\ta\n2\n", {}, "error[E232]: stdin, line 2: expected 2 columns, found 1"),
    ("1\ta\n\n2\tb\n", {}, "error[E232]: stdin, line 2: expected 2 columns, found 1"),
    ("1\ta\tb\n", {}, "error[E232]: stdin, line 1: expected 2 columns, found 3"),
    (
        "1,a\n",
        {},
        "error[E232]: stdin, line 1: expected 2 columns, found 1\n  help: fields are separated by "
        "tabs; this line seems to use ','",
    ),
    (
        "1\ta\nb\tb\n",
        {},
        "error[E210]: stdin, line 2, column \"x\": expected int, found 'b'" + WHOLE,
    ),
    (
        "x\ts\n\tb\n",
        {"headers": "true"},
        "error[E210]: stdin, line 2, column \"x\": expected int, found ''" + WHOLE,
    ),
    (
        "1\ta\n",
        {"delimeter": ","},
        "error[E231]: unknown parameter 'delimeter'\n  help: did you mean delimiter?",
    ),
    (
        "1\ta\n",
        {"IO": "sqlite"},
        "error[E231]: IO=sqlite is not supported\n  help: use IO=file, IO=stdin or IO=stdout",
    ),
    ("1\ta\n", {"headers": "maybe"}, "error[E231]: headers=maybe is neither true nor false"),
    (
        "1\ta\n",
        {"columns": "a:b"},
        'error[E231]: columns="a:b" is not a list of fields\n  help: write field numbers from 0: '
        'columns="0:2:1"',
    ),
    (
        "1\ta\n",
        {"columns": "0:2"},
        'error[E232]: stdin, line 1: columns="0:2" counts fields from 0, this line has 2',
    ),
    (
        "1\ta\n",
        {"columns": "0"},
        'error[E231]: columns="0" picks 1 field, the relation has 2 columns',
    ),
    ("1\ta\n", {"delimiter": ""}, "error[E231]: delimiter='' cannot separate fields"),
    (
        '1||"a"\n',
        {"delimiter": "||", "rfc4180": "true"},
        "error[E231]: delimiter='||' cannot separate fields in quotes\n  help: choose a delimiter "
        "of one character, or leave rfc4180 out",
    ),
    *(
        (
            text,
            parameters,
            "error[E232]: stdin: its lines end in carriage returns alone\n  help: save the file "
            "with line feeds at the ends of lines",
        )
        for text, parameters in [("1\ta\r2\tb\r", {}), ("x\ts\r1\ta\r", {"headers": "true"})]
    ),
]


@pytest.mark.parametrize(("text", "parameters", "words"), REFUSED, ids=range(len(REFUSED)))
def test_refused(text: str, parameters: dict[str, str | int], words: str) -> None:
    with pytest.raises(LftjError) as caught:
        facts(text, parameters)
    assert str(caught.value) == words


def test_no_nulls_in_facts() -> None:
    with pytest.raises(LftjError, match="E210"):
        facts("\ta\n", {})
    with pytest.raises(LftjError, match="E201"):
        facts("nan\n", {}, [("f", FLOAT)])


def test_relations_without_columns() -> None:
    assert facts("()\n()\n", {}, []) == [(), ()]
    assert facts("", {}, []) == []
    assert facts("nothing\n()\n", {"headers": "true"}, []) == [()]
    assert facts("()\nyes\n", {}, []) == [(), ()]


@pytest.mark.parametrize("rfc4180", ["true", "false"])
def test_a_header_may_have_any_width(rfc4180: str) -> None:
    for header in ("h", "a,b,c", ""):
        found = facts(f"{header}\n1,x\n", {"headers": "true", "delimiter": ",", "rfc4180": rfc4180})
        assert found == [(1, "x")]


def test_where_fields_are_picked_lines_may_be_longer_and_shorter() -> None:
    assert facts("1\tz\ta\n2\tz\tb\tmore\n3\t\tc", {"columns": "0:2"}) == [
        (1, "a"),
        (2, "b"),
        (3, "c"),
    ]
    assert facts("h\na\tz\t1\tx\nb\tz\t2", {"columns": "2:0", "headers": "true"}) == [
        (1, "a"),
        (2, "b"),
    ]
    with pytest.raises(LftjError, match="line 2: expected 3 columns, found 2"):
        facts("1\tz\ta\n2\tz\n", {"columns": "0:2"})


def test_compressed_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "e.facts").write_bytes(gzip.compress(b"1\ta\n"))
    assert read_facts(tmp_path / "e.facts", EDGE, {}, Dictionary()).rows == 1
    assert read(tmp_path / "e.facts", EDGE, dictionary=Dictionary()).rows == 1
    with pytest.raises(FileMissingError):
        read_facts(tmp_path / "f.facts", EDGE, {}, Dictionary())


def test_parameters_make_any_ending_a_fact_file(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("1,a\n")
    assert (
        read(tmp_path / "e.csv", EDGE, dictionary=Dictionary(), facts={"delimiter": ","}).rows == 1
    )
    with pytest.raises(LftjError) as caught:
        read(tmp_path / "e.csv", EDGE, dictionary=Dictionary(), facts={}, mapping={"x": "a"})
    assert str(caught.value) == (
        "error[E230]: a fact file has no column names, so columns= cannot pick any\n  help: write "
        'facts={"columns": "0:2:1"}'
    )


def test_parameters_are_a_dict(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("1\ta\n")
    for parameters in (True, ["headers"]):
        with pytest.raises(
            LftjError, match=f"parameters of facts are a dict, found {type(parameters).__name__}"
        ):
            read(tmp_path / "e.csv", EDGE, dictionary=Dictionary(), facts=parameters)  # pyright: ignore[reportArgumentType]


def test_parameters_are_for_files() -> None:
    with pytest.raises(LftjError, match="facts= is for files, found list"):
        read([(1, "a")], EDGE, dictionary=Dictionary(), facts={})


def test_paths() -> None:
    assert FactsLayout.of({}).path("edge", "in", output=False) == Path("in/edge.facts")
    assert FactsLayout.of({}).path("edge", "out", output=True) == Path("out/edge.csv")
    assert FactsLayout.of({"compress": "true"}).path("edge", "out", output=True) == Path(
        "out/edge.csv.gz"
    )
    assert FactsLayout.of({"filename": "e.txt"}).path("edge", "in", output=False) == Path(
        "in/e.txt"
    )
    assert FactsLayout.of({"filename": "/e.txt"}).path("edge", "in", output=False) == Path("/e.txt")


# ── out ───────────────────────────────────────────────────────────────────────────────────────────
def written(rows: list[tuple[Any, ...]], columns: Any, **parameters: str | int) -> str:
    """The text of a fact file with these rows."""
    dictionary = Dictionary()
    dictionary.encode(["zz", "b"])  # codes that do not follow the alphabet
    frame = read(rows, columns, dictionary=dictionary)
    target = io.StringIO()
    write_facts(target, columns, frame.columns, parameters, dictionary, rows=frame.rows)
    return target.getvalue()


def test_out_in_order_of_values() -> None:
    rows = [(2, "b"), (-1, "zz"), (2, "B"), (2, "a")]
    assert written(rows, EDGE) == "-1\tzz\n2\tB\n2\ta\n2\tb\n"
    assert written(rows[:1], EDGE, headers="true", delimiter=";") == "x;s\n2;b\n"
    assert written([(1, 'a "b", c\n')], EDGE, rfc4180="true") == '1,"a ""b"", c\n"\n'
    assert written([], EDGE) == ""
    assert written([], EDGE, headers=1) == "x\ts\n"
    assert written([(), ()], []) == "()\n()\n"


def test_headers_of_any_names_can_be_read_back(tmp_path: Path) -> None:
    columns = [("a,b", INT), ('"', STR)]
    assert written([(1, "x")], columns, rfc4180="true", headers="true") == '"a,b",""""\n1,"x"\n'
    (tmp_path / "e.csv").write_text(written([(1, "x")], columns, rfc4180="true", headers="true"))
    assert read(tmp_path / "e.csv", columns, dictionary=Dictionary()).rows == 1
    with pytest.raises(LftjError, match="the column name 'a,b' holds the delimiter ','"):
        written([(1, "x")], columns, delimiter=",", headers="true")


def test_a_limit_takes_the_first_by_value() -> None:
    dictionary = Dictionary()
    target = io.StringIO()
    write_facts(
        target,
        EDGE,
        read([(2, "b"), (1, "c"), (1, "a")], EDGE, dictionary=dictionary).columns,
        {},
        dictionary,
        limit=2,
    )
    write_facts(target, [], [], {}, dictionary, rows=1, limit=0)
    assert target.getvalue() == "1\ta\n1\tc\n"


def test_floats_keep_all_digits() -> None:
    assert (
        written([(0.1 + 0.2,), (1.0,), (-1e300,), (float("inf"),)], [("f", FLOAT)])
        == "-1e+300\n0.30000000000000004\n1\ninf\n"
    )


@pytest.mark.parametrize("text", ["a\tb", "a\nb", "a\r"])
def test_strings_that_could_not_be_read_back(text: str) -> None:
    with pytest.raises(LftjError) as caught:
        written([(1, text)], EDGE)
    assert str(caught.value) == (
        f"error[E232]: column \"s\": the field {text!r} holds the delimiter '\\t' or a line break "
        f"and could not be read back\n"
        "  help: write .output …(rfc4180=true), which puts it in quotes, or another delimiter"
    )


def test_to_files(tmp_path: Path) -> None:
    dictionary = Dictionary()
    codes = read([(1, "é")], EDGE, dictionary=dictionary).columns
    write_facts(tmp_path / "e.csv", EDGE, codes, {}, dictionary)
    assert (tmp_path / "e.csv").read_bytes() == "1\té\n".encode()
    write_facts(tmp_path / "e.csv.gz", EDGE, codes, {"compress": "true"}, dictionary)
    assert gzip.decompress((tmp_path / "e.csv.gz").read_bytes()) == "1\té\n".encode()
    with pytest.raises(LftjError, match=r"cannot be written: No such file or directory"):
        write_facts(tmp_path / "no" / "e.csv", EDGE, codes, {}, dictionary)


@given(ROWS)
def test_all_types_come_back_from_a_quoted_file(rows: list[tuple[Any, ...]]) -> None:
    parameters = {"rfc4180": "true", "headers": "true"}
    dictionary = Dictionary()
    frame = read(rows, COLUMNS, dictionary=dictionary)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "rows.csv"
        write_facts(path, COLUMNS, frame.columns, parameters, dictionary)
        again = read_facts(path, COLUMNS, parameters, dictionary)
        assert to_tuples([type for _, type in COLUMNS], again.columns, dictionary) == sorted(rows)
        assert read(path, COLUMNS, dictionary=dictionary).rows == len(rows)
