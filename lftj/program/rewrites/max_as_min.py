# SPDX-License-Identifier: Apache-2.0
"""The greatest value below a bound as a least one: `u = max s : { e(s), s < t }` looked for in the
order in which it comes first.

A search ends at the first row of a group only where it ascends (`lftj/join/run/least_values.py`).
So the atoms of s give way to hidden relations of their rows in which s is *mirrored*: every bit of
its code is turned, so that what was greatest is least. This never fails, and turning the bits once
more gives s back. Only for a maximum with an upper bound by outer variables and no lower one: this
has, for each of their values, as many proofs as there are rows below; any other has as many as its
rows, which may as well be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lftj.program.bindings import Variables, of_expressions, of_literal, of_literals, shared
from lftj.program.checked import (
    CheckedAggregate,
    CheckedAtom,
    CheckedHeadAggregate,
    CheckedLiteral,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import RuleProgram
from lftj.types import INT, Type

Bounds = list[tuple[Filter, tuple[str, Expression]]]
"""Comparisons, each with how it bounds a variable."""

_BELOW, _ABOVE = ("<", "<="), (">", ">=")


def mirror(value: Expression, type: Type = INT) -> Apply:
    """The value with every bit of its code turned; of `type` where that is to be a value of a user
    again.
    """
    return Apply("mirror", (value,), type)


def max_as_min(program: RuleProgram) -> RuleProgram:
    """The body aggregate `max` as the mirrored least of a mirrored variable, where that is won."""
    definition = program.finished
    if definition is None or definition.aggregate is None or not definition.finished:
        return program
    aggregate, conjunct = definition.aggregate, definition.finished[0]
    target, bounds = aggregate.target, _bounds(aggregate, conjunct, program)
    if not isinstance(target, Ref) or not bounds:
        return program
    atoms = [
        each
        for each in conjunct.positive
        if isinstance(each, CheckedAtom) and target.variable in of_literal(each)
    ]
    if not atoms:
        return program
    draft = program.copy()
    body, turned = _turned_about(conjunct, target, bounds, atoms, shared(aggregate), draft)
    least = draft.new_variable(INT)
    draft.replace_top(
        head=(*definition.head[:-1], CheckedHeadAggregate("min", (turned,), INT)),
        finished=(body,),
        aggregate=None,
        eliminates=False,
    )
    draft.replace_reader(
        definition.relation,
        lambda atom: (
            CheckedAtom(atom.relation, (*atom.args[:-1], least)),
            Filter("=", Ref(aggregate.result), mirror(least, aggregate.type)),
        ),
    )
    return draft


def _bounds(aggregate: CheckedAggregate, conjunct: Conjunct, program: RuleProgram) -> Bounds:
    """The upper bounds of a maximum by outer variables; none where something else bounds it."""
    target, group = aggregate.target, shared(aggregate)
    if (
        aggregate.function != "max"
        or not isinstance(target, Ref)
        or target.variable in group
        or program.variables[target.variable].type.name == "str"
    ):
        return []
    found = [
        (test, bound) for test in conjunct.filters if (bound := bound_of(test, target)) is not None
    ]
    bounds = [
        (test, bound)
        for test, bound in found
        if (read := of_expressions(bound[1:])) and read <= group
    ]
    return [] if any(operator not in _BELOW for _, (operator, _) in bounds) else bounds


def _turned_about(
    conjunct: Conjunct,
    target: Ref,
    bounds: Bounds,
    atoms: Sequence[CheckedAtom],
    group: Variables,
    draft: RuleProgram,
) -> tuple[Conjunct, Ref]:
    """The conjunction and the variable whose least value mirrors the greatest of `target`."""
    others: list[CheckedLiteral] = [each for each in conjunct.positive if each not in atoms]
    filters = [test for test in conjunct.filters if all(test is not other for other, _ in bounds)]
    turned = draft.new_variable(INT)
    rest = of_literals([*others, *filters, *conjunct.negated])
    asked = group | rest
    made = [_atom(each, target, turned, asked | _in_others(each, atoms), draft) for each in atoms]
    if target.variable in rest:
        others.append(Filter("=", target, mirror(turned, draft.variables[target.variable].type)))
    filters += [Filter(operator, mirror(bound), turned).turned for _, (operator, bound) in bounds]
    return Conjunct([*made, *others], list(conjunct.negated), filters), turned


def _atom(
    atom: CheckedAtom, target: Ref, turned: Ref, asked: Variables, draft: RuleProgram
) -> CheckedAtom:
    """The atom of a hidden relation that has the mirrored value in place of the target, and the
    other variables that something else asks for.
    """
    others = [Ref(variable) for variable in sorted(of_literal(atom) & asked - {target.variable})]
    made = draft.new_variable(INT)
    computed = Conjunct([atom, Filter("=", made, mirror(target))])
    name = draft.define_by("in", (*others, made), computed)
    return CheckedAtom(name, (*others, turned))


def bound_of(test: Filter, target: Ref) -> tuple[str, Expression] | None:
    """Bound of a variable by a comparison: the operator as if the variable stood left of it, and
    the other side.
    """
    reading = next((each for each in (test, test.turned) if each.left == target), None)
    return (
        (reading.operator, reading.right)
        if reading is not None and reading.operator in (*_BELOW, *_ABOVE)
        else None
    )


def _in_others(atom: CheckedAtom, atoms: Iterable[CheckedAtom]) -> Variables:
    return of_expressions(arg for other in atoms if other is not atom for arg in other.args)
