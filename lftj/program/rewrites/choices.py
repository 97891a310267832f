# SPDX-License-Identifier: Apache-2.0
"""Rule-based choice, `choice((X), (Y))`, as the hidden relation with choice domains that it is
[Choice 3].

    h(x, y) :- a(x), b(y), choice((x), (y)).
is
    .decl c(x, y) choice-domain x
    c(x, y) :- a(x), b(y).
    h(x, y) :- a(x), b(y), c(x, y).

Several choices in one rule choose together, so they become the domains of one relation.
"""

from __future__ import annotations

from collections.abc import Sequence

from lftj.program.checked import CheckedAtom, CheckedChoice
from lftj.program.normal_form import Ref, RuleVariable
from lftj.program.rewrites.rule_program import Body, Definition, RuleProgram


def choices(program: RuleProgram) -> RuleProgram:
    """An atom of a hidden relation with choice domains in place of the choices of a body."""
    found = [literal for literal in program.body if isinstance(literal, CheckedChoice)]
    if not found:
        return program
    draft = program.copy()
    rest = tuple(literal for literal in program.body if not isinstance(literal, CheckedChoice))
    columns = choice_columns(program.variables, found)
    domains = tuple(
        sorted({tuple(sorted(columns.index(ref) for ref in each.determining)) for each in found})
    )
    name = draft.define("choice", Definition(columns, waiting=(Body(rest),), choice=domains))
    draft.body = (*rest, CheckedAtom(name, columns))
    return draft


def choice_columns(
    variables: Sequence[RuleVariable], choices: Sequence[CheckedChoice]
) -> tuple[Ref, ...]:
    """The variables in the order in which candidates are compared: those of the choice that comes
    first by their names.

    So the order of the body says nothing.
    """
    listed = [(*each.determining, *each.determined) for each in choices]
    return min(listed, key=lambda refs: [variables[ref.variable].name for ref in refs])
