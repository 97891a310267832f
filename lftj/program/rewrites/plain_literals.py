# SPDX-License-Identifier: Apache-2.0
"""Literals in a plainer form: a negated comparison is the opposite comparison, and an argument that
is computed is a variable with an equation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lftj.functions import functor_named
from lftj.program.bindings import of_expressions
from lftj.program.checked import (
    Block,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    FunctorCall,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref
from lftj.program.rewrites.rule_program import FALSE, Body, RuleProgram


# ── negated tests ─────────────────────────────────────────────────────────────────────────────────
def negated_tests(program: RuleProgram) -> RuleProgram:
    """Negations of one test or atom in a plain form."""
    if program.current is None:
        return program
    pending = program.current.body.pending
    plainer = [_plainer(literal) for literal in pending]
    if all(made is literal for made, literal in zip(plainer, pending, strict=True)):
        return program
    return _with_pending(program, (literal for literal in plainer if literal is not None))


def _with_pending(program: RuleProgram, literals: Iterable[CheckedLiteral]) -> RuleProgram:
    assert program.current is not None, "it was looked at"
    draft = program.copy()
    draft.replace_body([Body(tuple(literals), program.current.body.conjunct)])
    return draft


def _plainer(literal: CheckedLiteral) -> CheckedLiteral | None:
    """A negation in a plainer form where it has one; None when it always holds, FALSE when it never
    does.
    """
    if not isinstance(literal, CheckedNegation):
        return literal
    match literal.block.literals:
        case ():
            return FALSE
        case (CheckedDisjunction(branches=()),):
            return None
        case (Filter() as test,) if not literal.block.local:
            return test.opposite
        case (CheckedAtom() as atom,) if literal.block.local:
            args = _local_as_wildcards(atom.args, literal.block.local)
            if args is not None:
                return CheckedNegation(Block((CheckedAtom(atom.relation, args),)))
    return literal


def _local_as_wildcards(
    args: tuple[Expression | None, ...], local: frozenset[int]
) -> tuple[Expression | None, ...] | None:
    """The arguments of a negated atom with `_` for variables of its own; None when one of these
    occurs twice or in an expression.
    """
    seen: set[int] = set()
    made: list[Expression | None] = []
    for arg in args:
        own = of_expressions([arg]) & local
        if own & seen or (own and not isinstance(arg, Ref)):
            return None
        seen |= own
        made.append(None if own else arg)
    return tuple(made)


# ── computed arguments ────────────────────────────────────────────────────────────────────────────
def computed_arguments(program: RuleProgram) -> RuleProgram:
    """Atoms whose arguments are variables and constants, with equations for what is computed."""
    if program.current is None or not any(map(_computing, program.current.body.pending)):
        return program
    draft = program.copy()
    made = [each for literal in program.current.body.pending for each in _split(literal, draft)]
    draft.replace_body([Body(tuple(made), program.current.body.conjunct)])
    return draft


def _computing(literal: CheckedLiteral) -> CheckedAtom | None:
    """The atom, negated or not, that has a computed argument."""
    match literal:
        case CheckedNegation(block=Block(literals=(CheckedAtom() as atom,), local=local)):
            return None if local else _computing(atom)
        case CheckedAtom(args=args) if any(isinstance(arg, Apply) for arg in args):
            return literal
    return None


def _split(literal: CheckedLiteral, draft: RuleProgram) -> Iterator[CheckedLiteral]:
    atom = _computing(literal)
    if atom is None:
        yield literal
        return
    args: list[Expression | None] = []
    for arg in atom.args:
        if isinstance(arg, Apply):
            made = draft.new_variable(arg.type)
            yield Filter("=", made, arg)
            arg = made
        args.append(arg)
    plain = CheckedAtom(atom.relation, tuple(args))
    yield plain if atom is literal else CheckedNegation(Block((plain,)))


# ── negated computations ──────────────────────────────────────────────────────────────────────────
def negated_computations(program: RuleProgram) -> RuleProgram:
    """A negation that reads no relation as what it computes and the opposite of its test."""
    if program.current is None or not isinstance(program.next, CheckedNegation):
        return program
    conditions = _as_conditions(program.next.block)
    if conditions is None:
        return program
    draft = program.copy()
    draft.replace_literal(program.current, [conditions])
    return draft


def _as_conditions(block: Block) -> tuple[CheckedLiteral, ...] | None:
    """A negation that reads no relation as conditions, which may stand in a cycle: what it
    computes, if that always has one value, and the opposite of its one test.
    """
    *computed, test = block.literals
    results = {
        each.result
        for each in computed
        if isinstance(each, FunctorCall) and _has_one_value(each.functor)
    }
    if len(results) < len(computed) or not results >= block.local:
        return None
    match test:
        case FunctorCall(result=None):
            return (*computed, replace(test, functor=f"!{test.functor}"))
        case Filter():
            return (*computed, test.opposite)
    return None


def _has_one_value(functor: str) -> bool:
    known = functor_named(functor)
    return not known.partial and not known.many
