# SPDX-License-Identifier: Apache-2.0
"""Resolution of operations that depend on existing rows: upserts, deletions by value, and those
that refuse present or absent rows.

The parts that hold the rows resolve them, by the `Staging` of every workspace. They get the
operations of a transaction, in its order, and write the net change of their rows, which the commit
then takes like rows that were sent. Only their numbers come back.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.distributed.files.entry import Entry
from lftj.distributed.files.row_files import read_entries, write_entry
from lftj.distributed.partitioning.cuts import Cut, local_name
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.task import OnPart
from lftj.distributed.work.worker import Holding, Worker, carefully
from lftj.engine.commit import Staging, codes_of
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.storage import RelationVersion, base_name, no_rows

CHANGE, UPSERT, NEW, GONE = "change", "upsert", "new", "gone"
"""Operations: rows that come or go; rows in place of those of their keys; rows that must not be
there; rows that must be there and go.
"""


@frozen
class ResolveTask(OnPart):
    """One part's share of the operations on a relation, whose rows lie by the cut `home`: each with
    its rows, in one entry or several. `where`: values of rows to delete after them.

    `cuts`, `stem`, `version`: of the entry that is written.
    """

    schema: RelationSchema
    home: Cut
    cuts: tuple[Cut, ...]
    stem: str
    version: int
    operations: tuple[tuple[str, tuple[Entry, ...]], ...]
    where: Mapping[str, object] | None


@frozen
class Resolved:
    """The net change in one part, None where there is none, how many rows `where` found, and how
    the part was come by; see `PartDone`.
    """

    part: int
    entry: Entry | None
    found: int
    origin: str


def resolve(task: ResolveTask) -> Resolved | Failure:
    """Do it. Raises what has to be tried again."""
    return carefully(task, lambda worker: _resolved(task, worker))


def _resolved(task: ResolveTask, worker: Worker) -> Resolved:
    holding = Holding(task, worker)
    holding.require_last()
    staging = Staging(_committed(holding))
    dictionary, found = holding.host.dictionary, no_rows(task.schema.arity)
    for operation, entries in task.operations:
        deltas = [
            read_entries(
                holding.folder, [entry], task.schema, task.home, task.part, task.parts, dictionary
            )
            for entry in entries
        ]
        if operation in (NEW, GONE):  # a row may come in several entries
            rows = [delta.inserts if operation == NEW else delta.erases for delta in deltas]
            staging.refuse(
                list(map(np.concatenate, zip(*rows, strict=True))), operation == NEW, dictionary
            )
        for delta in deltas:
            staging.add("delete", delta.erases)
            staging.add("upsert" if operation == UPSERT else "insert", delta.inserts)
    if task.where is not None:
        codes = codes_of(task.schema, task.where, dictionary)
        found = found if codes is None else staging.where(codes)
        staging.add("delete", found)
    net, entry = staging.net(), None
    worker.checkpoints.check()
    if len(net):
        stem = f"{task.stem}-{task.part}"
        entry = write_entry(
            holding.folder, stem, task.version, task.schema, net, task.cuts, task.parts, dictionary
        )
    holding.tidy()
    return Resolved(task.part, entry, len(found[0]), holding.origin)


def _committed(holding: Holding[ResolveTask]) -> RelationVersion:
    """The part's own rows of the relation, under its own name; none where the version does not know
    it.
    """
    task, plan = holding.task, holding.plan
    name = task.schema.name
    if name not in plan.homes:
        return RelationVersion.empty(task.schema, holding.host.arena)
    state = holding.state()  # before its host is asked for: a part that is opened may bring one
    local = local_name(name, plan.homes[name])
    return state.database[base_name(local) if plan.derived(name) else local]
