# SPDX-License-Identifier: Apache-2.0
"""Sources of rows that executors read by themselves: frames and tables of Spark, files, folders,
patterns of names, and tables of Delta and Iceberg.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from lftj import frames
from lftj.distributed.parts.pieces import (
    Piece,
    RowGroup,
    SeenFile,
    TableFile,
    WholeFile,
    unreadable,
)
from lftj.distributed.sending import Files, Routed
from lftj.errors import FileMissingError, FrameError, ValueTypeError
from lftj.partition import Executor
from lftj.program import RelationSchema
from lftj.scantree import frozen

Check = Callable[[str | None, Any], None]
"""Raises an error for columns, of a file of this name, that do not fit the relation."""

_MAGIC = frozenset("*?[")
_NULL = "__HIVE_DEFAULT_PARTITION__"


@frozen
class Sources:
    """Data of one call, for rows of a relation that come or go (`sign`; see `Routed`)."""

    executor: Executor
    schema: RelationSchema
    sign: int | str
    options: dict[str, Any]
    check: Check

    def found(self, data: Any) -> Routed | Files | None:
        """The data as what executors read; None for what this process has or reads."""
        if callable(getattr(data, "mapInArrow", None)):
            return self._routed(data)
        if isinstance(self.sign, str):
            return None
        if (table := frames.versioned_table(data)) is not None:
            self.check(None, table.schema)
            return self._files([TableFile(piece) for piece in table.files().values()])
        if isinstance(data, str) and "://" in data:
            return self._routed(self._parquet(data))
        if not isinstance(data, (str, os.PathLike)) or frames.is_confined():
            return None
        path = Path(data)
        is_name = isinstance(data, str) and "/" not in data and not path.exists()
        if is_name and (frame := self.executor.table(str(data))) is not None:
            return self._routed(frame)
        if not path.exists() and _MAGIC & set(str(path)):
            return self._matching(path.absolute())
        return self._of_path(path.absolute())

    # ── frames ────────────────────────────────────────────────────────────────────────────────────
    def _routed(self, frame: Any) -> Routed:
        try:
            found = self.executor.schema(frame)
        except TypeError as reason:
            raise ValueTypeError(
                str(reason), hint="leave the column out, or cast it to one of the column types"
            ) from None
        self.check(None, found)
        return Routed(frame, self.sign, self.options)

    def _parquet(self, path: str) -> Any:
        """A DataFrame of what Spark knows how to read, object stores too."""
        try:
            return self.executor.parquet(path)
        except OSError as reason:
            raise FrameError(
                f"{path} cannot be read: {reason}",
                code="E232",
                hint="is it Parquet, or a folder of Parquet files?",
            ) from None

    # ── files ─────────────────────────────────────────────────────────────────────────────────────
    def _files(self, pieces: list[Piece]) -> Files:
        assert isinstance(self.sign, int)
        return Files(pieces, self.sign, self.options)

    def _of_path(self, path: Path) -> Files | Routed | None:
        if not path.exists() or not (path.is_dir() or _is_piece(path, self.options)):
            return None
        if frames.is_table_file(path) or path.is_dir():  # it tells its columns by itself
            facts = self.options.pop("facts", None)
            if facts is not None:
                frames.check_table_parameters(facts, path)
        files = [path] if path.is_file() else _files_in(path)
        if not files:
            return self._routed(self._parquet(str(path)))
        return self._files([piece for file in files for piece in self._pieces(file, path)])

    def _matching(self, pattern: Path) -> Files:
        """All files, and files of folders, of names like a pattern; names of folders from the first
        `column=value` on say columns.
        """
        found = [Path(each) for each in sorted(glob.glob(str(pattern), recursive=True))]
        files = [
            file
            for path in found
            for file in (_files_in(path) if path.is_dir() else [path])
            if _is_piece(file, self.options)
        ]
        if not files:
            raise FileMissingError(
                f"there is no file of Parquet, CSV or TSV with a name like {pattern}",
                hint="a pattern has * ? [ ], and ** for any folders",
            )
        return self._files([each for file in files for each in self._pieces(file, _above(pattern))])

    def _pieces(self, file: Path, root: Path) -> Iterator[Piece]:
        name = frames.name_within(file, root)
        at = file.stat()
        seen = SeenFile(str(file), name, at.st_size, at.st_mtime_ns)
        if file.suffix != ".parquet":
            yield WholeFile(seen)
            return
        try:
            with frames.open_parquet(str(file)) as source:
                groups, schema = source.num_row_groups, frames.parquet_schema(source)
        except (pa.ArrowException, OSError) as reason:
            raise unreadable(str(file), reason) from None
        folders = file.relative_to(root).parts[:-1] if file != root else ()
        named = tuple(self._named(folders, schema.names, name))
        for column, value in named:
            schema = schema.append(pa.field(column, value.type))
        self.check(name, schema)
        yield from (RowGroup(seen, number, named) for number in range(groups))

    def _named(
        self, folders: Iterable[str], inside: list[str], file: str
    ) -> Iterator[tuple[str, pa.Scalar]]:
        """The columns that folders named `column=value` say, but for those that files have, as
        values of the relation's types.
        """
        mapping: Mapping[str, str] = self.options.get("mapping") or {}
        types = {mapping.get(name, name): type for name, type in self.schema.columns}
        for column, text in (map(unquote, each.split("=", 1)) for each in folders if "=" in each):
            if column in inside:
                continue
            type = types[column].arrow if column in types else pa.string()
            try:
                value = pa.scalar(None if text == _NULL else text, pa.string()).cast(type)
            except pa.ArrowInvalid:
                raise ValueTypeError(
                    f'{file}, column "{column}": expected {types[column]}, found "{text}" as the '
                    f"name of a folder",
                    hint="declare the column as str, or name the folder otherwise",
                ) from None
            yield column, value


def _files_in(folder: Path) -> list[Path]:
    """The Parquet files of a folder, else those of text; names that begin with `_` or `.` say that
    a file is no data.
    """
    files = [
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and not any(
            part.startswith(".") or (part.startswith("_") and "=" not in part)
            for part in file.relative_to(folder).parts
        )
    ]
    tables = [file for file in files if file.suffix == ".parquet"]
    return tables or [file for file in files if _is_piece(file, {})]


def _is_piece(path: Path, options: Mapping[str, Any]) -> bool:
    """Test for a file that executors read: not for Soufflé's facts, which a program names."""
    if path.suffix == ".parquet":
        return True
    names = path.suffixes[-2:-1] if path.suffix == ".gz" else [path.suffix]
    return options.get("facts") is None and names in ([".csv"], [".tsv"])


def _above(pattern: Path) -> Path:
    """The folder above the first name of a pattern that is one, or says a column."""
    steps = pattern.parts
    first = next(
        (i for i, step in enumerate(steps) if _MAGIC & set(step) or "=" in step), len(steps) - 1
    )
    return Path(*steps[:first])
