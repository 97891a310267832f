"""Walks part by part: slices of work, growth of the output, and every way to put nodes in order."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import lftj
from lftj.maintenance.separable import separable
from lftj.maintenance.separable.walk_kernels import _FEW, no_nodes_reached, take
from tests.retuning import constants
from tests.unit.recursion.programs import expected, views


@pytest.mark.parametrize("nodes", [1, 64, 512, 513, 5000, 300_000])
@pytest.mark.parametrize("share", [0.0001, 0.01, 0.1, 0.5, 1])
def test_nodes_come_out_in_order_and_are_forgotten(nodes: int, share: float):
    by = random.Random(nodes)
    chosen = by.sample(range(nodes), max(1, int(nodes * share)))
    reached = no_nodes_reached(nodes)
    reached.queue[: len(chosen)] = chosen
    reached.seen[chosen] = 1
    out = np.full(len(chosen) + 4, -1)
    take(reached, len(chosen), out, 3)
    assert out[3:-1].tolist() == sorted(chosen)
    assert not reached.seen.any()


@pytest.mark.parametrize("count", [1, 2, _FEW, _FEW + 1])
def test_few_nodes_of_many_come_out_in_order(count: int):
    test_nodes_come_out_in_order_and_are_forgotten(100_000, count / 100_000)


CLOSURE = """
.decl edge(x: int, y: int)
.decl path(x: int, y: int)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.mark.parametrize("slice_of_work", [1, 7, 1000])
@pytest.mark.parametrize("room", [1, 60])
def test_a_walk_in_slices_with_little_room_is_the_same_walk(slice_of_work: int, room: int):
    by = random.Random(room)
    facts = {"edge": {(by.randrange(60), by.randrange(60)) for _ in range(110)}}
    with constants(separable, _WALK_ROWS=room):
        found = views(CLOSURE, facts, tuning=lftj.Tuning(run_steps=slice_of_work))
    assert found == expected(CLOSURE, facts)


def test_a_walk_stops_at_the_limit_of_work():
    facts = {"edge": [(i, j) for i in range(60) for j in range(60)]}
    with pytest.raises(lftj.LimitError, match="work limit"):
        views(CLOSURE, facts, work=100_000)
    assert len(views(CLOSURE, facts, work=1_000_000)["path"]) == 3600


@pytest.mark.parametrize("parts", [2, 7, 64])
@pytest.mark.parametrize("patience", [1, 500])
@constants(separable, _WALK_ROWS=60)
def test_walks_on_threads_find_the_same(parts: int, patience: int):
    by = random.Random(parts)
    facts = {"edge": {(by.randrange(-30, 30), by.randrange(60)) for _ in range(150)}}
    tuning = lftj.Tuning(shared_run_steps=11)
    executor = lftj.ThreadExecutor(2, parts=parts, patience=patience)
    found = views(CLOSURE, facts, executor=executor, tuning=tuning)
    assert found == expected(CLOSURE, facts)


def test_walks_on_threads_stop_at_the_limit_of_work():
    facts = {"edge": [(i, j) for i in range(60) for j in range(60)]}
    before = threading.active_count()
    with pytest.raises(lftj.LimitError, match="work limit"):
        views(
            CLOSURE,
            facts,
            work=100_000,
            executor=lftj.ThreadExecutor(2, patience=1),
            tuning=lftj.Tuning(shared_run_steps=500),
        )
    assert threading.active_count() == before


NONLINEAR = """
.decl edge(x: int, y: int)
.decl path(x: int, y: int)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
"""


@pytest.mark.parametrize("spread", [1, 10**7, 2**40])
@pytest.mark.parametrize("parts", [2, 16])
def test_rounds_on_threads_find_the_same(parts: int, spread: int):
    by = random.Random(parts)
    facts = {"edge": {(spread * by.randrange(40), spread * by.randrange(40)) for _ in range(70)}}
    executor = lftj.ThreadExecutor(2, parts=parts, patience=1)
    assert views(NONLINEAR, facts, executor=executor) == expected(NONLINEAR, facts)


def test_what_threads_drop_does_not_change_the_plans():
    facts = {"edge": {(i, j) for i in range(120) for j in (i + 1, (i * 7) % 120)}}
    steps = set()
    for _ in range(3):
        workspace = lftj.connect(executor=lftj.ThreadExecutor(2, parts=8, patience=1))
        workspace.add_rules(NONLINEAR)
        workspace.load("edge", sorted(facts["edge"]))
        steps.add(workspace.profile(last=1)["steps"].sum())
    assert len(steps) == 1
