"""Normal rules as text."""

from __future__ import annotations

from collections import Counter

from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    FunctorRule,
    NormalRule,
    Ref,
    Value,
)
from lftj.syntax.constants import print_constant


def list_rule(rule: NormalRule | FunctorRule) -> str:
    """The rule as text: `h(x) :- a(x, y), !b(y), z := x + 1, z < 3.`"""
    if isinstance(rule, FunctorRule):
        columns = ", ".join(f"x{number}" for number in range(len(rule.types)))
        result = f", {rule.functor}({columns})" if rule.result is not None else ""
        condition = "" if rule.result is not None else f", {rule.functor}({columns})"
        return f"{rule.relation}({columns}{result}) :- {rule.domain}({columns}){condition}."
    names = variable_names(rule)
    parts = [_atom(atom.relation, atom.args, names) for atom in rule.atoms]
    parts += ["!" + _atom(atom.relation, atom.args, names) for atom in rule.negated]
    parts += [
        f"{names[each.variable]} := {_expression(each.expression, names)}"
        for each in rule.assignments
    ]
    parts += [
        f"{_expression(each.left, names)} {each.operator} {_expression(each.right, names)}"
        for each in rule.filters
    ]
    head = _atom(rule.relation, rule.head, names)
    return f"{head} :- {', '.join(parts)}." if parts else f"{head}."


def variable_names(rule: NormalRule) -> list[str]:
    """A name of its own for each variable: the user's where that is enough, else with the
    variable's number.
    """
    uses = Counter(variable.name for variable in rule.variables)
    return [
        variable.name
        if uses[variable.name] == 1 and variable.name != "_"
        else f"{variable.name}{number}"
        for number, variable in enumerate(rule.variables)
    ]


def _atom(
    relation: str, terms: tuple[Ref | Value | AggregateTerm | None, ...], names: list[str]
) -> str:
    return f"{relation}({', '.join(_term(term, names) for term in terms)})"


def _term(term: Ref | Value | AggregateTerm | None, names: list[str]) -> str:
    if term is None:
        return "_"
    if isinstance(term, AggregateTerm):
        return f"{term.function}({', '.join(_term(arg, names) for arg in term.args)})"
    return _expression(term, names)


def _expression(expression: Expression, names: list[str], nested: bool = False) -> str:
    match expression:
        case Ref():
            return names[expression.variable]
        case Value():
            return print_constant(expression.value)  # type: ignore[arg-type]
        case Apply(operator=operator, args=(left, right)) if not operator.isalpha():
            shown = f"{_expression(left, names, True)} {operator} {_expression(right, names, True)}"
            return f"({shown})" if nested else shown
    return f"{expression.operator}({', '.join(_expression(arg, names) for arg in expression.args)})"
