# SPDX-License-Identifier: Apache-2.0
"""Groups whose values change, and nothing else, in a stratum that adds up: what they add to others
before and after is found in one search, where delta queries would make one for the row that goes
and one for the row that comes.

In need(w, p, sum(n * m)) :- need(w, q, n), uses(q, p, m). a changed value n of (w, q) has the same
assignments as before. Each adds n′ * m in the place of n * m.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.order_choice import OrderSearch
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import lay_out
from lftj.join.plan.variable_orders import variables_of
from lftj.join.run.prepared import PreparedPlan
from lftj.maintenance.inputs.moved_rules import renamed
from lftj.maintenance.inputs.versions import SIGNED, Versions
from lftj.program.normal_form import Assignment, NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.scantree.frozen import record
from lftj.storage.delta import Columns
from lftj.storage.transient_relation import TransientRelation
from lftj.views.lasting_plans import keep_orders, outgrown

Assignments = tuple[Columns, np.ndarray]


@record
class ChangedValues:
    """A rule that reads one relation of its stratum, of which only what is added depends on the
    value, as a query of the values before and after. `source`: that relation; `column`: the one
    with its values; `needed`: variables of the group and of what is added `before` and `after`,
    which are places in it.
    """

    rule: NormalRule
    source: str
    column: int
    first: tuple[int, ...]
    needed: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    _prepared: PreparedPlan | None = None
    _sizes: tuple[int, ...] = ()

    @staticmethod
    def of(
        rule: NormalRule, own: PositiveAtom, column: int, head: tuple[int, ...], width: int
    ) -> ChangedValues:
        """The query of a rule whose head has these variables: `width` of the group, then those that
        are added.
        """
        value = own.args[column]
        assert isinstance(value, Ref), "the rule judges no value"
        variables, assignments = list(rule.variables), list(rule.assignments)
        names = {value.variable: len(variables)}
        variables.append(rule.variables[value.variable])
        for each in rule.assignments:
            if variables_of(each.expression) & names.keys():
                names[each.variable] = len(variables)
                variables.append(rule.variables[each.variable])
                made = renamed(each.expression, names)
                assignments.append(Assignment(names[each.variable], made))
        moved = PositiveAtom(SIGNED, (*own.args, Ref(names[value.variable])))
        after = (*head[:width], *(names.get(each, each) for each in head[width:]))
        needed = tuple(dict.fromkeys((*head, *after)))
        atoms = tuple(moved if atom is own else atom for atom in rule.atoms)
        query = replace(
            rule,
            variables=tuple(variables),
            atoms=atoms,
            assignments=tuple(assignments),
        )
        return ChangedValues(
            query,
            own.relation,
            column,
            _joined(moved, atoms),
            needed,
            tuple(map(needed.index, head)),
            tuple(map(needed.index, after)),
        )

    def run(
        self,
        gone: Columns,
        come: Columns,
        schema: RelationSchema,
        versions: Versions,
        context: Context,
    ) -> Assignments:
        """The addends of rows that go, with a negative number of assignments, and of the rows that
        come in their place.
        """
        types = (*schema.columns, schema.columns[self.column])
        rows = np.array([*gone, come[self.column]], np.int64)
        read = TransientRelation(RelationSchema(schema.name, types), context.resources.arena, rows)
        readable = versions.with_rows(SIGNED, read)
        sizes = tuple([readable[name].count for name in self.rule.reads])
        if self._prepared is None or outgrown(self._sizes, sizes):
            plan = self._plan(readable, context)
            self._prepared, self._sizes = PreparedPlan(plan, readable, context), sizes
            keep_orders(plan, readable, context)
        columns, proofs, _ = self._prepared.run(readable, context)
        found = [
            np.concatenate((columns[old], columns[new]))
            for old, new in zip(self.before, self.after, strict=True)
        ]
        return found, np.concatenate((-proofs, proofs))

    def _plan(self, versions: Versions, context: Context) -> RulePlan:
        statistics = context.statistics
        search = OrderSearch(
            self.rule,
            lambda name: statistics.of(versions[name]),
            lambda name: versions[name].orders(),
            frozenset(self.needed),
            0.0,
            context.upkeep,
            tuning=statistics.tuning,
        )
        choice = search.choose_behind(self.first)
        assert choice is not None, "changed rows are known before all else"
        return lay_out(self.rule, choice, self.needed, versions, count=True)


def _joined(moved: PositiveAtom, atoms: tuple[PositiveAtom, ...]) -> tuple[int, ...]:
    """The variables of the changed rows that other atoms have."""
    others = {arg for atom in atoms if atom is not moved for arg in atom.args}
    return tuple({arg.variable for arg in moved.args if isinstance(arg, Ref) and arg in others})
