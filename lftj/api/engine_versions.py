# SPDX-License-Identifier: Apache-2.0
"""Versions of the engine of this process, and changes between two, as the classes of users read
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lftj.api.backend import VersionsInOrder
from lftj.engine.live.answers import answer, read
from lftj.engine.live.engine import Engine
from lftj.engine.live.verify import Discrepancy, discrepancies
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.questions.question import Question
from lftj.engine.versions.result import Result
from lftj.engine.versions.state import State
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen
from lftj.storage.delta import Delta
from lftj.types.texts import Texts

if TYPE_CHECKING:
    from lftj.explain.figures.views import Overview
    from lftj.explain.plans.analysis import PlanAnalysis
    from lftj.explain.plans.plan_report import PlanReport
    from lftj.proofs.missing import WhyNot
    from lftj.proofs.proof import Proof


@frozen(guarded=True)
class CommitChanges:
    """Changes of one commit. They hold the versions before and after it, which share what did not
    change.
    """

    engine: Engine
    before: State
    after: State
    catalog: Catalog
    texts: Texts
    version: int
    work: int
    deltas: Mapping[str, Delta]
    base_deltas: Mapping[str, Delta]

    def names(self) -> list[str]:
        """The relations that changed."""
        return sorted(self.deltas)

    def of(self, name: str) -> Result:
        """The difference of one relation."""
        schema = self.catalog.relation(name)
        delta = self.deltas.get(name) or Delta.empty(schema.arity)
        return self.engine.change_set(self.version, schema, delta, self.texts)

    def inserted(self, name: str) -> int:
        """Number of rows of its own that the relation won."""
        delta = self.base_deltas.get(name)
        return delta.inserted if delta else 0


@frozen(guarded=True)
class EngineVersion:
    """One state of an engine."""

    engine: Engine
    state: State

    @property
    def number(self) -> int:
        """Number of the commit that made it."""
        return self.state.version

    @property
    def program(self) -> Program:
        """Relations and rules."""
        return self.state.program

    @property
    def views(self) -> frozenset[str]:
        """The relations that take no rows of their own."""
        return self.state.views

    def rows(self, schema: RelationSchema) -> Result:
        """All rows of a relation. O(1) until the result is read."""
        return self.engine.result(self.state, schema)

    def rows_as_change(self, schema: RelationSchema) -> Result:
        """All rows of a relation as a change from nothing."""
        return self.engine.all_as_change(self.state, schema)

    def sample(self, schema: RelationSchema, rows: int) -> list[tuple[Any, ...]]:
        """About so many rows, at equal distances. O(rows · log n)."""
        texts = self.engine.dictionary.texts()
        relation = self.state.relation(schema.name)

        def sampled() -> list[np.ndarray]:
            return relation.sample(min(rows, relation.count))

        found = Result(
            schema.columns,
            self.engine.whole(sampled, schema, texts),
            min(rows, relation.count),
            texts,
            version=self.number,
            name=schema.name,
        )
        return list(dict.fromkeys(found.fetchall()))

    def query(self, question: object, values: Sequence[object]) -> Result:
        """Answers, found on this version."""
        return answer(self.engine, self.state, question, values)

    def check(self, question: Question) -> None:
        """Read and check a question for the program of this version."""
        read(self.engine, self.state, question)

    def plan(self, rule: RuleHandle | None, passes: bool) -> PlanReport:
        """Plans on the rows of this version."""
        from lftj.explain.plans import plan_report, plans_report  # as below

        if rule is None:
            return plans_report(self.engine, self.state, passes=passes)
        return plan_report(self.engine, self.state, rule, passes=passes)

    def explain_plan(self, what: object, analyze: bool) -> PlanAnalysis:
        """Plans, and what their levels take on the rows of this version."""
        from lftj.explain.plans.explain_plan import explain_plan  # as below

        return explain_plan(self.engine, self.state, what, analyze)

    def overview(self) -> Overview:
        """Relations with their rows."""
        from lftj.explain.figures.views import overview  # as below

        counts = self.state.database
        return overview(self.number, self.program, lambda name: counts[name].count)

    def explain(
        self, what: object, row: object, rows: int, proofs: int | None
    ) -> Proof | Iterator[Proof]:
        """Proofs, searched for on the rows of this version."""
        from lftj.explain.present.explain import explain  # only those who ask pay for importing it

        return explain(self.engine, self.state, what, row, rows, proofs)

    def why_not(self, what: object, row: object, rows: int, changes: int) -> WhyNot:
        """Attempts and changes, searched for on the rows of this version."""
        from lftj.explain.missing.why_not import why_not  # only those who ask pay for importing it

        return why_not(self.engine, self.state, what, row, rows, changes)

    def verify(self) -> list[Discrepancy]:
        """Views that a fresh evaluation finds otherwise."""
        return discrepancies(self.engine, self.state)


class EngineVersions(VersionsInOrder):
    """Versions of an engine, to read."""

    def version(self, number: int) -> EngineVersion:
        """A version. O(1) where it is held."""
        return EngineVersion(self.engine, self.state(number))
