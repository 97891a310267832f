"""A driver of a cluster of two hosts: a worker of it is stopped in a commit, and goes on later."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lftj
from bench.partition.cluster import session, until
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import stage

RULES = """
.decl reach(x: symbol, z: symbol)
reach(x, y) :- road(x, y).
reach(x, z) :- reach(x, y), road(y, z).
.decl two(x: symbol, z: symbol)
two(x, z) :- road(x, y), road(y, z).
.decl ways(x: symbol, n: number, last: symbol)
ways(x, count(), max(y)) :- road(x, y).
"""


# ── in Python workers ─────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Stopped:
    """A task of `run_stage` whose worker is stopped as it begins to write, the first one in
    `folder`.
    """

    task: PartTask
    folder: str


def run(stopped: Stopped) -> Any:
    """`run_stage`, with a long pause. Says in a file when it has ended."""
    plain, mark = stage.write_entry, Path(stopped.folder) / "stopped"

    def write(*arguments: Any) -> Any:
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return plain(*arguments)
        mark.with_name("writing").write_text(f"{os.getppid()} {os.getpid()}")
        os.kill(os.getppid(), signal.SIGSTOP)  # whoever would be told to end this one
        os.kill(os.getpid(), signal.SIGSTOP)
        found = plain(*arguments)
        mark.with_name("written").write_text(" ".join(piece.file for piece in found.pieces))
        return found

    stage.write_entry = write  # type: ignore[attr-defined]
    try:
        return stage.run_stage(stopped.task)
    finally:
        stage.write_entry = plain  # type: ignore[attr-defined]


# ── the driver ────────────────────────────────────────────────────────────────────────────────────
def roads(seed: int, count: int) -> list[tuple[str, str]]:
    """Random pairs of places."""
    chance = random.Random(seed)
    return [
        (f"place {chance.randrange(40)}", f"place {chance.randrange(40)}") for _ in range(count)
    ]


def made(workspace: Any) -> Any:
    workspace.relation("road", {"x": str, "y": str})
    workspace.load("road", roads(1, 60))
    workspace.add_rules(RULES)
    return workspace


def require_equal(one: Any, other: Any) -> None:
    for name in ("road", "reach", "two", "ways"):
        assert sorted(one[name].fetchall()) == sorted(other[name].fetchall()), name


def drive(master: str, folder: Path) -> None:
    """Commits, of which one has a worker that is stopped in it and goes on afterwards."""
    settings = {
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.25",
        "spark.speculation.minTaskRuntime": "50ms",
        "spark.speculation.efficiency.enabled": "false",
        "spark.locality.wait": "0",
    }
    spark = session(master, settings)
    executor = lftj.SparkExecutor(spark, 4, path=folder / "path")
    plain = executor.map
    with lftj.connect() as one:
        many = made(lftj.connect(executor=executor))
        made(one)
        executor.map = lambda task, payloads, places=None, *, seconds=None: (  # type: ignore[method-assign]
            plain(run, [Stopped(payload, str(folder)) for payload in payloads])
            if task is stage.run_stage
            else plain(task, payloads, places, seconds=seconds)
        )
        for workspace in (one, many):
            workspace.load("road", roads(2, 30))
        executor.map = plain  # type: ignore[method-assign]
        daemon, worker = map(
            int, until((folder / "writing").exists) and (folder / "writing").read_text().split()
        )
        assert not (folder / "written").exists()  # the commit is true, and another attempt's
        os.kill(worker, signal.SIGCONT)
        late = until(
            lambda: (folder / "written").exists() and (folder / "written").read_text()
        ).split()
        os.kill(daemon, signal.SIGCONT)
        assert not many._backend.manifest.files().intersection(late)
        require_equal(many, one)
        for workspace in (one, many):
            workspace.load("road", roads(3, 10))
        require_equal(many, one)
        assert many.compact() > 0
        assert not {file.name for file in (folder / "path" / "rows").iterdir()}.intersection(late)
        require_equal(many, one)
        many.close()
        many = lftj.connect(executor=executor)
        require_equal(many, one)
        assert many.verify() == []
        many.close()
    spark.stop()


def main(arguments: Sequence[str]) -> None:
    """Drive the cluster of this address, below the folder that is given."""
    drive(arguments[0], Path(arguments[1]))


if __name__ == "__main__":
    from tests.spark import cluster as importable  # whose functions workers find by name

    importable.main(sys.argv[1:])
