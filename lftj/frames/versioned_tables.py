# SPDX-License-Identifier: Apache-2.0
"""Tables that have versions, each a set of files: those of Delta and of Iceberg.

What changed between two versions is the difference of their files: rows of files that went, and
rows of files that came. Most of these are the same rows, in files that were written anew, so rows
are counted. A row that was there twice and went once is still there: rows that went are looked for
in the later version.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from lftj.errors import FrameError
from lftj.types import arrow_compute as pc


class FilePiece(Protocol):
    """A file of a table; it may be sent to another process. Equal rows come in equal order."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    def batches(self, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """The rows, of these columns or all. Raises FrameError (E232)."""
        ...


class VersionedTable(ABC):
    """A table at one of its versions."""

    name: str
    """Its name in messages."""

    @property
    @abstractmethod
    def version(self) -> int:
        """The number of the version."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @abstractmethod
    def count(self) -> int:
        """Number of rows."""

    @abstractmethod
    def files(self, version: int | None = None) -> Mapping[Hashable, FilePiece]:
        """The files of a version, by default this one, by what tells them apart; columns are those
        of this version. Raises FrameError (E234) for a version that is not there any more.
        """

    @abstractmethod
    def follows(self, version: int) -> bool:
        """Test for a version that this one comes after. Raises FrameError (E234) for a version
        that the table never had, or has not any more.
        """

    @abstractmethod
    def between(self, bounds: Mapping[str, tuple[Any, Any]], columns: Sequence[str]) -> pa.Table:
        """The rows with values between these, by column; files that have none are not read."""

    def captured(self, since: int, columns: Sequence[str]) -> tuple[pa.Table, pa.Table] | None:
        """The rows that went and those that came as the table captured them; None where it did
        not.
        """
        return None

    def known(self, columns: Sequence[str]) -> list[str]:
        """Names of columns that the table has too."""
        return [name for name in columns if name in self.schema.names]

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows, of these columns or all."""
        return self._rows(list(self.files().values()), columns)

    def changes(self, since: int, columns: Sequence[str]) -> tuple[pa.Table, pa.Table]:
        """Rows that went since a version, and rows that came, some of which are the same."""
        if (found := self.captured(since, columns)) is not None:
            return found
        before, after = self.files(since), self.files()
        went = [piece for key, piece in before.items() if key not in after]
        came = [piece for key, piece in after.items() if key not in before]
        return self._rows(went, columns), self._rows(came, columns)

    def among(self, rows: pa.Table) -> pa.Table:
        """Rows of the table that may be some of these; all that are, are among them."""
        bounds: dict[str, tuple[Any, Any]] = {}
        for name, column in zip(rows.column_names, rows.columns, strict=True):
            type = column.type
            ordered = pa.types.is_integer(type) or pa.types.is_date(type)
            if ordered and not column.null_count and type == self.schema.field(name).type:
                least = pc.min_max(column).as_py()
                bounds[name] = least["min"], least["max"]
        return self.between(bounds, rows.column_names)

    def _rows(self, pieces: Sequence[FilePiece], columns: Sequence[str] | None) -> pa.Table:
        names = self.schema.names if columns is None else columns
        schema = pa.schema([self.schema.field(name) for name in names])
        read = (batch for piece in pieces for batch in piece.batches(columns))
        return pa.Table.from_batches([as_schema(batch, schema) for batch in read], schema)


def as_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of a schema, in its order and types."""
    columns = [batch.column(name).cast(schema.field(name).type) for name in schema.names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def gone_version(table: str, version: int, reason: object = None) -> FrameError:
    """The error (E234) for a version that a table has not."""
    said = "" if reason is None else f": {str(reason).splitlines()[0]}"
    return FrameError(
        f"{table} has no version {version} any more, or never had it{said}",
        code="E234",
        hint="a feed goes on from there: tx.sync(relation, table), and in the same transaction "
        'tx.upsert("feed_position", [(feed, version)]), begins it anew; a table that was made '
        "anew, or another one, needs another feed",
    )
