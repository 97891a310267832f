"""A program that dies by kill −9: `python -m tests.durable.killed FOLDER COMMITS FIRST LAST STEP`.

It forks a child for each moment FIRST, FIRST + STEP … below LAST. The child commits to a workspace
of its own, with checkpoints in between, and kills itself at that moment: a number of calls of those
functions that change files. The parent opens what is left, and prints as JSON how many commits had
been acknowledged and how many are there, and whether the child died at all.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lftj
from tests.durable import workload
from tests.durable.inside import durable_of


def die_at(moment: int) -> None:
    """Have this process kill itself in the call of this number."""
    left = [moment]

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **named)

        return call

    for name in ("fsync", "pwrite", "replace", "unlink", "open", "mkdir"):
        setattr(os, name, counted(getattr(os, name)))
    connect = sqlite3.connect

    class Connection(sqlite3.Connection):
        execute = counted(sqlite3.Connection.execute)
        executemany = counted(sqlite3.Connection.executemany)

    sqlite3.connect = lambda *args, **named: connect(*args, factory=Connection, **named)


def child(path: Path, commits: int, moment: int, told: int) -> None:
    """Commit until death, with a checkpoint after each third, and opened anew after each ninth."""
    die_at(moment)
    workspace = lftj.connect(path)
    for number in range(workspace.version + 1, commits + 1):
        workload.commit(workspace, number)
        os.write(told, bytes([number]))
        if number % 3 == 0:
            durable_of(workspace).checkpoint()
        if number % 9 == 0:
            workspace.close()
            workspace = lftj.connect(path)
    workspace.close()


def killed(folder: Path, commits: int, moment: int) -> tuple[Path, int, bool]:
    """The workspace that is left, the acknowledged commits, and whether the child was killed."""
    path = folder / f"{moment}.lftj"
    heard, told = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            child(path, commits, moment, told)
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(heard, "rb") as pipe:
        acknowledged = max(pipe.read(), default=0)
    _, status = os.waitpid(pid, 0)
    return path, acknowledged, os.WIFSIGNALED(status)


def main(commits: int, moments: range) -> None:
    """Kill one child after the other; print what came of each."""
    known = workload.expected(commits)
    for moment in moments:
        with tempfile.TemporaryDirectory() as folder:
            path, acknowledged, died = killed(Path(folder), commits, moment)
            with lftj.connect(path) as workspace:
                there = workload.committed(workspace, known)
                if there < commits:
                    workload.commit(workspace, there + 1)  # and it goes on from there
                    assert workload.committed(workspace, known) == there + 1
        print(json.dumps([moment, acknowledged, there, died]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), range(*map(int, sys.argv[2:5])))
