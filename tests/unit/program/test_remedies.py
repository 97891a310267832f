"""Remedies of messages about aggregates in cycles and beside each other: what they say works."""

from __future__ import annotations

import pytest

import lftj

DECLARED = """
.decl e(a: number, b: number, w: float)
.decl s(b: number)
.decl v(b: number, p: float)
.decl c(b: number, n: number)
.decl both(b: number, n: number, w: float)
.decl both_n(b: number, n: number)
.decl both_w(b: number, w: float)
"""
REMEDIES = {
    "v(b, max(1.0)) :- s(b). v(b, max(p * w)) :- v(a, p), e(a, b, w).": (
        "E151",
        "max(l + ln(r))",
        "v(b, max(0.0)) :- s(b). v(b, max(l + ln(w))) :- v(a, l), e(a, b, w).",
    ),
    "c(b, count()) :- s(b). c(b, sum(n)) :- c(a, n), e(a, b, _).": (
        "E163",
        "write sum(1) for count()",
        "c(b, sum(1)) :- s(b). c(b, sum(n)) :- c(a, n), e(a, b, _).",
    ),
    "both(b, count(), sum(w)) :- e(_, b, w). both(b, 1, 2.0) :- s(b).": (
        "E163",
        "both_n(b, count(…)) and both_w(b, sum(…)), and join these: "
        "both(b, n, w) :- both_n(b, n), both_w(b, w)",
        "both_n(b, count()) :- e(_, b, _). both_n(b, 1) :- s(b). "
        "both_w(b, sum(w)) :- e(_, b, w). both_w(b, 2.0) :- s(b). "
        "both(b, n, w) :- both_n(b, n), both_w(b, w).",
    ),
    "c(b, min(n) + 1) :- c(a, n), e(a, b, _).": (
        "E151",
        "min(d + 1) for min(d) + 1",
        "c(b, min(0)) :- s(b). c(b, min(n + 1)) :- c(a, n), e(a, b, _).",
    ),
    "both(b, 1, 1.0) :- s(b). both(b, sum(n), sum(w)) :- both(a, n, w), e(a, b, _).": (
        "E163",
        "both_n(b, sum(…)) and both_w(b, sum(…))",
        "both_n(b, 1) :- s(b). both_n(b, sum(n)) :- both_n(a, n), e(a, b, _). "
        "both_w(b, 1.0) :- s(b). both_w(b, sum(w)) :- both_w(a, w), e(a, b, _). "
        "both(b, n, w) :- both_n(b, n), both_w(b, w).",
    ),
}


@pytest.mark.parametrize("rules", REMEDIES)
def test_the_remedy_is_told_and_works(rules: str) -> None:
    code, hint, instead = REMEDIES[rules]
    workspace = lftj.connect()
    with pytest.raises(lftj.ProgramErrors) as caught:
        workspace.add_rules(DECLARED + rules)
    (error,) = caught.value.errors
    assert error.code == code
    assert hint in str(error.hint)
    workspace.add_rules(DECLARED + instead)
    workspace.load("e", [(1, 2, 0.5), (2, 3, 0.25), (1, 3, 0.1)])
    workspace.load("s", [(1,)])
    relation = instead.rpartition(". ")[2].partition("(")[0]
    assert len(workspace[relation]) >= 1
