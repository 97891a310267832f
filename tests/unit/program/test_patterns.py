"""Patterns of `match`: what they mean, which are refused and where, and that none takes long."""

import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.errors import ValueTypeError
from lftj.functions.patterns import matches, matching

WRONG = {  # and the character at which it goes wrong
    "fo{x}b": 3,
    "a{": 2,
    "x{,3}": 2,
    "ab(c": 3,
    "((a)": 1,
    "ab)c": 3,
    "a)|(b": 2,
    "x[ab": 2,
    "a**": 2,
    "*a": 1,
    "a{1001}": 2,
    "a(?=b)": 2,
    "a(?!b)": 2,
    r"(a)\1": 4,
    r"a\Qb": 2,
    r"a\Cb": 2,
    "[[:foo:]]": 2,
    "a\\": 1,
}


@pytest.mark.parametrize("pattern", WRONG)
def test_a_bad_pattern_is_an_error_at_its_character(pattern: str) -> None:
    with pytest.raises(ValueTypeError, match=f"at its character {WRONG[pattern]}: "):
        matches(pattern, "a")


@pytest.mark.parametrize(
    ("pattern", "text", "holds"),
    [
        (r"\d", "٣", False),
        (r"\d", "3", True),
        (r"\w", "é", False),
        (".", "é", True),
        (".", "\n", False),
        ("a$", "a\n", False),
        ("a|b", "ab", False),
        ("[[:d:]_]+", "12_", True),
        ("[[:digit:]_]+", "12_", True),
        ("[^[:w:]]", "-", True),
        (r"\{a\}", "{a}", True),
        ("a]", "a]", True),
        ("a{2,3}", "aa", True),
        ("[{]", "{", True),
        ("", "", True),
        ("", "a", False),
    ],
)
def test_a_pattern_means_what_it_does_in_ecmascript(pattern: str, text: str, holds: bool) -> None:
    assert matches(pattern, text) is holds


@given(
    st.text("ab()|*+?.[]^{}12,\\d", max_size=8),
    st.lists(st.text("ab1{}[]", max_size=5), max_size=4),
)
def test_a_pattern_is_refused_or_matches_as_in_python(pattern: str, texts: list[str]) -> None:
    try:
        found = matching(pattern, pa.array(texts, pa.large_string()))
    except ValueTypeError:
        return
    if re.search(r"\[\^?\]|[*+?}][+]|\(\?|\\b|\[\^?\\|[*+?}][*?{]", pattern):
        return  # read otherwise by Python
    try:
        known = re.compile(pattern, re.ASCII)
    except re.error:
        return
    assert found.tolist() == [known.fullmatch(text) is not None for text in texts]


def test_a_constant_pattern_is_looked_at_when_the_rule_is_added() -> None:
    ws = lftj.connect()
    ws.add_rules(".decl s(t: symbol) .decl m(t: symbol)")
    for literal in ('match("fo{x}b", t)', '!match("fo{x}b", t)'):
        with pytest.raises(lftj.ProgramErrors, match="at its character 3") as caught:
            ws.add_rules(f"m(t) :- s(t), {literal}.")
        span = caught.value.errors[0].span
        assert span is not None
        assert span.column == 16 + literal.index('"') - 1


def test_a_pattern_from_data_is_looked_at_when_it_is_met() -> None:
    ws = lftj.connect()
    ws.add_rules(".decl s(p: symbol, t: symbol) .decl m(t: symbol) m(t) :- s(p, t), match(p, t).")
    ws.load("s", [("a.*", "ab"), ("b+", "bb"), ("b+", "b"), ("c", "b")])
    assert sorted(ws["m"].fetchall()) == [("ab",), ("b",), ("bb",)]
    with pytest.raises(ValueTypeError, match="closes no") as caught:
        ws.load("s", [("a)", "a")])
    assert caught.value.span is not None
    assert len(ws["m"]) == 3


def test_a_pattern_that_makes_others_backtrack_is_done_at_once() -> None:
    """A search that tries all ways to read a text has 2³⁴ of them here, and would never end."""
    assert not matches("(a|a)*b", "a" * 34)
    assert matches("(a|a)*b", "a" * 1_000_000 + "b")


def test_texts_count_as_work_and_limits_are_looked_at_between_chunks() -> None:
    ws = lftj.connect()
    ws.add_rules(".decl s(t: symbol) .decl m(t: symbol)")
    ws.load("s", [("a" * 5_000_000 + str(number),) for number in range(3)])
    with ws.limits(work=200_000), pytest.raises(lftj.LimitError):
        ws.add_rules('m(t) :- s(t), match("(a|a)*b", t).')
    assert not len(ws.rules)
    ws.add_rules('m(t) :- s(t), match("a*2", t).')
    assert len(ws["m"]) == 1


def test_a_number_that_is_none_is_refused_in_linear_time() -> None:
    """Half a million digits: read in every way that there is, they take hours."""
    ws = lftj.connect()
    ws.add_rules(".decl s(t: symbol) .decl n(x: float) n(to_float(t)) :- s(t).")
    with pytest.raises(ValueTypeError, match="to_float"):
        ws.load("s", [("1" * 500_000 + "x",)])
