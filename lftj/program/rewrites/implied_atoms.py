# SPDX-License-Identifier: Apache-2.0
"""Atoms that another atom of the body implies: those that a hidden aggregate was asked for.

    v(g, t, n) :- s(g, t, _), number(g, t, n).     becomes     v(g, t, n) :- number(g, t, n).
    number(g, t, count()) :- asked(g, t), s(g, u, _), u < t.     asked(g, t) :- s(g, t, _).

A group is there because a row asks for it, so nothing is to be looked for among the rows again
[Chandra and Merlin 1977]. Only where a head has no aggregate: that counts all assignments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lftj.program.bindings import of_expressions, of_literal
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate
from lftj.program.normal_form import NormalRule, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import Definition, RuleProgram
from lftj.types.sources import is_hidden

Argument = Ref | Value | None
"""A variable or a constant in a column of an atom; None where nothing is known of it."""


def implied_atoms(program: RuleProgram) -> RuleProgram:
    """Bodies without the atoms that a hidden aggregate implies."""
    definition = program.finished
    if not program.hidden_rules or definition is None or not _may_lose(definition):
        return program
    finished = tuple([_without(program, each, definition) for each in definition.finished])
    if all(now is was for now, was in zip(finished, definition.finished, strict=True)):
        return program
    draft = program.copy()
    draft.replace_top(finished=finished)
    return draft


def _may_lose(definition: Definition) -> bool:
    """Test for a head that assignments may be lost of which differ in no column of it."""
    if definition.functor is not None or definition.choice or definition.asked_by:
        return False
    return not any(isinstance(term, CheckedHeadAggregate) for term in definition.head)


def _without(program: RuleProgram, conjunct: Conjunct, definition: Definition) -> Conjunct:
    """The conjunction without the atoms that others imply; itself where there are none."""
    atoms = [each for each in conjunct.positive if isinstance(each, CheckedAtom)]
    implied = [row for atom in atoms for row in _rows_behind(program, atom)]
    if not implied:
        return conjunct
    times = Counter(v for each in conjunct.literals for v in of_literal(each))
    read = {v for v, often in times.items() if often > 1} | of_expressions(definition.head)  # type: ignore[arg-type]
    positive = [each for each in conjunct.positive if not _is_among(each, implied, read)]
    return (
        conjunct
        if len(positive) == len(conjunct.positive)
        else replace(conjunct, positive=positive)
    )


def _is_among(
    literal: object, rows: Sequence[tuple[str, Sequence[Argument]]], read: set[int]
) -> bool:
    """Test for an atom that has one of the rows wherever something reads its columns."""
    if not isinstance(literal, CheckedAtom):
        return False
    own = Counter(arg.variable for arg in literal.args if isinstance(arg, Ref))

    def said(arg: object, here: Argument) -> bool:
        loose = isinstance(arg, Ref) and arg.variable not in read and own[arg.variable] == 1
        return loose or (arg is not None and arg == here)

    return any(
        relation == literal.relation and all(map(said, literal.args, args))
        for relation, args in rows
    )


def _rows_behind(
    program: RuleProgram, atom: CheckedAtom
) -> Iterator[tuple[str, Sequence[Argument]]]:
    """Yield the rows that are there for a row of a hidden aggregate, and for the row that asked for
    it.
    """
    rule = _only_rule(program, program.names.get(atom.relation))
    if rule is None or not rule.aggregates:
        return
    for relation, args in _body(rule, atom.args):
        yield relation, args
        if is_hidden(relation) and (asked := _only_rule(program, relation)) is not None:
            yield from _body(asked, args)


def _only_rule(program: RuleProgram, relation: str | None) -> NormalRule | None:
    """The rule of a hidden relation that has one, and joins."""
    found = [each for each in program.hidden_rules if each.relation == relation]
    return found[0] if len(found) == 1 and isinstance(found[0], NormalRule) else None


def _body(rule: NormalRule, row: Sequence[object]) -> Iterator[tuple[str, Sequence[Argument]]]:
    """Yield the atoms of a rule for a row of its head."""
    known: Mapping[object, Argument] = {
        term: arg  # type: ignore[misc]
        for term, arg in zip(rule.head, row, strict=True)
        if isinstance(term, Ref)
    }
    for each in rule.atoms:
        yield (
            each.relation,
            [arg if isinstance(arg, Value) else known.get(arg) for arg in each.args],
        )
