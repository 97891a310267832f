"""Parquet files that executors read, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.transport import Routed, RouteTask, route_placed
from lftj.errors import FrameError
from lftj.frames import Place


@dataclass(frozen=True)
class FilesTask:
    """Row groups of Parquet files, each a file and a number, on their way to their parts."""

    groups: tuple[tuple[str, int], ...]
    route: RouteTask


def route_files(task: FilesTask) -> Routed | Failure:
    """Write the rows of some row groups."""
    # Columns that nobody wants are not read; what a file lacks or has too much is told before.
    wanted = None if "mapping" in task.route.options else [name for name, _ in task.route.schema.columns]

    def batches() -> Iterator[tuple[pa.RecordBatch, Place]]:
        for file, group in task.groups:
            try:
                with pq.ParquetFile(file) as source:
                    first = sum(source.metadata.row_group(before).num_rows for before in range(group))
                    for batch in source.iter_batches(row_groups=[group], columns=wanted):
                        yield batch, place_in(file, first)
                        first += batch.num_rows
            except (pa.ArrowException, OSError) as reason:
                raise _unreadable(file, reason) from None

    return route_placed(batches(), task.route)


def place_in(file: str, first: int = 0) -> Place:
    """The rows of a file from this one on, in messages."""
    return Place(Path(file).name, first=first, is_file=True)


def row_groups(path: Path, check: Callable[[str, pa.Schema], object]) -> list[tuple[str, int]] | None:
    """The row groups of a Parquet file or of all those in a folder; None for a folder whose names say something, which Spark reads.
    `check` is told of each file and its columns. Raises FrameError (E232) for what is not Parquet."""
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    within = [part for file in files for part in file.relative_to(path).parts]
    if not files or any("=" in part or part.startswith(("_", ".")) for part in within):
        return None
    return [(str(file), group) for file in files for group in range(_number_of_groups(str(file), check))]


def _number_of_groups(file: str, check: Callable[[str, pa.Schema], object]) -> int:
    try:
        with pq.ParquetFile(file) as source:
            groups, schema = source.num_row_groups, source.schema_arrow
    except (pa.ArrowException, OSError) as reason:
        raise _unreadable(file, reason) from None
    check(file, schema)
    return groups


def _unreadable(file: str, reason: Exception) -> FrameError:
    return FrameError(f"{file} cannot be read: {reason}", code="E232", hint="is it complete, Parquet, and there for all executors?")
