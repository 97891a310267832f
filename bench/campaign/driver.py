"""A driver of the cluster that is told, line by line, what to do, and answers each line by one.

`python -m bench.campaign.driver MASTER SETUP`: the setup is JSON with `path`, `options`, `folder`,
`ballast` and `workers`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import lftj
from bench.campaign import strikes, workload
from bench.partition.cluster import session
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.work import stage
from lftj.partition.address import CACHE

PARTS = 4
MARK = "@answer "
SETTINGS = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.efficiency.enabled": "false",
    "spark.locality.wait": "500ms",
    "spark.task.maxFailures": "6",
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.network.timeout": "60s",
}


TUNING = lftj.Tuning(shared_rows=1)
"""Few as the rows are, workers of a machine share those that all parts have whole."""


class Driver:
    """The workspace over parts, and what its next commit meets."""

    def __init__(self, master: str, setup: dict[str, Any]):
        self.setup, self.folder = setup, Path(setup["folder"])
        spark = session(master, SETTINGS | setup["workers"])
        self.executor: Any = lftj.SparkExecutor(
            spark, PARTS, path=setup["path"], storage_options=setup["options"]
        )
        self.plain, self.tasks = self.executor.map, 0
        self.executor.map = self.map
        self.strike: dict[str, Any] | None = None
        self.many: Any = lftj.connect(executor=self.executor, tuning=TUNING)
        if not self.many.rules:
            workload.begin(self.many)

    def map(self, task: Any, payloads: Any, places: Any = None, *, seconds: Any = None) -> Any:
        """The executor's, with tasks that are struck where that is wanted."""
        given = list(payloads)
        if task is stage.run_stage:
            self.tasks += len(given)
            if self.strike is not None:
                task, given = strikes.run, [self._struck(payload) for payload in given]
        return self.plain(task, given, places, seconds=seconds)

    def _struck(self, payload: Any) -> strikes.Struck:
        assert self.strike is not None
        fault, number, left = (self.strike[name] for name in ("fault", "number", "left"))
        return strikes.Struck(payload, fault, number, str(self.folder), self.setup["ballast"], left)

    # ── what it is told ───────────────────────────────────────────────────────────────────────────
    def state(self) -> dict[str, Any]:
        """The version and all rows."""
        return {"version": self.many.version, "rows": workload.rows(self.many)}

    def commit(self, came: Any, gone: Any, strike: Any, die: str | None) -> dict[str, Any]:
        """Commit a change, struck or not; a driver that is to die does so at its manifest."""
        for mark in ("begun", "struck"):
            (self.folder / mark).unlink(missing_ok=True)
        self.strike, self.tasks = strike, 0
        if die is not None:
            _die(die)
        changes = workload.commit(
            self.many, [tuple(row) for row in came], [tuple(row) for row in gone]
        )
        return {"changes": changes, "tasks": self.tasks}

    def kill(self, executors: bool) -> dict[str, Any]:
        """Kill a worker, or an executor, while nothing runs."""
        worker, executor = self.plain(strikes.executor_of, [None], [0])[0]
        os.kill(executor if executors else worker, signal.SIGKILL)
        return {}

    def verify(self) -> dict[str, Any]:
        """The names of views that are not what their rules give."""
        return {"differ": [str(found) for found in self.many.verify()]}

    def compact(self) -> dict[str, Any]:
        """Compact the path."""
        return {"files": self.many.compact()}

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Do what an order names; an error is an answer."""
        try:
            found = getattr(self, order.pop("do"))(**order)
        except Exception as reason:
            found = {"error": getattr(reason, "code", type(reason).__name__), "said": str(reason)}
        self.strike = None
        return found | {"struck": (self.folder / "struck").exists()}


def _die(moment: str) -> None:
    """Have the next manifest be the end of this process, before or after it is true."""
    plain = Manifest.store

    def stored(self: Any, where: Any, before: Any = None) -> None:
        if moment == "after":
            plain(self, where, before)
        os.kill(os.getpid(), signal.SIGKILL)

    Manifest.store = stored  # type: ignore[method-assign]


def main(master: str, setup: str) -> None:
    """Answer until there is nothing more to do."""
    driver = Driver(master, json.loads(setup))
    print(MARK + json.dumps({"pid": os.getpid()}), flush=True)
    for line in sys.stdin:
        print(MARK + json.dumps(driver.answer(json.loads(line))), flush=True)
    driver.many.close()
    driver.executor.spark.stop()


if __name__ == "__main__":
    if len(sys.argv) > 3:  # nothing of the machines' caches is left
        shutil.rmtree(Path(os.environ[CACHE]).parent, ignore_errors=True)
    from bench.campaign import driver as importable  # whose functions workers find by name

    importable.main(*sys.argv[1:3])
