# SPDX-License-Identifier: Apache-2.0
"""Tables of Iceberg, read by `pyiceberg`. A version is a snapshot, and has its number; a table
without one has version 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from lftj.errors import FrameError
from lftj.frames.versioned_tables import FilePiece, VersionedTable, gone_version
from lftj.scantree.frozen import frozen

_NOTHING = 0


@frozen
class IcebergPiece:
    """One file of a table, with the files of deletions that apply to it."""

    name: str
    metadata: Any
    io: Any
    schema: Any
    chosen: Any
    task: Any

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """See `FilePiece`."""
        from pyiceberg.io.pyarrow import ArrowScan

        schema = self.schema if columns is None else self.schema.select(*columns)
        try:
            scan = ArrowScan(self.metadata, self.io, schema, self.chosen)
            yield from scan.to_record_batches([self.task])
        except (pa.ArrowException, OSError, ValueError) as reason:
            raise _unreadable(self.name, reason) from None


class IcebergFiles(VersionedTable):
    """A snapshot of a table of Iceberg, or those of its rows that a scan chooses."""

    def __init__(self, scan: Any, table: Any = None):
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        self._scan = scan
        self.name = ".".join(table.name()) if table is not None else scan.table_metadata.location
        snapshot: Any = scan.snapshot()
        self._version = _NOTHING if snapshot is None else int(snapshot.snapshot_id)
        self._columns = scan.projection()
        self._schema = schema_to_pyarrow(self._columns, include_field_ids=False)

    @property
    def version(self) -> int:
        """See `VersionedTable`."""
        return self._version

    @property
    def schema(self) -> pa.Schema:
        """See `VersionedTable`."""
        return self._schema

    def count(self) -> int:
        """See `VersionedTable`."""
        return int(self._scan.count())

    def files(self, version: int | None = None) -> Mapping[Hashable, FilePiece]:
        """See `VersionedTable`."""
        number = self._version if version is None else version
        if number == _NOTHING:
            return {}
        scan = self._scan if number == self._version else self._at(number)
        metadata, io, chosen = scan.table_metadata, scan.io, scan.row_filter
        found: dict[Hashable, FilePiece] = {}
        try:
            for task in scan.plan_files():
                path = task.file.file_path
                deleted = frozenset(
                    (each.file_path, getattr(each, "content_offset", None))
                    for each in task.delete_files
                )
                name = f"{self.name}/{PurePosixPath(path).name}"
                piece = IcebergPiece(name, metadata, io, self._columns, chosen, task)
                found[path, deleted] = piece
        except OSError as reason:
            raise gone_version(self.name, number, reason) from None
        return found

    def follows(self, version: int) -> bool:
        """Test for another snapshot that is not a later one of the same line."""
        metadata = self._scan.table_metadata
        if version in (self._version, _NOTHING):
            return version != self._version
        if metadata.snapshot_by_id(version) is None:
            raise gone_version(self.name, version)
        return not self._is_past(version)

    def _is_past(self, version: int) -> bool:
        """Test for a snapshot that the scan was told to read, of which `version` is a later one:
        not for a table that was rolled back.
        """
        if self._scan.snapshot_id is None:
            return False
        metadata, at = self._scan.table_metadata, version
        while (snapshot := metadata.snapshot_by_id(at)) is not None:
            if snapshot.snapshot_id == self._version:
                return True
            if snapshot.parent_snapshot_id is None:
                return False
            at = snapshot.parent_snapshot_id
        return False

    def between(self, bounds: Mapping[str, tuple[Any, Any]], columns: Sequence[str]) -> pa.Table:
        """See `VersionedTable`."""
        from pyiceberg import expressions

        above: Any = expressions.GreaterThanOrEqual
        below: Any = expressions.LessThanOrEqual
        scan = self._scan
        for name, (least, most) in bounds.items():
            scan = scan.filter(above(name, least)).filter(below(name, most))
        return IcebergFiles(scan).read(columns)

    def _at(self, version: int) -> Any:
        if self._scan.table_metadata.snapshot_by_id(version) is None:
            raise gone_version(self.name, version)
        return self._scan.update(snapshot_id=version)


def _unreadable(name: str, reason: object) -> FrameError:
    return FrameError(
        f"{name} cannot be read: {reason}",
        code="E232",
        hint="is it a table of Iceberg, of which no file was removed that the snapshot needs?",
    )
