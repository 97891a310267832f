# SPDX-License-Identifier: Apache-2.0
"""Rules after an alteration of a relation that they mention, and what of a program forbids one.

An atom gets a `_` for a column that comes, and loses that of a column that goes. Who names that
column, or derives rows, has to say something else first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from lftj.errors import SchemaInUseError
from lftj.program.alteration import Alteration
from lftj.program.atoms import Change, atoms_of, with_atoms
from lftj.program.canonical_rule import canonical
from lftj.program.named_program import NamedProgram, Row, Rows
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.syntax import tree


def rules_of(program: Program, relation: str) -> dict[int, tree.Rule]:
    """The rules that mention a relation, by their numbers. O(size of all rules)."""
    return {
        number: source.rule
        for number, source in program.sources.items()
        if any(atom.relation == relation for atom in atoms_of(source.rule))
    }


def altered_rules(
    program: Program, alteration: Alteration, schema: RelationSchema
) -> dict[int, tree.Rule]:
    """The rules that mention a relation, as they are read afterwards; `schema`: that before. Raises
    SchemaInUseError (E328) with those that forbid it.
    """
    if alteration.kind == "default":
        return {}
    found = rules_of(program, alteration.relation)
    if blocking := [rule for rule in found.values() if _forbids(rule, alteration, schema)]:
        raise SchemaInUseError.of(str(alteration), list(map(str, blocking)))
    change = _change(alteration, schema)
    return {number: with_atoms(rule, change) for number, rule in found.items()}


def as_altered(rule: tree.Rule, alteration: Alteration, schema: RelationSchema) -> tree.Rule:
    """A rule as it is read after an alteration of a relation, `schema` before, whatever forbids
    that.
    """
    return with_atoms(rule, _change(alteration, schema))


def earlier_readings(program: Program, rules: Mapping[int, tree.Rule]) -> dict[str, int]:
    """The numbers of rules that are read otherwise afterwards, by what they were."""
    before = {number: program.sources[number].rule for number in rules}
    return {canonical(was): number for number, was in before.items() if was != rules[number]}


def _change(alteration: Alteration, schema: RelationSchema) -> Change:
    name = alteration.relation

    def change(atom: tree.Atom) -> tree.Atom:
        if atom.relation != name:
            return atom
        if alteration.kind == "name":
            return replace(atom, relation=alteration.to)
        if alteration.kind == "add":
            return replace(atom, args=(*atom.args, tree.Wildcard()))
        if alteration.kind == "drop":
            place = [column for column, _ in schema.columns].index(alteration.column)
            return replace(atom, args=(*atom.args[:place], *atom.args[place + 1 :]))
        if alteration.kind == "order":
            places = _places(alteration, schema)
            return replace(atom, args=tuple(atom.args[place] for place in places))
        return atom

    return change


def _forbids(rule: tree.Rule, alteration: Alteration, schema: RelationSchema) -> bool:
    """Test for a rule that names a column that goes, or whose rows would lack one that comes."""
    if alteration.kind not in ("add", "drop", "retype"):
        return False
    if any(head.relation == alteration.relation for head in rule.heads):
        return True
    if alteration.kind != "drop":
        return False
    place = [column for column, _ in schema.columns].index(alteration.column)
    return any(
        atom.relation == alteration.relation and not isinstance(atom.args[place], tree.Wildcard)
        for atom in atoms_of(rule)
    )


# ── programs of users ─────────────────────────────────────────────────────────────────────────────
def altered_programs(
    programs: Mapping[str, NamedProgram],
    alteration: Alteration,
    schema: RelationSchema,
    converted: Callable[[Collection[Row]], Mapping[Row, Row]],
    earlier: Mapping[str, int],
) -> dict[str, NamedProgram]:
    """Programs of users after an alteration. One that declares the relation, or has facts of it,
    is not what its text says any more. `converted`: facts with a computed value; `earlier`: of
    `earlier_readings`.
    """
    return {
        name: _altered_program(_with_earlier(program, earlier), alteration, schema, converted)
        for name, program in programs.items()
    }


def _with_earlier(program: NamedProgram, earlier: Mapping[str, int]) -> NamedProgram:
    own = {key: number for key, number in earlier.items() if number in program.rules}
    return replace(program, earlier={**own, **program.earlier}) if own else program


def _altered_program(
    program: NamedProgram,
    alteration: Alteration,
    schema: RelationSchema,
    converted: Callable[[Collection[Row]], Mapping[Row, Row]],
) -> NamedProgram:
    before, after = alteration.relation, alteration.name
    if before not in program.relations and before not in program.facts:
        return program
    relations = frozenset(after if name == before else name for name in program.relations)
    change = _row_change(alteration, schema)
    known = converted(program.facts.get(before, ())) if alteration.expression else {}

    def rows(found: Rows) -> dict[str, frozenset[Row]]:
        return {
            after if name == before else name: frozenset(
                known.get(row) or change(row) for row in each
            )
            if name == before
            else each
            for name, each in found.items()
        }

    return replace(
        program,
        relations=relations,
        facts=rows(program.facts),
        lent_facts=rows(program.lent_facts),
        whole=False,
    )


def _row_change(alteration: Alteration, schema: RelationSchema) -> Callable[[Row], Row]:
    if alteration.kind == "add":
        return lambda row: (*row, alteration.default)
    if alteration.kind == "drop":
        place = [column for column, _ in schema.columns].index(alteration.column)
        return lambda row: (*row[:place], *row[place + 1 :])
    if alteration.kind == "order":
        places = _places(alteration, schema)
        return lambda row: tuple(row[place] for place in places)
    return lambda row: row


def _places(alteration: Alteration, schema: RelationSchema) -> list[int]:
    """The places of columns, in the order that they are to have."""
    names = [name for name, _ in schema.columns]
    return [names.index(name) for name in alteration.key or ()]
