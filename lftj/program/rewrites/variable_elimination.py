# SPDX-License-Identifier: Apache-2.0
"""Variable elimination: parts of a body give way to what they leave of the variables that something
else reads.

    o(r, q) :- sold(s, r), stock(s, p), buys(c, p), buys(c, t), stock(u, t), sold(u, q).
    becomes     o(r, q) :- part2(c, q), part2(c, r).
    part2(c, r) :- buys(c, p), part1(p, r).     part1(p, r) :- stock(s, p), sold(s, r).

A join has as many assignments as there are ways to combine rows: millions of paths among a hundred
thousand edges. What is asked of them can often be had without listing them: a head without
aggregates asks for the values of some variables, and sums distribute over products, least and
greatest values over unions [Yan and Larson 1995; Abo Khamis, Ngo and Rudra, FAQ, 2016]. So a hidden
relation has the different values of a part's columns, or its totals for each of them:

    n = count : { e(x, y), e(y, z), e(z, u) }     becomes     n = sum b : { e(x, y), two(y, b) }
    two(y, sum a) :- e(y, z), one(z, a)           one(z, count) :- e(z, _)

Which parts there are is found by `elimination_trees`; each is a relation like any other, which
changes follow row by row. Sums of floats are left as they are, for a sum of rounded sums is another
one. A partial sum that does not fit is an error, even where others would have cancelled it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from lftj.functions.aggregates import AGGREGATES, COUNTS
from lftj.program.arithmetic import may_fail
from lftj.program.bindings import of_expressions, of_literals
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate
from lftj.program.hidden import PART
from lftj.program.normal_form import Apply, Expression, Filter, Ref, type_of
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.divided_body import DividedBody
from lftj.program.rewrites.elimination_trees import Part, Total
from lftj.program.rewrites.join_estimates import bits
from lftj.program.rewrites.rule_program import (
    Copied,
    Definition,
    HeadTerm,
    RuleProgram,
    aggregates_in,
)
from lftj.program.signatures import aggregate_type
from lftj.types import INT, Type

_TOGETHER = {name: each.together for name, each in AGGREGATES.items() if each.together}
"""Aggregate that combines the aggregates of parts into that of the whole."""


class _Value(NamedTuple):
    """Aggregated value of an assignment: the product of `base` and `factors`, which are numbers of
    rows of parts; None for a count. `type`: of the product.
    """

    base: Expression | None
    factors: tuple[Ref, ...] = ()
    type: Type = INT

    @property
    def expression(self) -> Expression | None:
        """The product."""
        every = (*self.factors,) if self.base is None else (self.base, *self.factors)
        return (
            reduce(lambda product, factor: Apply("*", (product, factor), self.type), every)
            if every
            else None
        )


def variable_elimination(program: RuleProgram) -> RuleProgram:
    """Hidden relations of parts of the bodies, where these are cheaper to join by parts."""
    definition = program.finished
    if definition is None or not definition.eliminates or not _may_be_divided(definition):
        return program
    copied = Copied(program)
    made = [_Elimination(copied, each, definition.head) for each in definition.finished]
    finished = tuple([each.conjunct() for each in made])
    if all(now is was for now, was in zip(finished, definition.finished, strict=True)):
        return program
    head, aggregate = made[0].head(), None if made[0].terms else definition.aggregate
    copied.draft.replace_top(head=head, finished=finished, aggregate=aggregate, eliminates=False)
    return copied.draft


def _may_be_divided(definition: Definition) -> bool:
    """Test for a head that says the same of parts: one without aggregates, or with exact ones."""
    terms = aggregates_in(definition.head)
    if not definition.joins or not terms:
        return definition.joins
    return (
        len(definition.finished) == 1
        and all(map(_is_exact, terms))
        and not any(term.args for term in terms if term.function in COUNTS)
        and not any(may_fail(arg) for term in terms for arg in term.args)
    )


class _Elimination:
    """The elimination of variables in one conjunction."""

    def __init__(self, copied: Copied, conjunct: Conjunct, head: Sequence[HeadTerm]):
        self._copied = copied
        self._was, self._head = conjunct, head
        self.terms = aggregates_in(head)
        self._values = [self._value(term.args[0] if term.args else None) for term in self.terms]

    def head(self) -> tuple[HeadTerm, ...]:
        """The head over what the conjunction has now."""
        made = iter(map(_term, self.terms, self._values))
        return tuple(
            next(made) if isinstance(term, CheckedHeadAggregate) else term for term in self._head
        )

    def conjunct(self) -> Conjunct:
        """The conjunction that says the same of fewer assignments; as it was where nothing would be
        won.
        """
        asked = of_expressions(
            term for term in self._head if not isinstance(term, CheckedHeadAggregate)
        )
        totals = [_total(term) for term in self.terms]
        self._body = DividedBody(self._was, asked, totals, self._copied.program)
        root = self._body.best()
        return self._was if root is None else Conjunct.union([self._joined(root), self._body.rest])

    # ── what becomes of the parts ─────────────────────────────────────────────────────────────────
    def _joined(self, part: Part) -> Conjunct:
        """The literals of a part, with atoms of those within it."""
        body = self._body
        atoms = [self._atom_of(each) for each in part.parts]
        found = Conjunct([*(body.atoms[each] for each in part.atoms), *atoms])
        for test in (body.tests[each] for each in part.tests):
            (found.filters if isinstance(test, Filter) else found.negated).append(test)  # type: ignore[arg-type]
        return found

    def _atom_of(self, part: Part) -> CheckedAtom:
        """The atom of a part's columns and totals; the values become what is left to aggregate."""
        draft, literals = self._copied.draft, self._joined(part)
        own = of_literals(literals.literals) - frozenset(part.columns)
        columns: dict[CheckedHeadAggregate, Ref] = {}

        def result(function: str, value: Expression | None) -> Ref:
            of = None if value is None else self._type(value)
            type = aggregate_type(function, of and of.required)
            assert type is not None, "it was aggregated before"
            type = type.or_null if of is not None and of.optional else type
            column = CheckedHeadAggregate(function, () if value is None else (value,), type)
            return columns.setdefault(column, draft.new_variable(type))

        now: list[_Value] = []
        for term, value in zip(self.terms, self._values, strict=True):
            here = tuple([factor for factor in value.factors if factor.variable in own])
            others = tuple([factor for factor in value.factors if factor not in here])
            together = _TOGETHER[term.function]
            if of_expressions([value.base]) & own:
                base = result(together, value._replace(factors=here).expression)
                now.append(self._value(base, others))
            elif together != "sum":
                now.append(value)
            else:
                rows = result("sum" if here else "count", _Value(None, here).expression)
                now.append(value._replace(factors=(*others, rows)))
        self._values = now
        kind = next((column.function for column in columns), PART)
        link = tuple(map(Ref, part.columns))
        name = draft.define(
            kind, Definition((*link, *columns), finished=(literals,), eliminates=False)
        )
        return CheckedAtom(name, (*link, *columns.values()))

    def _value(self, base: Expression | None, factors: tuple[Ref, ...] = ()) -> _Value:
        """A product, NULL where `base` is."""
        null = base is not None and self._type(base).optional
        return _Value(base, factors, INT.or_null if null else INT)

    def _type(self, value: Expression) -> Type:
        return type_of(value, self._copied.draft.variables)


def _is_exact(term: CheckedHeadAggregate) -> bool:
    """Test for an aggregate with the same result in any order of aggregation."""
    function = _TOGETHER.get(term.function)
    return function is not None and (function != "sum" or term.type.name != "float")


def _total(term: CheckedHeadAggregate) -> Total:
    """The variables of an aggregated value, and whether rows of others may be counted before it is
    aggregated: to multiply it then, where that matters.
    """
    multiplied = _TOGETHER[term.function] == "sum"
    return Total(bits(of_expressions(term.args)), not multiplied or term.type.required == INT)


def _term(term: CheckedHeadAggregate, value: _Value) -> CheckedHeadAggregate:
    expression = value.expression
    if expression is None:
        return term
    return CheckedHeadAggregate(_TOGETHER[term.function], (expression,), term.type)
