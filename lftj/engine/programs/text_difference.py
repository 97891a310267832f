# SPDX-License-Identifier: Apache-2.0
"""The difference between a program's text and the one before: rules and facts that came or went.

Where rules and facts differ, and declarations come, nothing else is read. Where declarations go, or
are others, or the program does not hold all of its text, or has it since before a relation was
altered, the whole text is read, and compared with what the program holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial

from lftj.errors import ProgramErrors
from lftj.program.canonical_rule import canonical
from lftj.program.checks.by_column import by_position
from lftj.program.checks.declarations import declare_all
from lftj.program.checks.facts import FactReader, is_fact
from lftj.program.checks.inlining import inlining_errors
from lftj.program.checks.own_variables import with_own_variables
from lftj.program.checks.program_checks import check
from lftj.program.checks.witnesses import with_witnesses_bound
from lftj.program.defaults import filled
from lftj.program.named_program import NamedProgram, Row, others_of
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.parser import cut, parse, parse_parts

Part = tuple[int, int]


@frozen
class Difference:
    """`clauses` to add: new rules, facts, and where they may differ declarations. `stays`: numbers
    of rules that are in both texts; `found`: of rules that are there already, of others.

    `facts`: those that stay, by relation. `declared` and `types`: what the text declares; `dropped`
    and `types_dropped`: what it does not, or otherwise, and then as `schemas` and `kinds` say.
    `rekeyed`: those of `dropped` that another key, or other defaults, would make what the text
    declares. `repeats`: a clause stands there twice.
    """

    clauses: tuple[tree.Clause, ...]
    stays: frozenset[int]
    found: frozenset[int]
    facts: dict[str, frozenset[Row]]
    declared: frozenset[str]
    types: frozenset[str]
    dropped: frozenset[str] = frozenset()
    types_dropped: frozenset[str] = frozenset()
    repeats: bool = False
    schemas: Mapping[str, RelationSchema] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rekeyed: frozenset[str] = frozenset()


def difference(program: Program, name: str, text: str, file: str) -> Difference:
    """The difference between a text and the program of this name. Raises ProgramErrors."""
    old = program.catalog.programs.get(name)
    simple = old is not None and old.whole and not (old.repeats or old.earlier)
    if old is not None and simple and "inline" not in text:
        found = _by_parts(program, old, text, file)
        if found is not None:
            return found
    return _Whole(program, name, parse(text, file)).difference()


def rule_key(rule: tree.Rule, catalog: Catalog) -> str:
    """The identity of a rule as it is read; that of the rule which is kept of it is the same."""
    return canonical(with_witnesses_bound(with_own_variables(by_position(rule, catalog)[0])))


def known_rules(program: Program, heads: Collection[tuple[str, ...]]) -> dict[str, list[int]]:
    """The numbers of the rules with such heads, by identity. O(rules), and O(size) of these."""
    found: dict[str, list[int]] = {}
    for number, source in program.sources.items():
        if heads_of(source.rule) in heads:
            found.setdefault(canonical(source.rule), []).append(number)
    return found


def heads_of(rule: tree.Rule) -> tuple[str, ...]:
    """The relations of a rule's heads, sorted."""
    heads = rule.heads
    return (heads[0].relation,) if len(heads) == 1 else tuple(sorted(e.relation for e in heads))


# ── by parts ──────────────────────────────────────────────────────────────────────────────────────
@lru_cache(8)
def _parts(text: str) -> tuple[dict[str, list[Part]], Counter[str]]:
    places: dict[str, list[Part]] = {}
    for start, end in cut(text):
        places.setdefault(text[start:end], []).append((start, end))
    return places, Counter({part: len(found) for part, found in places.items()})


def _only_in(text: str, other: str) -> list[Part]:
    """Clauses of a text that another has not, or not as often; in the order of the text."""
    places, mine = _parts(text)
    return sorted(place for part in mine - _parts(other)[1] for place in places[part])


def appended(text: str, more: str) -> str:
    """The text with those clauses of another behind it that it has not as they stand."""
    new = [more[start:end] for start, end in _only_in(more, text)]
    return "".join([text, *(f"{clause}\n" for clause in new)])


def _by_parts(program: Program, old: NamedProgram, text: str, file: str) -> Difference | None:
    """The difference, where it is of rules and facts alone."""
    came = parse_parts(text, _only_in(text, old.text), file)
    gone = parse_parts(old.text, _only_in(old.text, text), file)
    if came is None or gone is None:
        return None
    lost = [clause for clause in gone if isinstance(clause, tree.Rule)]
    if len(lost) < len(gone):
        return None
    new = [clause for clause in came if isinstance(clause, tree.Rule)]
    declared = _new_names(came, tree.Declaration, program.catalog.relations)
    types = _new_names(came, tree.TypeAlias, program.catalog.definitions)
    if declared is None or types is None:
        return None
    heads = {heads_of(rule) for rule in (*new, *lost) if not is_fact(rule)}
    known = known_rules(program, heads) if heads else {}
    rules = _rules_by_parts(program.catalog, known, old, new, lost)
    facts = _facts_by_parts(program.catalog, old, new, lost)
    if rules is None or facts is None:
        return None
    stays, found, wanted = rules
    clauses = tuple(
        clause
        for clause in came
        if not isinstance(clause, tree.Rule) or is_fact(clause) or id(clause) in wanted
    )
    declared, types = old.relations | declared, old.types | types
    return Difference(clauses, stays, found, facts, declared, types)


