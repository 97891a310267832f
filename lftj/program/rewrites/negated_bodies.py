# SPDX-License-Identifier: Apache-2.0
"""Negations: a least or greatest value where they say that, else hidden relations of what must not
be.
"""

from __future__ import annotations

from lftj.program.bindings import bound_by, shared
from lftj.program.checked import Block, CheckedAggregate, CheckedAtom, CheckedNegation
from lftj.program.normal_form import QUESTION
from lftj.program.rewrites.extreme_negation import as_extreme
from lftj.program.rewrites.rule_program import Body, Current, Definition, RuleProgram
from lftj.program.rewrites.surroundings import (
    asked_in_cycle,
    guarded,
    imported,
    refs,
    selective,
    tests_between,
)


def extreme_negations(program: RuleProgram) -> RuleProgram:
    """A negation that says that a value is the least or the greatest as an aggregate."""
    current, literal = program.current, program.next
    if current is None or not isinstance(literal, CheckedNegation):
        return program
    extreme = as_extreme(literal, current.conjunct, program.variables, program.cyclic)
    if extreme is None or _asks_for_few(extreme, program, current):
        return program
    draft = program.copy()
    draft.replace_literal(current, [(extreme,)])
    return draft


def _asks_for_few(extreme: CheckedAggregate, program: RuleProgram, current: Current) -> bool:
    """Recognise a question for few values, which a negation would look up, while the aggregate
    would be one of all groups.
    """
    return QUESTION in program.targets and not imported(
        program, extreme.block, shared(extreme), current.conjunct
    )


def negations(program: RuleProgram) -> RuleProgram:
    """A negated atom of a hidden relation in place of a negated body."""
    current, literal = program.current, program.next
    if current is None or not isinstance(literal, CheckedNegation):
        return program
    block, columns, draft = literal.block, refs(shared(literal)), program.copy()
    needed = imported(program, block, shared(literal), current.conjunct)
    asked = asked_in_cycle(draft, needed, block, shared(literal), current.conjunct)
    given = (asked,) if asked is not None else tuple(guarded(draft, literal, current.conjunct))
    if not given:
        few = selective(block, shared(literal), current.conjunct, draft.cyclic)
        given = (*needed, *[each for each in few if each not in needed])
    body = (*given, *block.literals)
    body = (*body, *tests_between(bound_by(body), current.conjunct))
    name = draft.define("not", Definition(columns, waiting=(Body(body),)))
    absent = CheckedNegation(Block((CheckedAtom(name, columns),)))
    draft.replace_literal(current, [(absent,) if asked is None else (absent, asked)])
    return draft
