# SPDX-License-Identifier: Apache-2.0
"""Calls of functors that compiled code does not compute, such as `cat` and `match`: hidden
relations of the arguments that occur, one column longer by the result.
"""

from __future__ import annotations

from lftj.functions import functor_named
from lftj.program.arithmetic import comparison_may_fail
from lftj.program.bindings import bound_by, of_expressions, of_literal, slice_for
from lftj.program.checked import CheckedAtom, CheckedLiteral, FunctorCall
from lftj.program.normal_form import Filter, FunctorRule, Ref
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import Definition, RuleProgram
from lftj.program.rewrites.surroundings import all_but, tests_between

NO_LITERALS = frozenset[CheckedLiteral]()


def functor_calls(program: RuleProgram) -> RuleProgram:
    """The hidden relation of a functor over the arguments that occur, as an atom that binds its
    result.
    """
    current, call = program.current, program.next
    if current is None or not isinstance(call, FunctorCall):
        return program
    draft, body = program.copy(), _asking(call, program, current.conjunct)
    domain = draft.define_by("in", call.args, body)
    rule = FunctorRule(
        draft.source, "", domain, call.functor, call.types, call.result_type, draft.span
    )
    name = draft.define(call.functor, Definition(call.args, functor=rule))
    read = (each.relation for each in body.positive if isinstance(each, CheckedAtom))
    if not draft.cyclic.isdisjoint(read):
        draft.cyclic.add(name)
    atom = CheckedAtom(name, call.args if call.result is None else (*call.args, Ref(call.result)))
    columns = of_literal(atom)
    draft.asked[atom] = frozenset(
        each for each in (*body.positive, *body.filters) if of_literal(each) <= columns
    )
    draft.replace_literal(current, [(atom,)])
    return draft


def _asking(call: FunctorCall, program: RuleProgram, conjunct: Conjunct) -> Conjunct:
    """Literals of the body whose assignments are the arguments that the functor is asked for."""
    wanted = of_expressions(call.args)
    body = (
        all_but(program.targets, conjunct, wanted) if functor_named(call.functor).partial else None
    )
    if body is not None:
        return body
    return _with_tests(slice_for(wanted, conjunct.positive, program.cyclic), program, conjunct)


def _with_tests(
    literals: list[CheckedLiteral], program: RuleProgram, conjunct: Conjunct
) -> Conjunct:
    """Add to these literals the predicates and comparisons of the variables they bind, so that a
    functor is not called for rejected values.

    Other atoms are not added: their relations may come to depend on the rule's heads, and the
    functor would stand in that cycle.
    """
    bound = bound_by(literals)
    known = NO_LITERALS.union(*(program.asked.get(each, NO_LITERALS) for each in literals))

    def tests(literal: CheckedLiteral) -> bool:
        if isinstance(literal, CheckedAtom):
            asked = literal in program.asked and literal.relation not in program.cyclic
            return asked and of_literal(literal) <= bound
        return (
            isinstance(literal, Filter)
            and not comparison_may_fail(literal)
            and of_literal(literal) <= bound
        )

    positive = [
        each
        for each in conjunct.positive
        if each in literals or (tests(each) and each not in known)
    ]
    filters = [each for each in tests_between(bound, conjunct) if each not in known]
    return Conjunct(positive, [], filters)
