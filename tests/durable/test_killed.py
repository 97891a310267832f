"""Kill −9 at moments spread over a history: acknowledged commits are there, the one that was under
way is there whole or not at all, and the workspace goes on.
"""

from __future__ import annotations

from pathlib import Path

from bench.faults.killing import all_moments, kills

COMMITS = 12
MORE = 20  # calls past the counted ones: under load, one run in hundreds made one more


def test_a_killed_process_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    last = all_moments(COMMITS)
    outcomes = list(kills(tmp_path, COMMITS, [*range(1, last, last // 20), last + MORE]))
    assert {left.there for left in outcomes} >= {0, 3, 6, 9, COMMITS}
    assert sum(left.died for left in outcomes) > 15
    assert not outcomes[-1].died, "the last moment is after the end, or moments are missing"
