# SPDX-License-Identifier: Apache-2.0
"""Tables of Delta, read by `deltalake`."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from lftj.errors import FrameError, MissingDependencyError
from lftj.frames.versioned_tables import FilePiece, VersionedTable, as_schema, gone_version
from lftj.scantree.frozen import frozen

_CAPTURES = "delta.enableChangeDataFeed"
_WENT, _CAME = ("delete", "update_preimage"), ("insert", "update_postimage")


def deltalake() -> Any:
    """The package. Raises MissingDependencyError (E250)."""
    try:
        import deltalake
    except ImportError:
        raise MissingDependencyError.of("deltalake", "it reads and writes Delta") from None
    return deltalake


def opened(address: str, version: int | None = None, options: Any = None) -> Any:
    """A `DeltaTable`. Raises FrameError (E232)."""
    package = deltalake()
    try:
        return package.DeltaTable(address, version=version, storage_options=options)
    except (package.exceptions.DeltaError, OSError) as reason:
        raise _unreadable(address, reason) from None


@frozen
class DeltaPiece:
    """One file of a table, as a fragment of Arrow's; partition values are columns too."""

    name: str
    fragment: Any
    schema: pa.Schema

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """See `FilePiece`."""
        names = self.schema.names if columns is None else list(columns)
        try:
            yield from self.fragment.to_batches(schema=self.schema, columns=names)
        except (pa.ArrowException, OSError) as reason:
            raise _unreadable(self.name, reason) from None


@frozen
class DeltaScan:
    """All of a version, where files do not say by themselves which rows and columns they have:
    with deletion vectors or mapped columns.
    """

    name: str
    version: int
    options: Any

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """See `FilePiece`."""
        names = None if columns is None else list(columns)
        try:
            reader = opened(self.name, self.version, self.options).scan(names)
            yield from pa.RecordBatchReader.from_stream(reader)
        except (deltalake().exceptions.DeltaError, pa.ArrowException, OSError) as reason:
            raise _unreadable(self.name, reason) from None


class DeltaFiles(VersionedTable):
    """A version of a table of Delta."""

    def __init__(self, table: Any):
        self._table = table
        self.name = str(table.table_uri)
        self._options: Any = table._storage_options
        self._schema = pa.schema(table.schema().to_arrow())

    @property
    def version(self) -> int:
        """See `VersionedTable`."""
        return int(self._table.version())

    @property
    def schema(self) -> pa.Schema:
        """See `VersionedTable`."""
        return self._schema

    def count(self) -> int:
        """See `VersionedTable`."""
        return int(self._table.count())

    def files(self, version: int | None = None) -> Mapping[Hashable, FilePiece]:
        """See `VersionedTable`."""
        number = self.version if version is None else version
        table = self._table if number == self.version else self._at(number)
        if not _is_plain(self._table) or not _is_plain(table):
            return {number: DeltaScan(self.name, number, self._options)}
        schema = self._schema
        fragments = table.to_pyarrow_dataset(schema=schema).get_fragments()
        name = PurePosixPath(self.name).name
        return {each.path: DeltaPiece(f"{name}/{each.path}", each, schema) for each in fragments}

    def follows(self, version: int) -> bool:
        """See `VersionedTable`."""
        if version > self.version:
            last = opened(self.name, options=self._options).version()
            if version > last:
                raise gone_version(self.name, version, f"its last one is {last}")
        return self.version > version

    def captured(self, since: int, columns: Sequence[str]) -> tuple[pa.Table, pa.Table] | None:
        """The change data feed, where all versions since have one."""
        on = self._table.metadata().configuration.get(_CAPTURES) == "true"
        if not on or not _is_plain(self._table):
            return None
        chosen = pa.schema([self._schema.field(name) for name in columns])
        try:
            reader = self._table.load_cdf(
                starting_version=since + 1,
                ending_version=self.version,
                columns=[*columns, "_change_type"],
            )
            batches = [
                (each.column("_change_type").to_pylist(), as_schema(each, chosen))
                for each in pa.RecordBatchReader.from_stream(reader)
            ]
        except (deltalake().exceptions.DeltaError, pa.ArrowException, OSError):
            return None  # a version without one, with other columns, or whose files are gone
        return _of_kinds(batches, _WENT, chosen), _of_kinds(batches, _CAME, chosen)

    def between(self, bounds: Mapping[str, tuple[Any, Any]], columns: Sequence[str]) -> pa.Table:
        """See `VersionedTable`."""
        from pyarrow import dataset

        if not bounds or not _is_plain(self._table):
            return self.read(columns)
        chosen: Any = None
        for name, (least, most) in bounds.items():
            one = (dataset.field(name) >= least) & (dataset.field(name) <= most)
            chosen = one if chosen is None else chosen & one
        try:
            found = self._table.to_pyarrow_dataset(schema=self._schema)
            return found.to_table(columns=list(columns), filter=chosen)
        except (pa.ArrowException, OSError) as reason:
            raise _unreadable(self.name, reason) from None

    def _at(self, version: int) -> Any:
        package = deltalake()
        try:
            return package.DeltaTable(self.name, version=version, storage_options=self._options)
        except (package.exceptions.DeltaError, OSError) as reason:
            raise gone_version(self.name, version, reason) from None


def _of_kinds(
    batches: Sequence[tuple[list[str], pa.RecordBatch]], wanted: Sequence[str], schema: pa.Schema
) -> pa.Table:
    """The rows that were captured as one of these kinds of change."""
    found = (
        rows.filter(pa.array([kind in wanted for kind in kinds], pa.bool_()))
        for kinds, rows in batches
    )
    return pa.Table.from_batches(found, schema)


def _is_plain(table: Any) -> bool:
    """Test for a table whose files have all their rows and columns, under their names."""
    protocol = table.protocol()
    special = {"deletionVectors", "columnMapping"} & set(protocol.reader_features or ())
    mapped = table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    return not special and not mapped


def _unreadable(name: str, reason: object) -> FrameError:
    return FrameError(
        f"{name} cannot be read: {reason}",
        code="E232",
        hint="is it a table of Delta, of which no file was removed that the version needs?",
    )
