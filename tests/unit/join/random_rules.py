"""Random conjunctive rules, and rows to run them on."""

from __future__ import annotations

import operator
import random

import numpy as np

from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import (
    Apply,
    Assignment,
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT

LOWEST, HIGHEST = -(2**63), 2**63 - 1
DOMAIN = (LOWEST, -7, 0, 1, 2, 3, 5, HIGHEST)
ARITIES = {"e": 2, "f": 2, "g": 1, "t": 3, "o": 0}
COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

Row = tuple[int, ...]
Rows = dict[str, set[Row]]


def computed(by: random.Random, operand: Ref) -> Expression:
    """Arithmetic that never fails, fails for 0, or fails for the greatest integer."""
    one, six = Value(1, INT), Value(6, INT)
    return by.choice(
        (
            Apply("bxor", (operand, one), INT),
            Apply("%", (six, operand), INT),
            Apply("+", (operand, one), INT),
        )
    )


def random_rule(by: random.Random) -> NormalRule:
    """One to four atoms over up to four variables; constants, repeated variables, negated atoms, a
    comparison, a computed variable.
    """
    variables = by.randrange(1, 5)

    def argument(constants: float = 0.08) -> Ref | Value:
        return (
            Value(by.choice(DOMAIN), INT)
            if by.random() < constants
            else Ref(by.randrange(variables))
        )

    names = by.choices(list(ARITIES), weights=(5, 4, 3, 2, 0.3), k=by.randrange(1, 5))
    atoms = [PositiveAtom(name, tuple(argument() for _ in range(ARITIES[name]))) for name in names]
    bound = {term.variable for atom in atoms for term in atom.args if isinstance(term, Ref)}
    atoms += [PositiveAtom("g", (Ref(v),)) for v in range(variables) if v not in bound]
    assignments = []
    for _ in range(by.choice((0, 0, 0, 1, 1, 2))):
        target = by.randrange(variables + 1)
        assignments.append(Assignment(target, computed(by, Ref(by.randrange(variables)))))
        variables = max(variables, target + 1)
    negated = [
        NegatedAtom(
            name, tuple(None if by.random() < 0.2 else argument() for _ in range(ARITIES[name]))
        )
        for name in by.choices(list(ARITIES), k=by.choice((0, 0, 1, 1, 2)))
    ]
    filters = [
        Filter(by.choice(list(COMPARE)), Ref(by.randrange(variables)), argument(0.4))
        for _ in range(by.choice((0, 0, 1)))
    ]
    if by.random() < 0.2:
        filters.append(
            Filter(
                by.choice(list(COMPARE)),
                Ref(by.randrange(variables)),
                computed(by, Ref(by.randrange(variables))),
            )
        )
    names_of = tuple(RuleVariable(f"v{i}", INT) for i in range(variables))
    return NormalRule(
        1, "r", (), names_of, tuple(atoms), tuple(negated), tuple(assignments), tuple(filters)
    )


def random_order(by: random.Random, rule: NormalRule) -> tuple[str, ...]:
    """The names of a rule's variables in any order in which what is only computed follows what it
    is computed from.
    """
    bound = {term.variable for atom in rule.atoms for term in atom.args if isinstance(term, Ref)}
    order = by.sample(sorted(bound), len(bound))
    for variable in range(len(rule.variables)):
        if variable not in bound:
            inputs = min(
                (variables_of(a.expression) for a in rule.assignments if a.variable == variable),
                key=max,
            )
            order.insert(by.randrange(max(map(order.index, inputs)) + 1, len(order) + 1), variable)
    return tuple(rule.variables[variable].name for variable in order)


def random_rows(by: random.Random) -> Rows:
    """Rows over a part of DOMAIN, dense or sparse; some relations are empty."""
    domain = by.sample(DOMAIN, by.randrange(3, len(DOMAIN) + 1))
    return {
        name: {
            tuple(by.choice(domain) for _ in range(arity))
            for _ in range(by.choice((0, 5, 20, 20, 60, 60)))
        }
        for name, arity in ARITIES.items()
    }


def database(rows: Rows, arena: Arena) -> dict[str, RelationVersion]:
    """The rows as relations."""
    relations = {}
    for name, found in rows.items():
        schema = RelationSchema(name, tuple((f"c{i}", INT) for i in range(ARITIES[name])))
        stored = sorted(row or (0,) for row in found)
        columns = [
            np.array([row[i] for row in stored], np.int64) for i in range(max(1, ARITIES[name]))
        ]
        relations[name] = RelationVersion.build(schema, arena, columns)
    return relations
