"""Semi-joins of deltas: never a row too few, and fewer rows sorted where a relation below is
selective.
"""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.maintenance.semi_naive.packed_rows import PackedRows, ValueTest
from tests.unit.recursion.programs import derived, expected, views

GIVEN = ".decl e(x: int, y: int)   .decl few(x: int)   .decl pair(x: int, y: int)"
TEXT = """
.decl p(x: int, y: int)   .decl q(x: int, y: int)
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), p(y, z).
q(x, z) :- p(x, y), few(y), q(y, z).
q(x, y) :- e(x, y), x < y.
p(x, w) :- pair(y, x), q(y, z), pair(z, w), !few(w).
"""


@pytest.mark.parametrize("spread", [1, 10**5, 2**41])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("passing", [0.0, 0.75, 1.0])
def test_every_row_is_found(
    spread: int, threads: int, passing: float, monkeypatch: pytest.MonkeyPatch
):
    tuning = lftj.Tuning(tested_delta=0, tested_passing=passing)
    by = random.Random(spread)

    def pairs(count: int) -> set[tuple[int, int]]:
        return {
            (spread * by.randrange(-12, 12), spread * by.randrange(-12, 12)) for _ in range(count)
        }

    facts = {
        "e": pairs(25),
        "pair": pairs(12),
        "few": [(spread * value,) for value in range(-3, 3)],
    }
    tested: list[int] = []
    monkeypatch.setattr(
        PackedRows,
        "passing",
        lambda self, tests, passing=PackedRows.passing: tested.append(1) or passing(self, tests),
    )
    executor = lftj.ThreadExecutor(threads, patience=1)
    found = derived(TEXT, facts, executor=executor, tuning=tuning)
    assert found == expected(GIVEN + TEXT, facts)
    assert bool(tested) == (spread < 2**41), "rows too wide to pack are not tested"


def test_rows_without_a_match_below_are_dropped(monkeypatch: pytest.MonkeyPatch):
    sizes: list[tuple[int, int]] = []
    passing = PackedRows.passing

    def noted(self: PackedRows, tests: tuple[ValueTest, ...]) -> PackedRows:
        left = passing(self, tests)
        sizes.append((self.count, left.count))
        return left

    monkeypatch.setattr(PackedRows, "passing", noted)
    text = (
        ".decl e(x: int, y: int)  .decl few(x: int)  .decl p(x: int, y: int)  p(x, y) :- e(x, "
        "y).  p(y, z) :- p(x, y), few(y), p(x, z)."
    )
    facts = {"e": [(x, y) for x in range(40) for y in range(x, x + 40)], "few": [(7,), (50,)]}
    assert views(text, facts) == expected(text, facts)
    assert sizes
    assert all(left < size / 4 for size, left in sizes)
