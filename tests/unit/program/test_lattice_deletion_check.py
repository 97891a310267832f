"""Of which rules it is known that best values rest on best values."""

from __future__ import annotations

import pytest

from lftj.program.lattice_deletion_check import optimal_support
from tests.unit.program.rules import program

KNOWN = [
    "h2(x, min(d)) :- h2(y, d), a(y, x).",
    "h2(x, min(d + y)) :- h2(y, d), a(y, x).",
    "h2(x, min(d - y)) :- h2(y, d), a(y, x).",
    "h2(x, min(-(1 - d))) :- h2(y, d), a(y, x), d < 5.",
    "h2(x, min(d + e)) :- h2(y, d), h2(x, e), a(y, x).",
    "h2(x, min(e)) :- h2(y, d), a(y, x), e = d + 1, e < y, !b(y).",
    "h2(x, min(d + max(d, y))) :- h2(y, d), a(y, x).",
    "h2(x, min(max(d, min(y, d + 1)))) :- h2(y, d), a(y, x), y > 3 ; h2(y, d), a(y, x).",
    "h2(x, min(max(d, y))) :- h2(y, d), a(y, x).",
    "h2(x, min(max(d, y) + 2)) :- h2(y, d), a(y, x).",
    "h2(x, min(y + max(d, e))) :- h2(y, d), h2(x, e), a(y, x), y >= 0.",
    "h2(x, min(max(d, 0) + y)) :- h2(y, d), a(y, x), 0 < y.",
    "hf(x, max(v)) :- a(x, y), v = to_float(y). hf(x, max(min(v, w))) :- hf(x, v), hf(y, w), a(x, "
    "y).",
    "hf(x, max(v)) :- a(x, y), v = to_float(y). hf(x, max(v + w)) :- hf(x, v), a(x, y), w = "
    "to_float(y), w <= 0.0.",
]
NOT_KNOWN = [
    "h2(x, min(max(d - 1, 0))) :- h2(y, d), a(y, x).",
    "h2(x, min(min(d, y))) :- h2(y, d), a(y, x).",
    "h2(x, min(max(d, y) + y)) :- h2(y, d), a(y, x).",
    "h2(x, min(max(d, y) + y)) :- h2(y, d), a(y, x), y > -1.",
    "h2(x, min(max(d, y) + y)) :- h2(y, d), a(y, x), y <= 0.",
    "h2(x, min(d / 2)) :- h2(y, d), a(y, x).",
    "h2(x, min(y)) :- h2(y, _), a(y, x).",
    "h2(x, min(y)) :- h2(y, d), a(y, x), d < 3.",
    "h2(x, min(y)) :- h1(y), a(y, x). h1(y) :- h2(y, d), d < 3.",
    "h2(x, min(d)) :- h2(y, d), h2(x, e), a(y, x).",
    "h2(x, min(d - 1)) :- h2(y, d), a(y, x). h2(x, min(max(d, y))) :- h2(y, d), a(y, x).",
    "h2(x, min(d)) :- hf(x, v), h2(x, d). hf(x, max(1.0 - to_float(d))) :- h2(x, d).",
    "hf(x, max(v)) :- a(x, y), v = to_float(y). hf(x, max(v + w)) :- hf(x, v), a(x, y), w = "
    "to_float(y).",
]
SEED = "h2(x, min(y)) :- a(x, y). "


def known(text: str) -> bool:
    """Of the first stratum with a `min` or `max` in a cycle."""
    found = program(text if text.startswith(("hf(x, max(v))", "h2(x, y)")) else SEED + text)
    return optimal_support(
        next(stratum.rules for stratum in found.stratified.strata if stratum.recursive)
    )


@pytest.mark.parametrize("text", KNOWN)
def test_best_values_rest_on_best_values(text: str) -> None:
    assert known(text)


@pytest.mark.parametrize("text", NOT_KNOWN)
def test_best_values_may_rest_on_worse_ones(text: str) -> None:
    assert not known(text)


def test_without_best_values_nothing_is_in_question() -> None:
    assert known("h2(x, y) :- a(x, y). h2(x, z) :- h2(x, y), h2(y, z).")
