# SPDX-License-Identifier: Apache-2.0
"""The terms of one body that must not be NULL for it to hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from lftj.functions.aggregates import COUNTING
from lftj.program.bindings import NONE, Variables, bound_by, of_expressions
from lftj.program.checked import (
    CheckedAggregate,
    CheckedDisjunction,
    CheckedLiteral,
    FunctorCall,
)
from lftj.program.checks.null_places import Around, Places, others_of
from lftj.program.checks.null_terms import absent_test, compared, gives_null, may_be_null, needed
from lftj.program.normal_form import Expression, Filter, Ref, Value


class Read(Protocol):
    """An inner body: what is known once it holds, and the variables of its own that may be NULL."""

    @property
    def around(self) -> Around: ...
    @property
    def absent(self) -> Variables: ...


class BodyTests:
    """One body. `carried`: its equations that carry NULL, each with the variable that it binds;
    `absent`: variables of it that may be NULL already; `inside` reads an inner body.
    """

    def __init__(
        self,
        literals: Sequence[CheckedLiteral],
        carried: Mapping[Filter, int],
        places: Places,
        around: Around,
        absent: Variables,
        inside: Callable[[Sequence[CheckedLiteral], Around], Read],
    ):
        self._literals, self._carriers, self._inside = literals, carried, inside
        self._places, self._around, self._absent = places, around, absent

    def found(self) -> tuple[list[Expression], Variables]:
        """The terms that must not be NULL, and the variables that would be without that."""
        places, around, absent = self._places, self._around, self._absent
        outer = around.bound - around.valued
        known = absent | (places.optional - places.plain)
        known |= {
            term.variable
            for literal in self._literals
            if isinstance(term := absent_test(literal), Ref) and term.variable not in places.times
        }
        known = frozenset(known) - around.valued
        while True:
            null = known | outer
            twice = {
                variable
                for variable in places.times
                if (variable in places.optional and variable not in around.safe) or variable in null
                if places.times[variable] > 1 or (variable in around.bound | absent)
                if variable not in places.safe
            }
            wanted = dict.fromkeys(map(Ref, sorted(twice)))
            for literal in self._literals:
                if literal not in self._carriers:
                    for term in _asked(literal):
                        wanted |= dict.fromkeys(needed(term, null - twice))
            guarded = of_expressions(each for each in wanted if isinstance(each, Ref))
            left = null - guarded
            more = (known | self._carried(left) | self._given(left)) - around.valued
            if more == known:
                return list(wanted), null
            known = more

    def _carried(self, null: Variables) -> Variables:
        """The results that are NULL where these variables are."""
        found: set[int] = set()
        for literal in self._literals:
            match literal:
                case FunctorCall(functor, result=int() as result) if functor != "range":
                    if gives_null(literal, null):
                        found.add(result)
                case Filter(_, left, right) if literal in self._carriers:
                    variable = self._carriers[literal]
                    value = right if left == Ref(variable) else left
                    if absent_test(literal) is None and may_be_null(value, null):
                        found.add(variable)
        return frozenset(found)

    def _given(self, null: Variables) -> Variables:
        """The variables that disjunctions and aggregates leave NULL, where these variables are."""
        found: Variables = NONE
        for place, literal in enumerate(self._literals):
            if not isinstance(literal, CheckedDisjunction | CheckedAggregate):
                continue
            others = others_of(self._literals, place, self._around)
            bound = bound_by(others, self._around.bound)
            inside = Around(bound, bound - null, self._around.safe)
            if isinstance(literal, CheckedAggregate):
                if of_null(literal, self._inside(literal.block.literals, inside).around):
                    found |= {literal.result}
            elif literal.branches:
                read = [self._inside(each.literals, inside) for each in literal.branches]
                everywhere = frozenset.intersection(*(each.around.bound for each in read))
                found |= NONE.union(*(each.absent for each in read)) & everywhere
        return found


def of_null(aggregate: CheckedAggregate, inside: Around) -> bool:
    """Test for a body aggregate that may be of nothing but NULL, and is NULL then. `inside`: its
    variables, once its body holds.
    """
    absent = inside.bound - inside.valued
    return aggregate.function not in COUNTING and _any_null(aggregate.args, absent)


def _any_null(terms: Iterable[Expression], absent: Collection[int]) -> bool:
    return any(may_be_null(each, absent) for each in terms)


def _asked(literal: CheckedLiteral) -> Sequence[Expression]:
    """The terms that must have values for a literal to hold."""
    match literal:
        case Filter("!=", term, Value(value=None)):
            return (term,)
    return compared(literal)
