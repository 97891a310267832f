"""Aggregates in rule heads: which there are, what they take, what type they give."""

from __future__ import annotations

from lftj.errors import ArityError, TypeClashError, UnknownNameError
from lftj.program.checked import CheckedHeadAggregate
from lftj.program.expressions import Expressions
from lftj.program.normal_form import Expression, Value
from lftj.program.scope import term_aggregates
from lftj.program.signatures import BUILT_IN_AGGREGATES, aggregate_type, conversion_hint, same_type
from lftj.syntax import tree
from lftj.syntax.functors import FUNCTORS, unknown_hint
from lftj.types import STR, Type

_FORMS = {
    "count": "count(), the number of ways to make the body true; different values are counted where a view has nothing but them",
    "concat": "concat(s), concat(s, separator) or concat(s, separator, order keys…)",
}


def head_aggregate(expressions: Expressions, term: tree.HeadAggregate, expected: Type | None, where: str) -> CheckedHeadAggregate | None:
    """The aggregate in a head column of type `expected`; None after a problem with an argument. Raises LftjError."""
    if any(term_aggregates(arg) or _has_head_aggregate(arg) for arg in term.args):
        hint = "compute the inner one in a relation of its own and read that"
        raise TypeClashError(f"`{term.function}(…)` contains another aggregate", code="E131", hint=hint)
    wanted = _argument_types(expressions, term, expected)
    given = [expressions.term(arg, type, f" for `{term.function}`", term.span) for arg, type in zip(term.args, wanted, strict=True)]
    args = tuple(arg for arg in given if arg is not None)
    if len(args) < len(given):
        return None
    result = _result_type(expressions, term, args)
    if expected is not None and not same_type(result, expected):
        message = f"expected {expected}{where}, but `{term.function}` gives {result}"
        raise TypeClashError(message, hint=conversion_hint(result, expected) if expected.name == "str" else f"declare the column {result}")
    return CheckedHeadAggregate(term.function, args, result)


def _argument_types(expressions: Expressions, term: tree.HeadAggregate, expected: Type | None) -> list[Type | None]:
    """The types that the arguments should have, None where any type will do. Raises UnknownNameError or ArityError."""
    function, count = term.function, len(term.args)
    if (user := expressions.catalog.aggregates.get(function)) is not None:
        if count != len(user.argument_types):
            raise ArityError(f"`{function}` takes {len(user.argument_types)} arguments, found {count}", code="E121")
        return list(user.argument_types)
    if function not in BUILT_IN_AGGREGATES:
        known = [*BUILT_IN_AGGREGATES, *expressions.catalog.aggregates]
        listed = f"aggregates are {', '.join(known)}; functions are {', '.join(sorted(FUNCTORS))}"
        hint = unknown_hint(function, [*known, *FUNCTORS], listed)
        raise UnknownNameError(f"unknown aggregate or function `{function}`", code="E112", hint=hint)
    if count != {"count": 0, "concat": max(1, count)}.get(function, 1):
        wanted = {"count": "no arguments", "concat": "at least one argument"}.get(function, "1 argument")
        raise ArityError(f"`{function}` takes {wanted}, found {count}", code="E121", hint=f"write {_FORMS.get(function, f'{function}(x)')}")
    if function == "concat":
        return [STR, STR, *[None] * (count - 2)][:count]
    guesses = [expressions.inference.guess(arg) for arg in term.args]
    constants_only = all(guess is not None and not guess.firm for guess in guesses)
    return [expected if constants_only and function != "mean" and expected and expected.numeric else None] * count


def _result_type(expressions: Expressions, term: tree.HeadAggregate, args: tuple[Expression, ...]) -> Type:
    if (user := expressions.catalog.aggregates.get(term.function)) is not None:
        return user.result_type
    if term.function == "concat" and len(args) > 1 and not isinstance(args[1], Value):
        hint = 'write the separator in quotes; order keys come after it: concat(s, ", ", key)'
        raise TypeClashError("the separator of `concat` is not a constant", code="E132", hint=hint)
    argument = expressions.type_of(args[0]) if args else None
    result = aggregate_type(term.function, argument)
    if result is None:
        raise TypeClashError(f"`{term.function}` does not take {argument}", code="E132", hint="sum and mean take int, float and decimal")
    return result


def _has_head_aggregate(term: tree.Term) -> bool:
    if isinstance(term, tree.Call):
        return any(_has_head_aggregate(arg) for arg in term.args)
    return isinstance(term, tree.HeadAggregate)
