"""Kill −9 at every moment: acknowledged commits are there, the one that was under way is there
whole or not at all, and the workspace goes on.
"""

from __future__ import annotations

import json
import subprocess
import sys

COMMITS = 11


def killed(first: int, last: int, step: int) -> list[tuple[int, int, bool]]:
    """Of each child: acknowledged commits, commits that are there, whether it was killed."""
    command = [sys.executable, "-m", "tests.durable.killed", str(COMMITS)]
    done = subprocess.run(
        [*command, *map(str, (first, last, step))], capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)[1:]) for line in done.stdout.splitlines()]


def test_a_killed_process_loses_nothing_that_it_acknowledged() -> None:
    outcomes = killed(1, 250, 4)
    assert all(there in (acknowledged, acknowledged + 1) for acknowledged, there, _ in outcomes)
    assert {there for _, there, _ in outcomes} >= {0, 3, 6, 9, COMMITS}
    assert sum(died for *_, died in outcomes) > 40
    assert not outcomes[-1][2], "the last moment is after the end, or moments are missing"
