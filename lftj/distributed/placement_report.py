# SPDX-License-Identifier: Apache-2.0
"""Plans over parts: where relations lie, what parts are sent, and the joins of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.distributed.committed_version import Present
from lftj.distributed.partitioning.cuts import ALL, ONE, Cut
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.engine.live import Engine
from lftj.engine.programs import RuleHandle
from lftj.engine.versions import Result, State
from lftj.explain.plans import (
    PLACE_COLUMNS,
    PlanReport,
    ProgramPlan,
    plan_report,
    plans_report,
    state_without_rows,
)
from lftj.join.plan import RelationStatistics, Statistics
from lftj.program import Program, RelationSchema
from lftj.storage import RelationVersion, base_name, stored_width
from lftj.types import Role, lineage, without_role

_WORDS = {ALL: "whole in every part", ONE: "in the first part"}
_UNKNOWN_ROWS = 10_000
_DISTINCT = 0.75
"""Power of the number of rows that stands for the number of distinct values of a column."""


class PartsPlan(PlanReport):
    """Plan of one rule or of all over parts: the places of its relations, then the joins."""

    def __init__(self, joins: PlanReport, present: Present, state: State, engine: Engine):
        """For `parts_plan`."""
        super().__init__(joins.rule, joins.planned, joins.functors, state, engine, joins.passes)
        self._joins, self._present = joins, present

    def relations(self) -> list[str]:
        """The relations of the user's that the plans read or derive."""
        return self._joins.relations()

    def places(self) -> Result:
        """Places of relations, by stage: one row per local relation, which is `derived` or `sent`,
        `sliced` by a column, `whole in every part`, or `in the first part`; `rows` of the relation
        in all.
        """
        counts, plan, known = (
            self._present.manifest.counts,
            self._present.plan,
            set(self.relations()),
        )
        found = [("derived", out.stage, out.schema, out.cuts[0]) for out in plan.outputs]
        found += [("sent", feed.stage, feed.schema, feed.cut) for feed in plan.feeds]
        named = [*(out.relation for out in plan.outputs), *(feed.relation for feed in plan.feeds)]
        rows = [
            (what, stage, name, how(schema, cut) + _unsplit(plan, name, cut), counts.get(name, 0))
            for name, (what, stage, schema, cut) in zip(named, found, strict=True)
            if isinstance(self._joins, ProgramPlan) or not known.isdisjoint(lineage(name))
        ]
        rows.sort(key=lambda row: (row[1], row[0], row[2]))
        version = self._present.manifest.version
        return Result.of_rows(PLACE_COLUMNS, rows, version=version, name="places")

    @property
    def reports(self) -> Sequence[PlanReport]:
        """The plans rule by rule."""
        return [
            PartsPlan(each, self._present, self._state, self._engine)
            for each in self._joins.reports
        ]

    def lines(self, shown: dict[str, str]) -> Iterator[str]:
        """The places, then the joins."""
        yield from self._places()
        yield from self._joins.lines(shown)

    def describe(self) -> str:
        """The places, then the joins, as text."""
        return "\n".join([*self._places(), self._joins.describe()])

    def _places(self) -> Iterator[str]:
        lines = [
            f"  stage {stage}: {relation} is {what}, {how_held}; {rows:,} rows"
            for what, stage, relation, how_held, rows in self.places().fetchall()
        ]
        yield f"in {self._present.manifest.parts} parts"
        yield from lines
        yield "joins for relations of these sizes"


class _Counted(Statistics):
    """Statistics of relations whose rows are counted and not in this process."""

    def __init__(self, counts: Mapping[str, int]):
        super().__init__()
        self._counts = counts

    def of(self, relation: RelationVersion) -> RelationStatistics:
        """As many rows as were counted, with the same share of distinct values in each column."""
        name, schema = relation.schema.name, relation.schema
        rows = self._counts.get(name, self._counts.get(base_name(name), _UNKNOWN_ROWS))
        return RelationStatistics(rows, (float(rows) ** _DISTINCT,) * stored_width(schema.arity))


def parts_plan(
    present: Present, program: Program, rule: RuleHandle | None, passes: bool = False
) -> PartsPlan:
    """Plan of a rule of this program, or without one of all. Raises UnknownNameError (E114)."""
    engine = Engine(writer_timeout=0, progress=None)
    state, sizes = state_without_rows(engine, program), _Counted(present.manifest.counts)
    joins = (
        plans_report(engine, state, sizes, passes)
        if rule is None
        else plan_report(engine, state, rule, sizes, passes)
    )
    return PartsPlan(joins, present, state, engine)


def _unsplit(plan: PartPlan, relation: str, cut: Cut) -> str:
    return ", hubs not split" if plan.hubs.has(without_role(relation, Role.BASE), cut) else ""


def how(schema: RelationSchema, cut: Cut) -> str:
    """Describe how parts hold a relation in a cut."""
    if isinstance(cut, int):
        return _WORDS.get(cut) or f"sliced by {schema.columns[cut][0]}"
    second = "whole in every part" if cut.second is None else f"by {schema.columns[cut.second][0]}"
    return f"sliced by {schema.columns[cut.column][0]}, hubs {second}"
