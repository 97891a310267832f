# SPDX-License-Identifier: Apache-2.0
"""Facts of programs among the rows of a draft.

A row that is a fact of a program goes with the last program that has it, unless it came in another
way too: by then it is lent. A fact that was deleted in another way is held no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from lftj.engine.commit.staging import Staging
from lftj.engine.programs.program_change import Change
from lftj.program.named_program import NamedProgram, Row, others_of
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.scantree.rows import contains, sort_order, sort_rows
from lftj.storage.delta import Columns


class Draft(Protocol):
    """Operations of a transaction whose rows are looked through."""

    program: Program

    def schema(self, relation: str, /) -> RelationSchema: ...
    def staging(self, name: str) -> Staging: ...
    def coded(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> Columns: ...


def held(draft: Draft, name: str) -> bool:
    """Test for a relation of which programs hold facts."""
    return any(name in each.facts for each in draft.program.catalog.programs.values())


def came(draft: Draft, name: str, columns: Columns) -> None:
    """Have facts among these rows be lent: they came in another way too. O(facts of the relation),
    and O(rows · log n).
    """
    rows, coded = _facts(draft, name)
    if not rows or not len(columns[0]):
        return
    hits = frozenset(_marked(rows, contains(coded, sort_rows(columns))))
    if hits:
        _hold(draft, {each: it.lending(name, hits) for each, it in _programs(draft).items()})


def went(draft: Draft, name: str) -> None:
    """Have programs hold no facts that are not there any more. O(facts of the relation · log n)."""
    rows, coded = _facts(draft, name)
    if not rows:
        return
    hits = frozenset(_marked(rows, ~draft.staging(name).present(coded)))
    if hits:
        _hold(draft, {each: it.without_facts(name, hits) for each, it in _programs(draft).items()})


def rows_otherwise(draft: Draft, name: str, but: frozenset[Row]) -> int:
    """The number of rows of a relation of its own beside these facts, which are there. O(n)."""
    return len(draft.staging(name).where({})[0]) - len(but)


def taken(draft: Draft, change: Change, name: str) -> Program:
    """The program after a change, whose facts become rows: the draft deletes those that went, and
    inserts those that came. What is there already is lent, unless programs alone hold it.
    """
    program = change.program
    relations = program.catalog.relations
    for relation, rows in change.went.items():
        columns = draft.coded(relations[relation], list(rows), {})
        draft.staging(relation).add("delete", columns)
    programs = program.catalog.programs
    if (made := programs.get(name)) is None:
        return program
    others = others_of(programs, name)
    lent: dict[str, frozenset[Row]] = {}
    draft.program = program  # it knows the relations that are new
    for relation, rows in change.came.items():
        if not rows:
            continue
        listed, columns = _sorted(draft, relation, rows)
        there = draft.staging(relation).present(columns)
        found = _marked(listed, there)
        lent[relation] = frozenset(row for row in found if _is_lent(row, relation, others))
        draft.staging(relation).add("insert", [column[~there] for column in columns])
    lent = {relation: rows for relation, rows in lent.items() if rows}
    if not lent:
        return program
    made = _lending(made, lent)
    return program.with_programs({**programs, name: made})


def _lending(program: NamedProgram, lent: Mapping[str, frozenset[Row]]) -> NamedProgram:
    for relation, rows in lent.items():
        program = program.lending(relation, rows)
    return program


def _is_lent(row: Row, relation: str, others: list[NamedProgram]) -> bool:
    """Tell whether a row that is there came otherwise than by programs."""
    holders = [each for each in others if row in each.facts.get(relation, ())]
    return not holders or any(row in each.lent_facts.get(relation, ()) for each in holders)


def _programs(draft: Draft) -> Mapping[str, NamedProgram]:
    return draft.program.catalog.programs


def _hold(draft: Draft, programs: Mapping[str, NamedProgram]) -> None:
    before = _programs(draft)
    if any(program is not before[name] for name, program in programs.items()):
        draft.program = draft.program.with_programs(programs)


def _facts(draft: Draft, name: str) -> tuple[list[Row], Columns]:
    """The facts of a relation that programs hold, and their codes, sorted."""
    facts = (program.facts.get(name, frozenset()) for program in _programs(draft).values())
    return _sorted(draft, name, frozenset().union(*facts))


def _sorted(draft: Draft, name: str, rows: frozenset[Row]) -> tuple[list[Row], Columns]:
    listed, schema = list(rows), draft.schema(name)
    columns = draft.coded(schema, listed, {})
    if not schema.arity:
        return listed, columns
    order = sort_order(columns)
    return [listed[place] for place in order.tolist()], [column[order] for column in columns]


def _marked(rows: list[Row], marks: np.ndarray) -> list[Row]:
    return [rows[place] for place in np.flatnonzero(marks).tolist()]
