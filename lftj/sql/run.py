# SPDX-License-Identifier: Apache-2.0
"""Evaluation of a program by a database: a table for each relation, strata in order, and loops over
delta tables for recursive ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from lftj.errors import KeyViolationError, UnknownNameError
from lftj.program import CheckedAtom, RelationSchema
from lftj.sql.connection import Connection, opened, table_of, typed
from lftj.sql.program import Derived, Names, SqlProgram
from lftj.syntax import tree


def run(
    connection: Any, program: str | tree.ParsedProgram, facts: Mapping[str, Any] | None = None
) -> dict[str, pa.Table]:
    """Every declared relation of a program, evaluated by a database.

    `connection`: DuckDB's, or a SparkSession; it is left as it was found: tables, settings and an
    open transaction. `facts`: rows by relation, each what `Workspace.load` takes; a relation that
    is not there, and has no rules, is read from the user's table of that name, where there is one.
    Tables have the columns and Arrow types of the declarations.

    Raises ProgramErrors, SqlError (E370) for what cannot be said in SQL, KeyViolationError (E300),
    ValueRangeError (E220), UnknownNameError (E114), what `load` raises, OptionError (E171). Cost:
    each iteration of a recursive stratum is a few queries.
    """
    with opened(connection) as database:
        given = facts or {}
        written = SqlProgram.of(program, database.dialect, given)
        for name in given:
            written.checked.catalog.relation(name)
        return _Evaluation(database, written, given).tables()


class _Evaluation:
    def __init__(self, database: Connection, program: SqlProgram, facts: Mapping[str, Any]):
        self.database, self.program, self.facts = database, program, facts
        self.names = Names(program.schemas, database.dialect, database.prefix)

    def tables(self) -> dict[str, pa.Table]:
        """All relations."""
        for name in self.program.tables:
            self._base(self.program.schemas[name])
        for name in self.program.given:
            schema = self.program.schemas[name]
            self._rows(schema, self.names.table(name, "_given"))
        for stratum in self.program.strata(self.names):
            self._stratum(stratum)
        for schema in self.program.schemas.values():
            self._check_key(schema)
        return {name: self._found(schema) for name, schema in self.program.schemas.items()}

    def _found(self, schema: RelationSchema) -> pa.Table:
        columns = ", ".join(self.names.columns(schema.name))
        return typed(
            self.database.rows(f"SELECT {columns} FROM {self.names.table(schema.name)}"), schema
        )

    # ── tables of facts ───────────────────────────────────────────────────────────────────────────
    def _base(self, schema: RelationSchema) -> None:
        """A relation without rules: rows that were given, and facts of the text."""
        table, own = self.names.table(schema.name), self.program.own_rows(schema.name, self.names)
        if not own:
            self._rows(schema, table)
            return
        outside, columns = self.names.table(schema.name, "_given"), self.names.columns(schema.name)
        self._rows(schema, outside)
        given = f"SELECT {', '.join(columns)} FROM {outside}"
        self.database.make(table, "\nUNION\n".join([given, *own]))

    def _rows(self, schema: RelationSchema, table: str) -> None:
        """Make a table of the rows from outside, under the columns' names; empty without any."""
        found = self.facts.get(schema.name)
        if found is None and schema.columns:
            found = self._users_rows(schema)
        if found is None:
            self.database.make(table, self.program.nothing(schema, self.names))
            return
        rows, columns = table_of(found, schema), self.names.columns(schema.name)
        if schema.columns:
            self.database.put(table, rows.rename_columns(_plain(columns)))
        else:
            some = "TRUE" if rows.num_rows else "FALSE"
            self.database.make(table, f"SELECT TRUE AS {columns[0]} WHERE {some}")

    def _users_rows(self, schema: RelationSchema) -> pa.Table | None:
        """The rows of the user's table; None where there is none. Nothing is cast by the database:
        values would be rounded, and a failure would end a transaction of the user's.
        """
        found = self.database.columns(schema.name)
        if found is None:
            return None
        there = {column.casefold() for column in found}
        names, identifier = [name for name, _ in schema.columns], self.database.dialect.identifier
        missing = [name for name in names if name.casefold() not in there]
        if missing:
            raise UnknownNameError(
                f"the table `{schema.name}` has no column `{missing[0]}`",
                code="E114",
                hint=f"it has {', '.join(found)}",
            )
        columns = ", ".join(map(identifier, names))
        rows = self.database.theirs(f"SELECT {columns} FROM {identifier(schema.name)}")
        return rows.rename_columns(names)

    # ── strata ────────────────────────────────────────────────────────────────────────────────────
    def _stratum(self, stratum: list[Derived]) -> None:
        view = self.program.recursive_view(stratum, self.names)
        if view is not None:
            self.database.make(self.names.table(stratum[0].schema.name), view)
            return
        for derived in stratum:
            queries = self.program.candidates(derived, self.names)
            whole = self.program.united(derived, queries, self.names) if queries else None
            table = self.names.table(derived.schema.name)
            self.database.make(table, whole or self.program.nothing(derived.schema, self.names))
        if any(derived.again for derived in stratum):
            self._repeat(stratum)

    def _repeat(self, stratum: list[Derived]) -> None:
        """Go on from what is new, until nothing is."""
        new = {derived.schema.name: True for derived in stratum}
        for derived in stratum:
            name = derived.schema.name
            columns = ", ".join(self.names.columns(name))
            rows = f"SELECT {columns} FROM {self.names.table(name)}"
            self.database.make(self.names.table(name, "_delta"), rows)
        while any(new.values()):
            for derived in stratum:
                self._next(derived)
            for derived in stratum:
                new[derived.schema.name] = self._accept(derived)

    def _delta(self, atom: CheckedAtom) -> str:
        return self.names.table(atom.relation, "_delta")

    def _next(self, derived: Derived) -> None:
        """Find the rows that follow from the last new ones, but for those that are known."""
        name, names = derived.schema.name, self.names
        columns = ", ".join(names.columns(name))
        known = f"SELECT {columns} FROM {names.table(name)}"
        queries = self.program.step(derived, self._delta, names)
        if not queries:
            found = self.program.nothing(derived.schema, names)
        elif derived.extreme is not None:
            best = self.program.best(derived, [*queries, known], names)
            found = f"{best}\nEXCEPT\n{known}"
        else:
            every = "\nUNION\n".join(queries)
            found = f"SELECT {columns} FROM ({every}) AS found\nEXCEPT\n{known}"
        self.database.make(names.table(name, "_found"), found)
        if derived.schema.choice:
            self._choose(derived)

    def _choose(self, derived: Derived) -> None:
        """Keep the found rows whose domain has no row yet: the first of each."""
        name, names = derived.schema.name, self.names
        columns = names.columns(name)
        same = " AND ".join(
            f"k.{columns[place]} = f.{columns[place]}" for place in derived.schema.choice[0]
        )
        free = (
            f"SELECT {', '.join(f'f.{column}' for column in columns)} "
            f"FROM {names.table(name, '_found')} AS f "
            f"WHERE NOT EXISTS (SELECT 1 FROM {names.table(name)} AS k WHERE {same})"
        )
        chosen = self.program.chosen(derived.schema, f"({free})", columns)
        self.database.make(names.table(name, "_chosen"), chosen)
        rows = f"SELECT {', '.join(columns)} FROM {names.table(name, '_chosen')}"
        self.database.make(names.table(name, "_found"), rows)

    def _accept(self, derived: Derived) -> bool:
        """Add what was found; True where there is any."""
        name, names = derived.schema.name, self.names
        columns = ", ".join(names.columns(name))
        known = f"SELECT {columns} FROM {names.table(name)}"
        found = f"SELECT {columns} FROM {names.table(name, '_found')}"
        self.database.make(names.table(name, "_delta"), found)
        if not len(self.database.rows(f"{found} LIMIT 1")):
            return False
        if derived.extreme is not None:
            whole = self.program.best(derived, [known, found], names)
        else:
            whole = f"{known}\nUNION ALL\n{found}"
        self.database.make(names.table(name, "_all"), whole)
        self.database.make(names.table(name), f"SELECT {columns} FROM {names.table(name, '_all')}")
        return True

    def _check_key(self, schema: RelationSchema) -> None:
        check = self.program.key_check(schema, self.names)
        if check is None:
            return
        twice = self.database.rows(f"{check} LIMIT 1").to_pylist()
        if twice:
            key = ", ".join(map(repr, twice[0].values()))
            raise KeyViolationError(f"two rows of `{schema.name}` have the key ({key})")


def _plain(columns: Sequence[str]) -> list[str]:
    """Names without quotation marks, as tables from outside have them."""
    return [
        column[1:-1].replace(column[0] * 2, column[0]) if column[0] in '"`' else column
        for column in columns
    ]
