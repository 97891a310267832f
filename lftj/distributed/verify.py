# SPDX-License-Identifier: Apache-2.0
"""Verification of the views: all are derived anew from the base rows, beside the kept ones, and
compared part by part.

The base rows are read where they are: a folder below the path shows the same files under links. It
is no part of any version, and removed in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from lftj.distributed.commit import Commit
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, only
from lftj.distributed.files.manifest import ROWS, Manifest, reported_by_the_system
from lftj.distributed.files.row_files import missing, read_entries
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import AnyPath, here, sent
from lftj.distributed.partitioning.cuts import Cut
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.failure import checked, guarded
from lftj.distributed.work.worker import forget
from lftj.engine.live import Discrepancy
from lftj.engine.versions import Result, change_result
from lftj.partition import Executor
from lftj.program import CHANGE_COLUMNS, RelationSchema
from lftj.scantree import differences, frozen
from lftj.storage import Delta
from lftj.storage.durable import LEFT, PAGES
from lftj.types import Dictionary

_FOLDER = "verify-"

Rows = list[tuple[Any, ...]]


@frozen
class CompareTask:
    """One part of the views as they are kept and as they were derived anew: each with the entries
    of both.
    """

    kept: AnyPath
    anew: AnyPath
    part: int
    parts: int
    version: int
    views: Mapping[str, tuple[RelationSchema, Cut, tuple[Entry, ...], tuple[Entry, ...]]]


def compare_part(task: CompareTask) -> dict[str, Rows]:
    """Missing and excess rows by view, with a sign and the version; correct views are left out."""
    found: dict[str, Rows] = {}
    for name, (schema, home, kept, anew) in task.views.items():
        dictionary = Dictionary()
        old, new = (
            read_entries(
                here(path) / ROWS, entries, schema, home, task.part, task.parts, dictionary
            ).inserts
            for path, entries in ((task.kept, kept), (task.anew, anew))
        )
        change = Delta(*differences(new, old))
        if len(change):
            found[name] = change_result(schema, change, task.version, dictionary).fetchall()
    return found


def discrepancies(executor: Executor, manifest: Manifest, plan: PartPlan) -> list[Discrepancy]:
    """The views that differ from what the rules derive; empty when all is well. As expensive as
    deriving every view from nothing.

    While nobody else commits. Raises DistributedError (E401) when a job failed, (E405) where there
    is no room beside what is kept.
    """
    schemas = {
        name: schema
        for name, schema in plan.program.catalog.relations.items()
        if plan.derived(name)
    }
    if not schemas:
        return []
    with reported_by_the_system(executor.path), _beside(executor, manifest) as (aside, bases):
        anew = (
            Commit(Present(aside, bases, plan), manifest.program, plan)
            .carry_out({}, Dictionary())
            .manifest
        )
        views = {
            name: (schema, plan.homes[name], manifest.log.get(name, ()), anew.log.get(name, ()))
            for name, schema in schemas.items()
        }
        parts = executor.partitions
        tasks = [
            CompareTask(
                sent(executor.path),
                sent(aside.path),
                part,
                parts,
                manifest.version,
                _damages(views, part),
            )
            for part in range(parts)
        ]
        found: list[dict[str, Rows]] = checked(
            guarded(lambda: list(executor.map(compare_part, tasks)))
        )
    wrong = {name: [row for part in found for row in part.get(name, ())] for name in schemas}
    return [
        _discrepancy(schemas[name], rows, manifest.version)
        for name, rows in sorted(wrong.items())
        if rows
    ]


def _damages(
    views: Mapping[str, tuple[RelationSchema, Cut, tuple[Entry, ...], tuple[Entry, ...]]], part: int
) -> dict[str, Any]:
    """The views with what one part has to know of their entries."""
    return {
        name: (schema, home, only(kept, part, home), only(anew, part, home))
        for name, (schema, home, kept, anew) in views.items()
    }


def _discrepancy(schema: RelationSchema, rows: Rows, version: int) -> Discrepancy:
    columns = (*schema.columns, *CHANGE_COLUMNS)
    return Discrepancy(
        schema.name,
        Result.of_rows(columns, rows, version=version, name=f"changes of {schema.name}"),
    )


@contextmanager
def _beside(executor: Executor, manifest: Manifest) -> Iterator[tuple[Executor, Manifest]]:
    """The executor on a folder of its own, where the base rows are all there is, and no
    rule yet.
    """
    aside = copy(executor)
    aside.path = executor.path / f"{_FOLDER}{uuid4().hex[:16]}"
    log = manifest.base_log()
    counts = {name: count for name, count in manifest.counts.items() if name in log}
    # Of another layout, so that all is derived though there be no rules: a relation with choice
    # domains is derived from its own rows.
    program = {**manifest.program, "rules": [], "layout": 0}
    bases = replace(
        manifest, program=program, log=log, counts=counts, tokens={}, steps={}, batches={}
    )
    bases = replace(bases, epoch=0, follows="")
    try:
        (aside.path / ROWS).mkdir(parents=True)
        files = bases.files()
        for file in files:
            _copy(executor.path / ROWS / file, aside.path / ROWS / file)
        if any(file.endswith(LEFT) for file in files):
            (aside.path / PAGES).symlink_to((executor.path / PAGES).resolve())
        bases.store(aside.path)
        yield aside, bases
    finally:
        store_of(aside.path).clear(aside.path)
        parts = [(sent(aside.path), part) for part in range(executor.partitions)]
        guarded(lambda: list(executor.map(forget, parts, range(executor.partitions))))


def _copy(file: Path, name: Path) -> None:
    """Another name for a file. Raises DistributedError (E403) where it is gone."""
    try:
        store_of(file).copy(file, name)
    except FileNotFoundError:
        raise missing(file) from None


def sweep_verified(path: Path) -> None:
    """Remove what a process left behind that died while it compared."""
    for folder in path.glob(f"{_FOLDER}*"):
        store_of(path).clear(folder)
