"""Tasks in which something goes wrong: Python workers of the cluster find them by name."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.nursery import EXECUTOR
from lftj.distributed.files.manifest import ROWS, files_from
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import stage

PAUSE = 2.0
"""Seconds for which processes are paused, and slow tasks wait."""
IN_TASKS = (
    "worker killed before",
    "worker killed in a write",
    "worker killed after",
    "worker paused in a write",
    "executor killed",
    "executor paused",
    "executor decommissioned",
    "task failed before",
    "task failed after",
    "task slow, with a twin",
    "rows lost",
    "disk filled",
)


@dataclass(frozen=True)
class Struck:
    """A task of `run_stage`, with a fault that happens in the one of this number that begins.

    `folder`: where tasks are counted, and `ballast` is the file that fills the disk.
    """

    task: PartTask
    fault: str
    number: int
    folder: str
    ballast: str
    left: int

    def due(self) -> bool:
        """Count this task, and tell whether the fault is its."""
        count = os.open(f"{self.folder}/begun", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(count, b".")
            due = os.lseek(count, 0, os.SEEK_CUR) == self.number + 1
        finally:
            os.close(count)
        if due:
            Path(self.folder, "struck").touch()
        return due


def run(struck: Struck) -> Any:
    """`run_stage`, with what goes wrong before, in or after it."""
    if not struck.due():
        return stage.run_stage(struck.task)
    if (before := _BEFORE.get(struck.fault)) is not None:
        before(struck)
    if (writing := _WRITING.get(struck.fault)) is None:
        done = stage.run_stage(struck.task)
    else:
        plain = stage.write_entry
        stage.write_entry = lambda *arguments: writing(plain, *arguments)  # type: ignore[attr-defined]
        try:
            done = stage.run_stage(struck.task)
        finally:
            stage.write_entry = plain  # type: ignore[attr-defined]
    if struck.fault == "worker killed after":
        os.kill(os.getpid(), signal.SIGKILL)
    if struck.fault == "task failed after":
        raise RuntimeError("a fault")
    return done


def executor() -> int:
    """The process of this worker's executor."""
    return int(os.environ[EXECUTOR])


def executor_of(_: Any) -> tuple[int, int]:
    """The processes of a worker and of its executor."""
    return os.getpid(), executor()


def fill(ballast: Path, left: int) -> None:
    """Take all but so many bytes of the disk on which a file is."""
    there = os.statvfs(ballast.parent)
    room = max(0, there.f_bavail * there.f_frsize - left)
    with suppress(OSError), open(ballast, "ab") as file:
        os.posix_fallocate(file.fileno(), os.path.getsize(ballast), max(1, room))


def _paused(*processes: int) -> None:
    """Stop processes for a while; another one has them go on."""
    names = " ".join(map(str, processes))
    subprocess.Popen(["sh", "-c", f"sleep {PAUSE}; kill -CONT {names}"], start_new_session=True)
    for process in processes:
        os.kill(process, signal.SIGSTOP)


def _fail() -> None:
    raise RuntimeError("a fault")


def _lose_rows(struck: Struck) -> None:
    """Remove what parts told each other in this commit so far, as a lost shuffle would."""
    task = struck.task
    path = task.folder
    names = files_from(path, f"{task.version}-{task.token}")
    passing = [path / ROWS / name for name in names if "news" in name or "parts" in name]
    store_of(path).remove(passing)


_BEFORE: dict[str, Any] = {
    "worker killed before": lambda struck: os.kill(os.getpid(), signal.SIGKILL),
    "executor killed": lambda struck: os.kill(executor(), signal.SIGKILL),
    "executor paused": lambda struck: _paused(executor()),
    "executor decommissioned": lambda struck: os.kill(executor(), signal.SIGPWR),
    "task failed before": lambda struck: _fail(),
    "task slow, with a twin": lambda struck: time.sleep(PAUSE),
    "rows lost": _lose_rows,
    "disk filled": lambda struck: fill(Path(struck.ballast), struck.left),
}


def _killed(plain: Any, folder: Path, stem: str, *rest: Any) -> Any:
    (folder / f"{stem}.arrow.half.tmp").write_bytes(b"ARROW1\0\0half")
    os.kill(os.getpid(), signal.SIGKILL)


def _paused_in_a_write(plain: Any, *arguments: Any) -> Any:
    _paused(os.getppid(), os.getpid())  # whoever would be told to end this one, first
    return plain(*arguments)


_WRITING: dict[str, Any] = {
    "worker killed in a write": _killed,
    "worker paused in a write": _paused_in_a_write,
}
