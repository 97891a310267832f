# SPDX-License-Identifier: Apache-2.0
"""A program of users in the place of the one that had its name: which rules, declarations and facts
come and go, as a value. Nothing is said here of the rows that lie anywhere.

What is equal stays. What the old program alone held goes. A declaration goes only where nobody else
needs it, or where the user says that it is to be dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from lftj.engine.programs.still_needed_errors import still_needed
from lftj.engine.programs.text_difference import Difference, relations_of
from lftj.errors import UnknownNameError
from lftj.program.alteration import Alteration
from lftj.program.alterations_apart import since
from lftj.program.altered_rules import as_altered
from lftj.program.canonical_rule import canonical
from lftj.program.named_program import (
    NamedProgram,
    NamedPrograms,
    Row,
    Rows,
    others_of,
)
from lftj.program.program import Program
from lftj.program.reshaping import differences
from lftj.program.schema import Catalog, dropped_since
from lftj.program.statistics_hints import Sizes
from lftj.scantree.frozen import frozen
from lftj.syntax import tree

_NO_ROWS: frozenset[Row] = frozenset()
RowsOtherwise = Callable[[str, frozenset[Row]], int]
"""The number of rows of a relation beside these."""


@frozen
class Change:
    """The program after the change, and what its rows are to become: facts that `came` and that
    `went`, by relation; `dropped` relations lose all rows. `removed` and `added`: numbers of rules.

    The named program does not tell yet which of the facts that came were there already.
    """

    program: Program
    removed: frozenset[int]
    added: tuple[int, ...]
    dropped: frozenset[str]
    came: Rows
    went: Rows


def changed(
    program: Program,
    name: str,
    text: str,
    found: Difference,
    *,
    drop: bool,
    alter: bool,
    sizes: Sizes,
    rows_otherwise: RowsOtherwise,
) -> Change:
    """The change that makes a text the program of a name, of which it differs as `found`. Raises
    ProgramErrors, and StillNeededError (E327) for declarations that others need, unless they are to
    be dropped; for one that is declared, and was to be altered, also then.
    """
    programs = program.catalog.programs
    old, others = programs.get(name, NamedProgram("")), others_of(programs, name)
    held = frozenset().union(old.lent_rules, *(each.rules for each in others))
    removed = old.rules - found.stays - held
    if found.dropped:
        needs = _Needs(program, found.dropped, removed, rows_otherwise)
        needed = needs.by_others(old, others)
        if drop:
            needed = {
                name: each for name, each in needed.items() if alter and name in found.declared
            }
        if needed:
            known, rows = program.catalog, needs.with_rows
            raise still_needed(known, found, needed, rows, alter=alter, drop=drop)
        removed |= needs.rules.keys()
    bare, revised = program, frozenset[int]()
    for number in sorted(removed):
        bare = bare.remove(number)
        revised |= bare.revised
    bare = bare.undeclare(found.dropped, found.types_dropped)
    bare = _without_facts(bare, old, others, found)
    after, added = bare.add(tree.ParsedProgram(found.clauses), sizes)
    after = replace(after, revised=after.revised | (revised & after.sources.keys()))
    made = _made(program, old, others, found, text, added, after.facts)
    if old.earlier:
        made = replace(made, earlier=_earlier(program, after, old, {*found.stays, *added}))
    went = _went(old, made, others, found.dropped)
    came = {
        each: rows - (_NO_ROWS if each in found.dropped else old.facts.get(each, _NO_ROWS))
        for each, rows in made.facts.items()
    }
    left = _others_left(programs, name, removed, found.dropped)
    if text.strip():
        left[name] = made
    return Change(after.with_programs(left), removed, tuple(added), found.dropped, came, went)


def _made(
    program: Program,
    old: NamedProgram,
    others: list[NamedProgram],
    found: Difference,
    text: str,
    added: list[int],
    rows: Mapping[str, list[Row]],
) -> NamedProgram:
    """The program of the text, with all that it holds but facts of others."""
    held = frozenset().union(*(each.rules for each in others))
    lent = frozenset().union(old.lent_rules, *(each.lent_rules for each in others))
    new_lent = {number for number in found.found if number in lent or number not in held}
    facts = {name: frozenset(each) for name, each in rows.items()}
    repeats = found.repeats or any(len(facts[name]) < len(rows[name]) for name in facts)
    facts = {
        name: facts.get(name, _NO_ROWS) | found.facts.get(name, _NO_ROWS)
        for name in {**found.facts, **facts}
    }
    catalog = program.catalog
    relations = old.relations.union(*(each.relations for each in others))
    types = old.types.union(*(each.types for each in others))
    return NamedProgram(
        str(text),  # a preprocessor's text is a string and more
        found.stays | found.found | frozenset(added),
        (old.lent_rules & found.stays) | new_lent,
        frozenset(n for n in found.declared if n in relations or n not in catalog.relations),
        frozenset(n for n in found.types if n in types or n not in catalog.definitions),
        {name: each for name, each in facts.items() if each},
        {
            name: lent
            for name, each in facts.items()
            if name not in found.dropped and (lent := old.lent_facts.get(name, _NO_ROWS) & each)
        },
        repeats=repeats,
    )


def _earlier(
    before: Program, after: Program, old: NamedProgram, numbers: Collection[int]
) -> dict[str, int]:
    """The rules that are what they were before relations were altered, by their numbers now: some
    came anew, as what they derive is declared otherwise.
    """
    held = {key: n for key, n in old.earlier.items() if n in old.rules}
    there = {canonical(after.sources[number].rule): number for number in numbers}
    rules = {key: canonical(before.sources[number].rule) for key, number in held.items()}
    return {key: there[rule] for key, rule in rules.items() if rule in there}


def _without_facts(
    program: Program, old: NamedProgram, others: list[NamedProgram], found: Difference
) -> Program:
    """The program of which relations that have no facts in texts any more may have an aggregate
    rule again.
    """
    heads = {
        head.relation
        for clause in found.clauses
        if isinstance(clause, tree.Rule) and not clause.body.literals
        for head in clause.heads
    }
    left = {name for name, rows in found.facts.items() if rows}.union(
        heads, *(each.facts for each in others)
    )
    gone = old.facts.keys() - left
    if not gone:
        return program
    catalog = program.catalog
    catalog = replace(catalog, fact_relations=catalog.fact_relations - gone)
    return replace(program, catalog=catalog)


def _went(
    old: NamedProgram, made: NamedProgram, others: list[NamedProgram], dropped: frozenset[str]
) -> dict[str, frozenset[Row]]:
    """The facts that nobody holds any more."""
    found: dict[str, frozenset[Row]] = {}
    for name, rows in old.facts.items():
        if name not in dropped:
            kept = (made.facts, old.lent_facts, *(each.facts for each in others))
            found[name] = rows.difference(*(each.get(name, _NO_ROWS) for each in kept))
    return {name: rows for name, rows in found.items() if rows}


def _others_left(
    programs: NamedPrograms, name: str, removed: Iterable[int], dropped: frozenset[str]
) -> dict[str, NamedProgram]:
    """The other programs, without what was dropped."""
    left = {each: program for each, program in programs.items() if each != name}
    for each, program in left.items():
        program = program.without_rules(removed)
        for relation in dropped & program.facts.keys():
            program = program.without_facts(relation, program.facts[relation])
        left[each] = program
    return left


def no_such_program(name: object, programs: Iterable[str]) -> UnknownNameError:
    """The error for a program that is not there."""
    there = ", ".join(sorted(programs)) or "none"
    return UnknownNameError(
        f"there is no program {name!r}",
        code="E115",
        hint=f"programs that are there: {there}; ws.program(text, name=…) makes one",
    )


# ── what is still needed ──────────────────────────────────────────────────────────────────────────
class _Needs:
    """Needs of relations that are to be dropped: rules but those that are removed, and rows."""

    def __init__(
        self,
        program: Program,
        dropped: frozenset[str],
        removed: frozenset[int],
        rows_otherwise: RowsOtherwise,
    ):
        self._program, self._dropped, self._rows = program, dropped, rows_otherwise
        self.rules = {
            number: named
            for number, source in program.sources.items()
            if number not in removed and (named := relations_of(source.rule) & dropped)
        }
        """The relations that such a rule names."""
        self.with_rows = set[str]()
        """Relations with rows that came otherwise, once these were looked for."""

    def by_others(self, old: NamedProgram, others: list[NamedProgram]) -> dict[str, list[str]]:
        """The reasons of each relation, in words."""
        needed: dict[str, list[str]] = {}
        for number, names in self.rules.items():
            for name in sorted(names):
                needed.setdefault(name, []).append(f"the rule  {self._program.rule(number)}")
        for name in sorted(self._dropped):
            theirs = [each.facts.get(name, _NO_ROWS) for each in others]
            own = old.facts.get(name, _NO_ROWS) - old.lent_facts.get(name, _NO_ROWS)
            if rows := self._rows(name, own.difference(*theirs)):
                self.with_rows.add(name)
                reason = f"{rows:,} row{'s' if rows > 1 else ''} that came otherwise"
                needed.setdefault(name, []).append(reason)
        return needed


# ── what changed, in words ────────────────────────────────────────────────────────────────────────
class ProgramChange(NamedTuple):
    """The rules that came and went, the relations that were declared and dropped, and schemas that
    were `altered`, as text; `anew`: how relations that are among both were declared otherwise.
    False where there are none.
    """

    came: tuple[str, ...]
    went: tuple[str, ...]
    declared: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(map(len, self))

    def __str__(self) -> str:
        both = {*self.dropped} & {*self.declared}
        return "\n".join(
            [
                *(f"- .decl {name}" for name in self.dropped if name not in both),
                *(f"- {rule}" for rule in self.went),
                *(f"~ .decl {change}" for change in self.altered),
                *(f"-/+ .decl {change}" for change in self.anew),
                *(f"+ .decl {name}" for name in self.declared if name not in both),
                *(f"+ {rule}" for rule in self.came),
            ]
        )


def between(before: Program, after: Program) -> ProgramChange:
    """The change from one program to another. O(names), and O(rules that changed)."""
    if after is before:
        return ProgramChange((), ())
    catalog = before.catalog
    altered = _altered(catalog, after.catalog)
    for each in altered:
        if each.relation in catalog.relations:
            catalog = catalog.altered(each)
    relations, now = catalog.relations, after.catalog.relations
    declared = tuple(name for name in now if relations.get(name) != now[name])
    anew = [name for name in declared if name in relations]
    came, went = _rules_between(before, after, altered, again=bool(altered or anew))
    return ProgramChange(
        tuple(str(after.sources[number].rule) for number in came),
        tuple(str(before.sources[number].rule) for number in went),
        declared,
        tuple(name for name in relations if now.get(name) != relations[name]),
        tuple(each.words for each in altered),
        tuple(f"{name}: {', '.join(differences(relations[name], now[name]))}" for name in anew),
    )


def _altered(before: Catalog, after: Catalog) -> tuple[Alteration, ...]:
    """The alterations of a catalog by a later one, but for those that were declared anew."""
    if not (altered := since(before.alterations, after.alterations) or ()):
        return ()
    gone = dropped_since(before, after)
    return tuple(each for each in altered if each.relation not in gone)


def _rules_between(
    before: Program, after: Program, altered: Collection[Alteration], *, again: bool
) -> tuple[list[int], list[int]]:
    """The numbers of rules that came, and of those that went. A rule that has gone and come
    `again`, as it may where what it names is declared otherwise, is neither.
    """
    old, new = before.sources, after.sources
    came, went = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
    if not again or not came or not went:
        return came, went
    by_rule, same = dict[str, list[int]](), set[int]()
    for number in came:
        by_rule.setdefault(canonical(new[number].rule), []).append(number)
    for number in went:
        if found := by_rule.get(canonical(_read_after(before.catalog, old[number].rule, altered))):
            same |= {number, found.pop()}
    return [n for n in came if n not in same], [n for n in went if n not in same]


def _read_after(catalog: Catalog, rule: tree.Rule, altered: Collection[Alteration]) -> tree.Rule:
    """A rule of a catalog as it is read after alterations."""
    for each in altered:
        if (schema := catalog.relations.get(each.relation)) is not None:
            rule = as_altered(rule, each, schema)
            catalog = catalog.altered(each)
    return rule


def summary(before: Program, after: Program) -> str:
    """The change as `ws.log()` has it: `main: rules +1 -2`; empty where there is none."""
    altered = _altered(before.catalog, after.catalog)
    known, now = before.catalog.relations, after.catalog.relations
    again = bool(altered) or not known.items() <= now.items()
    for each in altered:
        known = [each.name if name == each.relation else name for name in known]
    anew = dropped_since(before.catalog, after.catalog)
    counts = [
        *_counts("rules", *_rules_between(before, after, altered, again=again)),
        *_counts(
            "relations", now.keys() - {*known} | anew & now.keys(), {*known} - now.keys() | anew
        ),
        *map(str, altered),
    ]
    old, new = before.catalog.programs, after.catalog.programs
    names = [
        name
        for name in sorted({*old, *new})
        if name not in old or name not in new or old[name].text != new[name].text
    ]
    return ": ".join(
        filter(None, (", ".join(names), ", ".join(counts) or ("" if not names else "text")))
    )


def _counts(what: str, came: Collection[object], went: Collection[object]) -> Iterator[str]:
    signs = [f"{sign}{len(each)}" for sign, each in (("+", came), ("-", went)) if each]
    if signs:
        yield " ".join([what, *signs])
