# SPDX-License-Identifier: Apache-2.0
"""Parts on an executor as a backend."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, fields, replace
from typing import TYPE_CHECKING, Any, NoReturn

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.files.manifest import remove_files
from lftj.distributed.memory import memory_report
from lftj.distributed.objects.mounts import shown
from lftj.distributed.parts.outcome import Report
from lftj.distributed.placement_report import parts_plan
from lftj.distributed.query import answer, bound_body
from lftj.distributed.repartition import Repartition
from lftj.distributed.result import relation_rows, rows_as_change
from lftj.distributed.store import Store
from lftj.distributed.stream import batch_writer
from lftj.distributed.verify import discrepancies
from lftj.engine.calls import Kind, refused
from lftj.engine.live import Discrepancy
from lftj.engine.programs import RuleHandle
from lftj.engine.questions import Question, values_of
from lftj.engine.transaction import RelationOrName
from lftj.engine.versions import Result
from lftj.explain.figures import Overview, Profile, last_commits, overview
from lftj.explain.plans import PlanAnalysis, PlanReport
from lftj.program import Program, RelationSchema
from lftj.proofs import ChangeExplanation, Proof, WhyNot
from lftj.scantree import interrupts_as_such
from lftj.syntax import UserFunction, attending
from lftj.types import FLOAT, INT, Dictionary

if TYPE_CHECKING:
    from lftj.distributed.copies import Copies

_FEW = 100_000
"""Rows that are brought to this process to show some of them."""


class PartsVersion:
    """One version of a store. Its files stay as long as it is referred to and the store is open."""

    def __init__(self, store: Store, present: Present):
        self._store, self._present = store, present
        store.held.hold(self, present.manifest.files)

    @property
    def number(self) -> int:
        """Number of the commit that made it."""
        return self._present.manifest.version

    @property
    def program(self) -> Program:
        """Relations and rules."""
        return self._present.program

    @property
    def views(self) -> frozenset[str]:
        """The relations that take no rows of their own."""
        return self._present.views

    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation."""
        return relation_rows(self._present, schema, self._store.held)

    def rows_as_change(self, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing. They come to this process."""
        return rows_as_change(self.rows(schema), schema)

    def sample(self, schema: RelationSchema, rows: int) -> list[tuple[Any, ...]]:
        """Some rows, those that are read first. Of a large relation Spark reads them."""
        found = self.rows(schema)
        if len(found) <= _FEW:
            return found.fetchall()[:rows]
        return [tuple(row) for row in found.to_spark().limit(rows).collect()]

    @interrupts_as_such()
    def query(self, question: object, values: Sequence[object]) -> Result:
        """Answers, found by parts: in what they hold where this is the last version, else in what
        they read from files.
        """
        store, last = self._store, self._store.present
        held = self._present.manifest.token == last.manifest.token
        present, bounds = last if held else self._present, Bounds(store.limits.current)
        with store.described("query"):
            with attending(bounds.budget.read_on):
                asked = bound_body(self.program.catalog, question, values)
            return answer(present, asked, bounds, store.held, store.kernels, held=held)

    def check(self, question: Question) -> None:
        """Check the types of a question's parameters; the rest is checked when it is asked."""
        values_of(self.program.catalog, question.parametrised)

    def plan(self, rule: RuleHandle | None, passes: bool) -> PlanReport:
        """Places of relations, and joins as one process would plan them."""
        return parts_plan(self._present, self.program, rule, passes)

    def explain_plan(self, what: object, analyze: bool) -> PlanAnalysis:
        """Plans, and what their levels take on a copy of the relations that they read."""
        from lftj.distributed.copies import relations_of  # only those who ask pay for importing it
        from lftj.explain.plans import explain_plan

        rules = [RuleHandle(each, self.program.rule(each)) for each in self.program.sources]
        copies = self._copies()
        state = copies.below(relations_of(what, rules))
        return explain_plan(copies.engine, state, what, analyze)

    def _copies(self) -> Copies:
        """Copies of relations of this version, the ones that were made before if it is the same."""
        from lftj.distributed.copies import Copies

        store = self._store
        if store.copies is None or not store.copies.shows(self._present):
            store.copies = Copies.of(self._present, store.limits)
        return store.copies

    def overview(self) -> Overview:
        """Relations with their rows."""
        counts = self._present.manifest.counts
        return overview(self.number, self.program, lambda name: counts.get(name, 0))

    def explain(
        self, what: object, row: object, rows: int, proofs: int | None
    ) -> Proof | Iterator[Proof]:
        """Proofs, searched for on a copy of what the row is derived from."""
        from lftj.explain.present import asked_row, explain

        copies = self._copies()
        relation, values = asked_row(copies.state, what, row)
        return explain(copies.engine, copies.below([relation]), relation, values, rows, proofs)

    def why_not(self, what: object, row: object, rows: int, changes: int) -> WhyNot:
        """Attempts and changes, searched for on a copy; a dry run derives what it touches anew."""
        from lftj.explain.missing import why_not
        from lftj.explain.present import asked_row

        copies = self._copies()
        relation, values = asked_row(copies.state, what, row)
        return why_not(copies.engine, copies.below([relation]), relation, values, rows, changes)

    @interrupts_as_such()
    def verify(self) -> list[Discrepancy]:
        """Views that are derived otherwise from the base rows. Nobody commits or compacts
        meanwhile.
        """
        present = self._present
        with self._store.writer.held(), self._store.described("verification"):
            return discrepancies(present.executor, present.manifest, present.plan)


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
        """Refuse: nobody else commits to the path."""
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
            remove_files(self.executor.path, old | commit.passing | commit.nets)
        return True
