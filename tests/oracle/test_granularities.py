"""Histories maintained by traces of random granularity: views, change sets and support counts equal
the reference after every step, and the coverage invariant itself holds (`docs/sensitivity.md`).
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import EXACT, NONE, Granularity, hull, projected
from lftj.sensitivity.shape import Position
from tests.oracle.invariant import uncovered
from tests.oracle.pair import Pair
from tests.strategies.histories import BASES, AddRule, Change, History, Transact, histories

KINDS: tuple[Granularity, ...] = (EXACT, hull(), hull(2), projected(0), projected(1), NONE)


def mixed(seed: int) -> Callable[[Position], Granularity]:
    """A granularity for each position, at random."""
    chooser = random.Random(seed)
    return lambda position: chooser.choice(KINDS)


def run(history: History, override: TraceOverride) -> None:
    """The whole history under these granularities, compared after every step."""
    workspace = lftj.connect()
    workspace._backend.trace_override = override
    pair = Pair((*BASES, *history.program.specs), workspace)
    pair.step(
        Transact(
            tuple(
                Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows
            )
        )
    )
    for rule in history.program.rules:
        pair.step(Transact((AddRule(rule),)))
    for step in history.steps:
        pair.step(step)
        assert uncovered(workspace) == []
    assert workspace.verify() == []


@given(histories(), st.integers(0, 1 << 20), st.booleans())
@settings(max_examples=settings().max_examples)
def test_oracle_random_granularities(history: History, seed: int, first_proof: bool):
    run(history, TraceOverride(mixed(seed), first_proof))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("first_proof", [False, True])
@given(history=histories())
@settings(max_examples=max(2, settings().max_examples // 8))
def test_oracle_each_granularity(kind: Granularity, first_proof: bool, history: History):
    run(history, TraceOverride(lambda position: kind, first_proof))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_negated_atom_without_variables_ends_every_search(kind: Granularity):
    workspace = lftj.connect()
    workspace._backend.trace_override = TraceOverride(lambda position: kind, False)
    workspace.add_rules(
        ".decl label(x: number, s: number) .decl rate(x: number, y: number) .decl v(z: number)"
    )
    workspace.load("rate", [(1, 2), (3, 2), (3, 4)])
    workspace.load("label", [(1, 7), (2, 8)])
    workspace.add_rules("v(z) :- label(x, s), !rate(_, 2), label(z, t).")
    for erased, rows in (((1, 2), 0), ((3, 4), 0), ((3, 2), 2)):
        assert uncovered(workspace) == []
        with workspace.transaction() as tx:
            tx.delete("rate", [erased])
        assert len(workspace["v"]) == rows
    assert uncovered(workspace) == []


LOOSE = (
    "v(x) :- wide(x, _, _, _), label(x, _).",
    "v(x) :- wide(x, y, _, _), label(y, _), rate(_, _).",
    "v(x) :- label(x, _), wide(_, _, x, _), wide(x, _, _, _).",
    "v(x) :- wide(x, y, _, _), label(x, _), !rate(y, _).",
    "v(x) :- wide(x, y, y, _), rate(x, z), z < 3, label(z, _).",
    "v(1) :- wide(_, _, x, _), label(x, _).",
)


@pytest.mark.parametrize("rule", LOOSE)
@pytest.mark.parametrize("kind", [EXACT, hull(), NONE], ids=str)
def test_columns_that_nothing_joins_are_neither_searched_nor_kept(rule: str, kind: Granularity):
    by = random.Random(rule)
    relations = {"wide": 4, "label": 2, "rate": 2}
    workspace, anew = lftj.connect(), lftj.connect(trace_budget=0)
    workspace._backend.trace_override = TraceOverride(lambda position: kind, True)
    for each in (workspace, anew):
        each.add_rules(
            ".decl wide(a: number, b: number, c: number, d: number) .decl label(x: number, s: "
            "number)"
        )
        each.add_rules(f".decl rate(x: number, y: number) .decl v(z: number)\n{rule}")
    changed = 0
    for _ in range(60):
        changes = []
        for name, width in relations.items():
            rows = [tuple(by.randrange(4) for _ in range(width)) for _ in range(by.randrange(6))]
            changes.append((by.choice(("insert", "delete")), name, rows))
        if by.random() < 0.1:  # a relation without rows decides too
            name = by.choice(list(relations))
            changes.append(("delete", name, workspace[name].fetchall()))
        for each in (workspace, anew):
            with each.transaction() as tx:
                for action, name, rows in changes:
                    getattr(tx, action)(name, rows)
            changed += bool(tx.changes("v"))
        assert sorted(workspace["v"].fetchall()) == sorted(anew["v"].fetchall())
        assert uncovered(workspace) == []
        assert workspace.verify() == []
    assert changed > 5
