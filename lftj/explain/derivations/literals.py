# SPDX-License-Identifier: Apache-2.0
"""Checked literals as text, as what they need before they can be decided, and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lftj.errors import ValueRangeError, ValueTypeError
from lftj.explain.derivations.body_assignments import Conjunction, alternatives, inputs_of
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.functions import written_over
from lftj.program import (
    Apply,
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    Expression,
    Filter,
    FunctorCall,
    Ref,
    RuleVariable,
    Value,
    of_expressions,
    of_literal,
    user_name,
)
from lftj.proofs import value_text

Env = Mapping[int, int]
FAILURES = (ValueRangeError, ValueTypeError)
"""Errors of functors for values that other literals may exclude."""
_INFIX = {"+", "-", "*", "/", "%", "^"}


class Texts:
    """The texts of the literals of one rule, with values for the variables of an assignment."""

    def __init__(self, variables: Sequence[RuleVariable], version: Version):
        self._variables, self._version = variables, version

    def of(self, literal: CheckedLiteral, env: Env) -> str:
        """A literal as rule text."""
        match literal:
            case CheckedAtom(relation, args):
                return f"{relation}({self._listed(args, env)})"
            case Filter(operator, left, right):
                return f"{self._term(left, env)} {operator} {self._term(right, env)}"
            case FunctorCall(functor, args, result=result):
                call = f"{functor}({self._listed(args, env)})"
                return call if result is None else f"{self._term(Ref(result), env)} = {call}"
            case CheckedNegation(block=block):
                inner = self._body(block.literals, env)
                return f"!{inner}" if len(block.literals) == 1 else f"!({inner})"
            case CheckedDisjunction(branches):
                return f"({' ; '.join(self._body(each.literals, env) for each in branches)})"
            case CheckedAggregate(function, args, block, result):
                over = written_over([self._term(arg, env) for arg in args])
                inner = self._body(block.literals, env)
                return f"{self._term(Ref(result), env)} = {function}{over} : {{ {inner} }}"
        return "choice"

    def _body(self, literals: Iterable[CheckedLiteral], env: Env) -> str:
        return ", ".join(self.of(each, env) for each in literals)

    def _listed(self, args: Iterable[Expression | None], env: Env) -> str:
        return ", ".join(self._term(arg, env) for arg in args)

    def _term(self, term: Expression | None, env: Env) -> str:
        match term:
            case Ref(variable):
                listed = self._variables[variable]
                if variable in env:
                    return value_text(self._version.decode(listed.type, env[variable]))
                return "_" if listed.is_made else user_name(listed.name)
            case Value(value=value):
                return value_text(value)  # type: ignore[arg-type]
            case Apply(operator, args):
                shown = [self._term(arg, env) for arg in args]
                if operator in _INFIX and len(shown) == 2:
                    return f"{shown[0]} {operator} {shown[1]}"
                return f"{operator}({', '.join(shown)})"
        return "_"


def ready(literal: CheckedLiteral, bound: Iterable[int]) -> bool:
    """True where a literal can be searched or decided once these variables are bound."""
    known = frozenset(bound)
    match literal:
        case CheckedAtom(args=args):
            return of_expressions(arg for arg in args if isinstance(arg, Apply)) <= known
        case Filter("=", left, right):
            sides = ((left, right), (right, left))
            computed = any(
                isinstance(one, Ref) and of_expressions((other,)) <= known for one, other in sides
            )
            return computed or of_literal(literal) <= known
        case Filter():
            return of_literal(literal) <= known
    return inputs_of(literal) <= known


def partly(atom: CheckedAtom, env: Env, version: Version) -> dict[int, int]:
    """The columns of an atom whose codes are known."""
    found: dict[int, int] = {}
    for place, arg in enumerate(atom.args):
        if isinstance(arg, Ref) and arg.variable in env:
            found[place] = env[arg.variable]
        elif isinstance(arg, Value):
            found[place] = version.encode(arg.type, arg.value)
    return found


def rows_with(version: Version, relation: str, known: Mapping[int, int], most: int) -> list[Codes]:
    """Some rows of a relation that have these codes in these columns."""
    variables = [RuleVariable("_", type) for _, type in version.schema(relation).columns]
    given, begin = (
        tuple(sorted(known)),
        matrix([tuple(known[p] for p in sorted(known))], len(known)),
    )
    atom = CheckedAtom(relation, tuple(map(Ref, range(len(variables)))))
    if not variables:
        return [()] * version.has(relation, [()])[0]
    way = Conjunction([atom], variables, given)
    places = [way.bound.index(place) for place in range(len(variables))]
    return first_of(way, version, begin, most, places)


def first_of(
    way: Conjunction, version: Version, begin: object, most: int, places: Sequence[int]
) -> list[Codes]:
    """The first assignments of a conjunction, at these places."""
    found: list[Codes] = []
    for piece in way.run(version, begin):  # type: ignore[arg-type]
        some = piece[list(places), : most - len(found)] if places else piece[:, :1]
        found += list(zip(*some.tolist(), strict=True)) if places else [()] * some.shape[1]
        if len(found) >= most:
            break
    return found


def nearest(version: Version, relation: str, known: Mapping[int, int], most: int) -> list[Codes]:
    """Some rows that agree with the known columns but for one, or on fewer of the first ones."""
    columns = sorted(known)
    subsets = [columns[:place] + columns[place + 1 :] for place in reversed(range(len(columns)))]
    subsets += [columns[:size] for size in range(len(columns) - 2, 0, -1)]
    found: dict[Codes, None] = {}
    for subset in subsets if len(columns) > 1 else [columns]:
        some = rows_with(version, relation, {place: known[place] for place in subset}, most)
        found.update(dict.fromkeys(some))
        if len(found) >= most:
            break
    return list(found)[:most]


def matches(
    negation: CheckedNegation, env: Env, version: Version, variables: list[RuleVariable], most: int
) -> list[tuple[Conjunction, dict[int, int]]]:
    """Some assignments of the body of a negation whose outer variables are bound."""
    found: list[tuple[Conjunction, dict[int, int]]] = []
    literals = [_named(each, variables, version) for each in negation.block.literals]
    own = frozenset().union(*map(of_literal, literals)) - negation.block.local
    given = tuple(sorted(own & env.keys()))
    begin = matrix([tuple(env[each] for each in given)], len(given))
    for branches, some in alternatives(literals):
        way = Conjunction(some, variables, given, branches)
        for row in first_of(way, version, begin, most - len(found), range(len(way.bound))):
            found.append((way, {**env, **dict(zip(way.bound, row, strict=True))}))
    return found[:most]


def _named(
    literal: CheckedLiteral, variables: list[RuleVariable], version: Version
) -> CheckedLiteral:
    """The literal with variables for `_`."""
    if not isinstance(literal, CheckedAtom) or None not in literal.args:
        return literal
    args = list(literal.args)
    for place, (_, type) in enumerate(version.schema(literal.relation).columns):
        if args[place] is None:
            variables.append(RuleVariable("_", type))
            args[place] = Ref(len(variables) - 1)
    return CheckedAtom(literal.relation, tuple(args))
