"""Rows of an open commit on their way to the parts: from this process, or from where the executors read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lftj.dictionary import Dictionary
from lftj.distributed.entry import Entry, write_entry
from lftj.distributed.failure import checked, guarded
from lftj.distributed.manifest import ROWS
from lftj.distributed.plan import PartPlan
from lftj.distributed.transport import FilesTask, RouteTask, route, route_files
from lftj.storage.delta import Delta


class Executor(Protocol):
    """What this package asks of an executor: see `partition.spark.SparkExecutor`."""

    partitions: int
    path: Path

    def map(self, task: Any, payloads: Iterable[Any], places: Sequence[int] | None = None) -> list[Any]: ...
    def scan(self, frame: Any, task: Any, argument: Any) -> list[Any]: ...
    def frame(self, task: Any, payloads: Sequence[Any], schema: Any) -> Any: ...
    def parquet(self, path: str) -> Any: ...


@dataclass(frozen=True)
class Routed:
    """A DataFrame whose rows come (`sign` 1) or go (−1); read by the executors, at commit."""

    frame: Any
    sign: int
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Files:
    """Row groups of Parquet files whose rows come or go; read by the executors, at commit."""

    groups: Sequence[tuple[str, int]]
    sign: int
    options: Mapping[str, Any]


Staged = Delta | Routed | Files


@dataclass(frozen=True)
class Sending:
    """What one commit does to one relation: `stem` begins the names of its files."""

    executor: Executor
    plan: PartPlan
    relation: str
    stem: str
    version: int

    def sent(self, number: int, step: Staged, dictionary: Dictionary) -> list[Entry]:
        """The entries of one step, which are none where there are no rows. Raises DistributedError (E401) when the job failed."""
        schema, cuts = self.plan.program.catalog.relation(self.relation), self.plan.cuts(self.relation)
        place = list(self.plan.program.catalog.relations).index(self.relation)
        stem = f"{self.stem}-in{place}.{number}"
        path, parts = self.executor.path, self.executor.partitions
        if isinstance(step, Delta):
            return [write_entry(path / ROWS, stem, self.version, schema, step, cuts, parts, dictionary)] if len(step) else []
        task = RouteTask(str(path), stem, self.version, parts, schema, cuts, step.sign, step.options)
        if isinstance(step, Files):
            shares = [FilesTask(tuple(step.groups[first::parts]), task) for first in range(min(parts, len(step.groups)))]
            found = guarded(lambda: self.executor.map(route_files, shares))
        else:
            found = guarded(lambda: self.executor.scan(step.frame, route, task))
        return [entry for entry in checked(found) if entry is not None]