def _new_names(
    clauses: Sequence[tree.Clause],
    kind: type[tree.Declaration | tree.TypeAlias],
    known: Collection[str],
) -> frozenset[str] | None:
    """The names that clauses declare; None where one is known already."""
    names = frozenset(_names(clauses, kind))
    return names if names.isdisjoint(known) else None


def _rules_by_parts(
    catalog: Catalog,
    known: dict[str, list[int]],
    old: NamedProgram,
    new: list[tree.Rule],
    lost: list[tree.Rule],
) -> tuple[frozenset[int], frozenset[int], set[int]] | None:
    """Numbers that stay and that are found, and rules to add, by `id`. None where a rule that is
    lost is not known by its text, or one comes twice.
    """
    held = {key: n for key, numbers in known.items() for n in numbers if n in old.rules}
    gone = {rule_key(rule, catalog) for rule in lost if not is_fact(rule)}
    if not gone <= held.keys():
        return None
    stays, found, wanted = set(old.rules), set[int](), set[int]()
    stays -= {held[key] for key in gone}
    came = set[str]()
    for rule in new:
        if is_fact(rule):
            continue
        key = rule_key(rule, catalog)
        if key in came or (key in held and key not in gone):
            return None
        came.add(key)
        if key in gone:
            stays.add(held[key])
        elif key in known:
            found.add(known[key][0])
        else:
            wanted.add(id(rule))
    return frozenset(stays), frozenset(found), wanted


def _facts_by_parts(
    catalog: Catalog, old: NamedProgram, new: list[tree.Rule], lost: list[tree.Rule]
) -> dict[str, frozenset[Row]] | None:
    """The facts that stay; None where one comes twice."""
    went, came = _rows(catalog, lost), _rows(catalog, new)
    left = {name: rows - frozenset(went.get(name, ())) for name, rows in old.facts.items()}
    for name, rows in came.items():
        if len(set(rows)) < len(rows) or not left.get(name, frozenset()).isdisjoint(rows):
            return None
    return left


def _rows(catalog: Catalog, clauses: Iterable[tree.Rule]) -> dict[str, list[Row]]:
    """The rows of facts; those of faulty ones are left out."""
    reader = FactReader(catalog)
    for clause in clauses:
        if is_fact(clause):
            reader.read(by_position(clause, catalog)[0])
    return reader.rows


