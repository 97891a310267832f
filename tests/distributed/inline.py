"""An executor in this process: what it runs and returns goes through pickle, as between processes,
and it can be made to fail.

What workspaces over it have is compared with what those of one process have.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from lftj.distributed.partitioning.placement import Partitioner
from lftj.distributed.stored.checkpoints import at_once
from lftj.distributed.work import worker
from lftj.partition.address import Address


class InlineExecutor:
    """Runs tasks one after the other. `before` is called with each payload and may raise; `workers`
    > 1: tasks go round among memories.
    """

    distributed = True
    local = True

    def __init__(self, path: Path | Address, partitions: int = 3, workers: int = 1):
        self.address = path if isinstance(path, Address) else None
        self.path, self.partitions = path.folder if isinstance(path, Address) else path, partitions
        self.before: Callable[[Any], None] = lambda payload: None
        self.tasks: list[Any] = []
        self.descriptions: list[str] = []
        self._memories: list[Any] = [None] * workers
        self._turn = 0

    def divided(self, partitions: int) -> InlineExecutor:
        """The same workers with another number of parts."""
        found = copy(self)
        found.partitions = partitions
        return found

    @contextmanager
    def described(self, text: str) -> Iterator[None]:
        """Notes what is done."""
        self.descriptions.append(text)
        yield

    def map(
        self,
        task: Callable[[Any], Any],
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """Every task in the memory of the next worker, however long it takes."""
        return [self._run(task, payload) for payload in payloads]

    def _run(self, task: Callable[[Any], Any], payload: Any) -> Any:
        payload = pickle.loads(pickle.dumps(payload))
        self.tasks.append(payload)
        self.before(payload)
        self._turn = (self._turn + 1) % len(self._memories)
        if self._memories[self._turn] is None:
            worker.forget()
        else:
            worker._worker = self._memories[self._turn]
        try:
            with at_once():
                return pickle.loads(pickle.dumps(task(payload)))
        finally:
            self._memories[self._turn] = worker._worker

    def forget(self) -> None:
        """All workers die."""
        self._memories = [None] * len(self._memories)

    def scan(
        self,
        frame: list[Any],
        task: Callable[..., Any],
        argument: Any,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """`frame`: a list of partitions, each a list of record batches."""
        return [task(iter(partition), argument) for partition in frame]

    def frame(self, task: Callable[..., Any], payloads: Sequence[Any], schema: Any) -> list[Any]:
        """The rows of all payloads."""
        return [row for payload in payloads for batch in task(payload) for row in batch.to_pylist()]

    def used(self, frame: list[Any]) -> Callable[[], bool]:
        """Nobody reads what was read at once."""
        return lambda: False

    def parquet(self, path: str) -> Any:
        """Not here."""
        raise NotImplementedError

    def table(self, name: str) -> None:
        """None are here."""


def require_equal(one: Any, other: Any) -> None:
    """All relations of two workspaces have the same rows."""
    for name in other.relations:
        assert sorted(one[name].fetchall()) == sorted(other[name].fetchall()), name


@contextmanager
def in_supersteps() -> Iterator[None]:
    """All recursion that can be done in rounds is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Partitioner, "_kept", lambda self, stratum: None)
        yield
