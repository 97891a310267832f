# SPDX-License-Identifier: Apache-2.0
"""Place of a failure of arithmetic, of a functor or of an aggregate, a user's own included, in its
message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from lftj.errors import (
    DeclarationError,
    LimitError,
    Span,
    UserFunctionError,
    ValueRangeError,
    ValueTypeError,
)
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import QUESTION, AggregateTerm, Apply, FunctorRule, NormalRule
from lftj.scantree.layout import TooWideError
from lftj.types.sources import is_hidden, lineage

_BRACES = (
    "what stands in braces is computed for all values that are found there: repeat inside them "
    "what leaves values out"
)

_ENDLESS = (
    "if there is no end: around a cycle of rows{last} the rule computes ever new values; bound "
    "them in it, as n < 1000, or keep such cycles out"
)


@contextmanager
def placed_in(those: Callable[[], Iterable[NormalRule | FunctorRule]]) -> Iterator[None]:
    """Let a failure inside the block name the relations that these rules derive, and the place of
    the rule where it can only be one.
    """
    try:
        yield
    except (ValueRangeError, ValueTypeError, UserFunctionError) as error:
        span, where = _place(rules := list(those()))
        error.span = error.span or span
        error.message += f", {where}"
        if any(_in_braces(rule) for rule in rules):
            error.hint = f"{error.hint}; {_BRACES}" if error.hint else _BRACES
        raise
    except LimitError as error:
        rules = list(those())
        error.message += f", {_where({each.relation for each in rules})}"
        if (endless := _endless(rules)) is not None:
            error.span = error.span or endless.span
            last = f" (the last row is {error.last}, on it or behind it)" if error.last else ""
            hint = _ENDLESS.format(last=last)
            error.hint = f"{error.hint}; {hint}" if error.hint else hint
        raise
    except TooWideError as error:
        span, where = _place(those())
        hint = "divide the aggregates of a head among relations with fewer, over the same body"
        raise DeclarationError(
            f"{where} more is kept than fits beside a group: {error}",
            code="E168",
            span=span,
            hint=hint,
        ) from error


def _place(rules: Iterable[NormalRule | FunctorRule]) -> tuple[Span | None, str]:
    """The place of the rule, if there is but one, and the relations in words."""
    rules = list(rules)
    places = {rule.span for rule in rules}
    return places.pop() if len(places) == 1 else None, _where({rule.relation for rule in rules})


def _endless(rules: Sequence[NormalRule | FunctorRule]) -> NormalRule | FunctorRule | None:
    """The first of a stratum's rules that computes values of the values of its own cycle: it may
    find ever new ones.
    """
    derived = {rule.relation for rule in rules}
    for rule in rules:
        if isinstance(rule, FunctorRule):
            if rule.result is not None and rule.domain in derived:
                return rule
            continue
        atoms = [atom.args for atom in rule.atoms if atom.relation in derived]
        found = set[int]().union(*(variables_of(each) for args in atoms for each in args))
        computed = [each.expression for each in rule.assignments]
        if any(isinstance(each, Apply) and variables_of(each) & found for each in computed):
            return rule
    return None


def _in_braces(rule: NormalRule | FunctorRule) -> bool:
    """Test for the inner body of an aggregate, which does not know the values that it is asked
    for.
    """
    return (
        is_hidden(rule.relation)
        and isinstance(rule, NormalRule)
        and any(isinstance(term, AggregateTerm) for term in rule.head)
    )


def _where(relations: set[str]) -> str:
    if any(
        QUESTION in lineage(name) for name in relations
    ):  # parts have it under names of their own
        return "in the question"
    visible = [f"`{name}`" for name in sorted(relations) if not is_hidden(name)]
    if not visible:
        return "in an inner part of a rule"
    return f"in {'a rule' if len(visible) == 1 else 'one of the rules'} for {', '.join(visible)}"
