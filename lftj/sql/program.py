# SPDX-License-Identifier: Apache-2.0
"""A whole program as SQL: tables, facts, and a view or a loop for each stratum, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from lftj.program import (
    Catalog,
    CheckedAtom,
    CheckedHeadAggregate,
    CheckedProgram,
    Program,
    RelationSchema,
    Row,
    components,
    with_functions,
)
from lftj.program.checks import check
from lftj.sql.bodies import Tables, reads
from lftj.sql.dialects import Dialect, cannot_say, dialect_of
from lftj.sql.rules import Head
from lftj.syntax import UserFunction, parse, tree


def to_sql(
    program: str | tree.ParsedProgram,
    dialect: str = "duckdb",
    functions: Iterable[UserFunction] = (),
) -> SqlProgram:
    """Write each rule as a query over tables of the declared columns, views in order of strata.

    `dialect`: "duckdb" or "spark". `str()` of the result is a script. Tables have the names of
    the relations, distinct rows, and no NULL. A recursive stratum is a view where one linear rule
    set says it; else a comment with the queries that `lftj.sql.run` repeats. Raises ProgramErrors,
    and SqlError (E370) for what cannot be said, by name; OptionError (E171). O(rules).
    `functions`: those of the user's own that rules call, which SQL cannot say.
    """
    return SqlProgram.of(program, dialect_of(dialect), functions=functions)


class Names:
    """The tables and columns of a program as SQL writes them. SQL does not tell upper from lower
    case, so names that differ in nothing else get a number.
    """

    def __init__(self, schemas: Mapping[str, RelationSchema], dialect: Dialect, prefix: str = ""):
        self.dialect, self.prefix = dialect, prefix
        self.bare = dict(zip(schemas, _apart(schemas), strict=True))
        self._columns = {
            name: tuple(
                dialect.identifier(column)
                for column in _apart([column for column, _ in schema.columns] or ["row"])
            )
            for name, schema in schemas.items()
        }

    def table(self, relation: str, suffix: str = "") -> str:
        """A relation's table."""
        name = self.bare[relation] + suffix
        if self.prefix.endswith("."):
            return self.prefix + self.dialect.identifier(name)
        return self.dialect.identifier(self.prefix + name)

    def columns(self, relation: str) -> tuple[str, ...]:
        """Its columns; a relation without columns has one for its row."""
        return self._columns[relation]

    def of_atoms(self, atom: CheckedAtom) -> str:
        """The table that an atom reads."""
        return self.table(atom.relation)


