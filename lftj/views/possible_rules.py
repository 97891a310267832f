# SPDX-License-Identifier: Apache-2.0
"""Rules of a stratum that adds up without what they say of values: they give the groups that may be
there, and which of them rest on which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.join.plan.variable_orders import variables_of
from lftj.program.additive import Addition
from lftj.program.normal_form import (
    AggregateTerm,
    Assignment,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.types import INT
from lftj.types.sources import Role, Source, in_role
from lftj.views.changed_values import compacted


def possible_rules(
    rules: Sequence[NormalRule], known: Mapping[str, Addition]
) -> list[NormalRule] | None:
    """The rules that give the possible groups; None where a group is made of values."""
    found = [_possible(rule, known) for rule in rules]
    some = [rule for rule in found if rule is not None]
    return some if len(some) == len(found) else None


def possible_name(relation: str) -> str:
    """The name of the relation of possible groups."""
    return relation if in_role(relation, Role.POSSIBLE) else Source(relation, Role.POSSIBLE)


def possible_schema(schema: RelationSchema, column: int) -> RelationSchema:
    """The schema of the possible groups of a relation that adds up in a column: zero there."""
    columns = list(schema.columns)
    columns[column] = columns[column][0], INT
    return RelationSchema(possible_name(schema.name), tuple(columns))


def _possible(rule: NormalRule, known: Mapping[str, Addition]) -> NormalRule | None:
    """A rule without what it says of values; None where its group is made of them."""
    variables, values, bound = list(rule.variables), set[int](), set[int]()
    atoms: list[PositiveAtom] = []

    def fresh() -> Ref:
        variables.append(RuleVariable("_", INT))
        return Ref(len(variables) - 1)

    for atom in rule.atoms:
        args, own = list(atom.args), known.get(atom.relation)
        if own is not None:
            value, args[own.column] = args[own.column], fresh()
            values.update(variables_of(value))
        atoms.append(
            PositiveAtom(atom.relation if own is None else possible_name(atom.relation), (*args,))
        )
        bound.update(arg.variable for arg in args if isinstance(arg, Ref))
    values -= bound  # another atom has it too
    for _ in rule.assignments:
        for each in rule.assignments:
            if each.variable not in bound and not values.isdisjoint(variables_of(each.expression)):
                values.add(each.variable)
    head, column, zero = list(rule.head), known[rule.relation].column, fresh()
    head[column] = AggregateTerm("sum", (zero,), INT)
    if any(isinstance(term, Ref) and term.variable in values for term in head):
        return None
    free = values.isdisjoint
    made = replace(
        rule,
        relation=possible_name(rule.relation),
        head=tuple(head),
        variables=tuple(variables),
        atoms=tuple(atoms),
        negated=tuple(
            [x for x in rule.negated if free(y.variable for y in x.args if isinstance(y, Ref))]
        ),
        assignments=(
            *[x for x in rule.assignments if free({x.variable} | variables_of(x.expression))],
            Assignment(zero.variable, Value(0, INT)),
        ),
        filters=tuple(
            [x for x in rule.filters if free(variables_of(x.left) | variables_of(x.right))]
        ),
    )
    return compacted(made)[0]
