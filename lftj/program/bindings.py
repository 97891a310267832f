# SPDX-License-Identifier: Apache-2.0
"""Variables that literals bind, and the least set of literals that binds given variables.

A hidden relation may ask for variables that only the body around it binds, as in `!( b(y), y > x
)`. Then it needs a part of that body; the smaller the part, the less the hidden relation depends
on. Atoms of the rule's own heads are taken last, because a hidden relation that reads them would
stand in a cycle with the rule.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set

from lftj.program.checked import (
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedLiteral,
    CheckedNegation,
    FunctorCall,
)
from lftj.program.normal_form import Apply, Expression, Filter, Ref

Variables = frozenset[int]
NONE: Variables = frozenset()


# ── variables of ──────────────────────────────────────────────────────────────────────────────────
def of_expressions(expressions: Iterable[Expression | None]) -> Variables:
    """The variables of expressions."""
    found: set[int] = set()
    for expression in expressions:
        if isinstance(expression, Ref):
            found.add(expression.variable)
        elif isinstance(expression, Apply):
            found |= of_expressions(expression.args)
    return frozenset(found)


def of_literal(literal: CheckedLiteral) -> Variables:
    """All variables of a literal, at any depth."""
    match literal:
        case CheckedAtom():
            return of_expressions(literal.args)
        case Filter():
            return of_expressions((literal.left, literal.right))
        case FunctorCall():
            return of_expressions(literal.args) | (
                {literal.result} if literal.result is not None else NONE
            )
        case CheckedChoice():
            return of_expressions((*literal.determining, *literal.determined))
        case CheckedNegation():
            return of_literals(literal.block.literals)
        case CheckedDisjunction():
            return of_literals(each for branch in literal.branches for each in branch.literals)
        case CheckedAggregate():
            return (
                of_literals(literal.block.literals)
                | of_expressions(literal.args)
                | {literal.result}
            )


def of_literals(literals: Iterable[CheckedLiteral]) -> Variables:
    """All variables of some literals."""
    return NONE.union(*map(of_literal, literals))


def relations_of(literals: Iterable[CheckedLiteral]) -> set[str]:
    """The relations that some literals read, at any depth."""
    found: set[str] = set()
    waiting = list(literals)
    while waiting:
        match waiting.pop():
            case CheckedAtom(relation=relation):
                found.add(relation)
            case CheckedNegation(block=block) | CheckedAggregate(block=block):
                waiting += block.literals
            case CheckedDisjunction(branches=branches):
                waiting += [each for branch in branches for each in branch.literals]
    return found


def shared(literal: CheckedNegation | CheckedAggregate | CheckedDisjunction) -> Variables:
    """The variables that an inner body has in common with the body around it."""
    blocks = literal.branches if isinstance(literal, CheckedDisjunction) else (literal.block,)
    found = of_literal(literal) - NONE.union(*(block.local for block in blocks))
    return found - {literal.result} if isinstance(literal, CheckedAggregate) else found


# ── bound by ──────────────────────────────────────────────────────────────────────────────────────
def bound_by(literals: Sequence[CheckedLiteral], given: Variables = NONE) -> Variables:
    """The variables bound when all of `literals` hold and `given` are bound already, those among
    them.
    """
    bound = set(given)
    waiting, size = list(literals), -1
    while size != (size := len(bound)):
        for literal in waiting:
            bound.update(_binds(literal, bound))
        # so that chains of equations settle in two passes, whichever way they are written
        waiting.reverse()
    return frozenset(bound)


def _binds(literal: CheckedLiteral, bound: Set[int]) -> Collection[int]:
    match literal:
        case CheckedAtom():
            return [arg.variable for arg in literal.args if isinstance(arg, Ref)]
        case Filter(operator="="):
            return [
                defined
                for defined, expression in definitions(literal)
                if of_expressions([expression]) <= bound
            ]
        case FunctorCall() if literal.result is not None and of_expressions(literal.args) <= bound:
            return (literal.result,)
        case CheckedAggregate() if shared(literal) <= bound_by(
            literal.block.literals, frozenset(bound)
        ):
            return (literal.result,)
        case CheckedDisjunction() if literal.branches:
            return frozenset.intersection(
                *(bound_by(branch.literals, frozenset(bound)) for branch in literal.branches)
            )
    return ()


def definitions(equation: Filter) -> list[tuple[int, Expression]]:
    """The ways to read an equation as `variable = expression`."""
    sides = ((equation.left, equation.right), (equation.right, equation.left))
    return [(side.variable, other) for side, other in sides if isinstance(side, Ref)]


# ── enough to bind ────────────────────────────────────────────────────────────────────────────────
def slice_for(
    wanted: Variables,
    literals: Sequence[CheckedLiteral],
    heads: Collection[str],
    near: Variables = NONE,
) -> list[CheckedLiteral]:
    """Few of the atoms and equations in `literals` that bind the `wanted` variables. `heads` are
    relations to avoid.

    Atoms that have nothing in common would give all pairs of their rows. Where other literals link
    them, those are taken too, but for equations with what `literals` do not bind, as the result of
    an aggregate that is yet to come. So it is with `near`, variables that are bound where the
    literals will stand: `!( line(o, s2), s2 != s )` is asked about the s of each o, not about every
    s.
    """
    chosen = _binding(wanted, {}, literals, heads)
    while link := _link(chosen, literals, heads, near):
        chosen |= dict.fromkeys(link)
        chosen = _binding(of_literals(link), chosen, literals, heads)
    return [literal for literal in literals if literal in chosen]


def _binding(
    wanted: Variables,
    chosen: dict[CheckedLiteral, None],
    literals: Sequence[CheckedLiteral],
    heads: Collection[str],
) -> dict[CheckedLiteral, None]:
    """The `chosen` literals and as few more as bind the `wanted` variables too."""
    derived = _derivations(literals)
    chosen = dict(chosen)
    have = set(bound_by([each for each in chosen if isinstance(each, CheckedAtom)]))
    open_variables = set(wanted)
    while open_variables := open_variables - have:
        atom = _best_atom(open_variables, literals, heads)
        if atom is not None:
            chosen[atom] = None
            have |= of_expressions(arg for arg in atom.args if isinstance(arg, Ref))
            open_variables |= of_expressions(atom.args)
            continue
        variable = min(open_variables)
        equation, expression = derived[variable]
        chosen[equation] = None
        have.add(variable)
        open_variables |= of_expressions([expression])
    return chosen


def _link(
    chosen: Collection[CheckedLiteral],
    literals: Sequence[CheckedLiteral],
    heads: Collection[str],
    near: Variables,
) -> list[CheckedLiteral]:
    """A shortest chain of other literals between two chosen ones that have no variable in common,
    not even through others, or between one and what is `near`; [] for none.
    """
    groups: list[Variables] = []
    for variables in filter(None, (*map(of_literal, chosen), near)):
        apart = [group for group in groups if not group & variables]
        groups = [*apart, variables.union(*(group for group in groups if group & variables))]
    avoided = (
        ()
        if any(isinstance(each, CheckedAtom) and each.relation in heads for each in chosen)
        else heads
    )
    bound = bound_by(literals)
    others = [
        each
        for each in literals
        if each not in chosen and _may_link(each, avoided) and of_literal(each) <= bound
    ]
    found = (_chain(group, NONE.union(*groups) - group, others) for group in groups[:-1])
    return next(filter(None, found), [])


def _may_link(literal: CheckedLiteral, avoided: Collection[str]) -> bool:
    match literal:
        case CheckedAtom(relation=relation):
            return relation not in avoided
        case Filter(operator="="):
            return True
    return False


def _chain(
    start: Variables, ends: Variables, literals: Sequence[CheckedLiteral]
) -> list[CheckedLiteral]:
    """A shortest chain of literals, each with a variable in common with the next, from one of
    `start` to one of `ends`; [] for none.
    """
    chains: dict[int, list[CheckedLiteral]] = {variable: [] for variable in start}
    while True:
        further: dict[int, list[CheckedLiteral]] = {}
        for literal in literals:
            variables = of_literal(literal)
            if known := sorted(variables & chains.keys()):
                further |= {
                    variable: [*chains[known[0]], literal]
                    for variable in sorted(variables - chains.keys())
                }
        if reached := sorted(further.keys() & ends):
            return further[reached[0]]
        if not further:
            return []
        chains |= further


def _best_atom(
    wanted: set[int], literals: Sequence[CheckedLiteral], heads: Collection[str]
) -> CheckedAtom | None:
    """The atom that binds most of the wanted variables with the fewest others; one of the heads'
    relations only if nothing else will do.
    """
    best: tuple[tuple[int, int, int], CheckedAtom] | None = None
    for literal in literals:
        if isinstance(literal, CheckedAtom):
            binds = of_expressions(arg for arg in literal.args if isinstance(arg, Ref))
            rank = (int(literal.relation in heads), -len(binds & wanted), len(binds - wanted))
            if rank[1] and (best is None or rank < best[0]):
                best = rank, literal
    return best[1] if best is not None else None


def _derivations(literals: Sequence[CheckedLiteral]) -> dict[int, tuple[Filter, Expression]]:
    """Equation of each variable that no atom binds; its other variables are bound before it."""
    bound = bound_by([literal for literal in literals if isinstance(literal, CheckedAtom)])
    equations = [
        literal for literal in literals if isinstance(literal, Filter) and literal.operator == "="
    ]
    found: dict[int, tuple[Filter, Expression]] = {}
    progress = True
    while progress:
        progress = False
        for equation in equations:
            for variable, expression in definitions(equation):
                if variable not in bound and of_expressions([expression]) <= bound:
                    found[variable] = equation, expression
                    bound |= {variable}
                    progress = True
    return found
