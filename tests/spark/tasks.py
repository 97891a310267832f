"""Functions that tests run in workers; workers import them by name."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

_seen: list[int] = []


def number_of_the_call(_: Any) -> tuple[int, int]:
    """The worker's process, and how often it was called before."""
    _seen.append(0)
    return os.getpid(), len(_seen) - 1


def die_the_first_time(marker: str) -> str:
    """Kills its worker unless another attempt did so before."""
    try:
        Path(marker).touch(exist_ok=False)
    except FileExistsError:
        return "done"
    os._exit(1)


def fail(message: str) -> None:
    """Raises at every attempt."""
    raise ValueError(message)


def count_rows(batches: Iterator[pa.RecordBatch], factor: int) -> int:
    """For `scan`."""
    return factor * sum(batch.num_rows for batch in batches)


def squares(numbers: range) -> Iterator[pa.RecordBatch]:
    """For `frame`."""
    yield pa.RecordBatch.from_pydict(
        {"n": list(numbers), "square": [number * number for number in numbers]}
    )


def sleep(seconds: float) -> None:
    """Do nothing for a while."""
    time.sleep(seconds)
