# SPDX-License-Identifier: Apache-2.0
"""Executors of parts: the protocol of those beyond this process, and the one that runs parts on
threads of this process.

Threads help because kernels release the GIL. An executor keeps nothing between two calls of `map`:
threads are started for a call and are gone when it ends, in whichever way it ends, so nothing
hangs, and a process that forks in between has nothing to repair. Where no more threads can be
started, since the interpreter is about to end or the system allows no more, those that were do the
work, or the caller alone.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any, Protocol, TypeVar, runtime_checkable

from lftj.partition.address import Address

Payload = TypeVar("Payload")
Result = TypeVar("Result")

LOOK = 0.02
"""Seconds between two looks of a waiting caller at interrupts and limits."""
_AHEAD = 4  # payloads in work or finished for each worker, beyond those whose results were taken


class Executor(Protocol):
    """Executor of parts beyond this process, as workspaces over parts need it: of importable tasks
    and payloads that pickle. `lftj.partition.spark.SparkExecutor` is one.
    """

    partitions: int
    """Number of parts that data is split into."""
    path: Path
    """Folder that driver and executors see under this name; for an address, that of this machine's
    cache.
    """
    address: Address | None
    """Address of the object store in which parts live; None where that is a folder."""

    @property
    def local(self) -> bool:
        """True when tasks run on the driver's machine, under its user."""
        ...

    def divided(self, partitions: int) -> Executor:
        """The same executor with another number of parts. This one goes on to serve those that
        read what is of the past.
        """
        ...

    def described(self, text: str) -> AbstractContextManager[None]:
        """Name the jobs of the block."""
        ...

    def map(
        self,
        task: Any,
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """The results in the order of the payloads. What a task raises is raised in its place."""
        ...

    def scan(
        self, frame: Any, task: Any, argument: Any, *, seconds: float | None = None
    ) -> list[Any]:
        """The results of the task for each partition of a frame."""
        ...

    def frame(self, task: Any, payloads: Sequence[Any], schema: Any) -> Any:
        """A frame of the rows that the task makes of each payload."""
        ...

    def used(self, frame: Any) -> Callable[[], bool]:
        """A function that tells whether the frame is still in use."""
        ...

    def schema(self, frame: Any) -> Any:
        """The Arrow schema of a frame."""
        ...

    def parquet(self, path: str) -> Any:
        """A frame of Parquet files."""
        ...

    def table(self, name: str) -> Any:
        """A frame of the table or view of this name; None where there is none."""
        ...


@runtime_checkable
class KeepsWorkers(Protocol):
    """An executor whose workers outlive a rest, until it is told that nothing more comes."""

    def homes(self) -> frozenset[str]:
        """Names, that nothing else has, of the processes on whose machines parts live now; none
        where that is not known.
        """
        ...

    def end_keeping(self) -> None:
        """The workspace is closed."""
        ...


class ThreadExecutor:
    """Runs parts on threads of this process:
    `lftj.connect(executor=lftj.ThreadExecutor(threads=2))`.

    `threads`: how many, by default one per core that this process may use; with 1 nothing is ever
    split. `parts`: into how many parts an evaluation is split, by default several for each thread,
    so that unequal ones even out. `patience`: kernel steps that an evaluation takes before it is
    split, since splitting a small one costs more than it saves.
    """

    def __init__(
        self, threads: int | None = None, *, parts: int | None = None, patience: int = 1_000_000
    ) -> None:
        for name, value in (("threads", threads), ("parts", parts)):
            if value is not None and not (isinstance(value, int) and value >= 1):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(f"{name} is a number of at least 1, found {value!r}")
        self.threads = threads or usable_cores()
        self.parts = parts or max(32, 4 * self.threads)
        self.patience = patience

    @property
    def workers(self) -> int:
        """The number of threads."""
        return self.threads

    def __repr__(self) -> str:
        return f"ThreadExecutor(threads={self.threads}, parts={self.parts})"

    def map(
        self,
        task: Callable[[Payload], Result],
        payloads: Iterable[Payload],
        *,
        stop: Event | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Iterator[Result]:
        """The results in the order of the payloads, as they are asked for; the threads work a few
        payloads ahead of that.

        `meanwhile` is called by the waiting caller some fifty times a second, and may raise. When
        the results end early (a task or `meanwhile` raised, the caller was interrupted or lost
        interest), payloads that wait are dropped, `stop` is set for running tasks to look at, and
        all threads have ended before the exception goes on.
        """
        stop = stop or Event()
        left = iter(payloads)
        if self.threads == 1:
            yield from map(task, left)
            return
        running: deque[Future[Result]] = deque()
        pool = _Pool(self.threads, thread_name_prefix="part")
        try:
            for payload in left:
                try:
                    running.append(pool.submit(task, payload))
                except RuntimeError as reason:
                    if not _no_more(reason):
                        raise
                    left = chain((payload,), left)
                    break
                if len(running) > _AHEAD * self.threads:
                    yield _awaited(running.popleft(), meanwhile)
            while running:
                yield _awaited(running.popleft(), meanwhile)
            yield from map(task, left)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)

    def together(
        self,
        task: Callable[[Payload], Result],
        payloads: Sequence[Payload],
        *,
        stop: Event | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[Result]:
        """The results for all payloads, in their order. The caller works too, and waits for the
        others only when nothing is left.

        For small payloads, where it takes longer to hand each over, and to wake who waits for it,
        than to do it. They are taken in their order, but which thread takes which is chance. `stop`
        and `meanwhile` as in `map`, the latter called between payloads; what is raised is what was
        raised first.
        """
        if len(payloads) == 1 and stop is None and meanwhile is None:
            return [task(payloads[0])]  # most calls: less is to be done than threads are needed for
        stop = stop or Event()
        results: dict[int, Result] = {}
        failures: list[BaseException] = []
        left = iter(range(len(payloads)))

        def work(between: Callable[[], None] | None = None) -> None:
            try:
                for number in left:
                    if stop.is_set():
                        return
                    results[number] = task(payloads[number])
                    if between is not None:
                        between()
            except BaseException as failure:
                failures.append(failure)
                stop.set()

        helpers = [
            Thread(target=work, name=f"part-{number}")
            for number in range(1, min(self.threads, len(payloads)))
        ]
        try:
            _start(helpers)
            work(meanwhile)
            for helper in helpers:
                while helper.is_alive():
                    helper.join(LOOK)
                    if meanwhile is not None:
                        meanwhile()
        finally:
            stop.set()
            for helper in helpers:
                if helper.ident is not None:
                    helper.join()
        if failures:
            raise failures[0]
        return [results[number] for number in range(len(payloads))]


def _awaited(future: Future[Result], meanwhile: Callable[[], None] | None) -> Result:
    while True:
        if meanwhile is not None:
            meanwhile()
        if wait((future,), timeout=LOOK).done:
            return future.result()


def _start(threads: Iterable[Thread]) -> None:
    """Start threads, or none any more."""
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as reason:
        if not _no_more(reason):
            raise


class _Pool(ThreadPoolExecutor):
    """Pool of as many threads as can be started. Raises RuntimeError only where there is none."""

    def _adjust_thread_count(self) -> None:
        # Called when the work is in the queue already: done by the caller too, it would be done
        # twice.
        try:
            super()._adjust_thread_count()
        except RuntimeError as reason:
            if not _no_more(reason) or not self._threads:
                raise


def _no_more(reason: RuntimeError) -> bool:
    """Recognise a system that allows no more threads, and an interpreter about to end. Threads that
    it waits for then, and `atexit`, work alone.
    """
    return "interpreter shutdown" in str(reason) or "can't start new thread" in str(reason)


def usable_cores() -> int:
    """Number of cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
