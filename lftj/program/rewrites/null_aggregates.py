# SPDX-License-Identifier: Apache-2.0
"""Aggregates of values that may be NULL: of those that are there, and of the groups that have none.

`total(x, sum(y)) :- r(x, y).` with an optional `y` becomes

    sum1(x, sum(y)) :- r(x, y), y > NULL.
    null1(x) :- r(x, y), y = NULL.
    total(x, s) :- sum1(x, s).
    total(x, s) :- null1(x), !sum1(x, _), s = NULL.

So each aggregate is kept as any other, whichever way its groups are kept, and a commit that changes
no NULL leaves all but the first alone. In a cycle it is refused, as a negation is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lftj.functions.aggregates import AGGREGATES, COUNTING, StateKind
from lftj.functions.nulls import NO_NULL
from lftj.program.checked import (
    Block,
    CheckedAtom,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable, Value
from lftj.program.rewrites.rule_program import Body, Definition, Literals, RuleProgram
from lftj.types import INT, Type


def null_aggregates(program: RuleProgram) -> RuleProgram:
    """Heads that aggregate what may be NULL."""
    variables = program.variables
    heads = [_counting_rows(head, variables) for head in program.heads]
    concerned = [any(_of_null(arg, variables) for arg in head.args) for head in heads]
    if program.open or (heads == list(program.heads) and not any(concerned)):
        return program
    draft = program.copy()
    draft.heads = tuple(h for h, split in zip(heads, concerned, strict=True) if not split)
    for head, split in zip(heads, concerned, strict=True):
        if split:
            _Split(draft, head).define()
    return draft


def _of_null(arg: Expression | CheckedHeadAggregate, variables: Sequence[RuleVariable]) -> bool:
    """Recognise an aggregate of what may be NULL."""
    if not isinstance(arg, CheckedHeadAggregate):
        return False
    counts = arg.function in COUNTING
    return arg.type.optional or (counts and any(_type(e, variables).optional for e in arg.args))


def _counting_rows(head: CheckedHead, variables: Sequence[RuleVariable]) -> CheckedHead:
    """The head with `count()` in place of a count of values that are there in every row."""

    def plain(arg: Expression | CheckedHeadAggregate) -> Expression | CheckedHeadAggregate:
        counted = isinstance(arg, CheckedHeadAggregate) and _counted(arg)
        if not counted or any(_type(each, variables).optional for each in counted):
            return arg
        return CheckedHeadAggregate("count", (), INT)

    return replace(head, args=tuple(map(plain, head.args)))


def _type(term: Expression, variables: Sequence[RuleVariable]) -> Type:
    return variables[term.variable].type if isinstance(term, Ref) else term.type


def _counted(arg: CheckedHeadAggregate) -> tuple[Expression, ...]:
    """The terms that `count(x)` counts the values of."""
    return arg.args if arg.function == "count" else ()


class _Split:
    """One such head on its way to several relations."""

    def __init__(self, draft: RuleProgram, head: CheckedHead):
        self._draft, self._head = draft, head
        self._body = (*draft.body, *head.literals)
        self._group = [arg for arg in head.args if not isinstance(arg, CheckedHeadAggregate)]
        self._keys = tuple(draft.new_variable(self._type(arg)) for arg in self._group)

    def define(self) -> None:
        """Open the definitions."""
        aggregates = [arg for arg in self._head.args if isinstance(arg, CheckedHeadAggregate)]
        plain = [arg for arg in aggregates if not _of_null(arg, self._draft.variables)]
        results: dict[int, Expression] = {}
        read: list[CheckedLiteral] = []
        if plain:
            read.append(self._of_all(plain, results))
        waiting = [arg for arg in aggregates if _of_null(arg, self._draft.variables)]
        while waiting:
            alike = [arg for arg in waiting if arg.args == waiting[0].args]
            waiting = [arg for arg in waiting if arg.args != alike[0].args]
            read += self._of_values(alike, results)
        keys = iter(self._keys)
        head = tuple(
            results[id(arg)] if isinstance(arg, CheckedHeadAggregate) else next(keys)
            for arg in self._head.args
        )
        made = Definition(head, self._head.relation, waiting=(Body(tuple(read)),))
        self._draft.open.insert(0, made)

    def _of_all(
        self, aggregates: Sequence[CheckedHeadAggregate], results: dict[int, Expression]
    ) -> CheckedAtom:
        """The atom of aggregates of values that are there in every row."""
        name = self._aggregated(aggregates, self._body)
        found = [self._draft.new_variable(arg.type) for arg in aggregates]
        results |= {id(arg): ref for arg, ref in zip(aggregates, found, strict=True)}
        return CheckedAtom(name, (*self._keys, *found))

    def _of_values(
        self, aggregates: Sequence[CheckedHeadAggregate], results: dict[int, Expression]
    ) -> Literals:
        """The literals that give aggregates of the same values, of each group."""
        args = aggregates[0].args
        optional = [arg for arg in args if self._type(arg).optional]
        tests = [Filter(">", arg, Value(None, self._type(arg))) for arg in optional]
        name = self._aggregated(aggregates, (*self._body, *tests))
        found = [self._draft.new_variable(arg.type.required) for arg in aggregates]
        there = [self._checked(ref, arg) for arg, ref in zip(aggregates, found, strict=True)]
        some = CheckedAtom(name, (*self._keys, *found))
        if not optional:
            results |= dict(zip(map(id, aggregates), there, strict=True))
            return (some,)
        gaps = Filter("=", optional[0], Value(None, self._type(optional[0])))
        groups = self._draft.define(
            "null",
            Definition(
                tuple(self._group), waiting=(Body((*self._body, *[gaps][: len(optional) == 1])),)
            ),
        )
        none = CheckedNegation(Block((self._any_value(name, aggregates, tests),)))
        values = [self._of_nothing(arg, ref) for arg, ref in zip(aggregates, found, strict=True)]
        whole = [self._draft.new_variable(arg.type) for arg in aggregates]
        results |= {id(arg): ref for arg, ref in zip(aggregates, whole, strict=True)}
        bodies = (
            Body((some, *self._equal(whole, there))),
            Body((CheckedAtom(groups, self._keys), none, *self._equal(whole, values))),
        )
        both = self._draft.define("or", Definition((*self._keys, *whole), waiting=bodies))
        return (CheckedAtom(both, (*self._keys, *whole)),)

    def _any_value(
        self, name: str, aggregates: Sequence[CheckedHeadAggregate], tests: Sequence[Filter]
    ) -> CheckedAtom:
        """The atom of groups with values: those with results, where each such group has one."""
        known = [AGGREGATES.get(each.function) for each in aggregates]
        if any(each is not None and each.state is StateKind.FOLD for each in known):
            body = Body((*self._body, *tests))
            name = self._draft.define("some", Definition(tuple(self._group), waiting=(body,)))
            return CheckedAtom(name, self._keys)
        return CheckedAtom(name, (*self._keys, *[None] * len(aggregates)))

    def _aggregated(self, aggregates: Sequence[CheckedHeadAggregate], body: Literals) -> str:
        """The hidden relation of plain aggregates over a body."""
        plain = [
            CheckedHeadAggregate(arg.function, () if _counted(arg) else arg.args, arg.type.required)
            for arg in aggregates
        ]
        definition = Definition((*self._group, *plain), waiting=(Body(body),), single=True)
        return self._draft.define(aggregates[0].function, definition)

    def _checked(self, result: Ref, aggregate: CheckedHeadAggregate) -> Expression:
        """A result on its way into an optional column, for which no integer may have the code of
        NULL.
        """
        of_int = aggregate.type.name == "int" and not aggregate.type.unsigned
        if not of_int or aggregate.function in COUNTING:
            return result
        return Apply(NO_NULL, (result,), aggregate.type.required)

    def _of_nothing(self, aggregate: CheckedHeadAggregate, result: Ref) -> Expression:
        return Value(0, INT) if aggregate.function in COUNTING else Value(None, aggregate.type)

    def _equal(self, whole: Sequence[Ref], values: Sequence[Expression]) -> list[Filter]:
        return [Filter("=", ref, value) for ref, value in zip(whole, values, strict=True)]

    def _type(self, term: Expression) -> Type:
        return _type(term, self._draft.variables)
