"""Kill −9 before any call that changes a file.

`python -m bench.faults.killing FOLDER COMMITS MOMENT …` runs in a process of its own, which forks.
For each moment a forked child commits to a workspace of its own, with branches, checkpoints,
compaction and openings in between, and kills itself before the call of that number. The parent
opens what is left, and prints as JSON the moment, how many commits had been acknowledged, how many
are there, and whether the child died at all.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import lftj
from bench.faults import workload
from bench.faults.hooks import Call, Watcher, watched
from bench.faults.power import KEEP, durable_of, giving_back


class Killing(Watcher):
    """Kills this process before the call of a number, counted from 1."""

    def __init__(self, moment: int):
        self.calls, self._moment = 0, moment

    def before(self, call: Call) -> None:
        """Count a call, and perhaps die."""
        self.calls += 1
        if self.calls == self._moment:
            os.kill(os.getpid(), signal.SIGKILL)


class Left(NamedTuple):
    """One child: commits that it acknowledged, commits that are there, and whether it died."""

    moment: int
    acknowledged: int
    there: int
    died: bool


@giving_back()
def child(path: Path, commits: int, sink: int) -> None:
    """Commit, with a checkpoint after each third, compacted after each fourth, and opened anew
    after each seventh, when room is given back, and each ninth.
    """
    workspace = lftj.connect(path, keep=KEEP)
    for number in range(1, commits + 1):
        workload.step(workspace, number)
        os.write(sink, bytes([number]))
        if number % 3 == 0:
            durable_of(workspace).checkpoint()
        if number % 4 == 0:
            durable_of(workspace).compact()
        if number % 7 == 0 or number % 9 == 0:
            workspace.close()
            workspace = lftj.connect(path, keep=KEEP)
    workspace.close()


def killed(path: Path, commits: int, moment: int) -> tuple[int, bool]:
    """The acknowledged commits, and whether the child was killed."""
    source, sink = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            with watched(Killing(moment)):
                child(path, commits, sink)
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        acknowledged = max(pipe.read(), default=0)
    _, status = os.waitpid(pid, 0)
    return acknowledged, os.WIFSIGNALED(status)


def main(place: str, commits: int, moments: Sequence[int]) -> None:
    """Kill one child after the other; print what came of each."""
    known = workload.expected(commits, workload.step)
    all_moments(commits)  # children have what it compiled
    for moment in moments:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            path = Path(folder) / "w.lftj"
            acknowledged, died = killed(path, commits, moment)
            with lftj.connect(path) as workspace:
                there = workload.committed(workspace, known)
                if there < commits:
                    workload.step(workspace, there + 1)  # and it goes on from there
                    assert workload.rows(workspace) == known[there + 1]
        print(json.dumps(Left(moment, acknowledged, there, died)), flush=True)


def kills(folder: Path, commits: int, moments: Sequence[int]) -> Iterator[Left]:
    """Kill children in a process of their own. Raises AssertionError where a commit is lost, or the
    process fails.
    """
    command = [sys.executable, "-m", "bench.faults.killing", str(folder), str(commits)]
    command += map(str, moments)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            left = Left(*json.loads(line))
            assert left.acknowledged <= left.there <= left.acknowledged + 1, left
            yield left
    assert process.returncode == 0, f"after a kill: status {process.returncode}"


def all_moments(commits: int) -> int:
    """The number of calls of a child that nobody kills."""
    source, sink = os.pipe()
    counting = Killing(0)
    with tempfile.TemporaryDirectory() as folder, watched(counting):
        child(Path(folder) / "w.lftj", commits, sink)
    os.close(source)
    os.close(sink)
    return counting.calls


def random_moments(commits: int, number: int, chance: random.Random) -> list[int]:
    """Moments at which to kill, the one after the last call included."""
    last = all_moments(commits) + 1
    return [*(chance.randrange(1, last) for _ in range(number - 1)), last]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]])
