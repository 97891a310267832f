# SPDX-License-Identifier: Apache-2.0
"""Atoms that the rest of the body implies.

    v(g, t, n) :- s(g, t, _), number(g, t, n).     becomes     v(g, t, n) :- number(g, t, n).
    number(g, t, count()) :- asked(g, t), s(g, u, _), u < t.     asked(g, t) :- s(g, t, _).

A group is there because a row asks for it, so nothing is to be looked for among the rows again.
An atom also goes where other atoms of its body fold onto it (`foldings`) [Chandra and Merlin 1977].
Not where a head has an aggregate that counts all assignments: `min`, `max` and `count_distinct` do
not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from lftj.functions.aggregates import COUNT_DISTINCT, EXTREMES
from lftj.program.bindings import of_expressions, of_literals
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.normal_form import NormalRule, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.foldings import Said, core
from lftj.program.rewrites.rule_program import (
    Definition,
    RuleProgram,
    aggregates_in,
    values_in,
)
from lftj.types.sources import is_hidden


def implied_atoms(program: RuleProgram) -> RuleProgram:
    """Bodies without the atoms that others imply."""
    definition = program.finished
    if definition is None or not _may_lose(definition):
        return program
    finished = tuple([_without(program, each, definition) for each in definition.finished])
    if all(now is was for now, was in zip(finished, definition.finished, strict=True)):
        return program
    draft = program.copy()
    draft.replace_top(finished=finished)
    return draft


_ONCE = {*EXTREMES, COUNT_DISTINCT.name}
"""Aggregates that are the same however many assignments have a value."""


def _may_lose(definition: Definition) -> bool:
    """Test for a head that assignments may be lost of which differ in no column of it."""
    return definition.joins and all(
        term.function in _ONCE for term in aggregates_in(definition.head)
    )


def _without(program: RuleProgram, conjunct: Conjunct, definition: Definition) -> Conjunct:
    """The conjunction without the atoms that others imply; itself where there are none."""
    atoms = [each for each in conjunct.positive if isinstance(each, CheckedAtom)]
    behind = {atom: rows for atom in atoms if (rows := [*_rows_behind(program, atom)])}
    if not behind and len({atom.relation for atom in atoms}) == len(atoms):
        return conjunct
    plain = {*atoms} - behind.keys()
    positive = [each for each in conjunct.positive if each not in plain]
    others = [*positive, *conjunct.negated, *conjunct.filters]
    read = of_literals(others) | of_expressions(values_in(definition.head))
    free = {Ref(variable) for variable in of_literals(atoms) - read}
    left = core(
        [Said(atom.relation, atom.args) for atom in atoms if atom not in behind],
        [row for rows in behind.values() for row in rows],
        free,
    )
    kept = list[CheckedLiteral]()
    for each in conjunct.positive:
        if isinstance(each, CheckedAtom) and each not in behind:
            said = Said(each.relation, each.args)
            if said not in left:
                continue
            left.remove(said)
        kept.append(each)
    return conjunct if len(kept) == len(conjunct.positive) else replace(conjunct, positive=kept)


def _rows_behind(program: RuleProgram, atom: CheckedAtom) -> Iterator[Said]:
    """Yield the rows that are there for a row of a hidden aggregate, and for the row that asked for
    it.
    """
    rule = _only_rule(program, program.names.get(atom.relation))
    if rule is None or not rule.aggregates:
        return
    for row in _body(rule, atom.args):
        yield row
        if is_hidden(row.relation) and (asked := _only_rule(program, row.relation)) is not None:
            yield from _body(asked, row.terms)


def _only_rule(program: RuleProgram, relation: str | None) -> NormalRule | None:
    """The rule of a hidden relation that has one, and joins."""
    found = [each for each in program.hidden_rules if each.relation == relation]
    return found[0] if len(found) == 1 and isinstance(found[0], NormalRule) else None


def _body(rule: NormalRule, row: Sequence[Hashable]) -> Iterator[Said]:
    """Yield the atoms of a rule for a row of its head; what is not known of it equals nothing."""
    known = {term: arg for term, arg in zip(rule.head, row, strict=True) if isinstance(term, Ref)}
    for each in rule.atoms:
        terms = [arg if isinstance(arg, Value) else known.get(arg, object()) for arg in each.args]
        yield Said(each.relation, tuple(terms))
