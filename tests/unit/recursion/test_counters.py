"""Counters of recursive strata in `ws.profile()`: assignments found, by every strategy, and the
bytes of kept state.
"""

from __future__ import annotations

import math

import pytest

import lftj

UNSEARCHED = frozenset({"reachability"})
CLOSURE = """
.decl p(x: number, y: number)
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), {step}(y, z).
"""
CHAIN = [(i, i + 1) for i in range(6)]
PATHS = 21
"""Of the chain; its closure has that many rows."""


def closed(step: str, *, rules_first: bool) -> lftj.Workspace:
    workspace = lftj.connect(
        tuning=lftj.Tuning(rows_begun=1 << 60, without=UNSEARCHED)
    )  # what is lost counts, too
    workspace.add_rules(".decl e(x: number, y: number)")
    if not rules_first:
        workspace.load("e", CHAIN)
    workspace.add_rules(CLOSURE.format(step=step))
    if rules_first:
        workspace.load("e", CHAIN)
    return workspace


@pytest.mark.parametrize(
    ("step", "rules_first", "assignments"),
    [("p", True, 6 + 35), ("p", False, 6 + 15), ("e", True, 6 + 15), ("e", False, 6 + 15)],
)
def test_what_is_evaluated_from_nothing_counts_all_assignments(
    step: str, rules_first: bool, assignments: int
) -> None:
    """Of n nodes inside a path each cuts it in two; with single steps, and in walks, only the last
    does.
    """
    work = closed(step, rules_first=rules_first).profile(last=1).iloc[-1]
    assert (work["head_changes"], work["assignments"]) == (PATHS, assignments)


@pytest.mark.parametrize(("step", "assignments"), [("p", 1 + 21), ("e", 1 + 6)])
def test_what_follows_a_change_counts_what_it_finds(step: str, assignments: int) -> None:
    workspace = closed(step, rules_first=False)
    with workspace.transaction() as transaction:
        transaction.insert("e", [(6, 7)])
    work = workspace.profile(last=1).iloc[-1]
    assert (work["head_changes"], work["assignments"]) == (7, assignments)


def test_counts_that_are_kept_have_bytes() -> None:
    workspace = lftj.connect(elastic=math.inf, tuning=lftj.Tuning(without=UNSEARCHED))
    workspace.add_rules(".decl e(x: number, y: number)\n" + CLOSURE.format(step="e"))
    workspace.load("e", CHAIN)
    kept = workspace.memory().df()
    beside = kept[kept["key_order"] == "(iterations and proofs)"]["bytes"].sum()
    assert workspace.profile(last=1).iloc[-1]["bytes"] == beside > 0
