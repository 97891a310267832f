# SPDX-License-Identifier: Apache-2.0
"""The driver's side of `resolve`: what a transaction asks of a relation goes to the parts that hold
the rows, and what it comes to stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import uuid4

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.manifest import files_from, remove_files
from lftj.distributed.partitioning.cuts import ONE, Cut, holders, readers
from lftj.distributed.partitioning.partition_keys import home_columns
from lftj.distributed.sending import Dependent, Sending, Sent, Staged
from lftj.distributed.work.resolve import CHANGE, Resolved, ResolveTask, resolve
from lftj.program import RelationSchema
from lftj.scantree import frozen
from lftj.types import Dictionary

Where = Mapping[str, object]
Operation = tuple[str, tuple[Entry, ...]]
"""An operation, and the entries with its rows."""


@frozen
class Resolution:
    """Operations on one relation in one transaction on a version; `dictionary` codes the rows that
    pass through this process.
    """

    present: Present
    schema: RelationSchema
    dictionary: Dictionary
    bounds: Bounds

    def resolved(
        self, steps: Sequence[Staged], where: Where | None = None
    ) -> tuple[list[Entry], int]:
        """The net change of these steps, and of deleting then what has the values `where`, as
        entries; and how many rows had them.

        One job, of the parts that have to do with it. Raises what steps raise that refuse rows;
        files that were made for it are gone then.
        """
        path, version = self.present.executor.path, self.present.manifest.version + 1
        stem = f"{version}-{uuid4().hex[:16]}"
        operations = list[Operation]()
        try:
            for number, step in enumerate(steps):
                operation = step.operation if isinstance(step, Dependent) else CHANGE
                sending = Sending(
                    self.present.executor,
                    self.schema,
                    self.cuts[:1],
                    f"{stem}-in{number}",
                    version,
                    self.bounds,
                )
                operations.append((operation, tuple(sending.sent(step, self.dictionary))))
            found = self._asked(operations, where, f"{stem}-settled", version)
        except BaseException:
            remove_files(path, files_from(path, stem))  # other parts may have written theirs
            raise
        finally:
            before = {entry for step in steps if isinstance(step, Sent) for entry in step.entries}
            sent = {entry for _, entries in operations for entry in entries}
            remove_files(path, files_of(sent - before))
        return [done.entry for done in found if done.entry is not None], sum(
            done.found for done in found
        )

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """The cuts in which base rows are read, the one by which they lie first."""
        plan = self.present.plan
        if self.schema.name in plan.homes:
            return plan.cuts(self.schema.name)
        return tuple(home_columns(self.schema)[:1]) or (ONE,)

    def _asked(
        self, operations: list[Operation], where: Where | None, stem: str, version: int
    ) -> list[Resolved]:
        """Each part that has to do with it does its share."""
        executor, home = self.present.executor, self.cuts[0]
        of: dict[int, list[Operation]] = {
            part: [] for part in (() if where is None else self._holding(where))
        }
        for operation, entries in operations:
            shares: dict[int, list[Entry]] = {}
            for entry in entries:
                for part in readers(home, entry.holding(home), executor.partitions):
                    shares.setdefault(part, []).append(entry.only(part, home))
            for part, share in shares.items():
                of.setdefault(part, []).append((operation, tuple(share)))
        limits = self.bounds.left()
        tasks = [
            ResolveTask(
                **self.present.on(part, limits),
                schema=self.schema,
                home=home,
                cuts=self.cuts,
                stem=stem,
                version=version,
                operations=tuple(of[part]),
                where=where,
            )
            for part in sorted(of)
        ]
        return self.bounds.run(executor, resolve, tasks)

    def _holding(self, where: Where) -> set[int]:
        """The parts that may hold rows with these values."""
        names, types = (
            [name for name, _ in self.schema.columns],
            [type for _, type in self.schema.columns],
        )
        values = {names.index(name): value for name, value in where.items()}
        return holders(values, types, self.cuts[0], self.present.executor.partitions)
