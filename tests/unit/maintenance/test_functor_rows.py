"""Functors with many values as relations."""

from __future__ import annotations

import numpy as np
import pytest

import lftj
import lftj.maintenance.rules.functor_rows as module
from lftj.errors import LftjError, LimitError
from lftj.maintenance.rules.functor_rows import functor_rows
from lftj.program.normal_form import FunctorRule
from lftj.scantree.tree import Arena
from lftj.types import INT
from tests.unit.join.evaluating import surroundings

TOP = 2**63 - 1


def numbers(*domain: list[int]) -> list[tuple[int, ...]]:
    rule = FunctorRule(1, "r", "in", "range", (INT,) * len(domain), INT)
    columns = functor_rows(
        rule, [np.array(column, np.int64) for column in domain], surroundings(Arena())
    )
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_each_row_comes_with_each_of_its_numbers():
    assert numbers([0, 2, 5], [2, 2, 4]) == [(0, 2, 0), (0, 2, 1), (5, 4, 5)]
    assert numbers([], []) == []


def test_numbers_reach_the_ends_of_int():
    assert [row[-1] for row in numbers([-TOP - 1], [TOP], [2**62])] == [
        -TOP - 1,
        -(2**62),
        0,
        2**62,
    ]
    assert [row[-1] for row in numbers([TOP], [-TOP - 1], [-TOP])] == [-TOP, 0, TOP]


def test_a_limit_is_looked_at_before_the_numbers_are_made():
    workspace = lftj.connect()
    with workspace.limits(memory=100 << 20), pytest.raises(LimitError):
        workspace.add_rules(".decl n(x: number) n(x) :- x = range(0, 90000000).")
    assert "n" not in workspace


def test_threads_look_for_a_pattern_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_TEXT_AT_ONCE", 50)
    texts = [f"{'ab' if number % 3 else 'c'}{number}" for number in range(200)]
    for threads in (1, 2):
        workspace = lftj.connect(executor=lftj.ThreadExecutor(threads))
        workspace.load(workspace.relation("t", {"t": str}), [(text,) for text in texts])
        workspace.add_rules('.decl m(t: symbol) m(t) :- t(t), match("a.*[13]", t).')
        expected = {text for text in texts if text[0] == "a" and text[-1] in "13"}
        assert {row[0] for row in workspace["m"].fetchall()} == expected
        with pytest.raises(LftjError, match="is not a regular expression"):
            workspace.add_rules('.decl w(t: symbol) w(t) :- t(t), match("a(", t).')
