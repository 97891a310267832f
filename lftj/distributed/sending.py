# SPDX-License-Identifier: Apache-2.0
"""Rows of an open commit on their way to the parts: from this process, or from where the executors
read them.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lftj.distributed.bounds import Bounds
from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.files.row_files import write_entry
from lftj.distributed.objects.mounts import sent
from lftj.distributed.partitioning.cuts import Cut
from lftj.distributed.parts.failure import Failure
from lftj.distributed.parts.pieces import FilesTask, Piece, route_files
from lftj.distributed.parts.transport import RouteTask, count_rows, route
from lftj.distributed.work.resolve import UPSERT
from lftj.partition import Executor
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.storage import Delta
from lftj.types import Dictionary


@frozen
class Routed:
    """A DataFrame whose rows come (`sign` 1) or go (−1), or do what its column of that name says;
    read by the executors, at commit.
    """

    frame: Any
    sign: int | str
    options: Mapping[str, Any]


@frozen
class Files:
    """Pieces of files whose rows come or go; read by the executors, at commit."""

    pieces: Sequence[Piece]
    sign: int
    options: Mapping[str, Any]


@frozen
class Dependent:
    """Rows whose effect depends on those that are there, by one of the operations."""

    operation: str
    rows: Delta | Routed | Files


@frozen
class Sent:
    """Rows that were sent already, or resolved by the parts that hold them."""

    entries: tuple[Entry, ...]


Staged = Delta | Routed | Files | Dependent | Sent


@frozen
class Sending:
    """Rows of one relation on their way, in these cuts: `stem` begins the names of the files."""

    executor: Executor
    schema: RelationSchema
    cuts: tuple[Cut, ...]
    stem: str
    version: int
    bounds: Bounds

    def sent(self, step: Staged, dictionary: Dictionary, *, upsert: bool = False) -> list[Entry]:
        """The entries of one step, which are none where there are no rows. Raises DistributedError
        (E401) when the job failed.
        """
        path, parts = self.executor.path, self.executor.partitions
        if isinstance(step, Sent):
            return list(step.entries)
        if isinstance(step, Dependent):
            return self.sent(step.rows, dictionary, upsert=step.operation == UPSERT)
        if isinstance(step, Delta):
            if not len(step):
                return []
            return [
                write_entry(
                    path / ROWS,
                    self.stem,
                    self.version,
                    self.schema,
                    step,
                    self.cuts,
                    parts,
                    dictionary,
                )
            ]
        task = RouteTask(
            sent(path),
            self.stem,
            self.version,
            parts,
            self.schema,
            self.cuts,
            step.sign,
            upsert,
            step.options,
        )
        if isinstance(step, Files):
            # Neighbours together, in their order: of rows with one key the last one wins.
            pieces, shared = len(step.pieces), min(parts, len(step.pieces))
            cuts = [number * pieces // shared for number in range(shared + 1)] if shared else []
            shares = [
                FilesTask(tuple(step.pieces[first:last]), task)
                for first, last in itertools.pairwise(cuts)
            ]
            found = self.bounds.timed(
                lambda seconds: self.executor.map(route_files, shares, seconds=seconds)
            )
        else:
            found = self.bounds.timed(lambda seconds: self._scanned(step.frame, task, seconds))
        went, came = (
            zip(*found, strict=True) if found else ((), ())
        )  # what goes does so before anything comes
        return [entry for entry in (*went, *came) if entry is not None]

    def _scanned(self, frame: Any, task: RouteTask, seconds: float | None) -> list[Any]:
        """Results of `route`, for each partition. Where one fails, rows of the partitions before it
        are counted, and it is read again, so that the error names the row of the whole frame.
        """
        scan = self.executor.scan
        found = scan(frame, route, task, seconds=seconds)
        at = next((i for i, each in enumerate(found) if isinstance(each, Failure)), 0)
        if at:
            first = sum(scan(frame, count_rows, None, seconds=seconds)[:at])
            again = scan(frame, route, replace(task, first=first), seconds=seconds)[at]
            if isinstance(again, Failure):
                return [again]
        return found
