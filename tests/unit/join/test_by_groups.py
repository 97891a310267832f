"""Rows in pieces of whole groups: the same rows, no group in two pieces, and no more memory than a
piece takes.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

import lftj
from lftj.errors import ValueRangeError
from lftj.join.run import by_groups
from lftj.join.run.body_query import BodyQuery
from lftj.join.run.evaluate import plan_rule, run_plan
from lftj.join.run.ladder import satisfying
from lftj.scantree import Arena
from tests.unit.join.evaluating import surroundings, tallied
from tests.unit.join.random_rules import database, random_rows, random_rule


@pytest.mark.parametrize("piece", [1, 5])
def test_pieces_have_all_rows_and_each_group_once(piece: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(by_groups, "_GROUPED_BINDINGS", piece)
    several = 0
    for seed in range(1500):
        by = random.Random(seed)
        rule = random_rule(by)
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        width = by.randrange(len(needed) + 1)
        arena = Arena()
        data = database(random_rows(by), arena)
        context = surroundings(arena)
        query = BodyQuery(rule, needed, data, context, width=width)
        try:
            expected = run_plan(
                plan_rule(rule, data, context, needed=needed, count=True), data, context
            )
        except ValueRangeError:
            with pytest.raises(ValueRangeError):
                list(satisfying(query).each())
            continue
        pieces = [tallied(*found) for found in satisfying(query).each()]
        assert sum(pieces, Counter()) == tallied(*expected), rule
        groups = [{row[:width] for row in found} for found in pieces]
        assert sum(map(len, groups)) == len(set().union(*groups)), rule
        several += len(groups) > 1
    assert several > 20


def test_running_totals_take_the_memory_of_a_piece():
    # several threads may be ahead of the one that totals, by the pieces that they have found
    workspace = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    workspace.add_rules(
        ".decl at(t: number)  .decl paid(s: number, w: number)  .decl v(t: number, total: number, "
        "mean: float)"
    )
    workspace.load("at", [(t,) for t in range(4_000)])
    workspace.load("paid", [(s, s % 1_000) for s in range(4_000)])
    with workspace.limits(
        memory=60_000_000
    ):  # the pairs of a time and an amount before it are 96 MB
        workspace.add_rules("v(t, sum(w), mean(w)) :- at(t), paid(s, w), s <= t.")
    rows = {t: (total, mean) for t, total, mean in workspace["v"].fetchall()}
    total = 0
    for t in range(4_000):
        total += t % 1_000
        assert rows[t] == (total, total / (t + 1))
    workspace.load("paid", [(-1, 7)])
    assert {t: total for t, total, _ in workspace["v"].fetchall()}[3_999] == total + 7
    assert workspace.verify() == []
