# SPDX-License-Identifier: Apache-2.0
"""Two atoms that nothing links but an equation of what is computed from either, as `o(i, d), b(j,
e), d / 30 = e / 30`.

Only a variable can be looked for, and neither side is one: all pairs of rows would be tried. So one
of the atoms gives way to a hidden relation of its rows in which its side of the equation is a
column, and the other side is looked up there.
"""

from __future__ import annotations

from lftj.program.arithmetic import may_fail
from lftj.program.bindings import definitions, of_expressions, of_literal, of_literals
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.normal_form import Apply, Expression, Filter, Ref
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import Copied, RuleProgram


def computed_keys(program: RuleProgram) -> RuleProgram:
    """Hidden relations in place of such atoms. Not of relations that depend on the rule, nor where
    arithmetic may fail in a row that finds no partner.
    """
    definition = program.finished
    if definition is None:
        return program
    copied = Copied(program)
    finished = tuple(_with_keys(conjunct, copied) for conjunct in definition.finished)
    if all(made is was for made, was in zip(finished, definition.finished, strict=True)):
        return program
    copied.draft.replace_top(finished=finished)
    return copied.draft


def _with_keys(conjunct: Conjunct, copied: Copied) -> Conjunct:
    for equation in [
        each for each in conjunct.positive if isinstance(each, Filter) and _computes(each)
    ]:
        for mine, other in ((equation.right, equation.left), (equation.left, equation.right)):
            atom = _alone(conjunct, equation, mine, other)
            if atom is None or atom.relation in copied.draft.cyclic:
                continue
            assert isinstance(mine, Apply)
            key = copied.draft.new_variable(mine.type)
            columns = [Ref(variable) for variable in sorted(of_literal(atom))]
            computed = Conjunct([atom, Filter("=", key, mine)])
            name = copied.draft.define_by("in", (key, *columns), computed)
            found: list[CheckedLiteral] = [
                CheckedAtom(name, (key, *columns)),
                Filter("=", key, other),
            ]
            others = [
                each for each in conjunct.positive if each is not atom and each is not equation
            ]
            conjunct = Conjunct([*others, *found], conjunct.negated, conjunct.filters)
            break
    return conjunct


def _computes(equation: Filter) -> bool:
    """Test for an equation whose sides are both computed and always have a value."""
    return all(
        isinstance(side, Apply) and not may_fail(side) for side in (equation.left, equation.right)
    )


def _alone(
    conjunct: Conjunct, equation: Filter, mine: Expression, other: Expression
) -> CheckedAtom | None:
    """The atom that binds all variables of one side and has none in common with the other side, nor
    with any literal that binds.
    """
    wanted, others = of_expressions([mine]), of_expressions([other])
    for atom in conjunct.positive:
        if isinstance(atom, CheckedAtom) and wanted and wanted <= (own := of_literal(atom)):
            rest = [
                each
                for each in conjunct.positive
                if each is not atom and each is not equation and _binds(each)
            ]
            return atom if others and own.isdisjoint(of_literals(rest) | others) else None
    return None


def _binds(literal: CheckedLiteral) -> bool:
    """Test for a literal that binds a variable: an atom, or an equation of one."""
    return not isinstance(literal, Filter) or bool(definitions(literal))
