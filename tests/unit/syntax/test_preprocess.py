"""Preprocessor lines: what they leave, and where errors in it are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from lftj.errors import FileMissingError, FrameError, ParseError, ProgramErrors
from lftj.syntax.parser import parse
from lftj.syntax.preprocess import preprocess


def _words(text: str, folder: Path = Path()) -> list[str]:
    return preprocess(text, "p.dl", folder).split()


def test_text_without_such_lines_is_left_as_it_is():
    text = 'a("#x").  // # y\n'
    assert preprocess(text, "p.dl", Path()) is text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("#define N 3\na(N).", "a(3)."),
        ("#define P(x, y) x < y\na(x) :- P(x, 3).", "a(x) :- x < 3."),
        ("#ifdef N\na(1).\n#else\na(2).\n#endif", "a(2)."),
        ("#define N\n#ifndef N\na(1).\n#endif\nb(1).", "b(1)."),
        ("#if 2 > 1 && defined(N)\na(1).\n#elif 1\na(2).\n#endif", "a(2)."),
        ("#define N 1\n#undef N\na(N).", "a(N)."),
        ('#define N 1\na("N").', 'a("N").'),
        ("#pragma x\n#line 7\na(__LINE__).", "a(3)."),
        ("\na(__LINE__, __FILE__).", 'a(2, "p.dl").'),
        ("#define N \\\n 7\na(N).", "a(7)."),
        ("#if RAM_DOMAIN_SIZE == 64\na(1).\n#else\na(2).\n#endif", "a(1)."),
        ("a(RAM_DOMAIN_SIZE, RAM_DOMAIN_SIZES).", "a(64, RAM_DOMAIN_SIZES)."),
        ("#if RAM_DOMAIN_SIZE > 32 && !defined(N)\na(1).\n#endif", "a(1)."),
        ("#define M 2\n/*\n#define N 1\n */ a(N, M). // M", "a(N, 2)."),
    ],
)
def test_what_is_left(text: str, left: str):
    assert _words(text) == left.split()


def test_included_files_start_at_the_file_that_includes(tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.dl").write_text('#include "b.dl"\n.include "once.dl"\n')
    (tmp_path / "in" / "b.dl").write_text('b(__FILE__).\n.include "once.dl"\n')
    (tmp_path / "in" / "once.dl").write_text(".once\nonce(1).\n")
    assert _words('#include "in/a.dl"\nmain(1).', tmp_path) == [
        'b("in/b.dl").',
        "once(1).",
        "main(1).",
    ]


def _problem(text: str, folder: Path) -> ParseError:
    with pytest.raises(ProgramErrors) as caught:
        parse(preprocess(text, "p.dl", folder), "p.dl")
    return caught.value.errors[0]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("#define N 1\n#ifdef M\n\n#endif\n\na(N) :- b c.", "p.dl:6:11", "   6 | a(N) :- b c."),
        (
            "#define LONG 1234567\na(LONG, LONG) :- b c.",
            "p.dl:2:20",
            "   2 | a(LONG, LONG) :- b c.",
        ),
        ("#define BAD b c\na(1) :- BAD, d(2).", "p.dl:2:9", "   2 | a(1) :- BAD, d(2)."),
        ("/*\n\n*/ a(1) :-\n  b(__LINE__), c d.", "p.dl:4:18", "   4 |   b(__LINE__), c d."),
    ],
)
def test_errors_are_shown_where_they_were_written(text: str, place: str, shown: str):
    error = str(_problem(text, Path()))
    assert error.startswith(f"{place}: ")
    assert shown in error


def test_errors_in_included_files_are_shown_there(tmp_path: Path):
    (tmp_path / "a.dl").write_text("#define N 1\n\n  a(N) :- b c.\n")
    error = str(_problem('\n\n\n#include "a.dl"\n', tmp_path))
    assert error.startswith("a.dl:3:13: ")
    assert "   3 |   a(N) :- b c." in error


@pytest.mark.parametrize(
    "text",
    [
        "#if 1",
        "#endif",
        "#else",
        "#error no",
        "#incude <a>",
        "#define",
        "#include",
        "#if (",
        "#if 1 +",
        "#define N(",
        "#include <a",
        "#count",
    ],
)
def test_lines_that_cannot_be_carried_out(text: str):
    with pytest.raises((ParseError, FileMissingError)) as caught:
        preprocess(f"a(1).\n{text}\n", "p.dl", Path())
    assert caught.value.span is not None
    assert (caught.value.code, caught.value.span.line) == ("E104", 2)


def test_files_that_are_not_there(tmp_path: Path):
    for text in ('#include "a.dl"', '.include "a.dl"', "#include <a.dl>", '#include "."'):
        with pytest.raises(FileMissingError) as caught:
            preprocess(text, "p.dl", tmp_path)
        assert caught.value.span is not None, text


def test_files_outside_the_folder_are_refused(tmp_path: Path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "outer.dl").write_text("a(1).")
    (inner / "link.dl").symlink_to(tmp_path / "outer.dl")
    for name in ("../outer.dl", str(tmp_path / "outer.dl"), "link.dl"):
        with pytest.raises(ParseError, match="outside") as caught:
            preprocess(f'#include "{name}"', "p.dl", inner)
        assert caught.value.code == "E104"
        assert preprocess(f'#include "{name}"', "p.dl", inner, allow_paths=True).split() == [
            "a(1)."
        ]


def test_files_that_include_themselves_end(tmp_path: Path):
    (tmp_path / "a.dl").write_text('#include "a.dl"\n')
    with pytest.raises(ParseError, match="without end"):
        preprocess('#include "a.dl"', "p.dl", tmp_path)


def test_an_included_file_that_is_not_utf8(tmp_path: Path):
    (tmp_path / "a.dl").write_bytes(b"\n\xff")
    with pytest.raises(FrameError, match="line 2: the text is not UTF-8"):
        preprocess('#include "a.dl"', "p.dl", tmp_path)
