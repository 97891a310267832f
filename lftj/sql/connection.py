# SPDX-License-Identifier: Apache-2.0
"""Connections that queries run on: DuckDB's and Spark's, behind one protocol.

Every table made here has a prefix of its own, and goes when the connection is left.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from lftj.errors import LftjError, OptionError, SqlError, ValueRangeError
from lftj.frames import read, to_arrow
from lftj.program import RelationSchema
from lftj.sql.dialects import Dialect, DuckDB, Spark
from lftj.types import Dictionary

if TYPE_CHECKING:
    import duckdb
    import pyspark.sql


class Connection(Protocol):
    """A database that a program is evaluated on."""

    dialect: Dialect
    prefix: str
    """Beginning of the names of all tables made here: a database and a point, or letters."""

    def make(self, table: str, query: str) -> None:
        """Make, or replace, a table with the rows of a query."""
        ...

    def put(self, table: str, rows: pa.Table) -> None:
        """Make a table with rows from outside."""
        ...

    def rows(self, query: str) -> pa.Table:
        """The rows of a query over tables made here."""
        ...

    def columns(self, name: str) -> list[str] | None:
        """The columns of the user's table of this name; None where there is none."""
        ...

    def theirs(self, query: str) -> pa.Table:
        """The rows of a query over the user's tables."""
        ...

    def close(self) -> None:
        """Remove all tables made here."""
        ...


_FAULTY = "common_subplan"
"""An optimizer of DuckDB that takes different joins in the branches of a UNION for the same: 2.0.0
then finds rows that no branch has.
"""


