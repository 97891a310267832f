"""Whatever the text, the parser ends in a program or in an LftjError, and its messages can be
printed.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import LftjError, ProgramErrors
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.syntax.printer import print_program
from tests.strategies.programs_text import programs

_PIECES = [
    *(
        "a(x)",
        "b",
        "x",
        "_",
        "1",
        "1.5",
        '"s"',
        ":-",
        ".",
        ",",
        ";",
        "!",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=",
        "<",
        "<=",
        "+",
        "-",
        "^",
        ":",
    ),
    *(
        "count",
        "sum",
        "min(",
        "agg<<",
        ">>",
        ".decl",
        ".input",
        ".type",
        ".comp",
        ".plan",
        "choice-domain",
        "eqrel",
        "inline",
        "true",
        "nil",
    ),
    *(
        "$",
        "@",
        "|",
        "//",
        "/*",
        "*/",
        "#define",
        '"',
        "\\",
        "\n",
        "\0",
        "\r",
        "\u2028",
        "0x",
        "99999999999999999999",
        "é",
        "?",
        "band",
        "bnot",
    ),
]


def outcome(text: str) -> tree.ParsedProgram | list[LftjError]:
    """The program, or the errors."""
    try:
        return parse(text)
    except ProgramErrors as errors:
        return errors.errors


def check(text: str) -> None:
    """Parse and look at the outcome as a user would."""
    found = outcome(text)
    if isinstance(found, tree.ParsedProgram):
        assert parse(print_program(found)) == found
        return
    spans = [error.span for error in found if error.span is not None and str(error)]
    assert len(spans) == len(found) > 0
    assert [span.line for span in spans] == sorted(span.line for span in spans)


@given(st.text())
def test_any_text(text: str):
    check(text)


@given(
    st.lists(st.sampled_from(_PIECES)).map(" ".join)
    | st.lists(st.sampled_from(_PIECES)).map("".join)
)
def test_words_of_the_language_in_any_order(text: str):
    check(text)


@given(programs, st.data())
def test_programs_with_a_piece_changed(program: tree.ParsedProgram, data: st.DataObject):
    text = print_program(program)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))
    check(text[:start] + data.draw(st.sampled_from(["", *_PIECES])) + text[end:])


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "!(",
        "a(",
        "{",
        "[",
        '"',
        "/*",
        "-",
        "x = count : {",
        "agg<<",
        ".comp {",
        "a(1).",
        "1.",
        "\\",
        ".",
    ],
)
@pytest.mark.parametrize("before", ["", "a(x) :- ", "a("])
def test_long_repetitions(before: str, piece: str):
    check(before + piece * 3000)
