# SPDX-License-Identifier: Apache-2.0
"""Aggregates in bodies: hidden relations with an aggregated head, grouped by the variables that the
body around has in common with them.
"""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.functions.aggregates import AGGREGATES, COUNTS
from lftj.program.bindings import shared
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.normal_form import Filter, Ref, RuleVariable, Value, type_of
from lftj.program.rewrites.rule_program import (
    Body,
    Current,
    Definition,
    HeadTerm,
    Literals,
    RuleProgram,
)
from lftj.program.rewrites.surroundings import (
    asked_in_cycle,
    equations_of,
    guarded,
    imported,
    projected,
    refs,
    selective,
)
from lftj.types import BOOL, Type


def aggregates(program: RuleProgram) -> RuleProgram:
    """An atom of a hidden aggregate in place of one in the body; for one that has a value of
    nothing, such as count, there is an alternative for the empty group.
    """
    current, literal = program.current, program.next
    if current is None or not isinstance(literal, CheckedAggregate):
        return program
    draft, group = program.copy(), shared(literal)
    needed = imported(program, literal.block, group, current.conjunct)
    asked = asked_in_cycle(draft, needed, literal.block, group, current.conjunct)
    given = [asked] if asked is not None else guarded(draft, literal, current.conjunct)
    if not given:
        given = projected(draft, needed, group, current.conjunct)
        few = selective(literal.block, group, current.conjunct, draft.cyclic)
        given += [each for each in few if each not in given]
    body = (*given, *literal.block.literals)
    term = CheckedHeadAggregate(literal.function, literal.args, literal.type)
    head = (*refs(group), counting(term, program.variables))
    definition = Definition(head, waiting=(Body(body),), single=True, aggregate=literal)
    name = draft.define("not" if literal.negation else literal.function, definition)
    draft.replace_literal(current, _reading(name, literal, current, asked, program.variables))
    return draft


def counting(term: HeadTerm, variables: Sequence[RuleVariable]) -> HeadTerm:
    """The term, with `count()` in place of a count of values that are there in every row."""
    if not isinstance(term, CheckedHeadAggregate) or term.function not in COUNTS:
        return term
    optional = any(type_of(each, variables).optional for each in term.args)
    return term if optional else replace(term, args=())


def _reading(
    name: str,
    literal: CheckedAggregate,
    current: Current,
    asked: CheckedAtom | None,
    variables: Sequence[RuleVariable],
) -> list[Literals]:
    """The alternatives that read the hidden aggregate. Nothing is known of a value before it is
    `asked` for, so a group without assignments must be.
    """
    group = shared(literal)
    found: Literals = (CheckedAtom(name, (*refs(group), Ref(literal.result))),)
    nothing = AGGREGATES[literal.function].of_nothing
    if nothing is None or (asked is None and _has_rows(literal, current, variables)):
        return [found]
    empty: list[CheckedLiteral] = [
        Filter("=", Ref(literal.result), _of_nothing(nothing, literal.type)),
        CheckedNegation(Block((CheckedAtom(name, (*refs(group), None)),))),
        *([] if asked is None else [asked]),
    ]
    if not current.definition.single:
        return [found, tuple(empty)]
    # Of the empty group, equations may be all that binds the shared variables: `x = sum y :
    # { e(x, y) }` is asked for x = 0.
    bound = group <= current.conjunct.bound()
    said = [] if bound else equations_of({*group, literal.result}, current.conjunct)
    branches = (Block((*found, *said)), Block((*empty, *said)))
    return [(CheckedDisjunction(branches),)]


def _has_rows(
    literal: CheckedAggregate, current: Current, variables: Sequence[RuleVariable]
) -> bool:
    """Test for groups that have an assignment wherever the body around holds: a row of this is
    within its own bound, as in `s(g, t, _), n = sum x : { s(g, u, x), u <= t }`.
    """
    atoms = [each for each in literal.block.literals if isinstance(each, CheckedAtom)]
    tests = [each for each in literal.block.literals if isinstance(each, Filter)]
    if len(atoms) != 1 or len(tests) + 1 != len(literal.block.literals):
        return False
    (inside,), local = atoms, literal.block.local
    if not all(isinstance(arg, Ref) for arg in literal.args):
        return False
    for atom in current.conjunct.positive:
        if not isinstance(atom, CheckedAtom) or atom.relation != inside.relation:
            continue
        taken: dict[object, object] = {}
        for arg, here in zip(inside.args, atom.args, strict=True):
            free = isinstance(arg, Ref) and arg.variable in local
            taken.setdefault(arg, here if free else arg)
        if all(
            taken[arg] == here for arg, here in zip(inside.args, atom.args, strict=True)
        ) and all(_is_reflexive(test, taken, variables) for test in tests):
            return True
    return False


def _is_reflexive(
    test: Filter, taken: Mapping[object, object], variables: Sequence[RuleVariable]
) -> bool:
    """Test for a comparison that any value that is `taken` fulfils with itself; NULL does not."""
    left, right = (taken.get(side, side) for side in (test.left, test.right))
    if test.operator not in ("<=", ">=") or not isinstance(left, Ref) or left != right:
        return False
    return not variables[left.variable].type.optional


def _of_nothing(number: int, type: Type) -> Value:
    """The value of an aggregate over no assignments."""
    if type.name == "float":
        return Value(float(number), type)
    if type.required == BOOL:
        return Value(bool(number), type)
    return Value(decimal.Decimal(number) if type.name == "decimal" else number, type)
