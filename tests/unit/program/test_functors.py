"""String functors on Python values."""

from __future__ import annotations

import datetime
import decimal
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj import ProgramErrors, evaluate
from lftj.errors import LftjError
from lftj.explain.derivations.values import folded
from lftj.functions import FUNCTIONS, FUNCTORS, OPERATORS, call, conversion_of, functor_of
from lftj.functions.aggregates import AGGREGATES
from lftj.program.monotone import FUNCTIONS as FUNCTIONS_IN_CYCLES
from lftj.program.signatures import aggregate_type
from lftj.proofs import NOTHING
from lftj.proofs.functors import COMPARISONS
from lftj.proofs.functors import FUNCTORS as naive
from lftj.syntax.functors import BODY_AGGREGATES, HEAD_AGGREGATES
from lftj.types import DATE, FLOAT, INT, STR, UNSIGNED

CASES = [
    ("cat", ("a", "b", "c"), "abc"),
    ("cat", ("a",), "a"),
    ("least", ("b", "ä", "B"), "B"),
    ("greatest", ("b", "ä", "B"), "ä"),
    ("strlen", ("äß😀",), 3),
    ("substr", ("hello", 1, 3), "ell"),
    ("substr", ("hello", 3, 99), "lo"),
    ("substr", ("hello", 9, 1), ""),
    ("substr", ("hello", -1, 2), ""),
    ("substr", ("hello", 1, -2), ""),
    ("to_string", (-3,), "-3"),
    ("to_string", (1.5,), "1.5"),
    ("to_string", (True,), "true"),
    ("to_string", (datetime.date(2013, 1, 31),), "2013-01-31"),
    ("to_string", (decimal.Decimal("1.50"),), "1.50"),
    ("to_string", (decimal.Decimal("1E-8"),), "0.00000001"),
    ("to_number", ("-12",), -12),
    ("to_number", (" 7 ",), 7),
    ("to_number", ("0xFf",), 255),
    ("to_number", ("-0x10",), -16),
    ("to_number", ("0b101",), 5),
    ("to_number", ("-0x8000000000000000",), -(2**63)),
    ("to_float", ("1e3",), 1000.0),
    ("to_float", ("-0",), 0.0),
    ("range", (0, 3), range(3)),
    ("range", (3, 0), range(3, 0, -1)),
    ("range", (0, 7, 3), range(0, 7, 3)),
    ("range", (0, 7, -1), range(0, 7, -1)),
    ("range", (4, 7, 0), range(4, 5)),
    ("range", (4, 4, 0), range(4, 4)),
    ("contains", ("ell", "hello"), True),
    ("contains", ("hello", "ell"), False),
    ("match", ("h.*o", "hello"), True),
    ("match", ("ell", "hello"), False),
    ("match", ("[[:upper:]][[:digit:]_]+", "A1_2"), True),
    ("match", ("[^[:space:]]*", "a b"), False),
    ("match", ("[[:punct:]]+", "]-\\"), True),
    ("match", (r"\[[:digit:]+", "[:dig"), True),
    ("match", (r"[[a\]]+", "[a]"), True),
    ("match", ("[][:digit:]]+", "]3"), True),
]

FAILURES = [
    ("to_number", ("x",), "E210"),
    ("to_number", ("1_000",), "E210"),
    ("to_number", ("",), "E210"),
    ("to_number", ("0b12",), "E210"),
    ("to_number", ("0x",), "E210"),
    ("to_number", ("9223372036854775808",), "E220"),
    ("to_number", ("0x8000000000000000",), "E220"),
    ("to_number", ("9" * 5000,), "E210"),
    ("range", (0, 2**62), "E220"),
    ("range", (2**62, -(2**62), -3), "E220"),
    ("to_float", ("nan",), "E210"),
    ("to_float", ("inf",), "E210"),
    ("to_float", ("1e999",), "E220"),
    ("match", ("(", "hello"), "E210"),
    ("match", ("[[:digits:]]", "1"), "E210"),
    ("match", ("[[:digit:]", "1"), "E210"),
]


@pytest.mark.parametrize(("name", "values", "expected"), CASES)
def test_value(name: str, values: tuple[object, ...], expected: object):
    found = call(name, values)
    assert found == expected
    assert str(found) == str(expected)


@pytest.mark.parametrize(("name", "values", "code"), FAILURES)
def test_failure(name: str, values: tuple[object, ...], code: str):
    with pytest.raises(LftjError) as caught:
        call(name, values)
    assert caught.value.code == code
    assert len(caught.value.message) < 200


def test_cat_takes_any_number():
    assert FUNCTORS["cat"].argument_types(4) == (STR,) * 4
    assert FUNCTORS["substr"].argument_types(3) == FUNCTORS["substr"].types


