# SPDX-License-Identifier: Apache-2.0
"""Plan of a question over parts: a temporary rule over the rows that parts hold already.

It is placed as rules are, but reads relations in the cuts in which parts hold them wherever it can:
anything else is read anew from files. So beside variables constants may lead too: the rows with a
constant in the column by which they are cut are in one part, and only that part is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.distributed.partitioning.cuts import ALL, HERE, ONE, Cut, holders, local_name
from lftj.distributed.partitioning.part_plan import Feed, Output, PartPlan, Stage
from lftj.distributed.partitioning.part_planner import Planner
from lftj.distributed.partitioning.partition_keys import (
    Lead,
    Pair,
    Placement,
    Rule,
    alone,
    constants,
    leading,
    pairs,
)
from lftj.distributed.partitioning.placement import Partitioner
from lftj.program import NormalRule, Program, Ref, RelationSchema, StratifiedProgram, Stratum, Value
from lftj.scantree import frozen
from lftj.storage import base_name
from lftj.types import INT, Role, without_role

_READ = 1000  # what it costs to read a relation anew, and 1 a row more
_ALONE = 200


@frozen
class QueryPlan:
    """As a `PartPlan`, for the relations of one question; the last is its answers. `cuts`: of the
    local relations that are read.
    """

    local: Mapping[str, RelationSchema]
    feeds: tuple[Feed, ...]
    stages: tuple[Stage, ...]
    outputs: tuple[Output, ...]
    cuts: Mapping[str, Cut]

    def asked(self, stage: int, parts: int) -> list[int]:
        """The parts that can have something to say in a stage."""
        found = set[int]()
        for stratum, alone_ in zip(
            self.stages[stage].strata, self.stages[stage].alone, strict=True
        ):
            for rule in stratum.rules:
                found |= {0} if alone_ else self._parts_of(rule, parts)
        return sorted(found)

    def _parts_of(self, rule: Rule, parts: int) -> set[int]:
        """The parts in which a local rule can find something: few where it wants a constant in the
        column by which a relation lies.
        """
        found = set(range(parts))
        for atom in rule.atoms if isinstance(rule, NormalRule) and not rule.aggregates else ():
            values = {
                column: argument
                for column, argument in enumerate(atom.args)
                if isinstance(argument, Value)
            }
            cut = self.cuts.get(atom.relation)
            if values and cut is not None:
                types = [
                    values[column].type if column in values else INT
                    for column in range(len(atom.args))
                ]
                found &= holders(
                    {column: value.value for column, value in values.items()}, types, cut, parts
                )
        return found


def query_plan(
    plan: PartPlan,
    program: Program,
    own: Sequence[Stratum],
    counts: Mapping[str, int],
    *,
    held: bool,
) -> QueryPlan:
    """The plan for the strata `own` of a program that `plan` knows but for them; `held`: whether
    parts are at the version that is asked.
    """
    return _QueryPlanner(
        plan, program, own, counts, frozenset(plan.held) if held else frozenset()
    ).query()


class _QueryPartitioner(Partitioner):
    """Places the strata of a question; other relations are where they are."""

    def __init__(
        self,
        plan: PartPlan,
        program: StratifiedProgram,
        own: Sequence[Stratum],
        counts: Mapping[str, int],
        held: frozenset[str],
    ):
        self._held, self._counts, self._known = held, counts, plan.program.catalog.relations
        super().__init__(program, {}, plan.hubs.copy(), plan.placements, own)

    def _leads(self, rule: NormalRule) -> Iterator[Lead]:
        yield from pairs(rule, self._hubs.of, constants=True)
        yield from leading(rule)
        yield from constants(rule)

    def _split(self, placed: Placement, schema: RelationSchema, rules: list[Rule]) -> Placement:
        """Keep the placement: a question is asked where its rows lie."""
        return placed

    def _reading(self, relation: str, cut: Cut) -> int:
        if relation not in self._known or local_name(relation, cut) in self._held:
            return super()._reading(relation, cut)
        rows = self._counts.get(relation, 0) or self._counts.get(base_name(relation), 0)
        return _READ + rows * (2 if cut == ALL else 1)

    def _others(
        self, schema: RelationSchema, rules: list[Rule]
    ) -> Iterator[tuple[int, int, Placement]]:
        """Placements in the part of a constant, or in the first part."""
        (rule, *more) = rules
        if isinstance(rule, NormalRule) and not more and not rule.aggregates and not schema.choice:
            for number, lead in enumerate(self._leads(rule)):
                if isinstance(lead, Value) or (isinstance(lead, Pair) and _kept_apart(rule, lead)):
                    yield self._cost(rule, lead, {}), -1 - number, Placement(HERE, (lead,))
        read = {name for each in rules for name in each.reads}
        yield (
            _ALONE + sum(self._reading(name, ONE) for name in read),
            schema.arity + 1,
            alone(rules),
        )


def _kept_apart(rule: NormalRule, lead: Pair) -> bool:
    """Check that no two parts can find one answer: it has the variables of the pair."""
    return all(
        isinstance(term, Value) or Ref(term) in rule.head for term in (lead.first, lead.second)
    )


class _QueryPlanner(Planner):
    def __init__(
        self,
        plan: PartPlan,
        program: Program,
        own: Sequence[Stratum],
        counts: Mapping[str, int],
        held: frozenset[str],
    ):
        super().__init__(
            program,
            plan.views,
            _QueryPartitioner(plan, program.stratified, own, counts, held).found,
            plan.hubs,
            held,
        )
        self._own, self._known, self._derived = own, plan.program.catalog.relations, plan.placements
        self.ready = dict.fromkeys(held, 0)

    def query(self) -> QueryPlan:
        for stratum in self._own:
            self._stratum(stratum)
        own = {name for stratum in self._own for name in stratum.relations}
        outputs = tuple(
            self._output(*made)
            for made in self.made
            if without_role(made[1].name, Role.SHARE) in own and self._reported(made[1].name)
        )
        return QueryPlan(self.local, tuple(self.feeds.values()), self._stages(), outputs, self.cuts)

    def _reading(self, relation: str, cut: Cut, own: Mapping[str, Cut]) -> str:
        """Local name of a relation in a cut. If parts do not hold it there, it is read from
        entries, for which the home has no rows either.
        """
        name = local_name(relation, cut)
        self.cuts[name] = cut
        if relation not in self._known or name in self.held or name in self.feeds:
            return super()._reading(relation, cut, own)
        self._local(name, RelationSchema(relation, self._known[relation].columns))
        self.feeds[name] = Feed(
            relation if relation in self._derived else base_name(relation), cut, self.local[name]
        )
        self.ready[name] = 0
        return name
