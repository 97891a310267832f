# SPDX-License-Identifier: Apache-2.0
"""Rows in parts: gathered in this process when asked for as a whole, or read by the executors
where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, files_of, only
from lftj.distributed.files.manifest import ROWS, reported_by_the_system
from lftj.distributed.files.row_files import missing, read_entries
from lftj.distributed.held_files import HeldFiles
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import sent
from lftj.distributed.partitioning.cuts import ONE, Cut
from lftj.distributed.parts.transport import ReadTask, read_part
from lftj.engine.versions import Result, change_result
from lftj.partition import Executor
from lftj.program import RelationSchema
from lftj.scantree import difference, sort_rows
from lftj.storage import Columns, Delta
from lftj.types import Dictionary


class PartRows:
    """Rows where they lie, to be read by executors. Their files stay as long as it is referred to
    and the workspace is open, and so do those of DataFrames made of it, and what Spark makes of
    these.
    """

    def __init__(self, tasks: Sequence[ReadTask], executor: Executor, held: HeldFiles):
        self._tasks, self._executor, self._held = list(tasks), executor, held
        held.hold(self, partial(_files, self._tasks))

    def frame(self) -> Any:
        """A Spark DataFrame with a partition per part, in the session of the workspace. Raises
        DistributedError (E403) where files are gone.
        """
        columns = self._tasks[0].schema.columns
        fields = [pa.field(name, type.arrow) for name, type in columns]
        files = _files(self._tasks)
        rows, store = self._executor.path / ROWS, store_of(self._executor.path)
        for file in files - store.names(rows):
            if not store.exists(rows / file):
                raise missing(rows / file)
        frame = self._executor.frame(read_part, self._tasks, pa.schema(fields))
        self._held.hold_while(self._executor.used(frame), lambda: files)
        return frame


def rows_in_parts(
    read: Callable[[Dictionary], Columns],
    tasks: Sequence[ReadTask],
    present: Present,
    count: int,
    *,
    name: str | None = None,
    held: HeldFiles | None = None,
) -> Result:
    """A result whose rows stay with the executors until it is read: `read` gathers them in this
    process. `held`: what keeps its files.
    """
    schema, dictionary = tasks[0].schema, Dictionary()
    return Result(
        schema.columns,
        partial(read, dictionary),
        count,
        dictionary,
        version=present.manifest.version,
        name=name or schema.name,
        remote=None if held is None else PartRows(tasks, present.executor, held),
    )


def _files(tasks: Sequence[ReadTask]) -> set[str]:
    """Names of all files that tasks read."""
    return files_of(entry for task in tasks for entry in task.entries)


def relation_rows(
    present: Present, schema: RelationSchema, held: HeldFiles | None = None
) -> Result:
    """All rows of a relation, base and derived."""
    executor = present.executor
    entries = present.manifest.log.get(present.stored(schema.name), ())
    home = present.plan.homes[schema.name]
    tasks = [
        ReadTask(
            sent(executor.path), part, executor.partitions, schema, home, only(entries, part, home)
        )
        for part in range(executor.partitions)
    ]
    return rows_in_parts(
        lambda dictionary: gathered(executor, entries, schema, dictionary),
        tasks,
        present,
        present.count(schema.name),
        held=held,
    )


def gathered(
    executor: Executor, entries: Sequence[Entry], schema: RelationSchema, dictionary: Dictionary
) -> Columns:
    """All rows of entries, in this process. Raises DistributedError (E403) where files are missing
    or damaged, (E405) where the system cannot read them now.
    """
    return summed(executor, entries, schema, dictionary).inserts


def summed(
    executor: Executor, entries: Sequence[Entry], schema: RelationSchema, dictionary: Dictionary
) -> Delta:
    """The change that entries make, one after the other, in all parts. Raises as `gathered`."""
    with reported_by_the_system(executor.path):
        return read_entries(
            executor.path / ROWS, entries, schema, ONE, 0, executor.partitions, dictionary
        )


def change_rows(
    executor: Executor,
    schema: RelationSchema,
    home: Cut,
    found: Sequence[tuple[Entry, int | None]],
    version: int,
) -> Result:
    """The net change of a relation as rows with `__diff__` and `__version__`, the rows lost first.
    Raises as `gathered`.
    """
    dictionary = Dictionary()
    folder, parts = executor.path / ROWS, executor.partitions
    change = Delta.empty(schema.arity)
    with reported_by_the_system(executor.path):
        for part, each in groupby(found, key=itemgetter(1)):
            entries, cut = [entry for entry, _ in each], ONE if part is None else home
            change = change.then(
                read_entries(folder, entries, schema, cut, part or 0, parts, dictionary)
            )
    return change_result(schema, change, version, dictionary)


def replaced_rows(before: Result, after: Result, schema: RelationSchema) -> Result:
    """The difference of two versions of a relation, by comparing all rows."""

    dictionary = Dictionary()
    old, new = (_codes(each, schema, dictionary) for each in (before, after))
    return change_result(
        schema, Delta(difference(new, old), difference(old, new)), after.version, dictionary
    )


def rows_as_change(rows: Result, schema: RelationSchema) -> Result:
    """All rows as a change from nothing."""
    dictionary = Dictionary()
    columns = _codes(rows, schema, dictionary)
    return change_result(
        schema, Delta(columns, [column[:0] for column in columns]), rows.version, dictionary
    )


def _codes(rows: Result, schema: RelationSchema, dictionary: Dictionary) -> Columns:
    """All rows, sorted."""
    if not schema.arity:
        return [np.zeros(len(rows), np.int64)]
    return sort_rows(frames.read(rows.arrow(), schema.columns, dictionary=dictionary).columns)
