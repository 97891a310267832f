"""Rows that lie in parts: gathered in this process when asked for as a whole, or read by the
executors where they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.distributed.executor import Executor
from lftj.distributed.files.entry import Entry, files_of, missing, only, read_entries, read_entry
from lftj.distributed.files.manifest import ROWS, Manifest, told_by_the_system
from lftj.distributed.held import HeldFiles
from lftj.distributed.partitioning.cuts import ONE, Cut
from lftj.distributed.partitioning.plan import PartPlan
from lftj.distributed.parts.transport import ReadTask, read_part
from lftj.engine.options import with_named_options
from lftj.engine.result import Result
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta
from lftj.types.dictionary import Dictionary
from scantree.rows import difference, sort_rows

if TYPE_CHECKING:
    import pyspark.sql


@with_named_options
class DistributedResult(Result):
    """A relation of a distributed workspace, as of one version.

    `to_spark()` and `write_parquet(path)` leave the rows with the executors; everything else
    gathers them in this process first. It stays readable as long as it is held and the workspace is
    open, and so do DataFrames made of it, and what Spark makes of these.
    """

    def __init__(
        self,
        read: Callable[[Dictionary], Columns],
        tasks: Sequence[ReadTask],
        executor: Executor,
        count: int,
        version: int,
    ):
        """For the workspace."""
        dictionary = Dictionary()
        schema = tasks[0].schema
        super().__init__(
            schema.columns,
            partial(read, dictionary),
            count,
            dictionary,
            version=version,
            name=schema.name,
        )
        self._tasks = list(tasks)
        self._executor = executor
        self._held: HeldFiles | None = None

    def held_by(self, held: HeldFiles) -> DistributedResult:
        """The same, whose files stay as long as it is used."""
        self._held = held
        held.hold(self, partial(_files, self._tasks))
        return self

    def to_spark(self, spark: pyspark.sql.SparkSession | None = None) -> pyspark.sql.DataFrame:
        """A Spark DataFrame with a partition per part, read by the executors; `spark` is the
        session of the workspace.
        """
        fields = [
            pa.field(name, type.arrow) for name, type in zip(self.columns, self.types, strict=True)
        ]
        files = _files(self._tasks)
        for file in files:
            if not (path := self._executor.path / ROWS / file).exists():
                raise missing(path)
        frame = self._executor.frame(read_part, self._tasks, pa.schema(fields))
        if self._held is not None:
            self._held.hold_while(self._executor.used(frame), lambda: files)
        return frame

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as a folder of Parquet files, by the executors, in place of what is there;
        `load` reads it as it was.
        """
        self.to_spark().write.mode("overwrite").parquet(os.fspath(path))


def _files(tasks: Sequence[ReadTask]) -> set[str]:
    """The names of all files that these read."""
    return files_of(entry for task in tasks for entry in task.entries)


def relation_rows(
    executor: Executor, manifest: Manifest, plan: PartPlan, schema: RelationSchema
) -> DistributedResult:
    """All rows of a relation, base and derived."""
    name = schema.name if plan.derived(schema.name) else base_name(schema.name)
    entries = manifest.log.get(name, ())
    path, parts = executor.path, executor.partitions
    home = plan.homes[schema.name]
    tasks = [
        ReadTask(str(path), part, parts, schema, home, only(entries, part, home))
        for part in range(parts)
    ]
    count = manifest.counts.get(name, 0)
    return DistributedResult(
        lambda dictionary: gathered(executor, entries, schema, dictionary),
        tasks,
        executor,
        count,
        manifest.version,
    )


def gathered(
    executor: Executor, entries: Sequence[Entry], schema: RelationSchema, dictionary: Dictionary
) -> Columns:
    """All rows of entries, in this process. Raises DistributedError (E403) where files are missing
    or damaged, (E405) where the system cannot read them now.
    """
    with told_by_the_system(executor.path):
        return read_entries(
            executor.path / ROWS, entries, schema, ONE, 0, executor.partitions, dictionary
        ).inserts


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
    with told_by_the_system(executor.path):
        for entry, part in found:
            cut = ONE if part is None else home
            change = change.then(
                read_entry(folder, entry, schema, cut, part or 0, parts, dictionary)
            )
    return signed_rows(schema, change, version, dictionary)


def replaced_rows(
    before: DistributedResult, after: DistributedResult, schema: RelationSchema
) -> Result:
    """The difference of two versions of a relation, by comparing all rows."""

    dictionary = Dictionary()
    old, new = (_codes(each, schema, dictionary) for each in (before, after))
    return signed_rows(
        schema, Delta(difference(new, old), difference(old, new)), after.version, dictionary
    )


def all_as_change(rows: DistributedResult, schema: RelationSchema) -> Result:
    """All rows as a change from nothing."""
    dictionary = Dictionary()
    columns = _codes(rows, schema, dictionary)
    return signed_rows(
        schema, Delta(columns, [column[:0] for column in columns]), rows.version, dictionary
    )


def _codes(rows: DistributedResult, schema: RelationSchema, dictionary: Dictionary) -> Columns:
    """All rows, sorted."""
    if not schema.arity:
        return [np.zeros(len(rows), np.int64)]
    return sort_rows(frames.read(rows.arrow(), schema.columns, dictionary=dictionary).columns)


def signed_rows(
    schema: RelationSchema, change: Delta, version: int, dictionary: Dictionary
) -> Result:
    """A change as a result."""

    def read() -> Columns:
        rows: list[Any] = [
            np.concatenate(pair) for pair in zip(change.erases, change.inserts, strict=True)
        ][: schema.arity]
        signs = np.repeat(np.array([-1, 1], np.int64), [change.erased, change.inserted])
        return [*rows, signs, np.full(len(change), version, np.int64)]

    columns = (*schema.columns, *CHANGE_COLUMNS)
    return Result(
        columns, read, len(change), dictionary, version=version, name=f"changes of {schema.name}"
    )
