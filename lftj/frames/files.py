# SPDX-License-Identifier: Apache-2.0
"""Files by the ending of their name: `.csv .tsv .facts`, `.parquet`, `.arrow .feather .ipc`, each
also with `.gz`.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Hashable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.ipc

from lftj.errors import FileMissingError, FrameError
from lftj.frames.carriers import ArrowCarrier, TextCarrier, carry_text
from lftj.frames.confined import is_confined, open_file
from lftj.frames.delimited import DelimitedText
from lftj.frames.frame import Place
from lftj.frames.parquet import read_file, read_folder
from lftj.frames.table_handles import versioned_table
from lftj.frames.whole_files import whole_write

DELIMITERS = {".csv": ",", ".tsv": "\t"}
_ARROW = (".arrow", ".feather", ".ipc")
FORMATS = ".csv, .tsv, .facts, .parquet, .arrow, .feather or .ipc, each also with .gz"


def carry_file(path: Path, null: str | None = None) -> ArrowCarrier | TextCarrier:
    """The content of a CSV, TSV, Parquet or Arrow file; CSV and TSV have a header and quotes as in
    RFC 4180. `null`: the field of these that is NULL.

    Raises FileMissingError, and FrameError for an unknown ending (E231) or content that cannot be
    read (E232).
    """
    if null is not None and file_kind(path) not in DELIMITERS:
        raise null_in_text(path.name)
    if (versioned := versioned_table(path)) is not None:
        return ArrowCarrier(versioned.read(), Place(path.name, is_file=True))
    kind = file_kind(path)
    if kind in DELIMITERS:
        return _carry_csv(path, DELIMITERS[kind], null)
    if kind != ".parquet" and kind not in _ARROW:
        if path.is_dir():
            hint = "name one file, or a folder of Parquet files whose own name ends in .parquet"
            raise FrameError(f"{path} is a folder", code="E231", hint=hint)
        raise FrameError(
            f"{path.name}: unknown format {kind or '(no ending)'!r}",
            code="E231",
            hint=f"name the file {FORMATS}",
        )
    try:
        table = _read_parquet(path) if kind == ".parquet" else _read_ipc(path)
        assert len(table.column_names) == table.num_columns  # names that are no text fail here
        return _place(path, table)
    except FileNotFoundError:
        raise missing(path) from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as reason:
        hint = "is it complete, and of the format it is named for?"
        if isinstance(reason, pa.ArrowNotImplementedError):
            hint = "it holds what Arrow does not read: write it without, or with other types"
        raise FrameError(f"{path.name} cannot be read: {reason}", code="E232", hint=hint) from None


def null_in_text(found: str) -> FrameError:
    """The error (E231) for a text of NULL where what is read has NULL itself."""
    hint = "leave it out: a table has its own NULL; nulls= says what is done with it"
    return FrameError(f"null= is for files of text, found {found}", code="E231", hint=hint)


def is_table_file(path: Path) -> bool:
    """Recognise by its name a file that holds the names and types of its columns."""
    return file_kind(path) in (".parquet", *_ARROW)


def write_table(path: Path, table: Any) -> None:
    """Write a table as what the file is named for, where that `is_table_file`; as a whole or not at
    all.

    Raises FrameError (E232), and (E231) for a table without columns, which Parquet has no rows of.
    """
    if file_kind(path) == ".parquet" and not table.num_columns:
        raise FrameError(
            f"{path.name}: Parquet has no rows without columns",
            code="E231",
            hint="name the file .arrow or .facts",
        )
    with (
        whole_write(path) as file,
        gzip.open(file, "wb") if is_compressed(path) else nullcontext(file) as sink,
    ):
        if file_kind(path) == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, sink)
        else:
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)


def write_parquet(destination: str | os.PathLike[str], table: Any) -> None:
    """Write a table as Parquet. Raises as `write_table`, and FrameError (E231) for another ending,
    which `load` goes by.
    """
    path = local_path(destination, written=True)
    if file_kind(path) != ".parquet":
        hint = "name it .parquet: load(…) goes by the ending"
        raise FrameError(f"{path} is not named as Parquet", code="E231", hint=hint)
    write_table(path, table)


def refuse_text_name(destination: object) -> None:
    """Raise FrameError (E231) for facts that would be named as CSV or TSV, which `load` would take
    them for.
    """
    if (
        isinstance(destination, (str, os.PathLike))
        and file_kind(path := local_path(destination, written=True)) in DELIMITERS
    ):
        hint = (
            "write_csv(…) writes a header and quotes; for Soufflé's facts name the file "
            ".facts, or say facts with "
        )
        hint += "parameters, write_facts(path, {}), and load(relation, path, facts={})"
        raise FrameError(
            f"facts have no header, and {path.name} is named as a file with one",
            code="E231",
            hint=hint,
        )


def file_kind(path: Path) -> str:
    """The ending that tells the format, in lower case, without `.gz`."""
    return (path.with_suffix("") if is_compressed(path) else path).suffix.lower()


def is_compressed(path: Path) -> bool:
    """Recognise by its name a file that gzip compressed."""
    return path.suffix.lower() == ".gz"


def read_bytes(source: str | os.PathLike[str] | BinaryIO) -> bytes:
    """All bytes of a file or of an open one, decompressed if they are gzip. Raises
    FileMissingError, FrameError (E232).
    """
    if hasattr(source, "read"):
        name, data = "stdin", source.read()  # type: ignore[union-attr]
        if isinstance(data, str):  # an open text file
            data = data.encode("utf-8", "surrogatepass")
    else:
        path = Path(source)  # type: ignore[arg-type]
        name = path.name
        try:
            with open_file(path) as file:
                data = file.read()
        except FileNotFoundError:
            raise missing(path) from None
        except OSError as reason:
            raise FrameError(f"{path} cannot be read: {reason.strerror}", code="E232") from None
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as reason:
        raise FrameError(
            f"{name} cannot be decompressed: {reason}", code="E232", hint="is the file complete?"
        ) from None


def local_path(source: str | os.PathLike[str], *, written: bool = False) -> Path:
    """The path that a text stands for, `~` being the home. Raises FrameError (E231) for addresses
    and what no file can be called.
    """
    text = os.fspath(source)
    if "://" in text:
        hint = "download the file, or read it with pandas, Polars or Arrow and pass the frame"
        hint = (
            "write a file here and copy it, or let pandas, Polars or Arrow write result.arrow()"
            if written
            else hint
        )
        raise FrameError(f"{text} is an address, not the path of a file", code="E231", hint=hint)
    if "\0" in text:
        raise FrameError(
            f"{text!r} is not the path of a file", code="E231", hint="leave the character \\0 out"
        )
    path = Path(text)
    return path.expanduser() if text.startswith("~") and not path.exists() else path


def missing(path: Path) -> FileMissingError:
    """The error for a file that is not there, with the closest name that is."""
    hint = f"paths start at {Path.cwd()}" if not path.is_absolute() else None
    if path.parent.is_dir():
        alike = [
            other.name
            for other in sorted(path.parent.iterdir())
            if other.name.casefold() == path.name.casefold() or other.stem == path.stem
        ]
        hint = f"did you mean {alike[0]}?" if alike else hint
    if set(path.name) & set("*?["):
        hint = (
            "name one file at a time: for path in pathlib.Path(folder).glob(pattern): "
            "tx.insert(relation, path)"
        )
    return FileMissingError(f"there is no file {path}", hint=hint)


def _carry_csv(path: Path, delimiter: str, null: str | None) -> TextCarrier:
    text = DelimitedText(
        path.name, read_bytes(path), delimiter, quoted=True, header=True, blank_lines=False
    )
    line, header = text.first_record()
    names: list[Hashable] = list(header)
    text = DelimitedText(
        path.name,
        text.data,
        delimiter,
        quoted=True,
        header=True,
        blank_lines=len(names) == 1,
        before=line - 1,
    )
    return carry_text(text, len(names), names, facts=False, null=null)


def _read_parquet(path: Path) -> pa.Table:
    return read_folder(path) if path.is_dir() else read_file(_opened(path))


def _read_ipc(path: Path) -> pa.Table:
    with _opened(path) as file:
        if file.read(6) == b"ARROW1":
            file.seek(0)
            return pa.ipc.open_file(file).read_all()
        file.seek(0)
        if not _has_end(file):
            raise pa.ArrowInvalid("the stream has no end")
        file.seek(0)
        return pa.ipc.open_stream(file).read_all()


def _has_end(stream: pa.NativeFile) -> bool:
    """Check that a stream ends with its end mark. Arrow takes one that is cut between two batches
    as whole.
    """
    messages = pa.ipc.MessageReader.open_stream(stream)
    end = 0
    for _ in messages:
        end = stream.tell()
    return stream.tell() > end


def _opened(path: Path) -> pa.NativeFile:
    """The file in memory: as it lies on the disc, or decompressed where its name says `.gz`."""
    if is_compressed(path):
        return pa.BufferReader(read_bytes(path))
    return pa.PythonFile(open_file(path), mode="r") if is_confined() else pa.memory_map(str(path))


def _place(path: Path, table: pa.Table) -> ArrowCarrier:
    file_of = partial(_row_in_folder, path) if path.is_dir() else None
    return ArrowCarrier(table, Place(path.name, is_file=True, file_of=file_of))


def _row_in_folder(folder: Path, row: int) -> tuple[str, int]:
    """The file with a row of all files of a folder, and its number there."""
    from pyarrow import parquet

    for file in parquet.ParquetDataset(folder).fragments:
        if row < (rows := file.count_rows()):
            return name_within(Path(file.path), folder), row
        row -= rows
    return folder.name, row


def name_within(file: Path, folder: Path) -> str:
    """A file of a folder in messages; `folder` may be the file itself."""
    return str(Path(folder.name) / file.relative_to(folder))
