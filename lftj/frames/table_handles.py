# SPDX-License-Identifier: Apache-2.0
"""Recognition of tables of Delta and Iceberg among data, without importing their packages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from lftj.errors import PathOutsideError
from lftj.frames.confined import is_confined
from lftj.frames.delta_tables import DeltaFiles, opened
from lftj.frames.iceberg_tables import IcebergFiles
from lftj.frames.versioned_tables import VersionedTable


def versioned_table(source: Any) -> VersionedTable | None:
    """The table of Delta or Iceberg that `source` is: an object of `deltalake` or `pyiceberg`, or
    the path of a folder with a log of Delta. Raises MissingDependencyError (E250), FrameError.
    """
    if isinstance(source, VersionedTable):
        return source
    package = type(source).__module__.split(".")[0]
    if package == "deltalake" and type(source).__name__ == "DeltaTable":
        return DeltaFiles(source)
    if package == "pyiceberg" and callable(getattr(source, "scan", None)):
        return IcebergFiles(source.scan(), source)
    if package == "pyiceberg" and callable(getattr(source, "plan_files", None)):
        return IcebergFiles(source)
    if isinstance(source, (str, os.PathLike)) and is_delta_folder(source):
        return _opened(Path(source))
    return None


def is_delta_folder(path: str | os.PathLike[str]) -> bool:
    """Recognise a folder with a log of Delta: some of its Parquet files may be of no version, or
    of past ones.
    """
    return "://" not in os.fspath(path) and os.path.isdir(os.path.join(path, "_delta_log"))


def _opened(path: Path) -> VersionedTable:
    if is_confined():
        raise PathOutsideError(
            f"{path} is a table of Delta, whose log may name files anywhere",
            hint="load it from Python: ws.load(relation, path)",
        )
    return DeltaFiles(opened(str(path)))