@pytest.mark.parametrize("pattern", ["[[a]", "[[:alpha:][]", "x[[]"])
def test_a_bracket_in_a_class_brings_no_warning(pattern: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call("match", (pattern, "a"))


@given(st.lists(st.text("aä😀b", max_size=5), min_size=1), st.data())
def test_whole_columns_give_what_rows_give(texts: list[str], data: st.DataObject) -> None:
    part = data.draw(st.text("aä😀b", max_size=2))
    start, length = data.draw(st.tuples(st.integers(-1, 4), st.integers(-1, 2**40)))
    many = len(texts)
    inside = start >= 0 and 0 <= length < 2**31
    cases: list[tuple[str, list[list[Any]], bool]] = [
        ("strlen", [texts], True),
        ("cat", [texts, [part] * many, texts[::-1]], True),
        ("substr", [texts, [start] * many, [length] * many], inside),
        ("substr", [texts, list(range(many)), [length] * many], False),
        ("contains", [[part] * many, texts], True),
        ("!contains", [[part] * many, texts], True),
        ("contains", [sorted(texts), texts], False),
    ]
    for functor, arguments, whole in cases:
        columns = FUNCTORS[functor].columns
        assert columns is not None
        given = (pa.array(e) if isinstance(e[0], str) else np.array(e) for e in arguments)
        found = columns(*given)
        expected = [call(functor, row) for row in zip(*arguments, strict=True)]
        assert found.to_pylist() == expected if found is not None else not whole


def test_each_record_says_what_its_function_is():
    """The operators and functors of a function have names of their own, and its line ends."""
    for name, function in FUNCTIONS.items():
        assert name == function.name
        assert function.of_values == (name not in ("if", "is_null"))
        assert function.line.endswith(".")
        least, most = function.arity
        assert 1 <= least <= (most or least)
        converting = {each.name for each, _ in function.conversions.values() if each}
        assert converting <= {each.name for each in function.operators}


def test_functors_and_operators_are_chosen_by_type():
    assert functor_of("min", STR) is FUNCTORS["least"]
    assert functor_of("min", INT) is None
    assert functor_of("+", STR) is FUNCTORS["cat"]
    assert functor_of("range", FLOAT) is FUNCTORS["float_range"]
    assert functor_of("range", None) is FUNCTORS["range"]
    assert functor_of("to_string", DATE) is FUNCTORS["to_string"]
    assert functor_of("year", DATE) is None
    assert conversion_of("to_number", FLOAT) == (OPERATORS["to_int"], INT)
    assert conversion_of("to_number", INT) == (None, INT)
    assert conversion_of("to_number", UNSIGNED) == (OPERATORS["as_int"], INT)
    assert conversion_of("year", STR) is None


def test_the_naive_engine_has_every_function_of_its_own():
    ours = {name for name, each in FUNCTIONS.items() if not each.condition} - {"range", "if"}
    assert ours == naive.keys() - {"as", "mirror", "to_int"}
    assert {name for name, each in FUNCTIONS.items() if each.condition} < COMPARISONS.keys()


def test_each_aggregate_has_a_record_that_its_readers_agree_with():
    for name, known in AGGREGATES.items():
        assert name == known.name
        assert known.line.endswith(".")
        assert known.takes(len(known.arguments)) or "…" in known.arguments
        assert known.together is None or known.together in AGGREGATES
        assert name in HEAD_AGGREGATES
        assert (name in BODY_AGGREGATES) == known.braces
        assert known.result(STR) == aggregate_type(name, STR)
        found = folded(name, [])
        assert (None if found is NOTHING else found) == known.of_nothing
    assert AGGREGATES["concat"].takes(4)
    assert not AGGREGATES["concat"].takes(0)
    assert not AGGREGATES["count"].takes(2)
    assert FUNCTIONS_IN_CYCLES == {"min": -1, "max": 1, "any": 1}


@pytest.mark.parametrize("moved", ["d + hours(1)", "d - minutes(n)"])
def test_a_date_is_moved_by_days_only(moved: str):
    program = ".decl f(d: date, n: number) .decl v(d: date) "
    with pytest.raises(ProgramErrors, match="does not move a date") as caught:
        evaluate(f"{program}v({moved}) :- f(d, n).")
    assert caught.value.errors[0].hint == "move it by days(n)"


def test_constants_behind_what_never_holds_are_not_computed():
    program = ".decl f(n: number) f(1). .decl v(n: number) "
    assert evaluate(f"{program}v(x) :- f(_), (1 = 2, x = 1 / 0 ; 1 = 1, x = 3).")[
        "v"
    ].fetchall() == [(3,)]
    with pytest.raises(ProgramErrors, match="division by zero"):
        evaluate(f"{program}v(x) :- f(_), (1 = 1, x = 1 / 0 ; 1 = 2, x = 3).")
