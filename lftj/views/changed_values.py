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
from lftj.join.plan.variable_orders import variables_of
from lftj.maintenance.inputs.moved_rules import renamed
from lftj.maintenance.inputs.versions import SIGNED, Versions
from lftj.program.normal_form import Assignment, NormalRule, PositiveAtom, Ref, RelationSchema
from lftj.scantree.frozen import record
from lftj.storage.delta import Columns
from lftj.storage.transient_relation import TransientRelation
from lftj.views.lasting_plans import LastingQuery

Assignments = tuple[Columns, np.ndarray]


@record
class ValueQuery:
    """A rule that reads one relation of its stratum, of which only what is added depends on the
    value, as a query of the values before and after. `source`: that relation; `column`: the one
    with its values; `before` and `after`: the places of the group and of what is added then.
    """

    query: LastingQuery
    source: str
    column: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    @staticmethod
    def of(
        rule: NormalRule, own: PositiveAtom, column: int, head: tuple[int, ...], width: int
    ) -> ValueQuery:
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
        return ValueQuery(
            LastingQuery(query, needed, _joined(moved, atoms), (), query.reads),
            own.relation,
            column,
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
        columns, proofs = self.query.run(readable, context)
        found = [
            np.concatenate((columns[old], columns[new]))
            for old, new in zip(self.before, self.after, strict=True)
        ]
        return found, np.concatenate((-proofs, proofs))


def _joined(moved: PositiveAtom, atoms: tuple[PositiveAtom, ...]) -> tuple[int, ...]:
    """The variables of the changed rows that other atoms have."""
    others = {arg for atom in atoms if atom is not moved for arg in atom.args}
    return tuple({arg.variable for arg in moved.args if isinstance(arg, Ref) and arg in others})
