# SPDX-License-Identifier: Apache-2.0
"""Limits in recursion whose row is replaced: what lies between the old and the new value changes,
and nothing else is looked at.
"""

from __future__ import annotations

import random

import pytest

import lftj
from tests.unit.recursion.following import change, strategies
from tests.unit.recursion.stratum import check

COUNTING = """
    .decl limit(b: number)  .decl n(x: number)
    n(0).
    n(x + 1) :- n(x), limit(b), x < b.
"""
REACH = """
    .decl limit(k: number, b: number)  .decl e(x: number, y: number)  .decl r(k: number, y: number)
    r(k, 0) :- limit(k, _).
    r(k, y) :- r(k, x), e(x, y), limit(k, b), y <= b, x < b + 3.
"""
WITHOUT = {"moves": frozenset[str](), "rows": frozenset({"moved bounds"})}


def steps(ws: lftj.Workspace) -> int:
    return int(ws.profile(last=1)["steps"].sum())


def test_a_limit_that_moves_costs_what_lies_between():
    ws = lftj.connect()
    ws.add_rules(COUNTING)
    change(ws, {"limit": [(20_000,)]}, {})
    # a row that goes is looked for among all x of x + 1, once each
    for before, now, most in [(20_000, 20_010, 500), (20_010, 20_015, 500), (20_015, 20_005, 3e5)]:
        change(ws, {"limit": [(now,)]}, {"limit": [(before,)]})
        assert len(ws["n"]) == now + 1
        assert strategies(ws) == ["update"]
        assert steps(ws) < most
    assert check(ws) == 1
    assert ws.verify() == []


@pytest.mark.parametrize("way", WITHOUT)
@pytest.mark.parametrize("seed", range(4))
def test_limits_that_move_with_edges(seed: int, way: str):
    draw = random.Random(seed)
    edges = {(draw.randrange(30), draw.randrange(30)) for _ in range(60)}
    limits = {k: draw.randrange(30) for k in range(4)}
    ws = lftj.connect(elastic=float("inf"), tuning=lftj.Tuning(without=WITHOUT[way]))
    ws.add_rules(REACH)
    change(ws, {"e": sorted(edges), "limit": sorted(limits.items())}, {})
    for _ in range(12):
        moved = {k: draw.randrange(30) for k in limits if draw.random() < 0.5}
        moved = {k: b for k, b in moved.items() if b != limits[k]}
        out = set(draw.sample(sorted(edges), draw.randrange(2)))
        came = {(draw.randrange(30), draw.randrange(30))} - edges
        change(
            ws,
            {"limit": sorted(moved.items()), "e": sorted(came)},
            {"limit": [(k, limits[k]) for k in moved], "e": sorted(out)},
        )
        limits |= moved
        edges = (edges - out) | came
        assert set(ws["r"].fetchall()) == reached(edges, limits)
        assert ws.verify() == []
    assert check(ws) == 1


def reached(edges: set[tuple[int, int]], limits: dict[int, int]) -> set[tuple[int, int]]:
    found = {(k, 0) for k in limits}
    steps = {(k, x, y) for k, b in limits.items() for x, y in edges if y <= b and x < b + 3}
    while more := {(k, y) for k, x, y in steps if (k, x) in found} - found:
        found |= more
    return found
