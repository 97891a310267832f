# SPDX-License-Identifier: Apache-2.0
"""Literals of a body that a relation made from a part of it needs, too: those that bind variables
which the part leaves open, and comparisons that spare it rows nobody asks for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lftj.program.arithmetic import comparison_may_fail
from lftj.program.bindings import (
    Variables,
    bound_by,
    of_literal,
    of_literals,
    relations_of,
    shared,
    slice_for,
)
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.hidden import ASKED
from lftj.program.normal_form import Expression, Filter, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import Definition, RuleProgram, fails


def imported(
    program: RuleProgram, block: Block, variables: Variables, conjunct: Conjunct
) -> list[CheckedLiteral]:
    """Literals of the conjunction for those of `variables` that the block does not bind itself."""
    known, inside = variables & conjunct.bound(), bound_by(block.literals)
    missing = known - inside
    return slice_for(missing, conjunct.positive, program.cyclic, known & inside) if missing else []


def projected(
    draft: RuleProgram, literals: list[CheckedLiteral], wanted: Variables, conjunct: Conjunct
) -> list[CheckedLiteral]:
    """The same, such that no other variable multiplies assignments: a hidden relation of the wanted
    variables, if there are others. With the comparisons of the conjunction between them.
    """
    tests = tests_between(bound_by(literals), conjunct)
    if of_literals(literals) <= wanted:
        return [*literals, *tests]
    kept = refs(of_literals(literals) & wanted)
    name = draft.define_by("in", kept, Conjunct(literals, [], tests))
    return [CheckedAtom(name, kept)]


def selective(
    block: Block, variables: Variables, conjunct: Conjunct, cyclic: Collection[str]
) -> list[CheckedLiteral]:
    """Atoms and equations with a constant around a block that bind some of these variables, and no
    others, where the block has a constant as well: those of `b(x) :- e(1, x), !( e(x, y), y > 1 )`.

    Without them the block is decided for every `x`. A block without a constant may be that of many
    rules, so it is kept once for all of them.
    """
    if not any(map(_has_constant, block.literals)):
        return []
    return [
        each
        for each in conjunct.positive
        if _has_constant(each)
        and bound_by([each])
        and of_literal(each) <= variables
        and not (isinstance(each, CheckedAtom) and each.relation in cyclic)
    ]


def _has_constant(literal: CheckedLiteral) -> bool:
    if isinstance(literal, CheckedAtom):
        return any(isinstance(arg, Value) for arg in literal.args)
    return isinstance(literal, Filter) and (
        isinstance(literal.left, Value) or isinstance(literal.right, Value)
    )


def guarded(
    draft: RuleProgram, literal: CheckedAggregate | CheckedNegation, conjunct: Conjunct
) -> list[CheckedLiteral]:
    """The values that the conjunction asks an inner body for, as a hidden relation, where something
    in this may have no value: for others nothing is computed. Nothing where none are shared, or the
    cycle that the rule is in binds them.
    """
    group = shared(literal) & conjunct.bound()
    if not group or not fails(literal):
        return []
    around = all_but(draft.cyclic, conjunct, group)
    if around is None:
        return []
    return [CheckedAtom(draft.define_by("in", refs(group), around), refs(group))]


def asked_in_cycle(
    draft: RuleProgram,
    needed: list[CheckedLiteral],
    block: Block,
    wanted: Variables,
    conjunct: Conjunct,
) -> CheckedAtom | None:
    """The atom that binds the wanted variables where `needed` reads the cycle that the rule is in,
    and the block does not; None elsewhere.

    A hidden relation that read `needed` would stand in the cycle, and an aggregate or a negation
    must not. Yet what it says of a value depends on finished relations alone: only the values are
    not known before. So it is kept for the values of a relation without rules. A commit puts the
    values that the cycle asks for there, and goes on with the cycle until it asks for no others
    (`lftj.engine.commit.demanded_views`).
    """
    if relations_of(needed).isdisjoint(draft.cyclic):
        return None
    if not relations_of(block.literals).isdisjoint(draft.cyclic):
        return None
    kept = refs(of_literals(needed) & wanted)
    tests = tests_between(bound_by(needed), conjunct)
    domain = draft.define_by("in", kept, Conjunct(needed, [], tests))
    return CheckedAtom(draft.define(ASKED, Definition((*kept,), asked_by=domain)), kept)


def all_but(heads: Collection[str], conjunct: Conjunct, wanted: Variables) -> Conjunct | None:
    """The conjunction without atoms of `heads`, which would close a cycle; None if these are what
    binds the `wanted` variables.
    """
    positive = [
        each
        for each in conjunct.positive
        if not (isinstance(each, CheckedAtom) and each.relation in heads)
    ]
    bound = bound_by(positive)
    if not wanted <= bound:
        return None
    positive = [each for each in positive if of_literal(each) <= bound]
    negated = [
        each
        for each in conjunct.negated
        if of_literal(each) <= bound and each.relation not in heads
    ]
    return Conjunct(
        positive, negated, [each for each in conjunct.filters if of_literal(each) <= bound]
    )


def tests_between(bound: Variables, conjunct: Conjunct) -> list[Filter]:
    """The comparisons of the body around between these variables.

    Without them `!( e(s), t < s, s < u )` would be asked of all pairs of t and u, and not of those
    with t < u alone. Not the ones with arithmetic that may fail: where the inner body would not
    have held, it would not have mattered.
    """
    return [
        each
        for each in conjunct.filters
        if of_literal(each) <= bound and not comparison_may_fail(each)
    ]


def equations_of(variables: Collection[int], conjunct: Conjunct) -> list[Filter]:
    """The equations of the conjunction that the values of these variables decide, or give others
    by.
    """
    equations = [each for each in conjunct.positive if isinstance(each, Filter)]
    known = bound_by(equations, frozenset(variables))
    return [each for each in equations if of_literal(each) <= known]


def refs(variables: Iterable[int]) -> tuple[Expression, ...]:
    """The variables as expressions, in order."""
    return tuple(Ref(variable) for variable in sorted(variables))
