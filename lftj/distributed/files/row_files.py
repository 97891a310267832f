# SPDX-License-Identifier: Apache-2.0
"""Rows of entries on disk, as Arrow files with a record batch per part.

A row has a sign before its values: +1 came, −1 went. Values are values, not codes, so each reader
codes them with a dictionary of its own. A file is written under another name, fsynced and renamed,
so it is whole or not there.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import pyarrow as pa

from lftj.distributed.files.entry import Entry, Piece, is_whole
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.partitioning.cuts import ALL, EVERYBODY, ONE, Cut, label, parts_of
from lftj.errors import DistributedError, LftjError
from lftj.frames import whole_file
from lftj.program import RelationSchema
from lftj.scantree import FileDamagedError, equal_runs
from lftj.storage import Columns, Delta, no_rows
from lftj.storage.durable import (
    batch_sum,
    change_in_order,
    coded_rows,
    open_batches,
    read_rows,
    signed_table,
)
from lftj.types import Dictionary, arrow_array, is_hidden

_ATTEMPT = 12  # hexadecimal digits; the stem has the commit, and most often the part


# ── writing ───────────────────────────────────────────────────────────────────────────────────────
def write_entry(
    folder: Path,
    stem: str,
    version: int,
    schema: RelationSchema,
    delta: Delta,
    cuts: Sequence[Cut],
    parts: int,
    dictionary: Dictionary,
) -> Entry:
    """Write a change in some cuts as `stem-attempt-cut.arrow`; `cuts` begins with the home cut. O(n
    log n) per cut.

    The attempt is a name that nobody else has, so that no file is ever written again. The erases
    stand before the inserts, so that a row in both comes to be there.
    """
    columns, signs = delta.signed()
    types = [type for _, type in schema.columns]
    pieces: list[Piece] = []
    size, attempt = 0, uuid4().hex[:_ATTEMPT]
    for cut in dict.fromkeys(ONE if cut == ALL else cut for cut in cuts):
        slot = parts_of(columns, types, cut, dictionary, parts)
        narrow = slot.astype(np.min_scalar_type(-parts))  # these are sorted in O(n)
        order = np.argsort(narrow, kind="stable")
        table = signed_table(
            _as_sent(schema),
            [column.take(order) for column in columns],
            signs.take(order),
            dictionary,
        )
        ordered = slot.take(order)
        starts = equal_runs([ordered], 1)
        held = ordered[starts]
        rows = np.diff([*starts, len(slot)])
        piece = Piece(
            f"{stem}-{attempt}-{label(cut)}.arrow",
            label(cut),
            tuple(zip(held.tolist(), rows.tolist(), strict=True)),
        )
        size += _write(folder / piece.file, table, piece)
        reader = open_batches(folder / piece.file)
        sums = tuple(batch_sum(reader.get_batch(number)) for number in range(len(piece.parts)))
        pieces.append(replace(piece, sums=sums))
    store_of(folder).publish([folder / piece.file for piece in pieces])
    return Entry(version, tuple(pieces), size)


def _as_sent(schema: RelationSchema) -> RelationSchema:
    """Schema of the rows in files. Those of a hidden relation have the types of a rule's variables,
    and may have NULL, read from an optional column, where that joins nothing [decision 117].
    """
    if not is_hidden(schema.name):
        return schema
    return replace(schema, columns=tuple((name, type.or_null) for name, type in schema.columns))


def _write(target: Path, table: pa.Table, piece: Piece) -> int:
    """Write, fsync, rename; the bytes written."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as sink:
        with pa.ipc.new_file(sink, table.schema) as writer:
            start = 0
            for _, rows in piece.parts:
                writer.write_table(table.slice(start, rows), max_chunksize=max(1, rows))
                start += rows
        return sink.tell()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────
def read_entries(
    folder: Path,
    entries: Sequence[Entry],
    schema: RelationSchema,
    cut: Cut,
    part: int,
    parts: int,
    dictionary: Dictionary,
) -> Delta:
    """One part's rows of entries in their order: what the last one says about a row holds. Entries
    without erases are sorted together, and no more is read than has to be. Of one entry: a change
    where a row that went and came is one that came.
    """
    pieces = [] if cut == ONE and part else _pieces(entries, cut, part)
    if not pieces:
        return Delta.empty(schema.arity)
    tables = [_batches(folder, piece, numbers, schema) for piece, numbers in pieces]
    files = [folder / piece.file for piece, _ in pieces]
    columns, signs = _coded_together(files, tables, schema, dictionary)
    ends = np.cumsum([table.num_rows for table in tables])
    if not is_whole(cut) and not all(piece.lies_by(cut) for piece, _ in pieces):
        unsure = [not piece.lies_by(cut) for piece, _ in pieces]
        kept = np.ones(len(signs), np.bool_)
        elsewhere = np.repeat(unsure, [table.num_rows for table in tables])
        types = [type for _, type in schema.columns]
        rows = [column[elsewhere] for column in columns]
        kept[elsewhere] = np.isin(parts_of(rows, types, cut, dictionary, parts), (part, EVERYBODY))
        columns, signs = [column[kept] for column in columns], signs[kept]
        ends = np.cumsum(kept)[ends - 1]
    if (signs > 0).all():
        return Delta.insertion(columns)
    return change_in_order(columns, signs, ends, schema.arity)


