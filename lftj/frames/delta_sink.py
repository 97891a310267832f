# SPDX-License-Identifier: Apache-2.0
"""Rows and changes written to a table of Delta, each version once.

A commit of Delta names the writer and the version that the writer was at (an application
transaction), in the same file that makes its rows true. So a writer that died tells from the table
what is there already. Of two that write under one name at once, Delta lets only one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from lftj.errors import FrameError
from lftj.frames.delta_tables import deltalake
from lftj.types import arrow_compute as pc

_SIGN = "__diff__"
_UNSIGNED = pa.int64()
"""The type of unsigned integers in Delta, which has none of its own; ours end below 2⁶³."""


class DeltaSink:
    """A table that one writer, by its name, keeps equal to a view."""

    def __init__(self, address: str, writer: str, options: dict[str, str] | None):
        self._package = deltalake()
        self._address, self._writer, self._options = address, writer, options
        self._table = self._opened()

    def _opened(self) -> Any:
        found = self._package.DeltaTable
        try:
            if not found.is_deltatable(self._address, storage_options=self._options):
                return None
            return found(self._address, storage_options=self._options)
        except (self._package.exceptions.DeltaError, OSError) as reason:
            raise self._failed(reason) from None

    @property
    def version(self) -> int | None:
        """The version of the writer that the table has; None where it never wrote."""
        return None if self._table is None else self._table.transaction_version(self._writer)

    def require_ours(self) -> None:
        """Raise FrameError (E235) for a table with rows of others."""
        if self._table is not None and self.version is None and self._table.count():
            raise FrameError(
                f"{self._address} has rows that {self._writer!r} did not write",
                code="E235",
                hint="give another address, the name under which they were written, or delete them",
            )

    def replace(self, rows: pa.Table, version: int) -> None:
        """Have the table be these rows."""
        rows = _as_written(rows)
        self._write(
            lambda: self._package.write_deltalake(
                self._address,
                rows,
                mode="overwrite",
                schema_mode="overwrite",
                storage_options=self._options,
                commit_properties=self._properties(version),
            )
        )

    def change(self, changes: pa.Table, version: int) -> None:
        """Delete the rows whose `__diff__` is negative and insert the others, in one commit."""
        comes = pc.greater(changes.column(_SIGN), pa.scalar(0, pa.int64()))
        rows = _as_written(changes.drop_columns([_SIGN, "__version__"]))
        if pc.all(comes).as_py():
            self._write(
                lambda: self._package.write_deltalake(
                    self._table,
                    rows,
                    mode="append",
                    commit_properties=self._properties(version),
                )
            )
            return
        names = rows.column_names
        source = rows.append_column(_SIGN, changes.column(_SIGN))
        equal = " AND ".join(
            f"(target.{quoted(name)} IS NOT DISTINCT FROM source.{quoted(name)})"
            if rows.column(name).null_count
            else f"(target.{quoted(name)} = source.{quoted(name)})"
            for name in names
        )
        self._write(
            lambda: (
                self._table.merge(
                    source,
                    equal,
                    source_alias="source",
                    target_alias="target",
                    commit_properties=self._properties(version),
                )
                .when_matched_delete(f"source.{_SIGN} < 0")
                .when_not_matched_insert(
                    {quoted(name): f"source.{quoted(name)}" for name in names},
                    predicate=f"source.{_SIGN} > 0",
                )
                .execute()
            )
        )

    def _properties(self, version: int) -> Any:
        transaction = self._package.Transaction(self._writer, version)
        return self._package.CommitProperties(app_transactions=[transaction])

    def _write(self, write: Callable[[], object]) -> None:
        try:
            write()
        except (self._package.exceptions.DeltaError, pa.ArrowException, OSError) as reason:
            raise self._failed(reason) from None

    def _failed(self, reason: object) -> FrameError:
        return FrameError(
            f"{self._address} cannot be written: {reason}",
            code="E232",
            hint="the table is as it was; the next call writes what this one did not",
        )


def quoted(name: str) -> str:
    """A column in an expression of Delta's."""
    return '"' + name.replace('"', '""') + '"'


def _as_written(rows: pa.Table) -> pa.Table:
    """The rows in types that Delta has."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_uint64(field.type):
            column = rows.column(place).cast(_UNSIGNED)
            rows = rows.set_column(place, field.with_type(_UNSIGNED), column)
    return rows
