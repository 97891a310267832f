# SPDX-License-Identifier: Apache-2.0
"""A rule that is maintained by its trace: how its body looks to `sensitivity`, and the plans that
evaluate it inside regions.

A region is one more atom: a relation of pinned values that takes part at the levels it pins, so old
and new versions are evaluated inside regions by the kernel that evaluates them whole. Regions of
different shapes may overlap; each shape is evaluated with the shapes before it as negated atoms, so
that an assignment that lies in several counts once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.plan import Level, RulePlan
from lftj.join.plan.planner import lay_out
from lftj.join.run.assemble import Assembly
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.run.log_buffer import Channel, Logged
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import (
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    Value,
)
from lftj.sensitivity import AtomShape, BodyShape, Constant, Regions, Surgeries
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.types import Type, encode_constant
from lftj.types.dictionary import Dictionary
from lftj.types.sources import Role, Source, in_role

_MOST_KEPT = 64  # assemblies: plans for regions of several shapes, logged in several ways


def region_name(batch: int) -> Source:
    """The name under which a plan reads a batch of regions."""
    return Source("", Role.REGION, batch)


class TracedBody:
    """The body of one rule in one variable order, which stays while its sensitivity
    indices live.
    """

    def __init__(self, rule: NormalRule, plan: RulePlan, dictionary: Dictionary):
        self.rule = rule
        self.plan = plan
        self._dictionary = dictionary
        self._plans: dict[tuple[tuple[int, ...], ...], RulePlan] = {}
        self._assemblies: dict[tuple[int, Hashable], Assembly] = {}

    # ── what sensitivity has to know ──────────────────────────────────────────────────────────────
    @cached_property
    def shape(self) -> BodyShape:
        """The levels that decide, and the level of every key column there."""
        plan = self.plan
        atoms = [
            AtomShape(tuple([level for level in atom.levels if level < plan.decisive]))
            for atom in plan.atoms
        ]
        atoms += [
            AtomShape(tuple(map(self._argument, probe.args)), negated=True) for probe in plan.probes
        ]
        computed = {
            number: self._computed(level)
            for number, level in enumerate(plan.levels)
            if level.value is not None
        }
        exists_from = plan.decisive if plan.count else plan.group_level
        return BodyShape(plan.decisive, tuple(atoms), exists_from, computed)

    def _argument(self, argument: Ref | Value) -> int | Constant:
        return (
            self._place[argument.variable]
            if isinstance(argument, Ref)
            else self._constant(argument)
        )

    def _constant(self, value: Value) -> Constant:
        return Constant(encode_constant(value.type, value.value, self._dictionary))

    def _computed(self, level: Level) -> Constant | int | None:
        if isinstance(level.value, Value) and level.variable is None:
            return self._constant(level.value)
        return (
            self._place[level.value.variable]
            if isinstance(level.value, Ref) and level.variable is None
            else None
        )

    @cached_property
    def _place(self) -> dict[int, int]:
        return {
            level.variable: number
            for number, level in enumerate(self.plan.levels)
            if level.variable is not None
        }

    def changes(self, versions: Versions) -> list[Surgeries | None]:
        """The tree surgeries of each atom, positive ones first, in the key order that the plan
        reads.
        """
        atoms = (*self.plan.atoms, *self.plan.probes)
        return [
            versions.surgeries(atom.relation, atom.order)
            if atom.relation in versions.deltas
            else None
            for atom in atoms
        ]

    # ── evaluating inside regions ─────────────────────────────────────────────────────────────────
    def region_plans(
        self, batches: tuple[Regions, ...], relations: Relations
    ) -> Iterator[tuple[RulePlan, int]]:
        """Plan for each batch of regions, which evaluates it without the batches before, and the
        level to log from.
        """
        shapes: tuple[tuple[int, ...], ...] = ()
        for batch in batches:
            shapes = (*shapes, batch.levels)
            if shapes not in self._plans:
                self._plans[shapes] = self._region_plan(shapes, relations)
            yield self._plans[shapes], batch.log_from

    def _region_plan(self, shapes: tuple[tuple[int, ...], ...], relations: Relations) -> RulePlan:
        rule, last = self.rule, len(shapes) - 1
        inside = (
            [PositiveAtom(region_name(last), self._pinned(shapes[last]))]
            if self._pinned(shapes[last])
            else []
        )
        before = [
            NegatedAtom(region_name(number), self._pinned(levels))
            for number, levels in enumerate(shapes[:last])
        ]
        rule = replace(rule, atoms=(*rule.atoms, *inside), negated=(*rule.negated, *before))
        return lay_out(
            rule,
            self.plan.choice,
            self._needed,
            relations,
            count=self.plan.count,
            least=self.plan.least,
        )

    @cached_property
    def _needed(self) -> tuple[int, ...]:
        variables = [self.plan.levels[level].variable for level in self.plan.outputs]
        return tuple(variable for variable in variables if variable is not None)

    def _pinned(self, levels: tuple[int, ...]) -> tuple[Ref, ...]:
        """The variables that regions of this shape pin; constants and repeated variables are pinned
        by what they are computed from.
        """
        variables = (self.plan.levels[level].variable for level in levels)
        return tuple(Ref(variable) for variable in variables if variable is not None)

    def assembled(
        self, plan: RulePlan, relations: Relations, logged: Logged, which: Hashable
    ) -> Assembly:
        """The body's plan, or one of its region plans, over these relations. `which` names what is
        logged: the next commit asks for it.
        """
        known = self._assemblies.get((id(plan), which))
        return (
            self._assemble(plan, relations, logged, which)
            if known is None
            else known.over(relations)
        )

    def channels(self, relations: Relations, logged: Logged, which: Hashable) -> list[Channel]:
        """Channels that the body's own plan logs, by their numbers; as `assembled`."""
        known = self._assemblies.get((id(self.plan), which))
        return (known or self._assemble(self.plan, relations, logged, which)).channels

    def _assemble(
        self, plan: RulePlan, relations: Relations, logged: Logged, which: Hashable
    ) -> Assembly:
        if len(self._assemblies) >= _MOST_KEPT:
            self._assemblies.clear()
        made = Assembly(plan, relations, self._dictionary, logged)
        self._assemblies[id(plan), which] = made.without_trees()
        return made

    def region_relations(
        self, batches: tuple[Regions, ...], context: Context
    ) -> dict[str, RelationVersion]:
        """The pinned values of each batch as a relation, by the name that plans use."""
        found: dict[str, RelationVersion] = {}
        for number, batch in enumerate(batches):
            picks = [
                i
                for i, level in enumerate(batch.levels)
                if self.plan.levels[level].variable is not None
            ]
            columns: Columns = [np.ascontiguousarray(batch.columns[i]) for i in picks] or [
                np.zeros(1, np.int64)
            ]
            types = [(f"c{i}", self._type(batch.levels[i])) for i in picks]
            name = region_name(number)
            found[name] = TransientRelation(
                RelationSchema(name, tuple(types)), context.resources.arena, columns
            )
        return found

    def _type(self, level: int) -> Type:
        variable = self.plan.levels[level].variable
        assert variable is not None
        return self.rule.variables[variable].type


class WithRegions(Mapping[str, RelationVersion]):
    """Relations of one version, and the regions of the commit."""

    def __init__(self, relations: Relations, regions: Mapping[str, RelationVersion]):
        self._relations = relations
        self._regions = regions

    def __getitem__(self, name: str) -> RelationVersion:
        return self._regions[name] if in_role(name, Role.REGION) else self._relations[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._relations, *self._regions))

    def __len__(self) -> int:
        return len(self._relations) + len(self._regions)
