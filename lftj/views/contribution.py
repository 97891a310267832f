# SPDX-License-Identifier: Apache-2.0
"""Rules of a stratum that adds up, as joins: for each assignment a group, what is added to it (the
arguments of the aggregate), and the groups that the assignment rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.join.plan.variable_orders import variables_of
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.additive import Addition
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Assignment,
    Expression,
    NormalRule,
    Ref,
    RuleVariable,
    Value,
)
from lftj.storage.delta import Columns
from lftj.types import INT, encode_constant
from lftj.types.dictionary import Dictionary
from lftj.types.sources import Role, Source
from lftj.views.changed_values import ValueQuery
from lftj.views.delta_query import DeltaQuery, delta_queries, signed_assignments
from lftj.views.join_node import Assignments, Join, Want, joined

_MANY = 4_096
"""Changed rows from which on bringing them up to date takes many times as long as a plan."""


class Contribution:
    """A rule of a summed stratum as a join: for each assignment the group, the values that are
    added, and the groups of the stratum that the assignment rests on. `judges`: whether there is an
    assignment may depend on the values of these.
    """

    def __init__(self, rule: NormalRule, known: Mapping[str, Addition]):
        self.relation, column = rule.relation, known[rule.relation].column
        term = rule.head[column]
        variables, assignments = list(rule.variables), list(rule.assignments)
        values = (term,) if isinstance(term, Ref) else term.args
        if isinstance(term, AggregateTerm) and term.function == "count" and not values:
            values = (Ref(len(variables)),)
            variables.append(RuleVariable("_", INT))
            assignments.append(Assignment(values[0].variable, Value(1, INT)))
        key = [each for place, each in enumerate(rule.head) if place != column]
        self.sources: list[tuple[str, list[Ref | Value]]] = [
            (
                atom.relation,
                [each for at, each in enumerate(atom.args) if at != known[atom.relation].column],
            )
            for atom in rule.atoms
            if atom.relation in known
        ]
        given = [each for _, terms in self.sources for each in terms if isinstance(each, Ref)]
        head = (*(each for each in key if isinstance(each, Ref)), *values, *given)
        self.width, self.added = len(key), len(values)
        name = Source(rule.relation, Role.HIDDEN, "added")
        made = replace(
            rule,
            relation=name,
            head=head,
            variables=tuple(variables),
            assignments=tuple(assignments),
        )
        self.join = Join.of(made, "summed")
        self.reads = frozenset(rule.reads)
        self.judges = _judges(rule, known)
        self.changed_values: ValueQuery | None = None
        if len(self.sources) == 1 and not self.judges:
            (own,) = (atom for atom in made.atoms if atom.relation in known)
            group = [each.variable for each in key if isinstance(each, Ref)]
            added = [each.variable for each in values]
            self.changed_values = ValueQuery.of(
                made, own, known[own.relation].column, (*group, *added), len(group)
            )

    def full(self, relations: Versions, context: Context) -> Assignments:
        """All rows, each with its number of assignments."""
        found = self.join.full(None, relations, context, Want(traced=False))
        ((columns, counts),) = found.pieces
        return columns, counts

    def change(self, versions: Versions, context: Context, work: RuleWork) -> Assignments:
        """The rows that come and go."""
        queries = self._queries(sum(versions.sizes.get(name, 0) for name in self.reads))
        columns, signed = joined(signed_assignments(queries, versions, context, work))
        return self.join.head_rows(columns, len(signed)) if len(signed) else [], signed

    def _queries(self, changed: int) -> list[DeltaQuery]:
        """The delta queries for about so many rows. The levels of one commit change a few groups or
        many: for many it pays to plan anew, by how these rows are.
        """
        if changed > _MANY:
            return delta_queries(self.join.rule, self.join.needed)
        return self.join.queries

    def groups(self, rows: Columns, dictionary: Dictionary) -> Iterator[tuple[str, Columns]]:
        """The relation and the group of each source of these rows."""
        place = self.width + self.added
        for relation, terms in self.sources:
            columns: Columns = []
            for term in terms:
                if isinstance(term, Ref):
                    columns.append(rows[place])
                    place += 1
                else:
                    code = encode_constant(term.type, term.value, dictionary)
                    columns.append(np.full(len(rows[0]), code))
            yield relation, columns


def _judges(rule: NormalRule, known: Mapping[str, Addition]) -> bool:
    """Test for values of the stratum that more than what is added depends on."""
    judged: set[int] = set()
    for atom in rule.atoms:
        place = known[atom.relation].column if atom.relation in known else None
        if place is not None and isinstance(atom.args[place], Value):
            return True
        for at, arg in enumerate(atom.args):
            if isinstance(arg, Ref) and at != place:
                judged.add(arg.variable)
    values = [
        variable
        for atom in rule.atoms
        if atom.relation in known
        for variable in variables_of(atom.args[known[atom.relation].column])
    ]
    own = known[rule.relation].column
    judged |= {
        each.variable for at, each in enumerate(rule.head) if isinstance(each, Ref) and at != own
    }
    for test in rule.filters:
        judged |= variables_of(test.left) | variables_of(test.right)
    for each in rule.negated:
        judged.update(arg.variable for arg in each.args if isinstance(arg, Ref))
    for each in (*rule.assignments, *rule.assignments)[::-1]:
        if each.variable in judged or not _always(each.expression):
            judged |= variables_of(each.expression)
    return len(set(values)) < len(values) or not judged.isdisjoint(values)


def _always(expression: Expression) -> bool:
    """Test for an expression that has a value, or fails the commit."""
    return not isinstance(expression, Apply) or (
        expression.operator in ("+", "-", "*") and all(map(_always, expression.args))
    )
