# SPDX-License-Identifier: Apache-2.0
"""Rows of which only values change that are added, in a stratum that adds up: what they add before
and after is found in one search, where delta queries would make one for the row that goes and one
for the row that comes.

In need(w, p, sum(n * m)) :- need(w, q, n), uses(q, p, m). a changed value n of (w, q) has the same
assignments as before. Each adds n′ * m in the place of n * m. The search goes from each q that has
changed rows to its parts, once for all w, and reads these as they lie; products are computed by
columns. The class `ChangedValues`, the values in all changes of a commit, is in
`lftj.maintenance.inputs.affected`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lftj.join.access.computed_columns import Computation, Computed, computations
from lftj.join.context import Context
from lftj.join.plan.variable_orders import variables_of
from lftj.maintenance.inputs.moved_rules import renamed
from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Versions
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Assignment,
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    Value,
)
from lftj.scantree.frozen import record
from lftj.scantree.rows import equal_runs, locate_ranges, sort_order
from lftj.storage.delta import Columns
from lftj.storage.relation import Order
from lftj.storage.transient_relation import TransientRelation
from lftj.types import encode_constant
from lftj.types.dictionary import Dictionary
from lftj.views.lasting_plans import LastingQuery

Assignments = tuple[Columns, np.ndarray]
Columned = Mapping[int, np.ndarray]
"""Columns by variable."""


@record
class ValueQuery:
    """A rule with an `atom` of whose rows only values change: its variables `values`, in other
    columns than the `fixed` ones. `head`: the variables of the group and of what is added.
    `joined`: those of the atom that the rest of the body reads, and `found`: all that this `rest`
    gives; `computed`: what is computed of them and of values. Without `rest` nothing that is added
    depends on values.
    """

    rule: NormalRule
    atom: PositiveAtom
    values: tuple[int, ...]
    fixed: Order
    head: Order
    joined: Order
    found: Order
    computed: tuple[Computed, ...]
    rest: LastingQuery | None

    @staticmethod
    def of(rule: NormalRule, group: Order, added: Order, only: int | None) -> ValueQuery | None:
        """The query of the atom that reads `CHANGE`, of whose values more than what is added does
        not depend on some: on that in the column `only`, where it is given. None where there are
        none.
        """
        atom = next(each for each in rule.atoms if each.relation == CHANGE)
        judged = judged_variables(rule, group)
        values = {
            arg.variable: place
            for place, arg in enumerate(atom.args)
            if isinstance(arg, Ref) and arg.variable not in judged and only in (None, place)
        }
        if not values:
            return None
        moved = {*values}
        for _ in rule.assignments:
            moved.update(
                each.variable
                for each in rule.assignments
                if not moved.isdisjoint(variables_of(each.expression))
            )
        later = [each for each in rule.assignments if each.variable in moved]
        others = replace(
            rule,
            atoms=tuple([each for each in rule.atoms if each is not atom]),
            assignments=tuple([each for each in rule.assignments if each not in later]),
        )
        own = {arg.variable for arg in atom.args if isinstance(arg, Ref)}
        joined = tuple(sorted((own & _variables(others)) - values.keys()))
        read = {*group, *added}.union(*(variables_of(each.expression) for each in later))
        found = (*joined, *sorted(read - own - moved))
        known = frozenset((*own, *found))
        _, computed = computations(replace(rule, assignments=tuple(later), filters=()), known)
        return ValueQuery(
            rule,
            atom,
            tuple(values),
            tuple([place for place in range(len(atom.args)) if place not in values.values()]),
            (*group, *added),
            joined,
            found,
            tuple(computed),
            None if moved.isdisjoint(added) else _rest(others, joined, found),
        )

    def run(
        self, gone: Columns, come: Columns, versions: Versions, context: Context
    ) -> Assignments | None:
        """The addends of rows that go, with a negative number of assignments, and of the rows that
        come in their place; None where one of them has no value.
        """
        before = self._by_variable(gone, gone, context.resources.dictionary)
        rows = len(before[self.values[0]])
        if self.rest is None or not rows:
            return [], np.empty(0, np.int64)
        after = self._by_variable(gone, come, context.resources.dictionary)
        found, proofs, place = self._found(self.rest, before, rows, versions, context)
        sums = [Computation(each, self.rule, context, len(proofs)) for each in self.computed]
        sides: list[Columns] = []
        for side in (before, after):
            columns = found | {variable: column.take(place) for variable, column in side.items()}
            for each in sums:
                value = each.run(columns, len(proofs))
                if value is None:
                    return None
                assert each.target is not None, "no comparison is left"
                columns[each.target] = value
            sides.append([columns[variable] for variable in self.head])
        added = [np.concatenate(pair) for pair in zip(*sides, strict=True)]
        return added, np.concatenate((-proofs, proofs))

    def _by_variable(
        self, fixed: Columns, others: Columns, dictionary: Dictionary
    ) -> dict[int, np.ndarray]:
        """Columns of rows by the variables of the atom, of those that fit it."""
        columns = [fixed[at] if at in self.fixed else each for at, each in enumerate(others)]
        known: dict[int, np.ndarray] = {}
        fits = np.ones(len(fixed[0]), np.bool_)
        for arg, column in zip(self.atom.args, columns, strict=True):
            if isinstance(arg, Value):
                fits &= column == encode_constant(arg.type, arg.value, dictionary)
            elif arg.variable in known:
                fits &= column == known[arg.variable]
            else:
                known[arg.variable] = column
        if fits.all():
            return known
        return {variable: column[fits] for variable, column in known.items()}

    def _found(
        self, rest: LastingQuery, known: Columned, rows: int, versions: Versions, context: Context
    ) -> tuple[dict[int, np.ndarray], np.ndarray, np.ndarray]:
        """Values that the rest of the body gives for changed rows: its columns, the number of
        assignments, and the places of the changed rows. Rows with the same joined values are
        searched for once.
        """
        if not self.joined:
            columns, proofs = rest.run(versions, context)
            low, order = np.zeros(len(proofs), np.int64), np.arange(rows)
            many = low + rows
        else:
            order, ordered = self._asked(known, versions, context)
            columns, proofs = rest.run(versions, context)
            begun = tuple([self.found[place] for place in rest.begun])
            if begun != self.joined:
                order = sort_order([known[variable] for variable in begun])
                ordered = [known[variable].take(order) for variable in begun]
            places = [columns[place] for place in rest.begun]
            low, high = locate_ranges(places, ordered)
            many = high - low
        pairs = int(many.sum())
        if pairs > len(many):
            context.budget.spend(pairs - len(many))
            low = np.repeat(low - (np.cumsum(many) - many), many) + np.arange(pairs)
            columns = [column.repeat(many) for column in columns]
            proofs = proofs.repeat(many)
        return dict(zip(self.found, columns, strict=True)), proofs, order.take(low)

    def _asked(
        self, known: Columned, versions: Versions, context: Context
    ) -> tuple[np.ndarray, Columns]:
        """Let `SIGNED` stand for the joined values of rows, each once. The order of the rows by
        these, and the values in this order.
        """
        order = sort_order([known[variable] for variable in self.joined])
        ordered = [known[variable].take(order) for variable in self.joined]
        keys = np.array(ordered).take(equal_runs(ordered, len(ordered)), axis=1)
        types = [self.rule.variables[variable].type for variable in self.joined]
        schema = RelationSchema(SIGNED, tuple([("", type_) for type_ in types]))
        versions.with_rows(SIGNED, TransientRelation(schema, context.resources.arena, keys))
        return order, ordered


def judged_variables(rule: NormalRule, group: Order) -> set[int]:
    """The variables that more than what is added depends on: whether there is an assignment, or its
    group.
    """
    times = Counter(
        arg.variable for each in rule.atoms for arg in each.args if isinstance(arg, Ref)
    )
    times.update(each.variable for each in rule.assignments)
    judged = {*group, *(variable for variable, number in times.items() if number > 1)}
    for test in rule.filters:
        judged |= variables_of(test.left) | variables_of(test.right)
    for each in rule.negated:
        judged.update(arg.variable for arg in each.args if isinstance(arg, Ref))
    for _ in rule.assignments:
        for each in rule.assignments:
            if each.variable in judged or not _always(each.expression):
                judged |= variables_of(each.expression)
    return judged


def _always(expression: Expression) -> bool:
    """Test for an expression that has a value, or fails the commit."""
    return not isinstance(expression, Apply) or (
        expression.operator in ("+", "-", "*") and all(map(_always, expression.args))
    )


def _variables(rule: NormalRule) -> set[int]:
    """The variables of a body."""
    found = {each.variable for each in rule.assignments}
    found.update(
        arg.variable
        for each in (*rule.atoms, *rule.negated)
        for arg in each.args
        if isinstance(arg, Ref)
    )
    sides = [side for test in rule.filters for side in (test.left, test.right)]
    expressions = [*sides, *(each.expression for each in rule.assignments)]
    return found.union(*map(variables_of, expressions))


def _rest(rule: NormalRule, joined: Order, found: Order) -> LastingQuery:
    """The query of a body for joined values that `SIGNED` has."""
    asked = [PositiveAtom(SIGNED, tuple([Ref(each) for each in joined]))] if joined else []
    body, names = compacted(replace(rule, head=(), atoms=(*asked, *rule.atoms), lead=None))
    first, outputs = (tuple([names[variable] for variable in each]) for each in (joined, found))
    return LastingQuery(body, outputs, first, (), tuple([each.relation for each in rule.atoms]))


def compacted(rule: NormalRule) -> tuple[NormalRule, Mapping[int, int]]:
    """The rule over the variables that its body has, which are numbered anew, and their numbers."""
    kept = sorted(_variables(rule))
    names = {variable: place for place, variable in enumerate(kept)}

    def named(arg: Ref | Value) -> Ref | Value:
        return Ref(names[arg.variable]) if isinstance(arg, Ref) else arg

    def term(given: Ref | AggregateTerm) -> Ref | AggregateTerm:
        if isinstance(given, Ref):
            return Ref(names[given.variable])
        return replace(given, args=tuple([Ref(names[each.variable]) for each in given.args]))

    made = replace(
        rule,
        head=tuple(map(term, rule.head)),
        variables=tuple([rule.variables[variable] for variable in kept]),
        atoms=tuple(
            [PositiveAtom(each.relation, tuple(map(named, each.args))) for each in rule.atoms]
        ),
        negated=tuple(
            [
                NegatedAtom(each.relation, tuple([arg and named(arg) for arg in each.args]))
                for each in rule.negated
            ]
        ),
        assignments=tuple(
            [
                Assignment(names[each.variable], renamed(each.expression, names))
                for each in rule.assignments
            ]
        ),
        filters=tuple(
            [
                Filter(each.operator, renamed(each.left, names), renamed(each.right, names))
                for each in rule.filters
            ]
        ),
    )
    return made, names
