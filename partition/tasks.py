# SPDX-License-Identifier: Apache-2.0
"""Tasks by name, as Python workers of Spark run them.

A task is a function of an importable module, given by itself or as "module:function"; it is pickled
as its name, never by value. So a worker imports it once, with the kernels that its module needs,
whose machine code comes from the disk cache, and finds in its module's globals what it left there
the last time: workers are reused as long as the session lives.

A task may run more than once, on any worker, even twice at the same time (Spark retries what failed
and may repeat what is slow), so what it writes must be harmless when written again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any

import pyarrow as pa

Task = Callable[..., Any] | str


def task_name(task: Task) -> str:
    """The name "module:function" under which workers import a task. Raises ValueError for what
    cannot be imported.
    """
    if isinstance(task, str):
        return task
    name = f"{task.__module__}:{task.__qualname__}"
    if task.__module__ == "__main__" or "<" in task.__qualname__:
        raise ValueError(f"{name} cannot be imported by a worker: move it to the top of a module")
    return name


def resolved(name: str) -> Callable[..., Any]:
    """The function of a name."""
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


def run(name: str, payloads: Iterable[Any]) -> Iterator[Any]:
    """The results of a task for the payloads of one Spark task."""
    task = resolved(name)
    for payload in payloads:
        yield task(payload)


def nothing(_: Any) -> None:
    """A task that leaves its worker as it is, but for the time at which it was used last."""


def scan(
    name: str, argument: Any, columns: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The result of a task for one partition of a DataFrame, pickled in one row."""
    result = resolved(name)((batch.rename_columns(columns) for batch in batches), argument)
    yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(result)], pa.binary())})


def generate(
    name: str, payloads: Sequence[Any], numbers: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The batches that a task yields for payloads of these numbers."""
    task = resolved(name)
    for batch in numbers:
        for number in batch.column(0).to_pylist():
            if number < len(payloads):
                yield from task(payloads[number])
