# SPDX-License-Identifier: Apache-2.0
"""Disjunctions of which exactly one branch holds, whatever the values: each is an expression.

    (y != 0, z = x / y ; y = 0, z = 0)        z = if(y != 0, x / y, 0)

So a `CASE` for each of many columns is computed row by row. As branches they would multiply. That
one branch holds is checked over all ways in which the comparisons may come out, so it does not
matter who wrote the disjunction. The branch that is not taken is not computed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

from lftj.functions.conditional import IF
from lftj.program.arithmetic import comparison_may_fail, may_fail
from lftj.program.bindings import Variables, definitions, of_expressions, relations_of
from lftj.program.checked import (
    Block,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.normal_form import (
    Apply,
    Expression,
    Filter,
    Ref,
    RuleVariable,
    Value,
)
from lftj.program.rewrites.rule_program import Body, RuleProgram
from lftj.scantree.frozen import frozen
from lftj.types import INT

_MOST_TESTS = 8
"""Comparisons of which all outcomes are gone through."""
_DEEPEST = 16
"""Conditionals in one another that become one expression."""


def decided(program: RuleProgram) -> RuleProgram:
    """Equations in place of disjunctions of which one branch holds. In a cycle, and under a `min`
    or `max` that may come to stand in one, each branch is judged by itself.
    """
    current = program.current
    if current is None or not current.definition.eliminates:
        return program
    reading = _Reading(program.variables, current.conjunct.bound())
    found: dict[CheckedLiteral, CheckedLiteral] = {
        literal: made
        for literal in current.nested
        if isinstance(literal, CheckedDisjunction)
        if (made := reading.equation(literal)) is not None
    }
    if not found or relations_of(current.body.pending) & program.cyclic:
        return program
    if relations_of(current.conjunct.literals) & program.cyclic:
        return program
    pending = tuple([found.get(each, each) for each in current.body.pending])
    draft = program.copy()
    draft.replace_body([Body(pending, current.body.conjunct)])
    return draft


# ── conditions ────────────────────────────────────────────────────────────────────────────────────
@frozen(slots=True)
class _All:
    """All of the conditions hold."""

    parts: tuple[_Condition, ...]


@frozen(slots=True)
class _Some:
    """One of the conditions holds."""

    parts: tuple[_Condition, ...]


@frozen(slots=True)
class _Not:
    """The condition does not hold."""

    part: _Condition


_Condition = Filter | _All | _Some | _Not


class _UndecidedError(Exception):
    """The disjunction is no expression."""


def _tests(condition: _Condition) -> Iterator[Filter]:
    match condition:
        case _All(parts) | _Some(parts):
            for part in parts:
                yield from _tests(part)
        case _Not(part):
            yield from _tests(part)
        case Filter():
            yield condition


def _known(test: Filter) -> tuple[Filter, bool]:
    """A comparison that stands for this one and its opposite, and whether it is the former."""
    if test.operator in ("!=", ">=", "<="):
        same, _ = _known(test.opposite)
        return same, False
    if test.operator == ">" or (test.operator == "=" and repr(test.left) > repr(test.right)):
        return test.turned, True
    return test, True


def _holds(condition: _Condition, outcomes: Mapping[Filter, bool]) -> bool:
    match condition:
        case _All(parts):
            return all(_holds(part, outcomes) for part in parts)
        case _Some(parts):
            return any(_holds(part, outcomes) for part in parts)
        case _Not(part):
            return not _holds(part, outcomes)
        case Filter():
            test, alike = _known(condition)
            return outcomes[test] == alike


def _one_holds(conditions: Sequence[_Condition]) -> bool:
    """Test that exactly one of the conditions holds, however their comparisons come out."""
    tests = {_known(test)[0]: None for each in conditions for test in _tests(each)}
    return len(tests) <= _MOST_TESTS and all(
        sum(_holds(each, dict(zip(tests, outcomes, strict=True))) for each in conditions) == 1
        for outcomes in product((False, True), repeat=len(tests))
    )


def _fails_alike(condition: _Condition) -> bool:
    """Test that a condition fails to have a value only where all that it says has been looked at:
    one comparison of a conjunction may fail, and the others come first.
    """
    failing = sum(map(comparison_may_fail, _tests(condition)))
    if failing == 0 or isinstance(condition, Filter):
        return True
    if not isinstance(condition, _All) or failing > 1:
        return False
    return all(isinstance(part, Filter) for part in condition.parts)


def _code(condition: _Condition) -> Expression:
    """The condition as an expression, which is 1 or 0."""
    one, zero = Value(1, INT), Value(0, INT)
    match condition:
        case Filter(operator, left, right):
            return Apply(operator, (left, right), INT)
        case _Not(part):
            return Apply(IF.name, (_code(part), zero, one), INT)
        case _All(parts):
            codes = list(map(_code, sorted(parts, key=_may_fail)))
            return reduce(
                lambda rest, each: Apply(IF.name, (each, rest, zero), INT),
                reversed(codes[:-1]),
                codes[-1] if codes else one,
            )
        case _Some(parts):
            codes = list(map(_code, parts))
            return reduce(
                lambda rest, each: Apply(IF.name, (each, one, rest), INT),
                reversed(codes[:-1]),
                codes[-1] if codes else zero,
            )


def _may_fail(condition: _Condition) -> bool:
    return any(map(comparison_may_fail, _tests(condition)))


# ── branches ──────────────────────────────────────────────────────────────────────────────────────
class _Reading:
    """A reading of disjunctions over the variables of a rule. `bound`: those that the body around
    them binds: of two variables that a disjunction says to be equal it gives the other one.
    """

    def __init__(self, variables: Sequence[RuleVariable], bound: Variables):
        self._variables, self._bound = variables, bound

    def equation(self, literal: CheckedDisjunction, depth: int = 0) -> Filter | None:
        """The equation that a disjunction is; None for one that is none."""
        if not literal.branches or depth > _DEEPEST:
            return None
        try:
            branches = [self._plain(each, depth) for each in literal.branches]
        except _UndecidedError:
            return None
        named = [_defined(each) for each in branches]
        found = {
            result: value
            for result in sorted(frozenset(named[0]).intersection(*named[1:]))
            if (value := self._value(branches, result)) is not None
        }
        results = found if len(found) == 1 else found.keys() - self._bound
        if len(results) != 1:
            return None
        (result,) = results
        return Filter("=", Ref(result), found[result])

    def _value(self, branches: Iterable[list[_Condition]], result: int) -> Expression | None:
        """The value that the branches give a variable, where one of them holds whatever it is."""
        cases: list[tuple[_Condition, Expression]] = []
        for each in branches:
            if (case := _with_value(each, result)) is None:
                return None
            cases.append(case)
        conditions = [condition for condition, _ in cases]
        if not all(map(_fails_alike, conditions)) or not _one_holds(conditions):
            return None
        value = cases[-1][1]
        for condition, taken in reversed(cases[:-1]):
            value = Apply(IF.name, (_code(condition), taken, value), self._variables[result].type)
        return value

    def _plain(self, block: Block, depth: int) -> list[_Condition]:
        """The comparisons and conditions of a block, without variables of its own."""
        parts = [self._part(each, depth) for each in block.literals]
        known = dict[int, Expression]()
        waiting = set(block.local)
        while waiting:
            made = next(_definitions(parts, waiting), None)
            if made is None:
                raise _UndecidedError
            variable, expression, source = made
            if may_fail(expression):
                raise _UndecidedError
            known[variable] = expression
            waiting.remove(variable)
            parts = [_put(each, variable, expression) for each in parts if each is not source]
        return parts

    def _part(self, literal: CheckedLiteral, depth: int) -> _Condition:
        match literal:
            case Filter():
                return literal
            case CheckedNegation(block):
                return _Not(_All(tuple(self._plain(block, depth))))
            case CheckedDisjunction(branches):
                if (made := self.equation(literal, depth + 1)) is not None:
                    return made
                return _Some(tuple(_All(tuple(self._plain(each, depth))) for each in branches))
        raise _UndecidedError


def _definitions(
    parts: Iterable[_Condition], wanted: Collection[int]
) -> Iterator[tuple[int, Expression, Filter]]:
    """The equations among the parts of some variables with what has none of these."""
    for part in parts:
        if isinstance(part, Filter) and part.operator == "=":
            for variable, expression in definitions(part):
                if variable in wanted and not of_expressions((expression,)) & frozenset(wanted):
                    yield variable, expression, part


def _put(condition: _Condition, variable: int, value: Expression) -> _Condition:
    """The condition with a value for a variable."""
    match condition:
        case _All(parts) | _Some(parts):
            return replace(condition, parts=tuple(_put(each, variable, value) for each in parts))
        case _Not(part):
            return _Not(_put(part, variable, value))
        case Filter(operator, left, right):
            return Filter(operator, _valued(left, variable, value), _valued(right, variable, value))


def _valued(expression: Expression, variable: int, value: Expression) -> Expression:
    match expression:
        case Ref():
            return value if expression.variable == variable else expression
        case Apply(args=args):
            return replace(expression, args=tuple(_valued(each, variable, value) for each in args))
    return expression


def _defined(parts: Iterable[_Condition]) -> dict[int, None]:
    """The variables that an equation among the parts says to be something."""
    equations = (each for each in parts if isinstance(each, Filter) and each.operator == "=")
    return {variable: None for each in equations for variable, _ in definitions(each)}


def _with_value(parts: list[_Condition], result: int) -> tuple[_Condition, Expression] | None:
    """The conditions of a branch, and the value that it gives the result; None where it asks for
    something of the result.
    """
    for place, part in enumerate(parts):
        if not isinstance(part, Filter) or part.operator != "=":
            continue
        values = [expression for variable, expression in definitions(part) if variable == result]
        rest = [*parts[:place], *parts[place + 1 :]]
        tests = (test for each in rest for test in _tests(each))
        read = of_expressions(side for test in tests for side in (test.left, test.right))
        if len(values) == 1 and result not in read | of_expressions(values):
            return (rest[0] if len(rest) == 1 else _All(tuple(rest))), values[0]
    return None
