"""What a distributed workspace asks of an executor beyond this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Executor(Protocol):
    """What this package asks of an executor: see `partition.spark.SparkExecutor`."""

    partitions: int
    path: Path

    def described(self, text: str) -> AbstractContextManager[None]: ...
    def map(
        self,
        task: Any,
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]: ...
    def scan(
        self, frame: Any, task: Any, argument: Any, *, seconds: float | None = None
    ) -> list[Any]: ...
    def frame(self, task: Any, payloads: Sequence[Any], schema: Any) -> Any: ...
    def used(self, frame: Any) -> Callable[[], bool]: ...
    def schema(self, frame: Any) -> Any: ...
    def parquet(self, path: str) -> Any: ...
