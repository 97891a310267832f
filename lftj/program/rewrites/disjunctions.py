# SPDX-License-Identifier: Apache-2.0
"""Disjunctions: a body for each branch, or one hidden relation with a rule for each branch."""

from __future__ import annotations

from lftj.program.bindings import shared
from lftj.program.checked import CheckedAtom, CheckedDisjunction, CheckedLiteral
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
    around it: where assignments are counted, and for a list of values.
    """
    current, literal = program.current, program.next
    if current is None or not isinstance(literal, CheckedDisjunction):
        return program
    draft, variables = program.copy(), shared(literal)
    branches = tuple(
        Body((*imported(program, branch, variables, current.conjunct), *branch.literals))
        for branch in literal.branches
    )
    name = draft.define("or", Definition(refs(variables), waiting=branches))
    draft.replace_literal(current, [(CheckedAtom(name, refs(variables)),)])
    return draft


def _is_united(literal: CheckedDisjunction, current: Current) -> bool:
    counted = current.definition.single and len(literal.branches) > 1
    return counted or (_lists_values(literal) and _reads_relations(current.conjunct))


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
