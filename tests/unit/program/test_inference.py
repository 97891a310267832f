"""The types of variables."""

from __future__ import annotations

import pytest

from lftj.program.checks.inference import Inference
from lftj.program.schema import Catalog
from lftj.program.scope import rename_apart
from tests.unit.program.rules import checked, rule


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return checked("").catalog


CASES = [
    ("h1(x) :- b(x).", {"x": "int"}),
    ("h1(x) :- w(x, v), s(_, t).", {"x": "int", "v": "float", "t": "str"}),
    ("hf(x, y) :- w(x, v), y = v * 2.", {"x": "int", "v": "float", "y": "float"}),
    ("hf(0, y) :- y = x, x = 3.", {"x": "float", "y": "float"}),
    ("h1(y) :- y = x + 1, x = 3.", {"x": "int", "y": "int"}),
    ("h() :- y = x + 1, x = 3.", {"x": "int", "y": "int"}),
    ("h() :- x = 1.5.", {"x": "float"}),
    ("h1(y) :- m(d, _, _, _), y = d - e, m(e, _, _, _).", {"d": "date", "e": "date", "y": "int"}),
    ("h() :- m(d, t, c, f), x = d + 1, y = t - 5, z = c + 1.", {
        "d": "date", "t": "timestamp", "c": "decimal(10,2)", "f": "bool", "x": "date",
        "y": "timestamp", "z": "decimal(18,2)"}),
    ("h() :- n = count : { w(x, v) }.", {"n": "int", "x": "int", "v": "float"}),
    ("h() :- n = sum v : { w(_, v) }, k = mean x : { b(x) "
        "}.", {"n": "float", "v": "float", "k": "float", "x": "int"}),
    ("h() :- n = max t : { s(_, t) }.", {"n": "str", "t": "str"}),
    ("h() :- n = sum 1 : { b(_) }, k = n * 2, k > n.", {"n": "int", "k": "int"}),
    ("hf(1, n) :- n = sum 1 : { b(_) }.", {"n": "float"}),
    ("h() :- s(n, t), k = strlen(t), u = cat(t, t), v = "
        "to_float(t).", {"n": "int", "t": "str", "k": "int", "u": "str", "v": "float"}),
    ("h() :- a(x, y), z = max(x, y, 3).", {"x": "int", "y": "int", "z": "int"}),
    ("h() :- m(d, t, _, _), x = max(d, date(\"2013-01-31\")), y = min(t, t).", {
        "d": "date", "t": "timestamp", "x": "date", "y": "timestamp"}),
    ("h1(x) :- b(x), !( w(x, y), y > 1.0 ), !( s(x, y), y > \"a\" "
        ").", {"x": "int", "y": "float", "y'1": "str"}),
    ("h1(x) :- w(x, y) ; s(x, y).", {"x": "int", "y": "float", "y'1": "str"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_types(text: str, expected: dict[str, str], catalog: Catalog):
    found = Inference(rename_apart(rule(text)), catalog)
    assert {name: str(type) for name, type in found.types.items()} == expected


def test_reasons_name_the_column(catalog: Catalog):
    found = Inference(rule("h1(y) :- w(x, v), y = x."), catalog)
    assert found.reasons == {
        "x": "column `x` of `w`",
        "v": "column `v` of `w`",
        "y": "by an equation",
    }
