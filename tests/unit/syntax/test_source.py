"""Places in the text: lines and columns as an editor and the error messages count them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import Span
from lftj.syntax.source import Source


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)),
        ("ab", 2, (1, 3)),
        ("ab\n", 3, (2, 1)),
        ("a\nb", 2, (2, 1)),
        ("a\r\nb", 3, (2, 1)),
        ("a\x0bb\u2028c", 4, (3, 1)),
    ],
)
def test_places(text: str, offset: int, place: tuple[int, int]):
    assert Source(text).place(offset) == place


@given(st.text(alphabet="ab\n\r\x0b\u2028\t"), st.data())
def test_the_character_at_a_place_is_the_one_at_the_offset(text: str, data: st.DataObject):
    offset = data.draw(st.integers(0, len(text)))
    line, column = Source(text).place(offset)
    lines = text.splitlines(keepends=True)
    assert sum(map(len, lines[: line - 1])) + column - 1 == offset


def test_the_caret_underlines_the_span():
    source = Source("a(x) :-\n\tb(x).\n", "f.dl")
    assert source.span(9, 13).caret() == "   2 |  b(x).\n        ^^^^"
    assert str(source.span(9, 13)) == "f.dl:2:2"


def test_a_span_over_several_lines_is_underlined_to_the_end_of_the_first():
    assert Source("ab\ncd").span(1, 4).caret() == "   1 | ab\n        ^"


def test_long_lines_are_cut_round_the_place():
    caret = Source("x" * 1000 + "y" + "x" * 1000).span(1000, 1001).caret()
    shown, underline = caret.splitlines()
    assert len(shown) < 140
    assert shown[underline.index("^")] == "y"


def test_a_place_without_text_has_no_caret():
    assert Span(1, 1, 1, 2).caret() == ""
