# SPDX-License-Identifier: Apache-2.0
"""Counts of different values, over the different rows that they are counted in.

    v(l, count_distinct(x)) :- g(x, l), e(x, y), e(y, z), e(z, _).     becomes
    v(l, count()) :- part1(l, x).     part1(l, x) :- g(x, l), e(x, y), e(y, z), e(z, _).

A value counts once, whatever the number of assignments that have it. So what else the body has only
has to exist: the body of `part1` may lose what a head without aggregates may, parts that nothing
links, and variables, and the search for a row of it ends at the first proof. Where nothing is won
the body stays where it is, and the values of each group are kept as they are found.
"""

from __future__ import annotations

from lftj.functions.aggregates import COUNT_DISTINCT
from lftj.program.bindings import of_expressions, of_literals
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate
from lftj.program.hidden import PART
from lftj.program.normal_form import Ref, type_of
from lftj.program.rewrites.aggregates import counting
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.divided_body import DividedBody, linked
from lftj.program.rewrites.elimination_trees import GAIN, VIEW
from lftj.program.rewrites.independent_parts import independent_parts
from lftj.program.rewrites.rule_program import (
    Definition,
    HeadTerm,
    RuleProgram,
    aggregates_in,
    values_in,
)
from lftj.program.rewrites.variable_elimination import variable_elimination

_PASSES = (independent_parts, variable_elimination)
"""Passes by which a body loses what only has to exist."""


def distinct_counts(program: RuleProgram) -> RuleProgram:
    """A count of rows in place of one of values, where the body can lose something then."""
    definition = program.finished
    if definition is None or not _counts_values(definition):
        return program
    (conjunct,) = definition.finished
    reads = {each.relation for each in conjunct.positive if isinstance(each, CheckedAtom)}
    if len(conjunct.positive) < 2 or reads & program.avoid:
        return program
    draft, values = program.copy(), values_in(definition.head)
    columns = [
        each if isinstance(each, Ref) else draft.new_variable(type_of(each, draft.variables))
        for each in values
    ]
    name = draft.define_by(PART, values, conjunct)
    head = [
        _rows_of(column, term, draft) if isinstance(term, CheckedHeadAggregate) else column
        for term, column in zip(definition.head, columns, strict=True)
    ]
    reading = Conjunct([CheckedAtom(name, tuple(columns))])
    draft.replace_top(head=tuple(head), finished=(reading,), aggregate=None, eliminates=False)
    multiplies = len(linked(conjunct.positive)) > 1  # but for what tests compare
    if multiplies or any(each(draft) is not draft for each in _PASSES):
        return draft
    every, asked = (
        DividedBody(conjunct, variables, (), program).steps()
        for variables in (of_literals(conjunct.literals), of_expressions(values))
    )
    won = every is not None and asked is not None and every >= GAIN * asked + VIEW
    return draft if won else program


def _counts_values(definition: Definition) -> bool:
    """Test for a head that counts the values of one column, and aggregates nothing else."""
    functions = [each.function for each in aggregates_in(definition.head)]
    return (
        definition.joins
        and definition.eliminates
        and len(definition.finished) == 1
        and functions == [COUNT_DISTINCT.name]
    )


def _rows_of(column: Ref, term: CheckedHeadAggregate, draft: RuleProgram) -> HeadTerm:
    """The count of the rows that have a value in a column."""
    return counting(CheckedHeadAggregate("count", (column,), term.type), draft.variables)
