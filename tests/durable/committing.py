"""Threads of one process that commit at once, and are killed; what they had acknowledged is there.

`python -m tests.durable.committing FOLDER MOMENT …` forks a child for each moment, which kills
itself before the call of that number that changes a file. Prints how many commits were
acknowledged.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import lftj
from bench.faults.hooks import watched
from bench.faults.killing import Killing

THREADS, COMMITS = 5, 12
PROGRAM = """
.decl edge(x: int, y: int)
.decl reach(x: int, y: int)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""


def commit_all(workspace: Any, sink: int | None = None, commits: int = COMMITS) -> None:
    """Commit by several threads, each a row at a time, and acknowledge each commit."""

    def work(thread: int) -> None:
        for number in range(commits):
            workspace.load("edge", [(thread * 1000 + number, thread * 1000 + number + 1)])
            if sink is not None:
                os.write(sink, bytes([thread]))

    threads = [threading.Thread(target=work, args=(each,)) for each in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def killed(path: Path, moment: int) -> Counter[int]:
    """The commits of each thread that were acknowledged before the child was killed."""
    source, sink = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            with watched(Killing(moment)):
                workspace = lftj.connect(path)
                workspace.add_rules(PROGRAM)
                commit_all(workspace, sink)
                workspace.close()
        finally:
            os._exit(0)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        acknowledged = Counter(pipe.read())
    os.waitpid(pid, 0)
    return acknowledged


def main(place: str, moments: list[int]) -> None:
    """Kill one child after the other, and look at what is left."""
    with lftj.connect() as workspace:
        workspace.add_rules(PROGRAM)
        commit_all(workspace)  # children have what it compiled
    for moment in moments:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            path = Path(folder) / "w.lftj"
            acknowledged = killed(path, moment)
            with lftj.connect(path) as left:
                edges = left["edge"].fetchall() if left.version else []
                for thread in range(THREADS):
                    rows = sorted(x % 1000 for x, _ in edges if x // 1000 == thread)
                    assert rows == list(range(len(rows)))
                    assert 0 <= len(rows) - acknowledged[thread] <= 1, (rows, acknowledged)
                assert left.verify() == []
        print(acknowledged.total(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], [int(word) for word in sys.argv[2:]])