class OfDuckDB:
    """A connection of DuckDB, which is only read from: an error would end the transaction that may
    be open on it. Tables are made by a connection of our own to the same instance, so that its
    limits hold, in a database in memory that is detached at the end.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self.dialect: Dialect = DuckDB()
        self._users, self._connection = connection, connection.cursor()
        self._database = f"lftj_{secrets.token_hex(6)}"
        self.prefix = f"{self._database}."
        self._connection.execute(f"ATTACH ':memory:' AS {self._database} (READ_WRITE)")
        # Settings of the whole instance that would change what a query means.
        self._connection.execute("SET SESSION default_collation = ''")
        self._connection.execute("SET SESSION default_order = 'ASC'")
        self._switched_off = self._switch(_FAULTY, off=True)

    def _switch(self, optimizer: str, *, off: bool) -> bool:
        """Switch an optimizer of the instance off or on again; False where it is so already, or not
        known.
        """
        from duckdb import Error

        setting = self._connection.sql("SELECT current_setting('disabled_optimizers')").fetchall()
        listed = [each for each in str(setting[0][0] or "").split(",") if each]
        if (optimizer in listed) == off:
            return False
        left = [*listed, optimizer] if off else [each for each in listed if each != optimizer]
        try:
            self._connection.execute(f"SET GLOBAL disabled_optimizers = '{','.join(left)}'")
        except Error:
            return False
        return True

    def make(self, table: str, query: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TABLE {table} AS {query}")

    def put(self, table: str, rows: pa.Table) -> None:
        name = f"lftj_{secrets.token_hex(6)}"
        self._connection.register(name, rows)
        try:
            self.make(table, f"SELECT DISTINCT * FROM {name}")
        finally:
            self._connection.unregister(name)

    def rows(self, query: str) -> pa.Table:
        return self._connection.sql(query).to_arrow_table()

    def columns(self, name: str) -> list[str] | None:
        # A name without a table may be that of a Python variable, which DuckDB would read.
        known = (
            "SELECT 1 FROM (SELECT table_name AS name FROM duckdb_tables() "
            "UNION ALL SELECT view_name FROM duckdb_views()) WHERE lower(name) = lower($1)"
        )
        if not self._users.sql(known, params=[name]).fetchall():
            return None
        return self._users.sql(f"SELECT * FROM {self.dialect.identifier(name)} LIMIT 0").columns

    def theirs(self, query: str) -> pa.Table:
        return self._users.sql(query).to_arrow_table()

    def close(self) -> None:
        if self._switched_off:
            self._switch(_FAULTY, off=False)
        self._connection.execute(f"DETACH DATABASE IF EXISTS {self._database}")
        self._connection.close()


_ANSI = "spark.sql.ansi.enabled"


class OfSpark:
    """A session of Spark, with temporary views that are dropped at the end."""

    def __init__(self, session: pyspark.sql.SparkSession):
        self.dialect: Dialect = Spark()
        self._session = session
        self.prefix = f"lftj_{secrets.token_hex(6)}_"
        self._made: dict[str, Any] = {}
        self._ansi = session.conf.get(_ANSI)
        session.conf.set(_ANSI, "true")  # integers that overflow are errors

    def make(self, table: str, query: str) -> None:
        self._keep(table, self._session.sql(query))

    def put(self, table: str, rows: pa.Table) -> None:
        self._keep(table, self._session.createDataFrame(rows).distinct())

    def _keep(self, table: str, frame: Any) -> None:
        # Evaluated now: a loop would else evaluate all that came before, again and again.
        frame = frame.localCheckpoint(eager=True)
        frame.createOrReplaceTempView(table.strip("`"))
        self._release(table)
        self._made[table] = frame

    def _release(self, table: str) -> None:
        """Have Spark forget the rows that a table had: it keeps them until Java collects them."""
        if (frame := self._made.pop(table, None)) is not None:
            frame._jdf.queryExecution().analyzed().rdd().unpersist(False)

    def rows(self, query: str) -> pa.Table:
        return self._session.sql(query).toArrow()

    def columns(self, name: str) -> list[str] | None:
        quoted = self.dialect.identifier(name)
        if not self._session.catalog.tableExists(quoted):
            return None
        return self._session.table(quoted).columns

    def theirs(self, query: str) -> pa.Table:
        return self.rows(query)

    def close(self) -> None:
        for table in list(self._made):
            self._session.catalog.dropTempView(table.strip("`"))
            self._release(table)
        self._session.conf.set(_ANSI, str(self._ansi))


@contextmanager
def opened(connection: Any) -> Generator[Connection]:
    """A user's connection, left as it was found. Raises OptionError (E171) for anything that is
    none, ValueRangeError (E220) where a value leaves its type.
    """
    kind = type(connection).__module__.partition(".")[0]
    if kind not in _KINDS:
        hint = "pass duckdb.connect(), or a SparkSession"
        raise OptionError(f"{connection!r} is no connection to a database", hint=hint)
    with _failures():
        made = _KINDS[kind](connection)
        try:
            yield made
        finally:
            made.close()


_KINDS: Mapping[str, Callable[[Any], Connection]] = {
    "duckdb": OfDuckDB,
    "_duckdb": OfDuckDB,
    "pyspark": OfSpark,
}


@contextmanager
def _failures() -> Generator[None]:
    """Errors of the database as errors of ours, with the original as cause."""
    try:
        yield
    except LftjError:
        raise
    except Exception as problem:
        module = type(problem).__module__.partition(".")[0]
        if module not in ("duckdb", "_duckdb", "pyspark"):
            raise
        text = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        if _is_of_values(problem):
            raise ValueRangeError(f"while SQL was evaluated: {text}") from problem
        raise SqlError(f"the database refused a query: {text}") from problem


_OF_VALUES = ("OutOfRange", "Conversion", "InvalidInput", "Arithmetic", "NumberFormat", "Runtime")


def _is_of_values(problem: Exception) -> bool:
    """Test for an error about a value, such as an overflow."""
    return any(word in type(problem).__name__ for word in _OF_VALUES)


def typed(rows: pa.Table, schema: RelationSchema) -> pa.Table:
    """Rows with the names and the Arrow types of a relation's columns."""
    if not schema.columns:
        return rows.select([])
    arrays = [rows.column(place).cast(type.arrow) for place, (_, type) in enumerate(schema.columns)]
    return pa.table(arrays, names=[name for name, _ in schema.columns])


def table_of(rows: Any, schema: RelationSchema) -> pa.Table:
    """Rows from outside, checked, as a table: all that `lftj.frames.read` takes."""
    dictionary = Dictionary()
    frame = read(rows, schema.columns, dictionary=dictionary)
    names, types = [name for name, _ in schema.columns], [type for _, type in schema.columns]
    return to_arrow(names, types, frame.columns, dictionary, rows=frame.rows)
