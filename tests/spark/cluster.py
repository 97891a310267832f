"""A worker of a cluster that is stopped in a commit, and goes on later; what all drivers of the
cluster do.
"""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lftj
from bench.partition.cluster import until
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import stage

RULES = """
.decl reach(x: symbol, z: symbol)
reach(x, y) :- road(x, y).
reach(x, z) :- reach(x, y), road(y, z).
.decl linked(x: symbol, z: symbol)
linked(x, y) :- road(x, y).
linked(x, z) :- linked(x, y), linked(y, z).
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
    plain, mark = stage.write_entry, Path(stopped.folder) / "met"

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
    for name in ("road", "reach", "linked", "two", "ways"):
        assert sorted(one[name].fetchall()) == sorted(other[name].fetchall()), name


def settings(spark: Any, **values: str) -> None:
    """Have later stages go by these settings: Spark looks at them for each."""
    for name, value in values.items():
        spark.sparkContext._jsc.sc().conf().set(f"spark.{name.replace('_', '.')}", value)


def stopped(driver: Any) -> None:
    """A worker is stopped in a commit, another attempt does its work, and it goes on afterwards."""
    executor, many, one = driver.executor, driver.many, driver.one
    folder = executor.path.parent
    settings(executor.spark, speculation_quantile="0.25", locality_wait="0")
    plain = executor.map
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
    late = until(lambda: (folder / "written").exists() and (folder / "written").read_text()).split()
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
    driver.many = lftj.connect(executor=executor)
    require_equal(driver.many, one)
    assert driver.many.verify() == []