def _apart(names: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in names:
        number, made = 1, name
        while made.casefold() in found:
            number += 1
            made = f"{name}_{number}"
        found[made.casefold()] = made
    return list(found.values())


class Derived(NamedTuple):
    """A relation of a stratum: queries that read nothing of the stratum, and those that do, each
    with the atoms of the stratum that it reads.
    """

    schema: RelationSchema
    first: Sequence[Head]
    again: Sequence[tuple[Head, Sequence[CheckedAtom]]]
    extreme: tuple[int, str] | None


@dataclass(frozen=True)
class SqlProgram:
    """A program whose rules have SQL in one dialect; `str()` gives a script."""

    checked: CheckedProgram
    dialect: Dialect
    outside: frozenset[str]
    """Relations that have rows from outside, or may."""

    @classmethod
    def of(
        cls,
        program: str | tree.ParsedProgram,
        dialect: Dialect,
        given: Iterable[str] = (),
        functions: Iterable[UserFunction] = (),
    ) -> SqlProgram:
        """A program in a dialect, with rows from outside for these relations. Raises
        ProgramErrors, SqlError (E370).
        """
        parsed = parse(program) if isinstance(program, str) else program
        catalog = with_functions(Catalog(), functions)
        program_, _ = Program(catalog).add(parsed)  # refuses what has no strata
        for stratum in program_.order.strata:
            if stratum.summed:
                names = ", ".join(f"`{name}`" for name in stratum.relations)
                raise cannot_say(f"what several rules add up, in {names}", dialect.name)
        checked = check(parsed, catalog)
        inputs = {each.relation for each in checked.directives if each.kind == "input"}
        made = cls(checked, dialect, frozenset(inputs | set(given)))
        str(made)  # names what cannot be said now
        return made

    # ── strata ────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def schemas(self) -> Mapping[str, RelationSchema]:
        """Every declared relation."""
        return self.checked.catalog.relations

    @cached_property
    def names(self) -> Names:
        """Names as the script has them."""
        return Names(self.schemas, self.dialect)

    @cached_property
    def derived(self) -> frozenset[str]:
        """The relations that are computed: those with rules, and those that choose among rows."""
        heads = {head.relation for rule in self.checked.rules for head in rule.heads}
        return frozenset(heads | {name for name, each in self.schemas.items() if each.choice})

    @cached_property
    def given(self) -> frozenset[str]:
        """Computed relations that have rows of their own, too, in a table `…_given`."""
        heads = {head.relation for rule in self.checked.rules for head in rule.heads}
        return self.derived & (self.outside | (self.derived - heads))

    @property
    def tables(self) -> list[str]:
        """The relations that are as they are given, in the order of their declarations."""
        return [name for name in self.schemas if name not in self.derived]

    def heads(self, names: Names) -> Iterator[Head]:
        """Every head of every rule."""
        for rule in self.checked.rules:
            for head in rule.heads:
                schema = self.schemas[head.relation]
                yield Head(rule, head, schema, self.dialect, names.columns)

    def strata(self, names: Names) -> Iterator[list[Derived]]:
        """The derived relations in the order in which they can be computed, those of one cycle
        together.
        """
        heads = list(self.heads(names))
        read: dict[str, set[str]] = {name: set() for name in self.schemas}
        for head in heads:
            read[head.schema.name] |= {atom.relation for atom, _ in reads(head.literals)}
        for members in components(read):
            if members[0] in self.derived:
                yield [self._derived(name, frozenset(members), heads) for name in members]

    def _derived(self, name: str, members: frozenset[str], heads: list[Head]) -> Derived:
        first, again = list[Head](), list[tuple[Head, Sequence[CheckedAtom]]]()
        for head in heads:
            if head.schema.name != name:
                continue
            inside = [atom for atom, _ in reads(head.literals) if atom.relation in members]
            if inside:
                head.refuse_growth(inside)
                again.append((head, inside))
            else:
                first.append(head)
        derivation = self.checked.catalog.derivations.get(name)
        schema = self.schemas[name]
        if len(schema.choice) > 1:
            raise cannot_say(f"the several choice domains of `{name}`", self.dialect.name)
        several = len(first) + len(again) > 1 or bool(again)
        extreme = derivation.extreme if several and derivation else None
        return Derived(schema, first, again, extreme)

    # ── queries ───────────────────────────────────────────────────────────────────────────────────
    def candidates(self, derived: Derived, names: Names, line: str = "\n") -> list[str]:
        """Queries for the rows that are there before any of the stratum is: own ones, then those
        of rules.
        """
        return [
            *self.own_rows(derived.schema.name, names),
            *(head.query(names.of_atoms, line=line) for head in derived.first),
        ]

    def own_rows(self, name: str, names: Names) -> list[str]:
        """Queries for the rows of a relation that no rule gives."""
        columns = ", ".join(names.columns(name))
        found = [f"SELECT {columns} FROM {names.table(name, '_given')}"] * (name in self.given)
        return found + self.facts(name, self.checked.facts.get(name, ()))

    def facts(self, name: str, rows: Sequence[Row]) -> list[str]:
        """A query for the facts of the program's text."""
        if not rows:
            return []
        types = [type for _, type in self.schemas[name].columns]
        columns = [
            f"CAST(v.c{place} AS {self.dialect.type(type)}) AS {column}"
            for place, (column, type) in enumerate(
                zip(self.names.columns(name), types, strict=False)
            )
        ]
        if not types:
            return [f"SELECT TRUE AS {self.names.columns(name)[0]}"]
        listed = ", ".join(
            f"({', '.join(map(self.dialect.constant, row, types))})" for row in dict.fromkeys(rows)
        )
        places = ", ".join(f"c{place}" for place in range(len(types)))
        return [f"SELECT {', '.join(columns)} FROM (VALUES {listed}) AS v({places})"]

    def united(self, derived: Derived, queries: Sequence[str], names: Names) -> str:
        """A query for the rows that a relation keeps of what these find: all, the best of each
        group, or one for each value of a choice domain.
        """
        columns = names.columns(derived.schema.name)
        if derived.extreme is not None:
            return self.best(derived, queries, names)
        whole = "\nUNION\n".join(queries) or self.nothing(derived.schema, names)
        if not derived.schema.choice:
            return whole
        return self.chosen(derived.schema, f"({whole})", columns)

    def best(self, derived: Derived, queries: Sequence[str], names: Names) -> str:
        """The least or greatest value of each group."""
        assert derived.extreme is not None
        place, function = derived.extreme
        columns = names.columns(derived.schema.name)
        written = [
            f"{function}(c.{column}) AS {column}" if number == place else f"c.{column}"
            for number, column in enumerate(columns)
        ]
        groups = [f"c.{column}" for number, column in enumerate(columns) if number != place]
        grouped = f"\nGROUP BY {', '.join(groups)}" if groups else "\nHAVING count(*) > 0"
        every = "\nUNION ALL\n".join(queries)
        return f"SELECT {', '.join(written)}\nFROM ({every}) AS c{grouped}"

    def chosen(self, schema: RelationSchema, source: str, columns: Sequence[str]) -> str:
        """The first row for each value of a choice domain."""
        domain = ", ".join(columns[place] for place in schema.choice[0])
        listed = ", ".join(columns)
        rank = f"row_number() OVER (PARTITION BY {domain} ORDER BY {listed}) AS place"
        ranked = f"SELECT {listed}, {rank} FROM {source} AS c"
        return f"SELECT {listed}\nFROM ({ranked}) AS ranked\nWHERE place = 1"

    def nothing(self, schema: RelationSchema, names: Names) -> str:
        """A query without rows."""
        types = [self.dialect.type(type) for _, type in schema.columns] or ["BOOLEAN"]
        columns = [
            f"CAST(NULL AS {type}) AS {column}"
            for type, column in zip(types, names.columns(schema.name), strict=True)
        ]
        return f"SELECT {', '.join(columns)} WHERE FALSE"

    def step(self, derived: Derived, deltas: Tables, names: Names, line: str = "\n") -> list[str]:
        """Queries for the rows that follow from new ones: each reads the delta of its relation in
        one place.
        """

        def tables(new: CheckedAtom) -> Tables:
            return lambda atom: deltas(atom) if atom is new else names.of_atoms(atom)

        return [
            head.query(tables(new), line=line) for head, inside in derived.again for new in inside
        ]

    def key_check(self, schema: RelationSchema, names: Names) -> str | None:
        """A query for the keys that two rows have; None for a relation without a key."""
        if schema.key is None or len(schema.key) == len(schema.columns):
            return None
        columns = names.columns(schema.name)
        key = ", ".join(columns[place] for place in schema.key)
        counted = f"FROM {names.table(schema.name)}"
        if not key:
            return f"SELECT count(*) {counted} HAVING count(*) > 1"
        return f"SELECT {key} {counted} GROUP BY {key} HAVING count(*) > 1"

    def recursive_view(self, stratum: Sequence[Derived], names: Names) -> str | None:
        """One query for a recursive stratum; None where only a loop says it."""
        derived = stratum[0]
        alone = len(stratum) == 1 and len(derived.again) == 1 and self.dialect.name == "duckdb"
        if not alone or derived.extreme is not None or derived.schema.choice:
            return None
        head, inside = derived.again[0]
        direct = [each for each in head.rule.body.literals if isinstance(each, CheckedAtom)]
        aggregates = any(isinstance(arg, CheckedHeadAggregate) for arg in head.head.args)
        if len(inside) > 1 or not any(inside[0] is atom for atom in direct) or aggregates:
            return None
        name = derived.schema.name
        bare = self.dialect.identifier(names.bare[name])
        step = head.query(lambda atom: bare if atom is inside[0] else names.of_atoms(atom))
        if "\nUNION\n" in step:
            return None
        first = "\nUNION\n".join(self.candidates(derived, names))
        first = first or self.nothing(derived.schema, names)
        columns = ", ".join(names.columns(name))
        return (
            f"WITH RECURSIVE {bare}({columns}) AS (\n{first}\nUNION\n{step}\n)\n"
            f"SELECT {columns} FROM {bare}"
        )

    # ── the script ────────────────────────────────────────────────────────────────────────────────
    def __str__(self) -> str:
        """The program as a script."""
        parts = [self._table(name) for name in self.tables]
        for stratum in self.strata(self.names):
            parts += self._stratum(stratum)
        return "\n\n".join(parts) + "\n"

    def _table(self, name: str) -> str:
        schema = self.schemas[name]
        types = [
            self.dialect.type(type) + " NOT NULL" * (not type.optional)
            for _, type in schema.columns
        ]
        columns = zip(self.names.columns(name), types or ["BOOLEAN NOT NULL"], strict=True)
        listed = ", ".join(map(" ".join, columns))
        table = self.names.table(name)
        lines = [f"CREATE TABLE IF NOT EXISTS {table} ({listed});"]
        lines += [f"INSERT INTO {table} {rows};" for rows in self.own_rows(name, self.names)]
        return "\n".join([*lines, *self._key(schema)])

    def _key(self, schema: RelationSchema) -> list[str]:
        check = self.key_check(schema, self.names)
        return [] if check is None else [f"-- a key of {schema.name} that two rows have:\n{check};"]

    def _stratum(self, stratum: list[Derived]) -> Iterator[str]:
        if not any(derived.again for derived in stratum):
            derived = stratum[0]
            query = self.united(derived, self.candidates(derived, self.names), self.names)
            yield self._view(derived.schema, query)
        elif (query := self.recursive_view(stratum, self.names)) is not None:
            yield self._view(stratum[0].schema, query)
        else:
            yield self._loop(stratum)

    def _view(self, schema: RelationSchema, query: str) -> str:
        columns = ", ".join(self.names.columns(schema.name))
        view = f"CREATE VIEW {self.names.table(schema.name)}({columns}) AS\n{query};"
        return "\n".join([view, *self._key(schema)])

    def _loop(self, stratum: list[Derived]) -> str:
        """A recursive stratum that no query says: what is computed first, and what is repeated."""
        lines = [
            "-- "
            + ", ".join(derived.schema.name for derived in stratum)
            + ": the first rows, then, until there are no new ones, what follows from new rows"
        ]
        for derived in stratum:
            name = derived.schema.name
            query = self.united(derived, self.candidates(derived, self.names), self.names)
            lines.append(f"CREATE TABLE {self.names.table(name)} AS\n{query};")
            steps = self.step(
                derived, lambda atom: self.names.table(atom.relation, "_delta"), self.names
            )
            keep = "keep the best of each group" if derived.extreme else "without those known"
            keep = "those whose domain is new" if derived.schema.choice else keep
            lines += [f"-- new rows of {name}, {keep}:\n{query};" for query in steps]
        return "\n".join(lines)
