# SPDX-License-Identifier: Apache-2.0
"""Rows within the bound of a count or a sum, as one relation, and the rows that are asked for
as another.

    n(t, count()) :- asked(t), s(u, x), open(x), !gone(u), u < t.     becomes
    n(t, count()) :- asked(t), within(u, x), u < t.     within(u, x) :- s(u, x), open(x), !gone(u).

Such a rule is read off two key orders (`lftj.views.bounded`), where a join would compare each row
that is asked for with all rows on one side of its bound. All variables are kept, so that as many
assignments count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from lftj.functions.aggregates import AGGREGATES, COUNTS, TOTALS
from lftj.program.arithmetic import comparison_may_fail, may_fail
from lftj.program.bindings import Variables, bound_by, of_expressions, of_literal, of_literals
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate, CheckedLiteral
from lftj.program.hidden import PART
from lftj.program.normal_form import Filter, Ref, Value, type_of
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.divided_body import is_stuck
from lftj.program.rewrites.rule_program import (
    Copied,
    Definition,
    HeadTerm,
    RuleProgram,
    aggregates_in,
)
from lftj.types import Type
from lftj.types.sources import is_hidden

ORDERED = ("<", "<=", ">", ">=")
_FEWER = 16
"""Times as many rows as are asked for from which on a range of each is read where it lies."""


class _Sides(NamedTuple):
    """The two sides of a bound, and the comparison of them."""

    asked: Conjunct
    within: Conjunct
    test: Filter


class _Aggregated(NamedTuple):
    """A definition that aggregates the rows on one side of a bound: the call, the variables that
    its groups are, as terms and by number, the sides, and the bound as seen from the rows.
    """

    definition: Definition
    call: CheckedHeadAggregate
    terms: tuple[Ref, ...]
    group: Variables
    sides: _Sides
    bound: Filter


def _aggregated(
    program: RuleProgram, fits: Callable[[CheckedHeadAggregate, RuleProgram], bool]
) -> _Aggregated | None:
    """The definition that was opened last, where it is such a one, of a call that fits."""
    definition = program.finished
    if definition is None or definition.functor is not None or len(definition.finished) != 1:
        return None
    calls = aggregates_in(definition.head)
    if len(calls) != 1 or definition.choice or not fits(calls[0], program):
        return None
    terms = tuple([term for term in definition.head if isinstance(term, Ref)])
    group = of_expressions(terms)
    sides = _sides(definition.finished[0], group)
    if sides is None or len(terms) + 1 < len(definition.head):
        return None
    bound = sides.test if of_expressions([sides.test.right]) <= group else sides.test.turned
    return _Aggregated(definition, calls[0], terms, group, sides, bound)


def bounded_parts(program: RuleProgram) -> RuleProgram:
    """Hidden relations of both sides of a bound, where these are more than an atom."""
    found = _aggregated(program, _moves)
    if found is None or not _in_order(found.call, found.bound, program):
        return program
    definition, call, _, group, sides, _ = found
    if not _worth(program, sides) or not _apart(program, sides):
        return program
    copied = Copied(program)
    made_of = _of_variables(copied, call, sides)
    head = tuple([made_of if term is call else term for term in definition.head])
    made = Conjunct(
        [_atom(copied, sides.asked, group), _atom(copied, sides.within, None)], [], [sides.test]
    )
    copied.draft.replace_top(finished=(made,), head=head)
    return copied.draft


def nearest_rows(program: RuleProgram) -> RuleProgram:
    """A text, or a value that may be NULL, of the row next to a bound by the place of that row,
    which is read off a key order:

    n(t, last(v, u)) :- asked(t), s(u, v), u < t.     becomes
    n(t, max(v)) :- near(t, u), s(u, v).     near(t, last(u, u)) :- asked(t), s(u, v), u < t.

    Rows of NULL are near where no other one is: the value is NULL then.
    """
    found = _aggregated(program, _is_placed)
    if found is None or not _apart(program, found.sides):
        return program
    definition, call, terms, _, sides, bound = found
    (conjunct,), (value, number) = definition.finished, call.args
    if bound.left != number or not is_near(call.function, bound.operator):
        return program
    draft, within = program.copy(), sides.within
    type, place = type_of(value, program.variables), type_of(number, program.variables)
    head = (*terms, CheckedHeadAggregate(call.function, (number, number), place))
    of_all = replace(definition, head=head, relation="", kind="", aggregate=None)
    near, row = draft.define(PART, of_all), (*terms, number)
    if type.optional:
        there = conjunct.copy()
        there.filters.append(Filter(">", value, Value(None, type)))
        known = draft.define(PART, replace(of_all, finished=(there,)))
        has = CheckedAtom(draft.define_by(PART, terms, Conjunct([CheckedAtom(known, row)])), terms)
        missing = Conjunct([CheckedAtom(near, row)], [has])
        either = (Conjunct([CheckedAtom(known, row)]), missing)
        near = draft.define(PART, Definition(row, finished=either))
    best = CheckedHeadAggregate(
        "max" if is_near(call.function, "<") else "min", (value,), call.type
    )
    made = Conjunct([CheckedAtom(near, row), *within.positive], within.negated, within.filters)
    placed = tuple([best if term is call else term for term in definition.head])
    draft.replace_top(finished=(made,), head=placed)
    return draft


def _is_placed(call: CheckedHeadAggregate, program: RuleProgram) -> bool:
    """Test for the first or the last text, or value that may be NULL, in the order of numbers."""
    read = AGGREGATES[call.function].in_order if call.function in AGGREGATES else None
    if read is None or read.end is None or len(call.args) != 2 or call.args[0] == call.args[1]:
        return False
    if not all(isinstance(each, Ref) for each in call.args):
        return False
    value, number = [type_of(each, program.variables) for each in call.args]
    return (value.name == "str" or value.optional) and not (number.name == "str" or number.optional)


def moves(function: str, types: Sequence[Type]) -> bool:
    """Test for a count, a sum that is exact in any order, or the value of the next row: what can be
    read off a key order.
    """
    about = AGGREGATES.get(function)
    if function in COUNTS or about is None:
        return function in COUNTS
    if about.in_order is not None:
        return about.in_order.end is not None and not any(each.optional for each in types)
    return function in TOTALS and not about.divided and types[0].name in ("int", "decimal")


def is_near(function: str, side: str) -> bool:
    """Test for the last row below a bound, or the first one above it."""
    read = AGGREGATES[function].in_order
    return read is not None and read.end is (side in ("<", "<="))


def _in_order(call: CheckedHeadAggregate, bound: Filter, program: RuleProgram) -> bool:
    """Test for numbers that are compared, and a row that is next if one is read."""
    read = () if call.function in COUNTS else call.args[:1]
    types = [type_of(each, program.variables) for each in (bound.left, *read)]
    if any(each.name == "str" for each in types):
        return False
    if AGGREGATES[call.function].in_order is None:
        return True
    return call.args[1:] == (bound.left,) and is_near(call.function, bound.operator)


def _moves(call: CheckedHeadAggregate, program: RuleProgram) -> bool:
    """Test for an aggregate that can be read off a key order, of what has a value."""
    types = [type_of(each, program.variables) for each in call.args]
    return moves(call.function, types) and not any(map(may_fail, call.args))


def _sides(conjunct: Conjunct, group: Variables) -> _Sides | None:
    """The literals on both sides of the only comparison between them; None where others are."""
    bounds = [each for each in conjunct.filters if _is_bound(each, group)]
    if len(bounds) != 1:
        return None
    (test,) = bounds
    asked = conjunct.split(lambda each: each is not test and of_literal(each) <= group)
    outside, inside = asked.get(True, Conjunct()), asked.get(False, Conjunct())
    within = Conjunct(
        inside.positive, inside.negated, [each for each in inside.filters if each is not test]
    )
    bound, read = of_literal(test) & group, of_literals(within.literals)
    binds = bound_by(within.positive)
    if read & bound or not read <= binds or not of_literal(test) <= bound | binds:
        return None
    if not group <= bound_by(outside.positive):
        return None
    if any(map(comparison_may_fail, _comparisons(outside))) or any(
        map(comparison_may_fail, _comparisons(within))
    ):
        return None
    return _Sides(outside, within, test)


def _is_bound(test: Filter, group: Variables) -> bool:
    """Test for a comparison of a variable of the group with another one."""
    if not isinstance(test.left, Ref) or not isinstance(test.right, Ref):
        return False
    inside = [side.variable in group for side in (test.left, test.right)]
    return test.operator in ORDERED and inside.count(True) == 1


def _comparisons(conjunct: Conjunct) -> list[Filter]:
    return [each for each in conjunct.literals if isinstance(each, Filter)]


def _worth(program: RuleProgram, sides: _Sides) -> bool:
    """Test for more than an atom on a side, and as many rows asked for as ranges are worth."""
    if _is_atom(sides.asked) and _is_atom(sides.within):
        return False
    asked, within = (_rows(program, each) for each in (sides.asked, sides.within))
    return asked is None or within is None or _FEWER * asked >= within


def _is_atom(conjunct: Conjunct) -> bool:
    """Test for an atom of different variables, and nothing else."""
    if len(conjunct.literals) != 1 or not isinstance(atom := conjunct.literals[0], CheckedAtom):
        return False
    variables = {arg.variable for arg in atom.args if isinstance(arg, Ref)}
    return len(variables) == len(atom.args)


def _rows(program: RuleProgram, side: Conjunct) -> int | None:
    """The rows of the largest relation of a side, where they are known."""
    names = [each.relation for each in side.positive if isinstance(each, CheckedAtom)]
    sizes = [None if is_hidden(name) else program.known.sizes(name) for name in names]
    found = [-1 if size is None or size.few else size.rows for size in sizes]
    return None if not found or min(found) < 0 else max(found)


def _apart(program: RuleProgram, sides: _Sides) -> bool:
    """Test for literals of which relations may be made: none depends on the rule, or chooses."""
    literals = (*sides.asked.literals, *sides.within.literals)
    names = {each.relation for each in literals if isinstance(each, CheckedAtom)}
    return not any(is_stuck(program, name) for name in names)


def _of_variables(
    copied: Copied, call: CheckedHeadAggregate, sides: _Sides
) -> CheckedHeadAggregate:
    """The aggregate of variables; what is computed is an equation on the side of the rows."""
    args: list[HeadTerm] = []
    for arg in call.args:
        if not isinstance(arg, Ref):
            made = copied.draft.new_variable(type_of(arg, copied.program.variables))
            sides.within.positive.append(Filter("=", made, arg))
            arg = made
        args.append(arg)
    return CheckedHeadAggregate(call.function, tuple(args), call.type)  # type: ignore[arg-type]


def _atom(copied: Copied, side: Conjunct, wanted: Variables | None) -> CheckedLiteral:
    """The atom of one side: a hidden relation, where there is more than an atom."""
    if _is_atom(side):
        return side.positive[0]
    variables = of_literals(side.literals) if wanted is None else wanted
    columns = tuple([Ref(each) for each in sorted(variables)])
    return CheckedAtom(copied.draft.define_by(PART, columns, side), columns)
