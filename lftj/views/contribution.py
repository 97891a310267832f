# SPDX-License-Identifier: Apache-2.0
"""Rules of a stratum that adds up, as joins: for each assignment a group, what is added to it (the
arguments of the aggregate), and the groups that the assignment rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.additive import Addition
from lftj.program.normal_form import (
    AggregateTerm,
    Assignment,
    NormalRule,
    Ref,
    RuleVariable,
    Value,
)
from lftj.storage.delta import Columns, paired
from lftj.storage.relation import Order
from lftj.types import INT, encode_constant
from lftj.types.dictionary import Dictionary
from lftj.types.sources import Role, Source
from lftj.views.changed_values import ValueQuery, judged_variables
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
        terms = tuple([each.variable for each in head])
        self._group, self._given = terms[: self.width], terms[self.width : len(key) + len(values)]
        self.judges = _judges(made, known, self._group)
        self._values = [self._value_query(query, known) for query in self.join.queries]

    def _value_query(self, query: DeltaQuery, known: Mapping[str, Addition]) -> ValueQuery | None:
        """The query of changed values of the atom that a delta query follows: of relations of the
        stratum only what is added up.
        """
        if query.bound is not None:
            return None
        own = known.get(query.relation)
        return ValueQuery.of(query.rule, self._group, self._given, own and own.column)

    def full(self, relations: Versions, context: Context) -> Assignments:
        """All rows, each with its number of assignments."""
        found = self.join.full(None, relations, context, Want(traced=False))
        ((columns, counts),) = found.pieces
        return columns, counts

    def change(
        self, versions: Versions, context: Context, work: RuleWork
    ) -> tuple[Assignments, Assignments]:
        """The rows of assignments of which only what they add changes, and the rows of those that
        come and go.
        """
        queries = self._queries(versions.changed_rows(self.reads))
        changed: list[Assignments] = []
        pieces: list[Assignments] = []
        for query, values in zip(queries, self._values, strict=True):
            change = versions.deltas.get(query.relation)
            if change is None:
                continue
            gone, come, rest = paired(change, values.fixed) if values else ([], [], change)
            found = values.run(gone, come, versions, context) if values and come[0].size else None
            if found is None:
                pieces += signed_assignments([query], versions, context, work)
                continue
            changed.append(found)
            if len(rest):
                work.surgeries += len(rest)
                pieces.append(query.run(versions, rest, context))
        columns, signed = joined(pieces)
        some = self.join.head_rows(columns, len(signed)) if len(signed) else []
        return joined(changed), (some, signed)

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


def _judges(rule: NormalRule, known: Mapping[str, Addition], group: Order) -> bool:
    """Test for values of the stratum that more than what is added depends on."""
    values = [
        atom.args[known[atom.relation].column] for atom in rule.atoms if atom.relation in known
    ]
    judged = judged_variables(rule, group)
    return any(isinstance(each, Value) or each.variable in judged for each in values)
