"""Iterations done in compiled code leave what the others leave, and are left to those where they
cannot be done.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from lftj.maintenance.counting import question_kernels
from lftj.maintenance.counting.compiled_iterations import CompiledIterations
from tests.unit.recursion.following import change, strategies, workspace
from tests.unit.recursion.stratum import check, counted_at_once

DECLARED = (
    ".decl s(x: number)\n.decl e(x: number, y: number)\n.decl gone(x: number)\n.decl a(x: "
    "number)\n.decl b(x: number)\n"
)
MUTUAL = DECLARED + "a(x) :- s(x). b(y) :- a(x), e(x, y). a(y) :- b(x), e(x, y).\n"
NEGATED = (
    DECLARED + "a(x) :- s(x). b(y) :- a(x), e(x, y), !gone(y). a(y) :- b(x), e(x, y), x + y != 7.\n"
)
PAIRS = (
    DECLARED
    + ".decl t(x: number, y: number)\nt(x, y) :- s(x), e(x, y). t(x, z) :- t(x, y), e(y, z). t(y, "
    "x) :- t(x, y), gone(x).\n"
)
SQUARE = (
    DECLARED
    + ".decl t(x: number, y: number)\nt(x, y) :- e(x, y). t(x, z) :- t(x, y), t(y, z), !gone(z).\n"
)

CHOSEN = (
    DECLARED
    + """
.decl p(y: number, x: number) choice-domain y
.decl q(x: number, y: number, z: number) choice-domain (x, z)
p(y, y) :- s(y). p(y, x) :- p(x, _), e(x, y), !gone(y). p(y, x) :- q(x, _, y), p(x, _), e(y, _).
q(x, y, x) :- p(x, y). q(x, z, z) :- q(x, y, _), e(y, z), x != z. q(z, x, y) :- q(x, y, z), gone(y).
"""
)


AT_ONCE = lftj.Tuning(compiled_patience=0)
"""Runs are tried after every iteration."""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Final status and iterations of each compiled run."""
    found: list[tuple[int, int]] = []
    one = CompiledIterations._slice

    def noted(self: CompiledIterations, *arguments: Any) -> Any:
        records = one(self, *arguments)
        found.append(
            (
                int(self._control[question_kernels.STATUS]),
                int(self._control[question_kernels.ITERATIONS]),
            )
        )
        return records

    monkeypatch.setattr(CompiledIterations, "_slice", noted)
    return found


@pytest.mark.parametrize("text", [MUTUAL, NEGATED, PAIRS, SQUARE, CHOSEN])
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_of_paths_with_shortcuts(text: str, seed: int, runs: list[tuple[int, int]]):
    rnd = random.Random(seed)
    nodes = 25
    edges = {(i, i + 1) for i in range(nodes)} | {
        (rnd.randrange(nodes), rnd.randrange(nodes)) for _ in range(4)
    }
    found = workspace(
        text,
        {"s": [(0,)], "gone": [(nodes + 1,)], "e": sorted(edges)},
        elastic=1000,
        tuning=AT_ONCE,
    )
    for _ in range(12):
        lost = set(rnd.sample(sorted(edges), min(len(edges), rnd.randrange(3))))
        won = {
            (i, i + rnd.choice((1, 1, 2, -3))) for i in rnd.sample(range(nodes), rnd.randrange(3))
        }
        edges = (edges - lost) | won
        flip = [(rnd.randrange(nodes),)]
        gone = {"gone": flip} if rnd.random() < 0.3 else {}
        back = {"gone": flip} if rnd.random() < 0.3 else {}
        with counted_at_once():
            change(found, {"e": sorted(won), **gone}, {"e": sorted(lost), **back})
        assert check(found) == 1
    assert found.verify() == []
    assert sum(rounds for _, rounds in runs) > 5


def test_an_iteration_of_many_rows_is_left_and_the_run_taken_up_behind_it(
    runs: list[tuple[int, int]],
):
    wide = [(20, 100 + i) for i in range(600)] + [(100 + i, 1000) for i in range(600)]
    edges = [(i, i + 1) for i in range(20)] + wide + [(i, i + 1) for i in range(1000, 1040)]
    found = workspace(MUTUAL, {"s": [(0,)], "e": edges}, elastic=1000, tuning=AT_ONCE)
    for step in ({}, {"e": [(0, 1)]}), ({"e": [(0, 1)]}, {}):
        runs.clear()
        change(found, *step)
        assert strategies(found) == ["update"]
        assert check(found) == 1
        assert question_kernels.LEFT in [status for status, _ in runs]
        assert sum(rounds for _, rounds in runs) > 50


def test_a_failing_expression_is_left_to_those_who_can_say_so(runs: list[tuple[int, int]]):
    text = DECLARED + "a(x) :- s(x). b(100 / (30 - y)) :- a(x), e(x, y). a(y) :- a(x), e(x, y).\n"
    found = workspace(
        text, {"s": [(0,)], "e": [(i, i + 1) for i in range(20)]}, elastic=1000, tuning=AT_ONCE
    )
    change(found, {"e": [(20, 21), (22, 23), (23, 24)]}, {})
    before = {name: found[name].fetchall() for name in ("a", "b")}
    with pytest.raises(lftj.LftjError, match="division by zero"):
        change(found, {"e": [(21, 22), *((i, i + 1) for i in range(24, 31))]}, {})
    assert {name: found[name].fetchall() for name in ("a", "b")} == before
    change(found, {"e": [(21, 22)]}, {})
    assert check(found) == 1


def test_a_long_run_heeds_limits_and_leaves_no_pages_behind():
    depth = 30_000
    found = workspace(MUTUAL, {"s": [(0,)], "e": [(i, i + 1) for i in range(depth)]}, elastic=1000)
    for _ in range(2):
        change(found, {}, {"e": [(0, 1)]})
        change(found, {"e": [(0, 1)]}, {})
    arena = found._backend.arena
    used = arena.bytes_in_use
    with found.limits(work=depth), pytest.raises(lftj.LimitError):
        change(found, {}, {"e": [(0, 1)]})
    assert arena.bytes_in_use == used
    change(found, {}, {"e": [(0, 1)]})
    assert found["b"].fetchall() == []
    change(found, {"e": [(0, 1)]}, {})
    assert check(found) == 1
    assert strategies(found, 2) == ["update", "update"]


def test_a_run_takes_no_more_rounds_than_its_allowance():
    chain = [(i, i + 1) for i in range(5000)]
    found = workspace(MUTUAL, {"e": chain, "s": [(0,)]}, elastic=0.01)
    change(found, {}, {"e": chain[:1]})
    assert strategies(found) == ["fallback"]
    assert found["a"].fetchall() == [(0,)]
