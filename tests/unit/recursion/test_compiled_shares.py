"""Rounds whose joins are done in compiled code find what rounds of the interpreter find, by as many steps, on one thread and on several."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lftj
from lftj.recursion import bootstrap, share_kernels
from scantree.jit import ADDRESSES
from tests.unit.recursion.programs import expected

FLOWS = """
.decl e(x: int, y: int)   .decl d(x: int, y: int)   .decl flow(x: int, y: int)   .decl alias(x: int, y: int)   .decl far(x: int)
flow(x, y) :- e(x, y).
flow(x, y) :- flow(x, z), flow(z, y), !d(x, y).
flow(x, y) :- e(x, z), alias(z, y).
alias(x, y) :- flow(z, x), flow(z, y), x != y.
alias(x, w) :- d(y, x), alias(y, z), d(z, w).
far(x + 1) :- flow(x, y), alias(y, x), x < 300.
flow(x, x) :- far(x).
"""


def _steps(facts: dict[str, Any], executor: lftj.ThreadExecutor, text: str = FLOWS) -> tuple[dict[str, Any], int]:
    workspace: Any = lftj.connect(executor=executor)
    workspace.add_rules(".decl e(x: int, y: int)   .decl d(x: int, y: int)")
    for name, rows in facts.items():
        workspace.load(name, sorted(rows))
    workspace.add_rules(text.split(".decl d(x: int, y: int)", 1)[1])
    rows = {name: workspace[name].fetchall() for name in ("flow", "alias", "far")}
    return rows, int(workspace.profile(last=1)["steps"].sum())


def _facts(seed: int, size: int, spread: int) -> dict[str, Any]:
    by = random.Random(seed)
    return {name: {(by.randrange(size) * spread, by.randrange(size) * spread) for _ in range(2 * size)} for name in "ed"}


@pytest.fixture(autouse=True)
def small_rounds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "WORTH_IT", 0)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000), size=st.integers(1, 14), spread=st.sampled_from([1, 37, 1 << 20, 1 << 40]))
def test_both_ways_find_the_same_rows_by_the_same_steps(seed: int, size: int, spread: int):
    facts = _facts(seed, size, spread)
    in_code = _steps(facts, lftj.ThreadExecutor(1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "fits", lambda variants, sets: False)
        plain = _steps(facts, lftj.ThreadExecutor(1))
    assert in_code == plain
    assert {name: set(rows) for name, rows in plain[0].items()} == {name: expected(FLOWS, facts)[name] for name in plain[0]}


@pytest.mark.parametrize("parts", [1, 32])
@pytest.mark.parametrize("seed", range(3))
def test_threads_do_not_change_rows_and_steps(seed: int, parts: int):
    facts = _facts(seed, 14, 1)
    outcomes = [_steps(facts, lftj.ThreadExecutor(threads, parts=parts, patience=1)) for threads in (2, 3, 7)]
    assert outcomes[1:] == outcomes[:-1]
    assert outcomes[0][0] == _steps(facts, lftj.ThreadExecutor(1))[0]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_small_slice_stops_and_goes_on(threads: int, monkeypatch: pytest.MonkeyPatch):
    facts = _facts(5, 14, 1)
    whole = _steps(facts, lftj.ThreadExecutor(threads, parts=32, patience=1))
    monkeypatch.setattr("lftj.recursion.compiled_shares.SLICE", 7)
    monkeypatch.setattr("lftj.recursion.compiled_shares.SHARED_SLICE", 7)
    assert _steps(facts, lftj.ThreadExecutor(threads, parts=32, patience=1)) == whole


def test_the_kernel_is_used_where_it_can_be(monkeypatch: pytest.MonkeyPatch):
    calls: list[int] = []
    work = share_kernels.work
    monkeypatch.setattr(share_kernels, "work", lambda *arguments: (calls.append(1), work(*arguments)))
    text = ".decl p(x: int, y: int)  p(x, y) :- e(x, y).  p(x, z) :- p(x, y), p(y, z)."
    workspace: Any = lftj.connect()
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(i, i + 1) for i in range(30)])
    workspace.add_rules(text)
    assert len(workspace["p"]) == 30 * 31 // 2
    assert bool(calls) == ADDRESSES
