"""A standalone Spark cluster on two hosts of this machine. A process has one session, so that its
driver is another one.

Spark repeats a slow task on another host only. 127.0.0.2 and 127.0.0.3 are two for it.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lftj.partition.java import java_home

HOSTS = ("127.0.0.2", "127.0.0.3")
_SCALA = "2.13"  # asked for where the folder of the wheel does not look like that of a release
_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # six of them live for half a minute
PATIENCE = 120.0
"""Seconds until what should have happened will not."""


def until(what: Any) -> Any:
    """Wait until `what` gives a value that is not empty."""
    end = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)
    return found


@contextmanager
def cluster(
    folder: Path, cores: int = 1, of_hosts: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[str]:
    """The address of a master with a worker on each host, of so many cores. `of_hosts`: variables
    of the environment of a host's executors.
    """
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
                **(of_hosts or {}).get(arguments[1], {}),
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
