"""Kill −9 of a process that reads changes as a consumer: each change is given again or was
acknowledged, and what it does in the transaction of its acknowledgement is done exactly once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lftj
from bench.faults.hooks import watched
from bench.faults.killing import Killing

COMMITS = 6


def begun(path: Path) -> None:
    """A workspace with a consumer each of two kinds, and changes that wait for them."""
    with lftj.connect(path) as workspace:
        workspace.add_rules(
            ".decl e(x: number) .decl v(x: number) v(x) :- e(x), x > 0. "
            ".decl once(x: number, version: number)"
        )
        workspace.consumer("inside", "v")
        workspace.consumer("outside", "v")
        for number in range(1, COMMITS + 1):
            workspace.load("e", [(number,)])


def consume(path: Path, moment: int) -> int:
    """Give all changes to both consumers, and die before the call of this number that changes a
    file, counted from the opening; how many there were.
    """
    killing = Killing(moment)
    killing.calls = -1000  # no opening takes as many
    with watched(killing), lftj.connect(path) as workspace:
        killing.calls = 0
        inside, outside = (
            workspace.consumer(name, "v", timeout=0) for name in ("inside", "outside")
        )
        for change in inside:
            with workspace.transaction() as tx:
                tx.insert("once", [(row[0], change.version) for row in change])
                tx.ack(inside, change)
        for change in outside:
            with (path.parent / "seen").open("a") as seen:
                seen.writelines(f"{row[0]}\n" for row in change)
            outside.ack(change)
        return killing.calls


def killed(path: Path, moment: int) -> bool:
    """Consume in a child; True if it was killed."""
    if (pid := os.fork()) == 0:
        status = 1
        try:
            consume(path, moment)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def main(folder: Path) -> None:
    """Kill children one after the other, each going on where the one before ended."""
    begun(folder / "all" / "w.lftj")
    calls = consume(folder / "all" / "w.lftj", 0)
    path = folder / "w.lftj"
    begun(path)
    died = [
        killed(path, moment) for moment in (1, 3 * calls // 8, 5, 3 * calls // 8, 3, 1, 2, 4, 5, 3)
    ]
    consume(path, 0)
    print(calls, sum(died))


def test_each_change_is_seen_again_or_once_and_once_in_a_transaction(
    tmp_path: Path,
) -> None:
    (tmp_path / "all").mkdir()
    command = [sys.executable, "-m", __name__, str(tmp_path)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    assert int(ended.stdout.split()[1]) >= 8, f"calls and kills: {ended.stdout}"
    numbers = list(range(1, COMMITS + 1))
    seen = [int(line) for line in (tmp_path / "seen").read_text().split()]
    assert sorted(set(seen)) == numbers, "a change was lost"
    assert len(seen) > COMMITS, "no kill came between a change and its acknowledgement"
    again = [each for place, each in enumerate(seen) if place == 0 or each != seen[place - 1]]
    assert again == numbers, "more than the last change was given again"
    with lftj.connect(tmp_path / "w.lftj") as workspace:
        assert sorted(row[0] for row in workspace["once"]) == numbers
        assert workspace.verify() == []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
