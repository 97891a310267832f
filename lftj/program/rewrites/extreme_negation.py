# SPDX-License-Identifier: Apache-2.0
"""Negations that say that a value is the least or the greatest of its kind, as the aggregate that
they are.

    latest(c, r) :- rate(c, day, r), !( rate(c, later, _), later > day ).

says that `day` is the greatest of the days of c, since it is one of them. As a negation it is a
relation of all days but the last, each with a later one; with a bound, as in `rate(c, f, r), f <=
d, !( rate(c, g, _), g <= d, g > f )`, of all days before each d, each with all those after it,
cubic in the days. As `f = max g : { rate(c, g, _), g <= d }` it has one row for each c and d.

That the value is one of those compared is read off the rule: the other literals of the negation,
with the value in place of what it is compared with, have to be among those of the body around it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from lftj.program.arithmetic import may_fail
from lftj.program.bindings import bound_by, of_literals
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable
from lftj.program.rewrites.conjunct import Conjunct

_FUNCTIONS = {"<": "min", ">": "max"}

Literal = TypeVar("Literal", CheckedAtom, Filter)
"""Type of a literal that keeps its class."""

Images = Mapping[int, Expression]
"""Expressions of the body around for variables of the negation."""


def as_extreme(
    negation: CheckedNegation,
    conjunct: Conjunct,
    variables: Sequence[RuleVariable],
    cyclic: Collection[str],
) -> CheckedAggregate | None:
    """`least = min v : { … }`, or max, whose result the body around binds, in place of a negation;
    None where it says something else.

    Not for relations of a cycle that the rule is part of, so that the error names the negation. Nor
    for texts: their order is not that in which trees have them. Nor with arithmetic that may fail,
    as other values would be asked about.
    """
    block = negation.block
    if not all(_plain(literal, cyclic) for literal in block.literals):
        return None
    for place, test in enumerate(block.literals):
        others = (*block.literals[:place], *block.literals[place + 1 :])
        for turned in (test, test.turned) if isinstance(test, Filter) else ():
            match turned:
                case Filter(operator="<" | ">", left=Ref(value), right=Ref(least)) if (
                    value in block.local and least not in block.local
                ):
                    type = variables[value].type
                    if (
                        type.name != "str"
                        and least not in of_literals(others)
                        and value in bound_by(others)
                    ):
                        shared = {
                            variable: Ref(variable)
                            for variable in of_literals(others) - block.local
                        }
                        if _stands_in(others, {**shared, value: Ref(least)}, conjunct):
                            found = Block(others, block.local)
                            return CheckedAggregate(
                                _FUNCTIONS[turned.operator],
                                (Ref(value),),
                                found,
                                least,
                                type,
                                negation=True,
                            )
                case _:
                    pass
    return None


def _plain(literal: CheckedLiteral, cyclic: Collection[str]) -> bool:
    atom = literal if isinstance(literal, CheckedAtom) else _absent(literal)
    if atom is not None:
        return atom.relation not in cyclic and not any(isinstance(arg, Apply) for arg in atom.args)
    return (
        isinstance(literal, Filter) and not may_fail(literal.left) and not may_fail(literal.right)
    )


def _absent(literal: CheckedLiteral) -> CheckedAtom | None:
    """The atom that is negated, if it is one without variables of its own."""
    match literal:
        case CheckedNegation(block=Block(literals=(CheckedAtom() as atom,), local=local)) if (
            not local
        ):
            return atom
    return None


def _stands_in(literals: Sequence[CheckedLiteral], images: Images, conjunct: Conjunct) -> bool:
    """Check that the conjunction has all of these literals, with `images` for their variables and
    any for the others.
    """
    tests = {each for each in (*conjunct.filters, *conjunct.positive) if isinstance(each, Filter)}
    for found in _matches(
        [each for each in literals if isinstance(each, CheckedAtom)], images, conjunct
    ):
        wanted = [_with_images(each, found) for each in literals if isinstance(each, Filter)]
        absent = [
            _with_images(atom, found) for each in literals if (atom := _absent(each)) is not None
        ]
        if all(test in tests or test.turned in tests for test in wanted) and all(
            atom in conjunct.negated for atom in absent
        ):
            return True
    return False


def _matches(atoms: Sequence[CheckedAtom], images: Images, conjunct: Conjunct) -> Iterator[Images]:
    """The ways in which the atoms are among those of the conjunction. At worst as many as
    combinations of them.
    """
    if not atoms:
        yield images
        return
    for candidate in conjunct.positive:
        if isinstance(candidate, CheckedAtom) and candidate.relation == atoms[0].relation:
            found = _matched(atoms[0], candidate, images)
            if found is not None:
                yield from _matches(atoms[1:], found, conjunct)


def _matched(atom: CheckedAtom, candidate: CheckedAtom, images: Images) -> Images | None:
    found = dict(images)
    for arg, image in zip(atom.args, candidate.args, strict=True):
        if arg is None or image is None:
            return None
        if isinstance(arg, Ref):
            if found.setdefault(arg.variable, image) != image:
                return None
        elif arg != image:
            return None
    return found


def _with_images(literal: Literal, images: Images) -> Literal:
    if isinstance(literal, CheckedAtom):
        return CheckedAtom(
            literal.relation,
            tuple(arg if arg is None else _image(arg, images) for arg in literal.args),
        )
    return Filter(literal.operator, _image(literal.left, images), _image(literal.right, images))


def _image(expression: Expression, images: Images) -> Expression:
    match expression:
        case Ref(variable):
            return images.get(variable, expression)
        case Apply():
            return Apply(
                expression.operator,
                tuple(_image(arg, images) for arg in expression.args),
                expression.type,
            )
    return expression
