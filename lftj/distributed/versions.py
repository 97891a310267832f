# SPDX-License-Identifier: Apache-2.0
"""Versions over parts, as the classes of users read them: by executors, or by this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.placement_report import parts_plan
from lftj.distributed.query import answer, bound_body
from lftj.distributed.result import relation_rows, rows_as_change
from lftj.distributed.verify import discrepancies
from lftj.engine.live import Discrepancy
from lftj.engine.programs import RuleHandle
from lftj.engine.questions import Question, values_of
from lftj.engine.versions import Result
from lftj.explain.figures import Overview, overview
from lftj.explain.plans import PlanAnalysis, PlanReport
from lftj.program import Program, RelationSchema
from lftj.proofs import Proof, WhyNot
from lftj.scantree import interrupts_as_such
from lftj.syntax import attending

if TYPE_CHECKING:
    from lftj.distributed.copies import Copies
    from lftj.distributed.store import Store

_FEW = 100_000
"""Rows that are brought to this process to show some of them."""


class VersionInFiles(ABC):
    """One version, of which the files stay as long as it is referred to."""

    def __init__(self, present: Present):
        self._present = present

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

    @abstractmethod
    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation."""

    @abstractmethod
    def _copies(self) -> Copies:
        """Copies of relations of this version in this process."""

    def rows_as_change(self, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing. They come to this process."""
        return rows_as_change(self.rows(schema), schema)

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

    def overview(self) -> Overview:
        """Relations with their rows."""
        return overview(self.number, self.program, self._present.count)

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


class PartsVersion(VersionInFiles):
    """One version of a store, read by executors as long as the store is open."""

    def __init__(self, store: Store, present: Present):
        super().__init__(present)
        self._store = store
        store.held.hold(self, present.manifest.files)

    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation."""
        return relation_rows(self._present, schema, self._store.held)

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

    def _copies(self) -> Copies:
        """Copies of relations of this version, the ones that were made before if it is the same."""
        from lftj.distributed.copies import Copies, engine_for

        store, present = self._store, self._present
        if store.copies is None or not store.copies.shows(present):
            store.copies = Copies.of(present, engine_for(present, store.limits))
        return store.copies

    @interrupts_as_such()
    def verify(self) -> list[Discrepancy]:
        """Views that are derived otherwise from the base rows. Nobody commits or compacts
        meanwhile.
        """
        present = self._present
        with self._store.writer.held(), self._store.described("verification"):
            return discrepancies(present.executor, present.manifest, present.plan)
