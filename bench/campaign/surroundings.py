"""Surroundings of a driver of the campaign: its process, a disk that can be filled, and a store
that answers late, with errors or not at all.
"""

from __future__ import annotations

import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.campaign.driver import MARK
from bench.campaign.strikes import fill
from bench.partition.between import BUSY, DONE_BUSY, LATE, LOST, PASS, Between, between
from bench.partition.cluster import HOSTS, PATIENCE
from bench.partition.seaweed import BUCKET, options, seaweed
from lftj.distributed.stored.stored_files import STATE
from lftj.distributed.stored.stored_objects import PAGES
from lftj.partition.address import CACHE
from lftj.partition.java import find_java

DISK = "192m"
LEFT = 1 << 15
"""Bytes below which are left on a full disk."""
STORES = {
    "store slow": (LATE,) * 3,
    "store failing": (PASS, PASS, PASS, BUSY),
    "answers lost": (PASS, PASS, PASS, LOST, DONE_BUSY),
}
"""Fates of requests while a store is not as it should be."""


class DriverDied(Exception):
    """The process of the driver has ended."""


class Hung(Exception):
    """No answer came."""


class Process:
    """The driver's process, and the lines that it is told."""

    def __init__(self, master: str, setup: dict[str, Any], cache: Path, *, afresh: bool = False):
        environment = {
            **os.environ,
            "JAVA_HOME": str(find_java({"PATH": ""}).home),
            CACHE: str(cache),
        }
        words = [sys.executable, "-m", "bench.campaign.driver", master, json.dumps(setup)]
        with open(Path(setup["folder"]) / "driver.log", "ab") as log:
            self.process = subprocess.Popen(
                words + ["afresh"] * afresh,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(MARK):
                self._lines.put(line.removeprefix(MARK))
        self._lines.put(None)

    def tell(self, **order: Any) -> None:
        """Send an order."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            raise DriverDied from None

    def answer(self, seconds: float = 2 * PATIENCE) -> dict[str, Any]:
        """The next answer. Raises DriverDied, or Hung."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise Hung from None
        if line is None:
            raise DriverDied
        return json.loads(line)

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send an order and take its answer."""
        self.tell(**order)
        return self.answer()

    def end(self) -> None:
        """Kill the process, and what it started: Spark's Java ends with it."""
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait(PATIENCE)


class Surroundings:
    """A folder on a disk of its own, and a server of objects for a workspace that lives there."""

    def __init__(self, folder: Path, store: str, server: Between | None, workers: dict[str, str]):
        self.folder, self.server, self.store = folder, server, store
        self.disk, self.ballast = folder / "disk", folder / "disk" / "ballast"
        caches = self.disk / "caches"
        self.cache = caches / "driver"
        self.of_hosts = {host: {CACHE: str(caches / host)} for host in HOSTS}
        address = f"s3://{BUCKET}/flights" if server is not None else str(self.disk / "flights")
        self.setup = {
            "path": address,
            "options": options(server.endpoint) if server is not None else None,
            "folder": str(folder),
            "ballast": str(self.ballast),
            "workers": workers,
        }

    @property
    def states(self) -> list[Path]:
        """The folders with stored parts: of an address those of the hosts' caches."""
        if self.server is None:
            return [self.disk / "flights" / "state"]
        return [found for each in self.of_hosts.values() for found in _states(each[CACHE])]

    def fill(self, left: int) -> None:
        """Have so many bytes be left on the disk."""
        fill(self.ballast, left)

    def lose(self, chance: random.Random) -> int:
        """Remove some of the files in which parts are stored; objects of a store as well."""
        files = sorted(each for state in self.states for each in state.iterdir() if each.is_file())
        lost = [each for each in files if each.name != "storing"]
        lost = _some(chance, lost)
        for file in lost:
            file.unlink(missing_ok=True)
        return len(lost) + (0 if self.server is None else self._lose_objects(chance))

    def _lose_objects(self, chance: random.Random) -> int:
        import obstore
        from obstore.store import from_url

        assert self.server is not None
        given: Any = options(f"http://{self.server.target}")
        store: Any = from_url(
            f"s3://{BUCKET}/flights", client_options={"allow_http": True}, **given
        )
        lost = [
            name
            for folder in (STATE, PAGES)
            for name in _some(
                chance, [each["path"] for page in obstore.list(store, folder) for each in page]
            )
        ]
        obstore.delete(store, lost)
        return len(lost)

    def disturb(self, fault: str, chance: random.Random) -> None:
        """Have the store be as a fault says, until `calm`."""
        assert self.server is not None
        if fault == "listings lag":
            self.server.listings.clear()
            self.server.lagging = True
        elif fault == "store down":
            self.server.fate = lambda method, path: BUSY
        else:
            fates = STORES[fault]
            self.server.fate = lambda method, path: chance.choice(fates)

    def calm(self) -> None:
        """Have room on the disk, and a store that does what it is asked to."""
        self.ballast.unlink(missing_ok=True)
        if self.server is not None:
            self.server.fate, self.server.lagging = (lambda method, path: PASS), False


def _some(chance: random.Random, names: list[Any]) -> list[Any]:
    return chance.sample(names, min(len(names), 3))


def _states(cache: str) -> Iterator[Path]:
    return Path(cache).glob("*/state")


@contextmanager
def surroundings(folder: Path, store: str, workers: dict[str, str]) -> Iterator[Surroundings]:
    """Begin, with a small disk where this process may mount one. `workers`: settings of sessions,
    by which Python workers start.
    """
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    try:
        if store == "folder":
            yield Surroundings(folder, store, None, workers)
        else:
            with (
                seaweed(folder / "server") as given,
                between(given["endpoint"]) as server,
            ):
                yield Surroundings(folder, store, server, workers)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)
        shutil.rmtree(folder / "server", ignore_errors=True)
