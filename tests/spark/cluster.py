"""A standalone Spark cluster on two hosts of this machine, and a driver of it: a process has one
session, so that this is another one.

Spark repeats a slow task on another host only. 127.0.0.2 and 127.0.0.3 are two for it.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lftj
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import stage
from lftj.partition.java import java_home

HOSTS = ("127.0.0.2", "127.0.0.3")
_SCALA = "2.13"  # asked for where the folder of the wheel does not look like that of a release
_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # six of them live for half a minute
PATIENCE = 120.0
"""Seconds until what should have happened will not."""

RULES = """
.decl reach(x: symbol, z: symbol)
reach(x, y) :- road(x, y).
reach(x, z) :- reach(x, y), road(y, z).
.decl two(x: symbol, z: symbol)
two(x, z) :- road(x, y), road(y, z).
.decl ways(x: symbol, n: number, last: symbol)
ways(x, count(), max(y)) :- road(x, y).
"""


def until(what: Any) -> Any:
    """Wait until `what` gives a value that is not empty."""
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
    return found


@contextmanager
def cluster(folder: Path, cores: int = 1) -> Iterator[str]:
    """The address of a master with a worker on each host, of so many cores."""
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    started = list[subprocess.Popen[bytes]]()
    with java_home() as java:

        def start(name: str, *arguments: str) -> Path:
            log = folder / f"{arguments[1]}.log"
            command = [
                str(java.home / "bin" / "java"),
                "-Xmx256m",
                *_JAVA,
                "-cp",
                f"{home}/jars/*",
                name,
            ]
            environment = {
                **os.environ,
                "SPARK_HOME": str(home),
                "SPARK_LOCAL_IP": arguments[1],
                "SPARK_SCALA_VERSION": _SCALA,
            }
            with open(log, "wb") as out:
                started.append(
                    subprocess.Popen(
                        [*command, *arguments, "--webui-port", "0"],
                        env=environment,
                        stdout=out,
                        stderr=out,
                    )
                )
            return log

        try:
            start(
                "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)
            )
            options = (
                "--cores",
                str(cores),
                "--memory",
                "512m",
                "--work-dir",
                str(folder / "work"),
                master,
            )
            logs = [
                start("org.apache.spark.deploy.worker.Worker", "--host", host, *options)
                for host in HOSTS
            ]
            until(lambda: all("Successfully registered" in log.read_text() for log in logs))
            yield master
        finally:
            for process in reversed(started):  # a worker takes its executors along
                process.terminate()
            for process in started:
                process.wait(PATIENCE)


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


def session(master: str, settings: Mapping[str, str]) -> Any:
    """A session of the cluster."""
    from pyspark.sql import SparkSession

    common = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": " ".join(_JAVA),
        "spark.driver.extraJavaOptions": " ".join(_JAVA),
        "spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "spark.log.level": "ERROR",
    }
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder
    with java_home():
        return builder.master(master).config(map=common | dict(settings)).getOrCreate()


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
