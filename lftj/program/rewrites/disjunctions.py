# SPDX-License-Identifier: Apache-2.0
"""Disjunctions: a body for each branch, or one hidden relation with a rule for each branch."""

from __future__ import annotations

from lftj.functions import functor_named
from lftj.program.arithmetic import comparison_may_fail
from lftj.program.bindings import bound_by, of_literal, shared
from lftj.program.checked import (
    Block,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    FunctorCall,
)
from lftj.program.hidden import UNITED, kind_of
from lftj.program.normal_form import Filter, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import FALSE, Body, Current, Definition, RuleProgram
from lftj.program.rewrites.surroundings import imported, refs

_LIST = 4
"""Values from which on a list is joined with. A commit of one row asks a rule for a constant in
half the time that it takes for a join.
"""


def alternatives(program: RuleProgram) -> RuleProgram:
    """One body for each branch of a disjunction; none where a disjunction has no branches."""
    current = program.current
    if current is None:
        return program
    if FALSE in current.body.pending:
        draft = program.copy()
        draft.replace_body(())
        return draft
    literal = program.next
    if not isinstance(literal, CheckedDisjunction) or _is_united(literal, current):
        return program
    draft = program.copy()
    draft.replace_literal(current, [branch.literals for branch in literal.branches])
    return draft


def united(program: RuleProgram) -> RuleProgram:
    """A hidden relation in place of a disjunction, over the variables that it shares with the body
    around it: where assignments are counted, where branches would multiply, and for a list of
    values.
    """
    current, literal = program.current, program.next
    if current is None or not isinstance(literal, CheckedDisjunction):
        return program
    draft, variables = program.copy(), shared(literal)
    fails = any(map(_may_fail, literal.branches))
    around = _around(current.conjunct) if fails else []
    branches: list[Body] = []
    for branch in literal.branches:
        needed = imported(program, branch, variables, current.conjunct)
        branches.append(Body(tuple(dict.fromkeys((*needed, *around, *branch.literals)))))
    name = draft.define(UNITED, Definition(refs(variables), waiting=tuple(branches)))
    draft.replace_literal(current, [(CheckedAtom(name, refs(variables)),)])
    return draft


def _may_fail(block: Block) -> bool:
    """Test for a body in which some value may not be there to be computed."""
    for literal in block.literals:
        match literal:
            case Filter() if comparison_may_fail(literal):
                return True
            case FunctorCall(functor=functor) if functor_named(functor).partial:
                return True
            case CheckedDisjunction(branches=branches) if any(map(_may_fail, branches)):
                return True
    return False


def _around(conjunct: Conjunct) -> list[CheckedLiteral]:
    """The conditions of a conjunction, so that nothing is computed for what it rejects; without
    other disjunctions, each of which would read all before it.
    """
    positive = [
        each
        for each in conjunct.positive
        if not isinstance(each, CheckedAtom) or kind_of(each.relation) != UNITED
    ]
    bound = bound_by(positive)
    filters = [each for each in conjunct.filters if of_literal(each) <= bound]
    negated = [CheckedNegation(Block((atom,))) for atom in conjunct.negated]
    return [*positive, *filters, *(each for each in negated if of_literal(each) <= bound)]


def _is_united(literal: CheckedDisjunction, current: Current) -> bool:
    alone = current.definition.single or current.multiplies
    return (alone and len(literal.branches) > 1) or (
        _lists_values(literal) and _reads_relations(current.conjunct)
    )


def _lists_values(literal: CheckedDisjunction) -> bool:
    """Recognise a list of values, `(x = 1 ; x = 2 ; …)`: it becomes a relation to join with, since
    alternatives would each read the rest anew.
    """
    given = [[_is_given(each) for each in branch.literals] for branch in literal.branches]
    if len(given) < _LIST:
        return False
    asked = shared(literal)
    return all(set(variables) == asked for variables in given)


def _is_given(literal: CheckedLiteral) -> int | None:
    """The variable that this makes equal to a constant."""
    match literal:
        case Filter(operator="=", left=Ref(variable), right=Value()):
            return variable
    return None


def _reads_relations(conjunct: Conjunct) -> bool:
    return any(isinstance(each, CheckedAtom) for each in conjunct.positive)
