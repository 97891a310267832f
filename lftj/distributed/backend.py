# SPDX-License-Identifier: Apache-2.0
"""Parts on an executor as a backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any, NoReturn

from lftj.distributed.bounds import Bounds
from lftj.distributed.files.leases import leased
from lftj.distributed.files.manifest import remove_files
from lftj.distributed.memory import memory_report
from lftj.distributed.objects.mounts import shown
from lftj.distributed.parts.outcome import Report
from lftj.distributed.repartition import Repartition
from lftj.distributed.store import Store
from lftj.distributed.stream import batch_writer
from lftj.distributed.versions import PartsVersion
from lftj.engine.calls import Kind, refused
from lftj.engine.transaction import RelationOrName
from lftj.engine.versions import Result
from lftj.explain.figures import Profile, last_commits
from lftj.proofs import ChangeExplanation
from lftj.syntax import UserFunction
from lftj.types import FLOAT, INT, Dictionary

if TYPE_CHECKING:
    pass

_FEW = 100_000
"""Rows that are brought to this process to show some of them."""


class Parts(Store):
    """A store whose versions are read and committed through the classes of users."""

    kind = Kind.PARTS
    reopened_by = "lftj.connect(executor=…)"
    instead_of_copies = (
        "hand on what it holds, ws[name].arrow(), or open the path there once it is closed here"
    )

    @property
    def where(self) -> str:
        """Number of parts, and the path."""
        return f"{self.manifest.parts} parts below {shown(self.executor.path)}"

    @property
    def title(self) -> str:
        """The same, of the path its name only."""
        name = os.path.basename(os.path.normpath(shown(self.executor.path)))
        return f"{self.manifest.parts} parts below {name}"

    def current(self) -> PartsVersion:
        """The committed version of this moment."""
        return PartsVersion(self, self.present)

    def explain_change(
        self, draft: Any, committed: Any, what: object, row: object, rows: int
    ) -> ChangeExplanation:
        """Proofs from copies of the versions before and after a commit; of an open draft a dry run
        on a copy makes the one after.
        """
        from lftj.distributed.explain_change import Compared  # only those who ask pay for it

        if draft is None:
            compared = Compared.by_commit(self, committed.before, committed.after)
        else:
            compared = Compared.by_draft(self, self.present, draft)
        return compared.explain_change(what, row, rows)

    def memory(self) -> Result:
        """Rows and bytes of the parts that workers keep, and of files."""
        return memory_report(self.present, Bounds(self.limits.current))

    def profile(self, last: int | None) -> Profile:
        """One row per commit of this process, with the columns of `outcome.Report`."""
        columns = [(each.name, FLOAT if each.type == "float" else INT) for each in fields(Report)]
        rows = [astuple(report) for report in last_commits(self.reports, last)]
        return Profile(columns, rows, self.present.manifest.version, self.present.program)

    def feed(
        self, relation: RelationOrName, stream: str, sign: str | None, options: dict[str, Any]
    ) -> Callable[[Any, int], None]:
        """The function for `foreachBatch`."""
        return batch_writer(self, relation, stream, sign, options)

    def branching(self, capability: str) -> NoReturn:
        """Refuse: parts have one line of versions."""
        raise refused(capability, self.kind)

    def timeline(self, capability: str) -> NoReturn:
        """Refuse: parts keep their last version, and those that are held."""
        raise refused(capability, self.kind)

    def bind(self, function: UserFunction) -> bool:
        """No program over parts knows a function of the user's."""
        return False

    def preview(self, draft: object) -> NoReturn:
        """Refuse: parts write files while they compute."""
        raise refused("preview", self.kind)

    def refresh(self) -> None:
        """Refuse: the path has one writer."""
        raise refused("refresh", self.kind)

    def wait_for(self, version: int, timeout: float | None) -> bool:
        """Refuse, as `refresh` does."""
        raise refused("wait_for", self.kind)

    def save_as(self, path: str | os.PathLike[str], durability: str) -> None:
        """Refuse: the data lies below the executor's path already."""
        raise refused("save_as", self.kind)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Refuse: several processes write below the executor's path."""
        raise refused("backup", self.kind)

    def prepare(self) -> None:
        """Refuse: states are those of parts, which commits alone change."""
        raise refused("prepare", self.kind)

    def rebalance(self) -> bool:
        """Count hubs again, and derive all views anew if there are others. With the writer lock
        held.
        """
        before = self.version
        self.commit(self.draft(), count=True)
        return self.version > before

    def repartition(self, parts: int) -> bool:
        """Have so many parts; whether there were others. See `Workspace.repartition`. With the
        writer lock held.
        """
        self._lock.require()
        before, bounds = self.present, Bounds(self.limits.current)
        if parts == before.manifest.parts:
            return False
        commit = Repartition(before, parts, bounds, self.elastic, self._report)
        with self._undone(commit), self._alone(), self.described(f"{parts} parts"):
            outcome = commit.carry_out({}, Dictionary())
            ran = dict(commit.steps_of)
            self._become(replace(commit.present, manifest=outcome.manifest, ran=ran))
        if outcome.report is not None:
            self.reports.append(outcome.report)
        old = before.manifest.files() - self.manifest.files() - self.held.names()
        with suppress(OSError):
            old -= leased(self.executor.path)
            remove_files(self.executor.path, old | commit.passing | commit.nets)
        return True
