"""Nursery: a process that has loaded all that Python workers need, from which their daemons are
forked. So an executor that starts anew, as it often does in a campaign, imports nothing again.

Spark starts `python -m bench.nursery pyspark.worker` for a daemon. That hands its environment and
its files on to the nursery, and lives as long as the daemon. `python -m bench.nursery --serve
SOCKET TASK…` is the nursery, which does these tasks first.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

SOCKET = "BENCH_NURSERY"
"""The variable that has the address of the nursery."""
EXECUTOR = "BENCH_EXECUTOR"
"""The variable that has, in workers, the process of their executor."""
_SERVE = "--serve"
_LENGTH = 8
_FILES = (0, 1, 2)


@contextmanager
def nursery(folder: Path, *tasks: Callable[[], None]) -> Iterator[dict[str, str]]:
    """Start a nursery, wait until it has done tasks that load what workers need, and give the
    settings of sessions whose workers come from there.
    """
    address = folder / "nursery"
    names = [f"{task.__module__}:{task.__qualname__}" for task in tasks]
    command = [sys.executable, "-m", "bench.nursery", _SERVE, str(address), *names]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while not address.exists():
            assert server.poll() is None, "the nursery has ended"
            time.sleep(0.05)
        yield {
            "spark.python.daemon.module": "bench.nursery",
            f"spark.executorEnv.{SOCKET}": str(address),
        }
    finally:
        server.kill()
        server.wait()


# ── the nursery ───────────────────────────────────────────────────────────────────────────────────
def serve(address: str, *tasks: str) -> None:
    """Load what workers need, and fork a daemon for each process that connects."""
    import pyspark.worker as of_workers  # which each of them would import anew
    from pyspark.daemon import manager

    from lftj.partition.tasks import resolved

    assert of_workers.main
    for task in tasks:
        resolved(task)()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{address}.soon")
        listener.listen()
        os.rename(f"{address}.soon", address)
        while True:
            peer, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _take_place(peer)
                manager()
                os._exit(0)
            peer.close()


def _take_place(peer: socket.socket) -> None:
    """Have the environment and the files of the process that connected."""
    head, files, *_ = socket.recv_fds(peer, _LENGTH, len(_FILES))
    content = peer.recv(int.from_bytes(head, "little"), socket.MSG_WAITALL)
    os.environ.clear()
    found: dict[str, Any] = json.loads(content)
    os.environ.update(found["environment"])
    os.chdir(found["folder"])
    sys.argv = found["arguments"]
    for ours, theirs in zip(_FILES, files, strict=True):
        os.dup2(theirs, ours)
        os.close(theirs)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    peer.sendall(os.getpid().to_bytes(_LENGTH, "little"))
    os.set_inheritable(peer.detach(), False)  # open as long as this process lives


# ── in the place of a daemon ──────────────────────────────────────────────────────────────────────
def begin(address: str) -> None:
    """Have the nursery fork a daemon in this process's place, and wait until it has ended."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(address)
    given = {
        "environment": {**os.environ, EXECUTOR: str(os.getppid())},
        "folder": os.getcwd(),
        "arguments": sys.argv,
    }
    content = json.dumps(given).encode()
    socket.send_fds(peer, [len(content).to_bytes(_LENGTH, "little")], _FILES)
    peer.sendall(content)
    daemon = int.from_bytes(peer.recv(_LENGTH), "little")

    def end(*_: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(daemon, signal.SIGTERM)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    for file in (0, 1):
        os.close(file)
    peer.recv(1)
    os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == _SERVE:
        serve(*sys.argv[2:])
    else:
        begin(os.environ[SOCKET])
