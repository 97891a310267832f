"""Evaluations in parts: the same rows in the same order, the same work and the same failures as in
one piece.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from lftj.errors import LimitError, ValueRangeError
from lftj.join.budget import AllowanceSpentError, Budget
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.evaluate import chunks, run_plan
from lftj.partition.executor import ThreadExecutor
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.tuning import DEFAULT, Tuning
from lftj.types import INT
from tests.unit.join.bodies import graph_rule
from tests.unit.join.evaluating import surroundings
from tests.unit.join.random_rules import database, random_order, random_rows, random_rule

PARTS = (2, 7, 64)
TRIANGLE = ((0, 1), (1, 2), (0, 2))


def divided(parts: int, patience: int = 1) -> ThreadExecutor:
    return ThreadExecutor(2, parts=parts, patience=patience)


@dataclass
class Outcome:
    """The rows of a run in the order they came, or what it failed with; the work; how many parts
    each division had.
    """

    rows: np.ndarray | str
    work: int
    parts: list[int]


OFTEN = Tuning(shared_run_steps=50)
"""Tasks look often whether they are to stop."""


def outcome(
    plan: RulePlan,
    relations: dict[str, RelationVersion],
    arena: Arena,
    threads: ThreadExecutor | None,
    tuning: Tuning = DEFAULT,
) -> Outcome:
    context = surroundings(arena, tuning, threads=threads)
    try:
        columns, counts = run_plan(plan, relations, context)
    except ValueRangeError as failure:
        return Outcome(str(failure), 0, [])
    return Outcome(
        np.array([*columns, counts]),
        context.budget.work,
        [len(ranges) for ranges, _ in context.budget.divided],
    )


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("room", [(1 << 16, 20_000_000), (3, 7)])
def test_parts_give_the_same_rows_in_the_same_order(parts: int, room: tuple[int, int]):
    tuning = Tuning(run_rows=room[0], shared_run_steps=room[1])
    by = random.Random(parts * room[0])
    divisions = failures = 0
    for _ in range(250):
        rule, rows, arena = random_rule(by), random_rows(by), Arena(1 << 28)
        relations = database(rows, arena)
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        statistics = surroundings(arena).statistics
        plan = make_plan(
            rule,
            needed,
            relations,
            statistics,
            count=by.random() < 0.5,
            forced=random_order(by, rule),
        )
        whole = outcome(plan, relations, arena, None, tuning)
        found = outcome(plan, relations, arena, divided(parts, by.choice((1, 20))), tuning)
        if isinstance(whole.rows, str):
            assert found.rows == whole.rows
            failures += 1
            continue
        assert np.array_equal(found.rows, whole.rows)
        # each part opens its levels and seeks its first value anew
        assert found.work <= whole.work + 8 * len(plan.atoms) * sum(found.parts)
        divisions += bool(found.parts)
    assert divisions > 50
    assert failures > 2


# ── large ones ────────────────────────────────────────────────────────────────────────────────────
def graph(
    arena: Arena, nodes: int, edges: int, hub: int | None = None
) -> dict[str, RelationVersion]:
    random = np.random.default_rng(1)
    pairs = random.integers(0, nodes, (2, edges))
    if hub is not None:
        pairs[0, : edges // 2] = hub
    return {
        "e": RelationVersion.build(
            RelationSchema("e", (("a", INT), ("b", INT))), arena, list(pairs)
        )
    }


def triangles(
    arena: Arena, relations: dict[str, RelationVersion], needed: tuple[int, ...] = (0, 1, 2)
) -> RulePlan:
    statistics = surroundings(arena).statistics
    return make_plan(
        graph_rule(TRIANGLE), needed, relations, statistics, count=True, forced=("v0", "v1", "v2")
    )


@pytest.mark.parametrize("hub", [0, 100, 199])
@pytest.mark.parametrize("needed", [(0, 1, 2), (0,), ()])
def test_a_heavy_key_is_cut_by_its_second_variable(hub: int, needed: tuple[int, ...]):
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000, hub)
    plan = triangles(arena, relations, needed)
    context = surroundings(arena, threads=divided(32, 100))
    columns, counts = run_plan(plan, relations, context)
    ((ranges, steps),) = context.budget.divided
    pieces = sum(part.divides_key for part in ranges)
    assert pieces > 1
    whole = outcome(plan, relations, arena, None)
    assert np.array_equal(np.array([*columns, counts]), whole.rows)
    assert max(steps) < 3 * sum(steps) / len(steps)
    # each piece of the hub puts its 200 successors into a bitmap of its own
    assert context.budget.work <= whole.work + 20 * len(ranges) + 2 * 200 * pieces


def test_small_evaluations_and_single_threads_are_not_divided():
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    plan = triangles(arena, relations)
    whole = outcome(plan, relations, arena, None)
    for threads in (
        ThreadExecutor(2, patience=2 * whole.work),
        ThreadExecutor(1, parts=7, patience=1),
    ):
        found = outcome(plan, relations, arena, threads)
        assert found.parts == []
        assert found.work == whole.work


@pytest.mark.parametrize("limit", [10_000, 30_000])
def test_a_work_limit_stops_all_parts(limit: int):
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    before = threading.active_count()
    context = surroundings(arena, OFTEN, threads=divided(16), budget=Budget(work_limit=limit))
    with pytest.raises(LimitError):
        run_plan(triangles(arena, relations), relations, context)
    assert threading.active_count() == before
    assert run_plan(triangles(arena, relations), relations, surroundings(arena))[1].sum() > 0


@pytest.mark.parametrize("parts", PARTS)
def test_an_allowance_ends_at_the_same_count_however_the_parts_are_timed(parts: int):
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    plan = triangles(arena, relations)
    context = surroundings(arena, OFTEN, threads=divided(parts), budget=Budget(20_000))
    with pytest.raises(AllowanceSpentError):
        run_plan(plan, relations, context)
    assert context.budget.work == 20_001
    whole = outcome(plan, relations, arena, None)
    enough = surroundings(arena, OFTEN, threads=divided(parts), budget=Budget(whole.work + 2_000))
    assert len(run_plan(plan, relations, enough)[1]) == whole.rows.shape[1]


class Ahead(ThreadExecutor):
    """All parts are done before the first of them is taken."""

    def map(
        self, task: Any, payloads: Iterable[Any], *, stop: Any = None, meanwhile: Any = None
    ) -> Iterator[Any]:
        """The results, the caller looking up after each."""
        found = []
        for payload in payloads:
            found.append(task(payload))
            meanwhile()
        yield from found


def test_rows_that_parts_gathered_count_before_they_are_taken():
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    plan = triangles(arena, relations)
    rows = sum(piece.nbytes for piece in chunks(plan, relations, surroundings(arena)))
    for share, enough in ((0.5, False), (1.5, True)):
        budget = Budget(memory_limit=arena.bytes_in_use + int(share * rows))
        context = surroundings(arena, budget=budget, threads=Ahead(2, parts=16, patience=1))
        taken = (piece.nbytes for piece in chunks(plan, relations, context))
        if enough:
            assert sum(taken) == rows
        else:
            with pytest.raises(LimitError, match="memory"):
                sum(taken)


@pytest.mark.parametrize("raised", [KeyboardInterrupt, MemoryError])
def test_what_the_caller_is_interrupted_by_ends_all_threads(
    raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
):
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    context = surroundings(arena, OFTEN, threads=divided(16))
    spend: Callable[[int], None] = context.budget.spend
    calls = 0

    def interrupted(steps: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise raised
        spend(steps)

    monkeypatch.setattr(context.budget, "spend", interrupted)
    before = threading.active_count()
    with pytest.raises(raised):
        run_plan(triangles(arena, relations), relations, context)
    assert threading.active_count() == before


def test_a_caller_who_loses_interest_ends_all_threads():
    arena = Arena(1 << 28)
    relations = graph(arena, 200, 6_000)
    before = threading.active_count()
    pieces = chunks(
        triangles(arena, relations), relations, surroundings(arena, threads=divided(16))
    )
    next(pieces)
    pieces.close()
    assert threading.active_count() == before
