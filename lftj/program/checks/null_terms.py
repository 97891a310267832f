# SPDX-License-Identifier: Apache-2.0
"""Terms that may be NULL, and the tests of codes that say that one is not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lftj.functions.nulls import KEEP_NULL
from lftj.program.checked import (
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    FunctorCall,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable, Value, is_null
from lftj.types import Type


def may_be_null(expression: Expression, absent: Collection[int]) -> bool:
    """Test for a term that is NULL where some of the variables `absent` are."""
    match expression:
        case Ref(variable):
            return variable in absent
        case Apply(operator, args):
            found = [may_be_null(arg, absent) for arg in args]
            return all(found) if operator in KEEP_NULL else any(found)
    return is_null(expression)


def gives_null(call: FunctorCall, absent: Collection[int]) -> bool:
    """Test for a call that gives NULL: of a function that may, or where some of the variables
    `absent` are.
    """
    optional = call.result_type is not None and call.result_type.optional
    return optional or any(may_be_null(arg, absent) for arg in call.args)


def needed(expression: Expression, absent: Collection[int]) -> Iterator[Expression]:
    """The variables, and values of `coalesce`, that must be there for a term to have a value, of
    those that may not be.
    """
    match expression:
        case Apply(operator, args) if operator not in KEEP_NULL:
            for arg in args:
                yield from needed(arg, absent)
        case _ if may_be_null(expression, absent):
            yield expression


def there(expression: Expression, type: Type) -> Filter:
    """The test that a term is not NULL: NULL has the least code."""
    return Filter(">", expression, Value(None, type.or_null))


def absent_test(test: CheckedLiteral) -> Expression | None:
    """The term of `is_null(term)`."""
    match test:
        case Filter("=", left, right) if is_null(right):
            return left
    return None


def compared(literal: CheckedLiteral) -> Sequence[Expression]:
    """The terms that a literal asks for values: both sides of a comparison, arguments of a
    predicate, and of `range`, which has no number from or up to NULL.
    """
    match literal:
        case Filter() if absent_test(literal) is None:
            return literal.left, literal.right
        case FunctorCall(functor, args, result=result) if result is None or functor == "range":
            return args
    return ()


def every_literal(literals: Iterable[CheckedLiteral]) -> Iterator[CheckedLiteral]:
    """The literals, and those inside them."""
    for literal in literals:
        yield literal
        match literal:
            case CheckedNegation(block) | CheckedAggregate(block=block):
                yield from every_literal(block.literals)
            case CheckedDisjunction(branches):
                for branch in branches:
                    yield from every_literal(branch.literals)


class Terms:
    """Terms as compiled code computes them. `lifted`: the variables that may have the code of NULL
    while tests are yet to be made; what is computed of these is NULL, and so has an optional type.
    """

    def __init__(self, variables: Sequence[RuleVariable], lifted: Collection[int]):
        self._variables, self._lifted = variables, lifted

    def lifted(self, term: Expression) -> Expression:
        """The term, in which operations that give NULL have optional types."""
        if not isinstance(term, Apply):
            return term
        args = tuple(map(self.lifted, term.args))
        null = may_be_null(term, self._lifted)
        return replace(term, args=args, type=term.type.or_null if null else term.type.required)

    def literals(self, literals: Iterable[CheckedLiteral]) -> tuple[CheckedLiteral, ...]:
        """The literals with their terms `lifted`."""
        return tuple(map(self._literal, literals))

    def _literal(self, literal: CheckedLiteral) -> CheckedLiteral:
        match literal:
            case CheckedAtom(relation, args):
                return CheckedAtom(relation, tuple(arg and self.lifted(arg) for arg in args))
            case Filter(operator, left, right):
                return Filter(operator, self.lifted(left), self.lifted(right))
            case FunctorCall():
                return self._call(literal)
            case CheckedNegation(block):
                return CheckedNegation(replace(block, literals=self.literals(block.literals)))
            case CheckedDisjunction(branches):
                made = [replace(each, literals=self.literals(each.literals)) for each in branches]
                return CheckedDisjunction(tuple(made))
            case CheckedAggregate(args=args, block=block):
                block = replace(block, literals=self.literals(block.literals))
                return replace(literal, args=tuple(map(self.lifted, args)), block=block)
        return literal

    def _call(self, call: FunctorCall) -> FunctorCall:
        null = [may_be_null(arg, self._lifted) for arg in call.args]
        types = tuple(
            type.or_null if each else type for type, each in zip(call.types, null, strict=True)
        )
        result = call.result_type
        if any(null) and result is not None:
            result = result.or_null
        args = tuple(map(self.lifted, call.args))
        return replace(call, args=args, types=types, result_type=result)
