"""The text of floats reads back as it was, and looks as C++ shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.types import float_text


@given(st.floats(allow_nan=False))
def test_the_text_reads_back(value: float):
    assert float(float_text(value)) == value


@given(st.integers(-(2**53), 2**53))
def test_whole_numbers_have_no_point(number: int):
    assert float_text(float(number)) == str(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_laid_out_as_with_17_digits(value: float):
    ours, souffle = float_text(value), f"{value + 0.0:.17g}"
    assert ("e" in ours) == ("e" in souffle)
    assert ours.partition("e")[2] == souffle.partition("e")[2] or len(souffle) > len(ours)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (1e16, "10000000000000000"),
        (1e17, "1e+17"),
        (1e-5, "1e-05"),
        (-2.5, "-2.5"),
        (float("inf"), "inf"),
    ],
)
def test_examples(value: float, text: str):
    assert float_text(value) == text
