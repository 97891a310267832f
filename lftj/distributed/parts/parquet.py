# SPDX-License-Identifier: Apache-2.0
"""Parquet files that executors read, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.transport import Routed, RouteTask, route_placed
from lftj.errors import FrameError
from lftj.frames import Place, name_within, open_parquet, parquet_schema
from lftj.scantree import frozen


class RowGroup(NamedTuple):
    """A row group of a Parquet file, by its number, and the file's size and time when it was given:
    another file is not read for it. `name`: the file's in messages.
    """

    file: str
    name: str
    number: int
    size: int
    changed: int

    def require(self) -> None:
        """Raise FrameError (E232) where the file was changed since. OSError where it is
        not there.
        """
        found = Path(self.file).stat()
        if (found.st_size, found.st_mtime_ns) != (self.size, self.changed):
            hint = "give it again, and write files under another name first"
            raise FrameError(f"{self.file} was changed after it was given", code="E232", hint=hint)


@frozen
class FilesTask:
    """Row groups of Parquet files on their way to their parts."""

    groups: tuple[RowGroup, ...]
    route: RouteTask


def route_files(task: FilesTask) -> Routed | Failure:
    """Write the rows of some row groups."""
    # Columns that nobody wants are not read; what a file lacks or has too much is told before.
    renamed = task.route.options.get("mapping") or {}
    wanted = [renamed.get(name, name) for name, _ in task.route.schema.columns]

    def batches() -> Iterator[tuple[pa.RecordBatch, Place]]:
        for group in task.groups:
            try:
                group.require()
                with open_parquet(group.file) as source:
                    first = sum(
                        source.metadata.row_group(before).num_rows for before in range(group.number)
                    )
                    for batch in source.iter_batches(row_groups=[group.number], columns=wanted):
                        yield batch, place_in(group.name, first)
                        first += batch.num_rows
                group.require()
            except (pa.ArrowException, OSError, IndexError) as reason:
                raise _unreadable(group.file, reason) from None

    return route_placed(batches(), task.route)


def place_in(name: str, first: int = 0) -> Place:
    """The rows of a file of this name from this one on, in messages."""
    return Place(name, first=first, is_file=True)


def row_groups(path: Path, check: Callable[[str, pa.Schema], object]) -> list[RowGroup] | None:
    """The row groups of a Parquet file or of all those in a folder; None for a folder whose names
    say something, which Spark reads. `check` is told of each file and its columns. Raises
    FrameError (E232) for what is not Parquet.
    """
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    within = [part for file in files for part in file.relative_to(path).parts]
    if not files or any("=" in part or part.startswith(("_", ".")) for part in within):
        return None
    return [group for file in files for group in _groups_of(file, name_within(file, path), check)]


def _groups_of(path: Path, name: str, check: Callable[[str, pa.Schema], object]) -> list[RowGroup]:
    file = str(path)
    try:
        at = path.stat()
        with open_parquet(file) as source:
            groups, schema = source.num_row_groups, parquet_schema(source)
    except (pa.ArrowException, OSError) as reason:
        raise _unreadable(file, reason) from None
    check(name, schema)
    return [RowGroup(file, name, number, at.st_size, at.st_mtime_ns) for number in range(groups)]


def _unreadable(file: str, reason: Exception) -> FrameError:
    return FrameError(
        f"{file} cannot be read: {reason}",
        code="E232",
        hint="is it complete, Parquet, and there for all executors?",
    )
