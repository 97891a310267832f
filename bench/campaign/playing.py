"""Commits one after the other, each with a fault, and what one process has after each."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.campaign import workload
from bench.campaign.strikes import IN_TASKS, PAUSE
from bench.campaign.surroundings import LEFT, DriverDied, Hung, Process, Surroundings

AT_REST = ("worker killed at rest", "executor killed at rest", "stored parts lost", "disk full")
OF_DRIVERS: tuple[str, ...] = (
    "driver killed",
    "driver killed before the manifest",
    "driver killed after it",
)
OF_EXECUTORS: tuple[str, ...] = (
    "executor killed",
    "executor killed at rest",
    "executor decommissioned",
    "stored parts lost",
)
_OFTEN = 6
_SELDOM = {**dict.fromkeys(OF_EXECUTORS, 2), **dict.fromkeys(OF_DRIVERS, 1)}
"""Weights of faults after which one or three processes of Java start; others come `_OFTEN`."""
OF_STORES = ("store slow", "store failing", "answers lost", "listings lag", "store down")
NOTHING = "nothing"
_DOWN = 3.0
"""Seconds for which a store does not answer."""
_TRIES = 5
_VERIFIED, _COMPACTED = 50, 20
"""Commits after which views are derived anew, and after which the path is compacted."""


@dataclass
class Counts:
    """Outcome: faults that were planned and that happened, and seconds, by kind; what was wrong."""

    planned: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    commits: int = 0
    drivers: int = 0
    repeated: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)


class Campaign:
    """A driver that is started again whenever it has died, and a workspace of one process."""

    def __init__(self, master: str, around: Surroundings, seed: int, say: Callable[[str], None]):
        self.master, self.around, self.say = master, around, say
        self.chance, self.counts = random.Random(seed), Counts()
        self.one = workload.single()
        self.rows, self.tasks, self.seconds = workload.rows(self.one), 40, 2.0
        kinds = [NOTHING, "driver paused", *IN_TASKS, *AT_REST, *OF_DRIVERS]
        kinds += OF_STORES if around.server is not None else ()
        self.kinds = [each for each in kinds for _ in range(_SELDOM.get(each, _OFTEN))]
        self.driver = self._started()
        self.version = self.driver.ask(do="state")["version"]

    # ── the driver ────────────────────────────────────────────────────────────────────────────────
    def _started(self, *, afresh: bool = False) -> Process:
        for _ in range(_TRIES):
            self.counts.drivers += 1
            found = Process(self.master, self.around.setup, self.around.cache, afresh=afresh)
            try:
                found.answer()
                return found
            except (DriverDied, Hung):
                found.end()
        raise RuntimeError("no driver starts; its log is driver.log")

    def _again(self) -> dict[str, Any]:
        """Another driver, and what it finds; sometimes on a machine whose cache is empty."""
        self.driver.end()
        self.around.calm()
        self.driver = self._started(afresh=self.chance.random() < 0.3)
        return self._state()

    def _state(self) -> dict[str, Any]:
        """The version and all rows, of another driver where this one cannot tell."""
        found = self._calmly(do="state")
        return found if "rows" in found else self._again()

    # ── a commit ──────────────────────────────────────────────────────────────────────────────────
    def play(self, number: int) -> None:
        """One commit with one fault."""
        fault = self.chance.choice(self.kinds)
        self.counts.planned[fault] += 1
        started = time.monotonic()
        came, gone = workload.change(self.chance, self.rows["road"])
        before, version = self.rows, self.version
        changes = workload.commit(self.one, came, gone)
        self.rows = workload.rows(self.one)
        self.version += any(changes.values())
        name = f"commit {number}, {fault}"
        self.say(name)
        self._before(fault)
        found: dict[str, Any]
        try:
            found = self._commit(fault, came, gone)
        except DriverDied:
            found = {"error": "died"}
        except Hung:
            self.counts.stuck.append(f"{name}: no answer came")
            found = {"error": "hung"}
        self.around.calm()
        if found.get("struck"):
            self.counts.happened[fault] += 1
        if "error" in found:
            self._after_error(name, found, came, gone, before, version)
        elif found["changes"] != changes:
            self.counts.wrong.append(f"{name}: the changes are others")
        else:
            self.tasks = found["tasks"] or self.tasks
        self._compare(name, self._state())
        self.counts.commits += 1
        if number % _VERIFIED == 0 and (wrong := self._calmly(do="verify").get("differ")):
            self.counts.wrong.append(f"{name}: {wrong}")
        if number % _COMPACTED == 0:
            self._calmly(do="compact")
        seconds = self.counts.seconds
        seconds[fault] = seconds.get(fault, 0.0) + time.monotonic() - started

    def _before(self, fault: str) -> None:
        if fault not in (*AT_REST, *OF_STORES):
            return
        self.counts.happened[fault] += 1
        if fault in ("worker killed at rest", "executor killed at rest"):
            self._calmly(do="kill", executors=fault.startswith("executor"))
        elif fault == "stored parts lost":
            self.around.lose(self.chance)
            self._calmly(do="kill", executors=True)
        elif fault == "disk full":
            self.around.fill(self.chance.randrange(LEFT))
        else:
            self.around.disturb(fault, random.Random(self.chance.random()))
            if fault == "store down":
                threading.Timer(self.chance.random() * _DOWN, self.around.calm).start()

    def _calmly(self, **order: Any) -> dict[str, Any]:
        """The answer of a driver that should have no trouble; another one where it had some."""
        try:
            return self.driver.ask(**order)
        except (DriverDied, Hung) as reason:
            self.say(f"after {self.counts.commits} commits, {order['do']}: {type(reason).__name__}")
            self._again()
            return {}

    def _commit(self, fault: str, came: Any, gone: Any) -> dict[str, Any]:
        strike, die = None, None
        if fault in IN_TASKS:
            number = self.chance.randrange(self.tasks)
            strike = {"fault": fault, "number": number, "left": self.chance.randrange(LEFT)}
        elif fault.endswith(("before the manifest", "after it")):
            die = "before" if "before" in fault else "after"
        started = time.monotonic()
        self.driver.tell(do="commit", came=came, gone=gone, strike=strike, die=die)
        if fault in ("driver killed", "driver paused"):
            time.sleep(self.chance.random() * self.seconds)
            self.counts.happened[fault] += 1
            kills = fault == "driver killed"
            self.driver.process.send_signal(signal.SIGKILL if kills else signal.SIGSTOP)
            if not kills:
                time.sleep(PAUSE)
                self.driver.process.send_signal(signal.SIGCONT)
        found = self.driver.answer()
        if fault == NOTHING:
            self.seconds = time.monotonic() - started
        return found

    # ── what came of it ───────────────────────────────────────────────────────────────────────────
    def _after_error(
        self, name: str, found: dict[str, Any], came: Any, gone: Any, before: Any, version: int
    ) -> None:
        """A commit that was not acknowledged is there whole or not at all; then it is made."""
        error = found["error"]
        self.counts.errors[error] += 1
        if error == "died" and "driver killed " in name:
            self.counts.happened[name.partition(", ")[2]] += 1
        for _ in range(_TRIES):
            again = error in ("died", "hung", "E406", "E407") or _ > 0
            state = self._again() if again else self._state()
            if state["version"] == self.version and state["rows"] == self.rows:
                return
            if (state["version"], state["rows"]) != (version, before):
                self.counts.wrong.append(f"{name}: after {error} it is neither before nor after")
                return
            self.counts.repeated += 1
            found = self._calmly(do="commit", came=came, gone=gone, strike=None, die=None)
            if found and "error" not in found:
                return
        self.counts.stuck.append(f"{name}: {found}")
        if self._state()["version"] == version:
            self._refused(before, version)

    def _refused(self, before: workload.Rows, version: int) -> None:
        """Undo, in the workspace of one process, a commit that no try made."""
        here = {tuple(row) for row in self.rows["road"]}
        back = {tuple(row) for row in before["road"]}
        workload.commit(self.one, sorted(back - here), sorted(here - back))
        self.rows, self.version = workload.rows(self.one), version

    def _compare(self, name: str, state: dict[str, Any]) -> None:
        if state["version"] < self.version:
            self.counts.lost.append(f"{name}: version {state['version']} of {self.version}")
        elif state["version"] > self.version:
            self.counts.doubled.append(f"{name}: version {state['version']} of {self.version}")
        if state["rows"] != self.rows:
            differ = [each for each in self.rows if state["rows"][each] != self.rows[each]]
            self.counts.wrong.append(f"{name}: {', '.join(differ)}")
        self.version = state["version"]

    def end(self) -> None:
        """End the driver."""
        self.driver.end()
        os.sync()
