"""Rows of the stratum looked through for what matches a delta: never a row too few, and fewer
kernel steps than without.
"""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.maintenance.semi_naive.semi_joins import Reductions
from tests.unit.recursion.programs import derived, expected

GIVEN = ".decl e(x: int, y: int)  .decl f(x: int, y: int)"
TEXT = """
.decl p(x: int, y: int)  .decl q(x: int, y: int)  .decl r(x: int, y: int, z: int)
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), p(y, z).
q(x, y) :- f(x, y).
q(x, w) :- p(x, y), q(z, y), p(z, w).
p(x, y) :- q(y, x), e(y, _).
r(x, y, z) :- p(x, y), q(z, y), z < 3.
p(x, z) :- r(x, _, z), r(z, _, x).
"""


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The relations that were replaced by rows that match, each time that some were."""
    seen: list[tuple[str, ...]] = []
    reading = Reductions.reading

    def spy(self, variant, delta):
        found = reading(self, variant, delta)
        if found:
            seen.append(tuple(found))
        return found

    monkeypatch.setattr(Reductions, "reading", spy)
    return seen


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("spread", [1, 10**6, 2**41])
@pytest.mark.parametrize("passing", [0.0, 0.5, 1.0])
def test_every_row_is_found(
    threads: int, spread: int, passing: float, noted: list, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Reductions, "_worthwhile", staticmethod(lambda *_: True))
    tuning = lftj.Tuning(reduced_share=passing)
    by = random.Random(spread)

    def pairs(count: int) -> set[tuple[int, int]]:
        return {(spread * by.randrange(-6, 6), spread * by.randrange(-6, 6)) for _ in range(count)}

    facts = {"e": pairs(8), "f": pairs(6)}
    executor = lftj.ThreadExecutor(threads, patience=1)
    found = derived(TEXT, facts, executor=executor, tuning=tuning)
    assert found == expected(GIVEN + TEXT, facts)
    assert bool(noted) == (spread < 2**41), "rows too wide to pack are not looked through"


def test_a_large_relation_is_not_searched_by_seeks_for_a_small_delta(noted: list):
    """A long way whose steps each ask which rows of a wide relation of the same stratum end where
    the step does.
    """
    text = """
    .decl next(x: int, y: int)  .decl given(x: int, y: int)
    .decl at(x: int)  .decl wide(x: int, y: int)  .decl hit(x: int)
    wide(x, y) :- given(x, y).
    wide(x, x) :- hit(x).
    at(0).
    at(y) :- at(x), next(x, y).
    hit(x) :- wide(x, y), at(y).
    at(x) :- hit(x), x < 0.
    """
    facts = {"next": [(x, x + 1) for x in range(30)], "given": [(x, x % 5000) for x in range(5000)]}
    steps = {}
    for patience in (4, 0):
        with lftj.connect(tuning=lftj.Tuning(reduced_rows=patience)) as workspace:
            workspace.add_rules(text)
            with workspace.transaction() as transaction:
                for name, rows in facts.items():
                    transaction.insert(name, rows)
            assert sorted(workspace["hit"].fetchall()) == [(x,) for x in range(31)]
            steps[patience] = int(workspace.profile(last=1)["steps"].sum())
    assert noted
    assert steps[4] < 0.7 * steps[0]
