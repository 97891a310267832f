"""Tasks that go wrong, for the tests; workers import this by name."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lftj
from lftj.distributed.files import manifest
from lftj.distributed.partitioning.steps import Move
from lftj.distributed.parts.task import PartTask
from lftj.distributed.work import stage


@dataclass(frozen=True)
class Faulty:
    """A task of `run_stage` with a fault that happens so many times in all, in any part or one, at
    any move or one; each leaves a file.
    """

    task: PartTask
    marker: str
    fault: str
    times: int
    part: int | None = None
    move: Move | None = None

    def due(self) -> bool:
        """Test for a fault that is to happen now; each call counts."""
        if self.part not in (None, self.task.part) or self.move not in (
            None,
            self.task.steps[-1].move,
        ):
            return False
        for number in range(self.times):
            try:
                Path(f"{self.marker}{number}").touch(exist_ok=False)
                return True
            except FileExistsError:
                continue
        return False


def run(faulty: Faulty) -> Any:
    """`run_stage`, with what goes wrong."""
    due = faulty.due()
    if due and faulty.fault == "exit before":
        os._exit(1)
    if due and faulty.fault == "raise":
        raise RuntimeError("a fault")
    if due and faulty.fault == "kill in the middle":
        # Killed while it writes: a file is there under another name, and half of it.
        stage.write_entry = _killed  # type: ignore[attr-defined]
    done = stage.run_stage(faulty.task)
    if due and faulty.fault == "kill in the middle":
        os.kill(os.getpid(), signal.SIGKILL)  # this part had nothing to write
    if due and faulty.fault == "exit after":
        os._exit(1)
    if due and faulty.fault == "raise after":
        raise RuntimeError("a fault")
    return done


def _killed(folder: Path, stem: str, *rest: Any) -> Any:
    (folder / f"{stem}.arrow.half.tmp").write_bytes(b"ARROW1\0\0half")
    os.kill(os.getpid(), signal.SIGKILL)


def process(_: Any) -> int:
    """The number of the worker's process."""
    return os.getpid()


class ThisProcess:
    """An executor that runs parts in this process."""

    distributed = True
    local = True

    def __init__(self, path: Path, partitions: int):
        self.path, self.partitions = path, partitions

    def described(self, text: str) -> AbstractContextManager[None]:
        """Nothing to show it on."""
        return nullcontext()

    def map(
        self,
        task: Any,
        payloads: Sequence[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """Every task here."""
        return [task(payload) for payload in payloads]

    scan = frame = parquet = map


def die_in_a_commit(path: str, rows: list[tuple[int, int]], moment: str) -> None:
    """Begin a commit and die in it."""
    executor: Any = ThisProcess(Path(path), 3)
    workspace = lftj.connect(executor=executor)
    store = manifest.Manifest.store

    def stored(
        self: manifest.Manifest, where: Path, before: manifest.Manifest | None = None
    ) -> None:
        if moment == "while the manifest is written":
            (where / "manifest-9.json.half.tmp").write_text('{"format": 1, "parts": 3, "ver')
        if moment == "after the manifest":
            store(self, where, before)
        os.kill(os.getpid(), signal.SIGKILL)

    manifest.Manifest.store = stored  # type: ignore[method-assign]
    workspace.load("e", rows)
