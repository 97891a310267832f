# SPDX-License-Identifier: Apache-2.0
"""Data that executors read piece by piece: row groups of Parquet files, files of text, files of
tables of Delta and Iceberg.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa

from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.transport import Routed, RouteTask, Rows, route_placed
from lftj.errors import FrameError
from lftj.frames import FilePiece, Place, open_parquet
from lftj.scantree import frozen


class Piece(Protocol):
    """A piece of some data, for a task."""

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Rows, Place]]:
        """Its rows with these columns, as data of `frames.read`, and what messages call them."""
        ...


class SeenFile(NamedTuple):
    """A file with its size and time when it was given: another file is not read for it. `name`: the
    file's in messages.
    """

    path: str
    name: str
    size: int
    changed: int

    def require(self) -> None:
        """Raise FrameError (E232) where the file was changed since. OSError where it is
        not there.
        """
        found = Path(self.path).stat()
        if (found.st_size, found.st_mtime_ns) != (self.size, self.changed):
            hint = "give it again, and write files under another name first"
            raise FrameError(f"{self.path} was changed after it was given", code="E232", hint=hint)


@frozen
class RowGroup:
    """A row group of a Parquet file, by its number. `named`: columns that the names of folders
    say, of one value each.
    """

    file: SeenFile
    number: int
    named: tuple[tuple[str, Any], ...] = ()

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Rows, Place]]:
        """See `Piece`."""
        said = {name for name, _ in self.named}
        inside = [name for name in columns if name not in said]
        try:
            self.file.require()
            with open_parquet(self.file.path) as source:
                groups = map(source.metadata.row_group, range(self.number))
                first = sum(before.num_rows for before in groups)
                for batch in source.iter_batches(row_groups=[self.number], columns=inside):
                    yield self._with_named(batch, columns), place_in(self.file.name, first)
                    first += batch.num_rows
            self.file.require()
        except (pa.ArrowException, OSError, IndexError) as reason:
            raise unreadable(self.file.path, reason) from None

    def _with_named(self, batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
        for name, value in self.named:
            if name in columns:
                batch = batch.append_column(name, pa.repeat(value, batch.num_rows))
        return batch


@frozen
class WholeFile:
    """A file that is read as a whole: CSV, TSV, Arrow."""

    file: SeenFile

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Rows, Place]]:
        """See `Piece`."""
        try:
            self.file.require()
            yield Path(self.file.path), place_in(self.file.name)
            self.file.require()
        except OSError as reason:
            raise unreadable(self.file.path, reason) from None


@frozen
class TableFile:
    """A file of a table of Delta or Iceberg."""

    piece: FilePiece

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[Rows, Place]]:
        """See `Piece`."""
        first = 0
        for batch in self.piece.batches(columns):
            yield batch, place_in(self.piece.name, first)
            first += batch.num_rows


@frozen
class FilesTask:
    """Pieces of data on their way to their parts."""

    pieces: tuple[Piece, ...]
    route: RouteTask


def route_files(task: FilesTask) -> Routed | Failure:
    """Write the rows of some pieces."""
    # Columns that nobody wants are not read; what a file lacks or has too much is told before.
    renamed = task.route.options.get("mapping") or {}
    wanted = [renamed.get(name, name) for name, _ in task.route.schema.columns]
    return route_placed(
        (found for piece in task.pieces for found in piece.rows(wanted)), task.route
    )


def place_in(name: str, first: int = 0) -> Place:
    """The rows of a file of this name from this one on, in messages."""
    return Place(name, first=first, is_file=True)


def unreadable(file: str, reason: object) -> FrameError:
    """The error for a file that an executor, or the driver, cannot read."""
    return FrameError(
        f"{file} cannot be read: {reason}",
        code="E232",
        hint="is it complete, Parquet, and there for all executors?",
    )