# ── as a whole ────────────────────────────────────────────────────────────────────────────────────
class _Whole:
    """A text that was read as a whole, beside what a program of its name holds."""

    def __init__(self, program: Program, name: str, parsed: tree.ParsedProgram):
        programs = program.catalog.programs
        self._program, self._parsed = program, parsed
        self._old = programs.get(name, NamedProgram(""))
        self._others = others_of(programs, name)
        self._declared = frozenset(_names(parsed.clauses, tree.Declaration))
        self._types = frozenset(_names(parsed.clauses, tree.TypeAlias))

    def difference(self) -> Difference:
        """The difference. Raises ProgramErrors."""
        dropped, types, after = self._dropped()
        rules = [
            clause
            for clause in self._parsed.clauses
            if isinstance(clause, tree.Rule) and not is_fact(clause)
        ]
        known = known_rules(self._program, {heads_of(rule) for rule in rules})
        stays, found, wanted = set[int](), set[int](), dict[str, tree.Rule]()
        instead = dict[int, tree.Rule]()
        for rule in rules:
            key = rule_key(rule, self._program.catalog)
            numbers = known.get(key, ())
            mine = next((each for each in numbers if each in self._old.rules), None)
            read = relations_of(rule)
            if (since_before := self._since_before(rule, dropped)) is not None:
                mine, read = since_before, relations_of(self._program.rule(since_before))
            again = dropped and not dropped.isdisjoint(read)
            if again or (types and mine is not None):
                wanted.setdefault(key, rule)  # checked against other declarations
                if since_before is not None:
                    instead[id(rule)] = self._program.rule(since_before)
            elif mine is not None:
                stays.add(mine)
            elif numbers:
                found.add(numbers[0])
            else:
                wanted.setdefault(key, rule)
        repeats = len(stays) + len(found) + len(wanted) < len(rules)
        new = set(map(id, wanted.values()))
        clauses = tuple(
            instead.get(id(clause), clause)
            for clause in self._parsed.clauses
            if not isinstance(clause, tree.Rule) or is_fact(clause) or id(clause) in new
        )
        some = len(clauses) < len(self._parsed.clauses)  # else these are looked for with all others
        if some and (errors := list(inlining_errors(self._parsed.clauses))):
            raise ProgramErrors(errors)
        return Difference(
            clauses,
            frozenset(stays),
            frozenset(found),
            {},
            self._declared,
            self._types,
            dropped,
            types,
            repeats,
            after.relations,
            after.kinds,
            frozenset(filter(partial(self._rekeyed, after), dropped)),
        )

    def _rekeyed(self, after: Catalog, name: str) -> bool:
        """Test for a relation that the text declares with another key or other defaults, and as it
        was else.
        """
        catalog, schema = self._program.catalog, after.relations.get(name)
        if schema is None or schema.functional or schema.choice:
            return False
        same = after.kinds.get(name) == catalog.kinds.get(name)
        known = replace(catalog.relations[name], key=schema.key, defaults=schema.defaults)
        return same and known == schema

    def _since_before(self, rule: tree.Rule, dropped: frozenset[str]) -> int | None:
        """The number of the rule that the program has had, in these words, since before a relation
        was altered, by which its positions are others now. None where it reads a relation that the
        text declares no more, and where another relation has the old name of a renamed one.
        """
        if not self._old.earlier or by_position(rule, self._program.catalog)[0] != rule:
            return None
        key = canonical(with_witnesses_bound(with_own_variables(rule)))
        if (number := self._old.earlier.get(key)) not in self._old.rules:
            return None
        read = relations_of(self._program.rule(number))
        others = relations_of(rule) - read
        known = self._declared | self._program.catalog.relations.keys()
        gone = not read & dropped <= self._declared
        return None if gone or not others.isdisjoint(known) else number

    def _dropped(
        self,
    ) -> tuple[frozenset[str], frozenset[str], Catalog]:
        """The relations and types of the program that are not in the text, or otherwise, and the
        catalog with those that are. Raises ProgramErrors.
        """
        catalog = self._program.catalog
        mine = self._old.relations.difference(*(each.relations for each in self._others))
        types = self._free_types(mine)
        bare = catalog.undeclare(mine, types)
        found, errors = declare_all(self._parsed.clauses, bare)
        found = replace(found, relations={**found.relations, **self._filled(mine, found)})
        if errors:
            check(self._parsed, replace(bare, derivations={}, fact_relations=frozenset()))
            raise ProgramErrors(errors)
        relations = frozenset(
            name
            for name in mine
            if found.relations.get(name) != catalog.relations[name]
            or found.kinds.get(name) != catalog.kinds.get(name)
        )
        gone = frozenset(
            name for name in types if found.definitions.get(name) != catalog.definitions[name]
        )
        return relations, gone, found

    def _filled(self, mine: frozenset[str], found: Catalog) -> dict[str, RelationSchema]:
        """The relations of the program as its text declares them, with defaults that they have and
        no text of the program has said.
        """
        known = {name: self._program.catalog.relations[name] for name in mine}
        some = [name for name in known if name in found.relations and known[name].defaults]
        if not some:
            return {}
        said = {
            each.name: {column.name for column in each.columns if column.default is not None}
            for each in parse(self._old.text).clauses
            if isinstance(each, tree.Declaration)
        }
        left = {
            name: [each for each in known[name].defaults if each[0] not in said.get(name, ())]
            for name in some
        }
        return {
            name: filled(replace(known[name], defaults=tuple(left[name])), found.relations[name])
            for name in some
        }

    def _free_types(self, relations: frozenset[str]) -> frozenset[str]:
        """The types that the program alone defines, and no other relation or type names."""
        catalog = self._program.catalog
        types = self._old.types.difference(*(each.types for each in self._others))
        used = {
            kind for name, kinds in catalog.kinds.items() if name not in relations for kind in kinds
        }
        for name, each in catalog.definitions.items():
            if name not in types:
                used |= {each.base, *each.others}
        types = types & catalog.definitions.keys()
        while kept := types & used:
            types -= kept
            used = {each for name in kept for each in _bases(catalog.definitions[name])}
        return types


def _bases(definition: tree.TypeAlias) -> tuple[str, ...]:
    return definition.base, *definition.others


def _names(
    clauses: Sequence[tree.Clause], kind: type[tree.Declaration | tree.TypeAlias]
) -> Iterator[str]:
    return (clause.name for clause in clauses if isinstance(clause, kind))


def relations_of(node: object) -> set[str]:
    """The relations of all atoms in a node, at any depth."""
    if isinstance(node, tuple):
        return {name for each in node for name in relations_of(each)}
    if not isinstance(node, tree.Node):
        return set()
    own = {node.relation} if isinstance(node, tree.Atom) else set[str]()
    return own | relations_of(tuple(vars(node).values()))
