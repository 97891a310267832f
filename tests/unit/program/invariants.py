"""Invariants of normal rules; tests check them on all that normalisation makes."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.program.bindings import of_expressions
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    FunctorRule,
    NormalRule,
    Ref,
    RelationSchema,
    Value,
)
from lftj.program.signatures import same_type as of_one_type
from lftj.types import Type


def same_type(one: Type, other: Type) -> bool:
    """Test for one type, with NULL or without: NULL is a code like any other."""
    return of_one_type(one.required, other.required)


def check_invariants(
    rule: NormalRule | FunctorRule, relations: Mapping[str, RelationSchema]
) -> None:
    """Raises AssertionError unless the rule is well formed against `relations`."""
    assert rule.relation in relations, f"{rule.relation} has no schema"
    if isinstance(rule, FunctorRule):
        _check_functor(rule, relations)
        return
    bound = {arg.variable for atom in rule.atoms for arg in atom.args if isinstance(arg, Ref)}
    assigned = {each.variable: each.expression for each in rule.assignments}
    assert len(assigned) == len(rule.assignments), "a variable is assigned twice"
    bound |= _in_order(assigned, bound)
    everything = _expressions(rule)
    assert of_expressions(everything) | set(assigned) == set(range(len(rule.variables))), (
        "numbers with gaps"
    )
    assert of_expressions(everything) <= bound, f"unbound variable in {rule}"
    for atom in (*rule.atoms, *rule.negated):
        _check_columns(atom.relation, atom.args, rule, relations)
    _check_columns(rule.relation, rule.head, rule, relations)
    for test in rule.filters:
        assert same_type(type_in(rule, test.left), type_in(rule, test.right)), (
            f"a comparison of two types: {test}"
        )
    for variable, expression in assigned.items():
        assert same_type(rule.variables[variable].type, type_in(rule, expression)), (
            f"an assignment of another type: {expression}"
        )


def _in_order(assigned: dict[int, Expression], bound: set[int]) -> set[int]:
    """The assigned variables, each after what it needs; fails on a circle."""
    done: set[int] = set()
    while waiting := assigned.keys() - done:
        # A variable that an atom binds as well still waits for its own assignment, so that a circle
        # through it shows.
        ready = {
            each
            for each in waiting
            if of_expressions([assigned[each]]) <= (bound - assigned.keys()) | done
        }
        assert ready, f"the assignments of {waiting} need one another or something unbound"
        done |= ready
    return done


def _expressions(rule: NormalRule) -> list[Expression | None]:
    found: list[Expression | None] = [each.expression for each in rule.assignments]
    found += [arg for atom in (*rule.atoms, *rule.negated) for arg in atom.args]
    found += [side for test in rule.filters for side in (test.left, test.right)]
    for term in rule.head:
        found += term.args if isinstance(term, AggregateTerm) else (term,)
    return found


def _check_columns(
    name: str,
    terms: tuple[Ref | Value | AggregateTerm | None, ...],
    rule: NormalRule,
    relations: Mapping[str, RelationSchema],
) -> None:
    columns = relations[name].columns
    assert len(terms) == len(columns), f"{name} has {len(columns)} columns, not {len(terms)}"
    for term, (column, type) in zip(terms, columns, strict=True):
        found = (
            type
            if term is None
            else term.type
            if isinstance(term, AggregateTerm)
            else type_in(rule, term)
        )
        assert same_type(found, type), f"{name}.{column} is {type}, not {found}"


def _check_functor(rule: FunctorRule, relations: Mapping[str, RelationSchema]) -> None:
    given = [type for _, type in relations[rule.domain].columns]
    made = [type for _, type in relations[rule.relation].columns]
    assert tuple(given) == rule.types, f"{rule.domain} has other columns than {rule.functor} takes"
    assert made == [*given, *([rule.result] if rule.result is not None else [])], (
        f"{rule.relation} has other columns than its rows"
    )


def type_in(rule: NormalRule, expression: Expression) -> Type:
    """The type of an expression of the rule."""
    match expression:
        case Ref():
            return rule.variables[expression.variable].type
        case Value() | Apply():
            return expression.type
