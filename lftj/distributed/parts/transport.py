# SPDX-License-Identifier: Apache-2.0
"""Rows into parts and out of them, where they are: tasks that need no state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.files.row_files import read_entries, write_entry
from lftj.distributed.objects.mounts import AnyPath, here
from lftj.distributed.partitioning.cuts import Cut
from lftj.distributed.parts.failure import Failure, failure_of
from lftj.engine.commit import last_of_keys
from lftj.errors import LftjError, NullValueError
from lftj.frames import Place
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.storage import Columns, Delta
from lftj.types import Dictionary, arrow_array


@frozen
class RouteTask:
    """Rows of a DataFrame on their way to their parts: what to call the entries, and how to read
    the columns.

    `sign`: whether rows come (1) or go (-1), or the column that says it of each by its own sign.
    `upsert`: of the rows of one key the last one is meant. `first`: the number that messages give
    to the first row of a partition.
    """

    path: AnyPath
    stem: str
    version: int
    parts: int
    schema: RelationSchema
    cuts: tuple[Cut, ...]
    sign: int | str
    upsert: bool
    options: Mapping[str, Any]
    first: int = 0


Rows = pa.RecordBatch | pa.Table | Path
"""Rows on their way: as Arrow, or a file of them."""

Routed = tuple[Entry | None, Entry | None]
"""Entries written for a partition: rows that go, and rows that come; None where there are none."""


def route(batches: Iterator[pa.RecordBatch], task: RouteTask) -> Routed | Failure:
    """Write one partition of a DataFrame."""

    def placed() -> Iterator[tuple[Rows, Place]]:
        first = task.first
        for batch in batches:
            yield batch, Place(first=first)
            first += batch.num_rows

    return route_placed(placed(), task)


def count_rows(batches: Iterator[pa.RecordBatch], argument: None) -> int:
    """The number of rows of one partition of a DataFrame."""
    return sum(batch.num_rows for batch in batches)


def route_placed(batches: Iterator[tuple[Rows, Place]], task: RouteTask) -> Routed | Failure:
    """Write batches of rows, each of a place to be named where it cannot be."""
    dictionary = Dictionary()
    pieces: dict[int, list[Columns]] = {-1: [], 1: []}
    try:
        for batch, place in batches:
            for sign, rows, where in _by_sign(batch, place, task):
                pieces[sign].append(
                    frames.read(
                        rows,
                        task.schema.columns,
                        dictionary=dictionary,
                        place=where,
                        **task.options,
                    ).columns
                )
    except LftjError as error:
        return failure_of(error)
    return _written(pieces[-1], Delta.deletion, task, dictionary), _written(
        pieces[1], Delta.insertion, task, dictionary
    )


def _by_sign(batch: Rows, place: Place, task: RouteTask) -> Iterator[tuple[int, Rows, Place]]:
    """The rows that go and those that come, and their places."""
    if isinstance(task.sign, int):
        yield task.sign, batch, place
        return
    assert not isinstance(batch, Path)  # files have no column of signs
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    for name, column in zip(table.column_names, table.columns, strict=True):
        frames.require_whole(column, name, place)  # rows are chosen before they are coded
    rows, signs = (
        table.drop_columns([task.sign]),
        table.column(task.sign).cast(pa.float64()).to_numpy(),
    )
    nulls = np.flatnonzero(np.isnan(signs))  # NULL is NaN by now
    if len(nulls) and task.options.get("nulls") != "drop":
        hint = 'leave the row out, or feed with nulls="drop"'
        message = "NULL says neither that a row comes nor that it goes"
        raise place.locate(NullValueError(message, hint=hint), task.sign, int(nulls[0]))
    for sign, chosen in ((-1, signs < 0), (1, signs > 0)):
        where = replace(place, chosen=np.flatnonzero(chosen))
        yield sign, rows.filter(arrow_array(chosen)), where


def _written(
    pieces: list[Columns],
    change: Callable[[Columns], Delta],
    task: RouteTask,
    dictionary: Dictionary,
) -> Entry | None:
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    if not columns or not len(columns[0]):
        return None
    delta = change(last_of_keys(task.schema, columns) if task.upsert else columns)
    return write_entry(
        here(task.path) / ROWS,
        task.stem,
        task.version,
        task.schema,
        delta,
        task.cuts,
        task.parts,
        dictionary,
    )


@frozen
class ReadTask:
    """One part of a relation, to be read from its entries."""

    path: AnyPath
    part: int
    parts: int
    schema: RelationSchema
    home: Cut
    entries: tuple[Entry, ...]


def read_part(task: ReadTask) -> Iterator[pa.RecordBatch]:
    """The rows of one part as Arrow batches."""
    dictionary = Dictionary()
    folder = here(task.path) / ROWS
    rows = read_entries(
        folder, task.entries, task.schema, task.home, task.part, task.parts, dictionary
    ).inserts
    names, types = zip(*task.schema.columns, strict=True)
    yield from frames.to_arrow(names, types, rows, dictionary).to_batches()
