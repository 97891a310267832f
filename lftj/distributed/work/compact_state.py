# SPDX-License-Identifier: Apache-2.0
"""Task of a compaction: one part is stored as it is, all its pages written together, so that files
of which most is of the past may go.
"""

from __future__ import annotations

from pathlib import Path

from lftj.distributed.objects.file_store import store_of
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.task import OnPart
from lftj.distributed.stored.stored_files import STATE, RecordName, records
from lftj.distributed.stored.stored_part import is_compact, read_record
from lftj.distributed.work.worker import Holding, Worker, carefully
from lftj.scantree import frozen
from lftj.storage.durable import NOT_TO_BE_HAD


@frozen
class StateTask(OnPart):
    """A part whose state is to be compacted; `steps`: those that its last commit had there."""

    steps: int


def compact_state(task: StateTask) -> str | Failure | None:
    """Store the part anew, and tell the file of the record; that which is there where it has no
    pages of the past. None where it cannot be.
    """
    return carefully(task, lambda worker: _compacted(task, worker))


def _compacted(task: StateTask, worker: Worker) -> str | None:
    holding = Holding(task, worker)
    holding.require_last()
    folder = task.folder / STATE
    for name in records(folder, task.part):
        if _is_last(name, task) and _stands(folder, name, task):
            return name.file
    try:
        state = holding.state()
    finally:
        holding.tidy()
    worker.checkpoints.check()
    stored = worker.checkpoints.stored_anew(task, task.steps, state, holding.host)
    return None if stored is None else stored.file


def _is_last(name: RecordName, task: StateTask) -> bool:
    return (name.token, name.version, name.steps) == (*task.base, task.steps)


def _stands(folder: Path, name: RecordName, task: StateTask) -> bool:
    """Tell whether a record is of this program, and its files are there, with no pages of the past
    in them.
    """
    try:
        record = read_record(folder, name, task.program_name, task.parts)
    except NOT_TO_BE_HAD:
        return False
    if record is None or not is_compact(record):
        return False
    if not store_of(folder).shared:
        return True  # objects that a record names stay
    return all((folder / segment["name"]).exists() for segment in record["segments"])
