# SPDX-License-Identifier: Apache-2.0
"""Costs of plans, level by level: those that were estimated, and those that are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from lftj.explain.plans.analysis import BodyCost, LevelCost
from lftj.explain.plans.measure import MeasuredPlan, measured
from lftj.join import Context
from lftj.join.plan import PlannedAtom, RulePlan
from lftj.storage import RelationVersion

Relations = Mapping[str, RelationVersion]


class Bodies:
    """Costs of plans over the same relations. `measure` finds those of a plan's levels."""

    def __init__(
        self,
        relations: Relations,
        context: Context,
        analyze: bool,
        measure: Callable[[RulePlan, Relations, Context], MeasuredPlan] = measured,
    ):
        self._relations, self._context, self.analyze = relations, context, analyze
        self._measure = measure
        self.compile_seconds = 0.0

    def of(self, plan: RulePlan, notes: tuple[str, ...] = ()) -> BodyCost:
        """The cost of one plan."""
        found = self._measure(plan, self._relations, self._context) if self.analyze else None
        levels = tuple(self._levels(plan, found))
        relation, order, cost = plan.rule.relation, plan.variable_order, plan.choice.cost
        if found is None:
            return BodyCost(relation, order, cost, levels, notes)
        whole = found.whole
        self.compile_seconds += sum(each.compile_seconds for each in (*found.levels, whole))
        return BodyCost(
            relation, order, cost, levels, notes, whole.bindings, whole.seeks, whole.seconds
        )

    def _levels(self, plan: RulePlan, found: MeasuredPlan | None) -> Iterator[LevelCost]:
        estimates = dict(zip(plan.choice.order, plan.choice.bindings, strict=False))
        estimated = 1.0
        for number, level in enumerate(plan.levels):
            if level.variable is not None:
                estimated = float(estimates.get(level.variable, estimated))
            reading = [atom for atom in plan.atoms if number in atom.levels]
            opened = [atom for atom in reading if atom.levels[0] == number]
            memory = sum(
                8 * self._relations[atom.relation].count * len(atom.order) for atom in opened
            )
            atoms = [_searched(plan, atom) for atom in reading]
            atoms += [f"!{plan.probes[place].relation}" for place in level.probes]
            if level.value is not None:
                atoms.insert(0, "computed")
            atoms += ["tested"] * bool(level.filters)
            made = found.levels[number] if found else None
            yield LevelCost(
                number,
                level.name,
                tuple(atoms),
                estimated,
                made and made.bindings,
                made and made.seeks,
                made and made.seconds,
                memory,
            )


def _searched(plan: RulePlan, atom: PlannedAtom) -> str:
    """An atom with its variables in the key order that is read."""
    return f"{atom.relation}({', '.join(plan.levels[level].name for level in atom.levels)})"
