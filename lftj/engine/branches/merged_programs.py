# SPDX-License-Identifier: Apache-2.0
"""Programs of users in a merge: those that a branch has changed are taken as a whole.

What they hold is no change of its own: not their rules, nor their facts among the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lftj.engine.programs.text_difference import relations_of
from lftj.errors import LftjError, MergeConflictError, StillNeededError
from lftj.program.named_program import NamedProgram, Row
from lftj.program.program import Program
from lftj.program.schema import Catalog, dropped_since
from lftj.program.source_rule import SourceRule
from lftj.scantree.rows import difference, sort_rows
from lftj.storage.delta import Delta

if TYPE_CHECKING:
    from lftj.engine.transaction.draft import Draft


def moved_programs(before: Program, theirs: Program, ours: Program) -> list[str]:
    """The programs whose text a branch has changed, or ended. Raises MergeConflictError where it
    became another one here.
    """
    known, there, here = (_texts(each) for each in (before, theirs, ours))
    moved = [name for name in {**there, **known} if there.get(name) != known.get(name)]
    both = [name for name in moved if here.get(name) not in (known.get(name), there.get(name))]
    if both:
        raise MergeConflictError.of_programs(both)
    return [name for name in moved if here.get(name) != there.get(name)]


def _texts(program: Program) -> dict[str, str]:
    return {name: each.text for name, each in program.catalog.programs.items()}


def take_programs(
    draft: Draft, before: Program, theirs: Program, moved: Sequence[str], changed: Collection[str]
) -> None:
    """Bring their programs to a draft, in an order in which each finds what it needs; what they
    dropped is dropped where it is as it was `before`. `changed`: relations whose rows are not.
    Raises what the last ones raise.
    """
    waiting = list(moved)
    ours = {each.rule for each in draft.program.sources.values()}
    ours -= {each.rule for each in before.sources.values()}
    kept = {*changed, *relations_of(tuple(ours))}
    free = dropped_since(before.catalog, theirs.catalog) - kept
    while waiting:
        left: list[str] = []
        for name in waiting:
            program = theirs.catalog.programs.get(name)
            text = "" if program is None else program.text
            try:
                try:
                    draft.set_program(name, text)
                except StillNeededError as error:
                    if not error.needed.keys() <= free:
                        raise
                    draft.set_program(name, text, drop=True)
            except LftjError:
                if len(left) + 1 == len(waiting):  # none of them can be taken
                    raise
                left.append(name)
        waiting = left


def without_facts(
    draft: Draft,
    changes: Mapping[str, Delta],
    moved: Collection[str] | None,
    before: Program,
    after: Program,
) -> dict[str, Delta]:
    """Changes of rows without facts of these programs, by default of all that are not as before."""
    if moved is None:
        old, new = _texts(before), _texts(after)
        moved = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    found = dict(changes)
    for name in moved:
        for program in (before, after):
            its = program.catalog.programs.get(name)
            for relation in changes.keys() & (its.facts.keys() if its is not None else ()):
                assert its is not None
                rows = its.facts[relation] - its.lent_facts.get(relation, frozenset())
                found[relation] = _less(draft, program, relation, rows, found[relation])
    return {name: delta for name, delta in found.items() if len(delta)}


def _less(
    draft: Draft, program: Program, relation: str, rows: frozenset[Row], delta: Delta
) -> Delta:
    schema = program.catalog.relations[relation]
    if not rows or len(delta.inserts) != max(schema.arity, 1):
        return delta
    coded = sort_rows(draft.coded(schema, list(rows), {}))
    return Delta(difference(delta.inserts, coded), difference(delta.erases, coded))


# ── what programs do not own ──────────────────────────────────────────────────────────────────────
def free_rules(program: Program) -> Mapping[int, SourceRule]:
    """The rules that would stay without all programs."""
    programs = program.catalog.programs.values()
    if not programs:
        return program.sources
    owned = frozenset[int]().union(*(each.rules - each.lent_rules for each in programs))
    return {number: each for number, each in program.sources.items() if number not in owned}


def owned_relations(program: Program) -> frozenset[str]:
    """The relations that programs declare."""
    return frozenset[str]().union(*(each.relations for each in _programs(program.catalog)))


def of_nobody(catalog: Catalog) -> Catalog:
    """The types, the subtypes of columns and the relations with facts that are not of programs."""
    programs = _programs(catalog)
    if not programs:
        return catalog
    types = frozenset[str]().union(*(each.types for each in programs))
    relations = frozenset[str]().union(*(each.relations for each in programs))
    facts = frozenset[str]().union(*(each.facts for each in programs))
    left = catalog.undeclare(relations, types)
    return replace(left, fact_relations=left.fact_relations - facts)


def _programs(catalog: Catalog) -> list[NamedProgram]:
    return list(catalog.programs.values())
