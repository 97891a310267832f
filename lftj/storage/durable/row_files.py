# SPDX-License-Identifier: Apache-2.0
"""Files with rows of relations, in one folder: Arrow files of changes, written once, and records
that name pages beside the folder, as a workspace of one process left them. A workspace over parts
consists of such files; one of one process that was over parts before begins with them.

A row has a sign before its values: +1 came, −1 went.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.program.normal_form import RelationSchema
from lftj.scantree.arena import WIDE, Arena
from lftj.storage.delta import Columns, Delta
from lftj.storage.durable.sealed import unsealed
from lftj.storage.durable.signed_rows import coded_rows, signed_table
from lftj.storage.durable.stored_pages import StoredPages, segment_of
from lftj.storage.durable.stored_strings import StoredStrings, chain_of
from lftj.storage.durable.stored_trees import OpenedTrees, relation_of
from lftj.types.arrow_validity import require_valid
from lftj.types.dictionary import Dictionary
from lftj.types.sources import lineage

ROWS, PAGES = "rows", "pages"
"""The folders below a path."""
LEFT = ".pages"
"""The ending of a file that names the pages of relations; all others are of Arrow."""


def read_rows(
    file: Path, batches: Iterable[int], sums: Iterable[int], schema: RelationSchema
) -> pa.Table:
    """Some record batches of a file, each with a sum, or all rows of a relation whose pages the
    file names. Raises FileNotFoundError, and ValueError or pa.ArrowException, which is one, where
    something is not what was written.
    """
    if file.suffix == LEFT:
        return _rows_of_pages(file, schema)
    reader = open_batches(file)
    found = [reader.get_batch(number) for number in batches]
    for batch in found:
        for column in batch.columns:  # checksums do not say where one buffer ends
            require_valid(column)
    if any(
        column.null_count != _gaps(column) or len(column) != batch.num_rows
        for batch in found
        for column in batch.columns
    ):
        raise ValueError("it says of columns that they lack other values than they do")
    if [batch_sum(batch) for batch in found] != list(sums):
        raise ValueError("its rows have another checksum")
    return pa.Table.from_batches(found)


def all_rows(
    folder: Path,
    files: Iterable[tuple[str, Sequence[int]]],
    schema: RelationSchema,
    dictionary: Dictionary,
) -> Columns:
    """The rows that files come to, one after the other, of each file so many record batches as it
    has sums. Raises OSError, or ValueError where something is not what was written.
    """
    found: list[tuple[Columns, np.ndarray]] = []
    for name, sums in files:
        try:
            table = read_rows(folder / name, range(len(sums)), sums, schema)
        except pa.ArrowException as reason:
            raise ValueError(f"{name}: {reason}") from None
        found.append(coded_rows(table, schema, dictionary))
    if not found:
        return Delta.empty(schema.arity).inserts
    columns = [np.concatenate(each) for each in zip(*(rows for rows, _ in found), strict=True)]
    signs = np.concatenate([signs for _, signs in found])
    ends = np.cumsum([len(signs) for _, signs in found])
    return change_in_order(columns, signs, ends, schema.arity).inserts


def change_in_order(columns: Columns, signs: np.ndarray, ends: np.ndarray, arity: int) -> Delta:
    """The change that entries make one after the other: the rows of each end at one of `ends`."""

    def inserted(first: int, last: int) -> Delta:
        came = signs[first:last] > 0
        return Delta.insertion([column[first:last][came] for column in columns])

    change, since, begin = Delta.empty(arity), 0, 0
    for end in ends.tolist():
        gone = begin + np.flatnonzero(signs[begin:end] < 0)
        if gone.size:
            erased = Delta.deletion([column[gone] for column in columns])
            change, since = change.then(inserted(since, begin)).then(erased), begin
        begin = end
    return change.then(inserted(since, begin))


def open_batches(file: Path) -> pa.RecordBatchFileReader:
    """Open a mapped file. Arrow reads a mapped *buffer* in this thread; a mapped *file* it hands to
    its threads for input, which costs more than a small file's whole reading.
    """
    with pa.memory_map(str(file)) as source:
        return pa.ipc.open_file(source.read_buffer())


def batch_sum(batch: pa.RecordBatch) -> int:
    """A checksum of all that a batch holds, as it lies in its file."""
    found = batch.num_rows
    for column in batch.columns:
        for buffer in column.buffers():
            found = zlib.crc32(b"" if buffer is None else buffer, found)
    return found


def _gaps(column: pa.Array) -> int:
    """The number of NULLs by the bits: checksums are of these, and not of what a file says."""
    validity = column.buffers()[0]
    if validity is None:
        return 0
    bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
    return len(column) - int(bits[column.offset : column.offset + len(column)].sum())


# ── pages that one process left ───────────────────────────────────────────────────────────────────
def left_pages(file: Path) -> dict[str, Any]:
    """The record of a file that names pages. Raises as `read_rows`."""
    return unsealed(file.read_bytes())


def _rows_of_pages(file: Path, schema: RelationSchema) -> pa.Table:
    """All rows of a relation, whose pages are mapped, and compared with their checksums once they
    were read. Raises FileDamagedError, and as `read_rows`.
    """
    record, dictionary = left_pages(file), Dictionary()
    arena = Arena(WIDE)
    pages = StoredPages(arena, file.parent.parent / PAGES)
    chain = chain_of(record["strings"])
    StoredStrings(dictionary, arena.watch).take(pages.folder, chain)
    roots = pages.opened(
        list(map(segment_of, record["segments"])), [data[0] for data in record["trees"]]
    )
    trees = OpenedTrees(arena, record["trees"], roots)
    name = next(each for each in lineage(schema.name) if each in record["relations"])
    columns = relation_of(record["relations"][name], schema, trees).columns()
    table = signed_table(schema, columns, np.ones(len(columns[0]), np.int8), dictionary)
    arena.watch.check()
    return table