def _pieces(entries: Iterable[Entry], cut: Cut, part: int) -> list[tuple[Piece, list[int]]]:
    """The pieces of entries to read in a cut, each with the places of its batches that may have
    rows of a part.
    """
    found = []
    for entry in entries:
        piece = entry.piece(cut)
        everything = is_whole(cut) or not piece.lies_by(cut)
        numbers = [
            place
            for place, (holder, _) in enumerate(piece.parts)
            if everything or holder in (part, EVERYBODY)
        ]
        if numbers:
            found.append((piece, numbers))
    return found


def sampled_rows(
    folder: Path, entry: Entry, schema: RelationSchema, part: int, step: int, dictionary: Dictionary
) -> tuple[Columns, np.ndarray]:
    """Every so many-th row that an entry has of one part, in its home, with signs. Each row is one
    part's.

    Where it begins to count is another number for each file, so that many small ones do not all
    give their first row.
    """
    piece = entry.pieces[0]
    numbers = [place for place, (holder, _) in enumerate(piece.parts) if holder == part]
    if not numbers:
        return no_rows(schema.arity), np.empty(0, np.int8)
    table = _batches(folder, piece, numbers, schema)
    first = zlib.crc32(piece.file.encode()) % step
    return _coded(
        folder / piece.file,
        table.take(arrow_array(np.arange(first, table.num_rows, step))),
        schema,
        dictionary,
    )


def _batches(folder: Path, piece: Piece, places: Sequence[int], schema: RelationSchema) -> pa.Table:
    """Some record batches of a file. Raises DistributedError (E403) where it is missing, or they
    are not what was written.
    """
    file = folder / piece.file
    try:
        store_of(folder).fetch(file)
        numbers = [piece.numbers[place] if piece.numbers else place for place in places]
        return read_rows(file, numbers, [piece.sums[place] for place in places], schema)
    except FileNotFoundError:
        raise missing(file) from None
    except FileDamagedError as problem:
        raise damaged(file, str(problem)) from None
    except (pa.ArrowException, LookupError, ValueError, TypeError, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise  # the system cannot read it now
        raise damaged(file, str(problem)) from None


def missing(file: Path) -> DistributedError:
    """The error for a file of rows that is gone."""
    hint = (
        'ask again, with ws["…"]: what was read before the path was opened again, or by another '
        "workspace, "
        "may be gone; else take the path back from a copy"
    )
    return DistributedError(f"{file} is missing", code="E403", hint=hint)


def damaged(file: Path, reason: str) -> DistributedError:
    """The error for a file of rows that is not what was written."""
    return DistributedError(
        f"{file} is damaged: {reason}", code="E403", hint="take the path back from a copy"
    )


def _coded_together(
    files: Sequence[Path],
    tables: Sequence[pa.Table],
    schema: RelationSchema,
    dictionary: Dictionary,
) -> tuple[Columns, np.ndarray]:
    """Rows and signs of several files, one after the other: at once, since coding costs more for
    each table than for each row of a small one. Raises as `_coded`.
    """
    if len(tables) > 1:
        with suppress(pa.ArrowInvalid, ValueError):
            return coded_rows(pa.concat_tables(tables), _as_sent(schema), dictionary)
    each = [_coded(*pair, schema, dictionary) for pair in zip(files, tables, strict=True)]
    if len(each) == 1:
        return each[0]
    columns = [np.concatenate(column) for column in zip(*(rows for rows, _ in each), strict=True)]
    return columns, np.concatenate([signs for _, signs in each])


def _coded(
    file: Path, table: pa.Table, schema: RelationSchema, dictionary: Dictionary
) -> tuple[Columns, np.ndarray]:
    """Rows and signs. Raises DistributedError (E403) where the file says of its columns what nobody
    wrote; checksums are those of rows.
    """
    try:
        return coded_rows(table, _as_sent(schema), dictionary)
    except ValueError as reason:
        if isinstance(reason, LftjError):
            raise
        raise damaged(file, str(reason)) from None
