"""The normal form back as syntax trees, so that the naive reference can evaluate what normalisation
made of a program.
"""

from __future__ import annotations

from collections.abc import Iterable

from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    FunctorRule,
    NegatedAtom,
    NormalRule,
    Ref,
    RelationSchema,
    Value,
    type_of,
)
from lftj.program.schema import key_names
from lftj.program.stratification import StratifiedProgram
from lftj.proofs.functors import FUNCTORS
from lftj.syntax import tree
from lftj.syntax.conditionals import without_conditionals
from lftj.types import INT
from tests.differential.mirrored_values import mirrored
from tests.reference.trees import atom, call, compare, rule, without

PREDICATES = ("contains", "match")

FUNCTORS |= {"mirror": mirrored, "to_int": int}  # normal forms alone have these


class _Names:
    """Unique names of a rule's variables: names alone may be shared."""

    def __init__(self, rule: NormalRule):
        self.rule = rule

    def __getitem__(self, variable: int) -> str:
        return f"{variable}:{self.rule.variables[variable].name}"


def lifted(program: StratifiedProgram) -> list[tree.Clause]:
    """Declarations of all relations, hidden ones included, and all rules."""
    rules = [each for stratum in program.strata for each in stratum.rules]
    return [
        *map(_declaration, program.relations.values()),
        *(_functor_rule(r) if isinstance(r, FunctorRule) else _rule(r) for r in rules),
    ]


def _declaration(schema: RelationSchema) -> tree.Declaration:
    return tree.Declaration(
        schema.name,
        tuple(tree.Column(name, str(type_)) for name, type_ in schema.columns),
        schema.functional,
        key=key_names(schema),
    )


def _rule(normal: NormalRule) -> tree.Rule:
    names = _Names(normal)
    literals: list[tree.Literal] = [
        atom(each.relation, *_terms(each.args, names)) for each in normal.atoms
    ]
    literals += [_negation(each, names) for each in normal.negated]
    literals += [
        compare(names[each.variable], "=", _term(each.expression, names))
        for each in normal.assignments
    ]
    literals += [
        compare(_term(each.left, names), each.operator, _term(each.right, names))
        for each in normal.filters
    ]
    made = rule(atom(normal.relation, *(_head(term, names) for term in normal.head)), *literals)
    return without_conditionals(made)


def _head(term: Ref | AggregateTerm, names: _Names) -> tree.Term:
    if isinstance(term, Ref):
        return _term(term, names)
    return tree.HeadAggregate(term.function, tuple(_term(arg, names) for arg in term.args))


def _negation(negated: NegatedAtom, names: _Names) -> tree.Negation:
    args = [tree.Wildcard() if arg is None else _term(arg, names) for arg in negated.args]
    return without(atom(negated.relation, *args))


_OF_STRINGS = {"least": "min", "greatest": "max"}


def _functor_rule(functor: FunctorRule) -> tree.Rule:
    names = [f"a{place}" for place in range(len(functor.types))]
    domain = atom(functor.domain, *names)
    if functor.result is None:
        assert functor.functor in PREDICATES
        return rule(
            atom(functor.relation, *names), domain, compare(names[0], functor.functor, names[1])
        )
    name = _OF_STRINGS.get(functor.functor, functor.functor)
    return rule(
        atom(functor.relation, *names, "result"), domain, compare("result", "=", call(name, *names))
    )


def _terms(expressions: Iterable[Expression], names: _Names) -> list[tree.Term]:
    return [_term(each, names) for each in expressions]


def _term(expression: Expression, names: _Names) -> tree.Term:
    match expression:
        case Ref(variable=variable):
            return tree.Variable(names[variable])
        case Value(value=value):
            return tree.Constant(value)  # type: ignore[arg-type]
        case Apply(operator="mirror", args=(arg,), type=result):
            back = result != INT
            type_ = result if back else type_of(arg, names.rule.variables)
            return tree.Call(
                "mirror", (_term(arg, names), tree.Constant(str(type_)), tree.Constant(back))
            )
        case Apply(operator="if", args=(condition, one, other)):
            body = tree.Body((_condition(condition, names),))
            return tree.Conditional("if", (_term(one, names), _term(other, names)), body)
        case Apply(operator=operator, args=args):
            return tree.Call(operator, tuple(_terms(args, names)))


def _condition(expression: Expression, names: _Names) -> tree.Literal:
    """The statement of an expression that is 1 or 0."""
    match expression:
        case Apply(operator="=" | "!=" | "<" | "<=" | ">" | ">=" as operator, args=(left, right)):
            return compare(_term(left, names), operator, _term(right, names))
    return compare(_term(expression, names), "=", 1)
