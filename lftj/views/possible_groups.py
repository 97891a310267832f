# SPDX-License-Identifier: Apache-2.0
"""Groups that may be there whatever the values of others are, where rules of a stratum that adds up
judge values that are not finished.

In v(y, sum(n)) :- v(x, n), e(x, y), n < 10. y may have an assignment for each edge (x, y) from a
group that may be there. Where these form no cycle, each group is finished before a condition on it
is judged, and there is one result, by whatever history. Where they do, either of two groups might
be finished before the other, and an evaluation from nothing decides.

The rules without such conditions are a stratum of their own, which adds up zeros.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.errors import GroupCycleError
from lftj.join.context import Context
from lftj.join.plan.variable_orders import variables_of
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.additive import Addition, additions
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
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.sources import Role, Source
from lftj.views.changed_values import compacted
from lftj.views.levels_node import Growing, Grown, Levels, Suspicion
from lftj.views.levels_state import LevelsState, Possible


def possible_rules(
    rules: Sequence[NormalRule], known: Mapping[str, Addition]
) -> list[NormalRule] | None:
    """The rules that give the possible groups; None where a group is made of values."""
    found = [_possible(rule, known) for rule in rules]
    some = [rule for rule in found if rule is not None]
    return some if len(some) == len(found) else None


def follow_possible(
    kept: Possible | None,
    rules: Sequence[NormalRule],
    schemas: Mapping[str, RelationSchema],
    versions: Versions,
    context: Context,
    work: RuleWork,
) -> Possible | None:
    """The possible groups after a commit; None where they form a cycle. `kept`: those before it,
    None where they are not known.
    """
    arena = context.resources.arena
    known = additions(rules)
    made: dict[str, RelationSchema] = {
        name: _schema(schemas[name.name], each.column)
        for name, each in known.items()
        if isinstance(name, Source)
    }
    for before in (kept, None) if kept is not None else (None,):
        state = LevelsState.begun(tuple(rules)) if before is None else before.state
        relations = (
            {name: RelationVersion.empty(schema, arena) for name, schema in made.items()}
            if before is None
            else before.relations
        )
        growing = {name: Growing(version) for name, version in relations.items()}
        here = Versions(
            Grown(versions.old_view, growing),
            Grown(versions, growing),
            versions.deltas,
            arena,
            context.tuning,
        )
        way = Levels(made, state, here, context, work)
        try:
            deltas, state = way.from_nothing() if before is None else way.followed()
        except Suspicion:
            continue
        except GroupCycleError:
            return None
        now = {name: relations[name].apply(delta) for name, delta in deltas.items()}
        return Possible(state, now)
    return None


def _name(relation: str) -> Source:
    return Source(relation, Role.POSSIBLE)


def _schema(schema: RelationSchema, column: int) -> RelationSchema:
    columns = list(schema.columns)
    columns[column] = columns[column][0], INT
    return RelationSchema(_name(schema.name), tuple(columns))


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
        atoms.append(PositiveAtom(atom.relation if own is None else _name(atom.relation), (*args,)))
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
        relation=_name(rule.relation),
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
