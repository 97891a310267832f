"""Rounds on threads: pieces of deltas, failures, limits and counts of work."""

from __future__ import annotations

import random
import threading
from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.join.plan.planner import make_plan
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.semi_naive.packed_rows import Packed
from lftj.maintenance.semi_naive.row_set import RowSet
from lftj.maintenance.semi_naive.shared_iteration import Cut
from lftj.maintenance.semi_naive.variants import delta_name, variants
from lftj.storage.transient_relation import TransientRelation
from tests.unit.recursion.programs import expected, views

MUTUAL = """
.decl e(x: int, y: int)   .decl odd(x: int, y: int)   .decl even(x: int, y: int)
    .decl both(x: int, y: int)
odd(x, y) :- e(x, y).
even(x, z) :- odd(x, y), odd(y, z).
odd(x, z) :- even(x, y), odd(y, z).
both(x, y) :- odd(x, y), even(x, y).
both(x, z) :- both(x, y), both(y, z), even(x, z).
"""


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("parts", [1, 8, 64])
def test_mutual_recursion_finds_the_same_rows(threads: int, parts: int):
    by = random.Random(parts)
    facts = {"e": {(by.randrange(25), by.randrange(25)) for _ in range(45)}}
    assert views(
        MUTUAL, facts, executor=lftj.ThreadExecutor(threads, parts=parts, patience=1)
    ) == expected(MUTUAL, facts)


def test_without_patience_rounds_in_which_no_rule_reads_what_is_new_are_no_trouble():
    declared = ".decl top(n: int)  .decl up(n: int)  .decl down(n: int)  up(0). "
    text = declared + "down(n + 1) :- up(n), top(m), n < m.  up(n + 1) :- down(n), top(m), n < m."
    facts = {"top": [(4,)]}
    assert views(text, facts, executor=lftj.ThreadExecutor(2, parts=7, patience=0)) == expected(
        text, facts
    )


def test_a_failure_is_that_of_one_thread():
    text = (
        ".decl e(x: int, y: int)  .decl p(x: int, y: int)  p(x, y) :- e(x, y).  p(x, z / w) :- "
        "p(x, y), p(y, z), e(y, w)."
    )
    facts = {"e": [(i, (i * 3) % 40) for i in range(40)]}
    messages = set()
    for executor in (lftj.ThreadExecutor(1), lftj.ThreadExecutor(2, parts=32, patience=1)):
        before = threading.active_count()
        with pytest.raises(lftj.LftjError, match="division by zero") as failure:
            views(text, facts, executor=executor)
        messages.add(str(failure.value))
        assert threading.active_count() == before
    assert len(messages) == 1


def test_the_limit_of_work_holds_for_all_threads_together():
    facts = {"e": [(i, j) for i in range(40) for j in range(40)]}
    with pytest.raises(lftj.LimitError, match="work limit"):
        views(MUTUAL, facts, work=20_000, executor=lftj.ThreadExecutor(2, patience=1))


JOINED = """
.decl e(x: int, y: int)   .decl f(x: int, y: int)   .decl p(x: int, y: int)
p(x, y) :- e(x, y).
p(x, w) :- e(x, y), p(y, z), f(z, w), e(x, z).
"""


@pytest.mark.parametrize("pieces", [2, 7, 500])
@pytest.mark.parametrize("leading", list(permutations("xyz")), ids="".join)
def test_every_instantiation_is_found_in_one_piece(pieces: int, leading: tuple[str, ...]):
    by = random.Random(pieces)
    workspace: Any = lftj.connect()
    workspace.add_rules(JOINED)
    workspace.load("f", [(by.randrange(9), by.randrange(40)) for _ in range(150)])
    workspace.load("e", [(by.randrange(9) ** 2 // 9, by.randrange(30)) for _ in range(120)])
    engine = workspace._backend
    program = engine.state.program.stratified
    schemas = {"p": program.relations["p"]}
    context = engine.context({})
    context.resources.threads = None
    for rule in (rule for stratum in program.strata if stratum.recursive for rule in stratum.rules):
        for variant in variants(rule, schemas):
            delta = TransientRelation(
                schemas["p"], context.resources.arena, engine.state.database["p"].columns()
            )
            read = {
                "e": engine.state.database["e"],
                "f": engine.state.database["f"],
                delta_name("p"): delta,
            }
            every = tuple(range(len(rule.variables)))
            order = (*leading, "w")
            variant.plan = make_plan(
                variant.rule, every, read, context.statistics, count=True, forced=order
            )
            cut = Cut(variant, delta, pieces)
            assert cut.pieces == min(pieces, delta.count)
            found: list[Counter[tuple[int, ...]]] = []
            for ranges in (None, *(cut.ranges(number, read) for number in range(cut.pieces))):
                prepared = PreparedPlan(variant.plan, read, context, room=64)
                rows = [
                    row
                    for piece in prepared.pieces(read, context, within=ranges)
                    for row in piece.T.tolist()
                ]
                found.append(Counter(map(tuple, rows)))
            assert len(found[0]) > 100
            assert sum(found[1:], Counter()) == found[0]
            assert pieces == 2 or sum(map(bool, found[1:])) > 1


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_packed_rows_come_in_every_key_order(order: tuple[int, ...], ordered: bool):
    by = random.Random(1)
    distinct = sorted(
        {(by.randint(-50, 10**9), 7, by.randint(0, 3)) for _ in range(200)},
        key=lambda row: by.random(),
    )
    rows = RowSet(3, np.zeros(3), np.zeros(3))
    rows.add(np.array(distinct).T.copy(), np.arange(3))
    packed = rows.take_packed(ordered)
    assert isinstance(packed, Packed)
    found = packed.sorted_by(order).columns().T.tolist()
    assert found == sorted([row[column] for column in order] for row in distinct)
