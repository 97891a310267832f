"""Connections that queries run on: DuckDB's and Spark's, behind one protocol.

Every table made here has a prefix of its own, and goes when the connection is left.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from lftj.errors import LftjError, OptionError, SqlError, ValueRangeError
from lftj.program.normal_form import RelationSchema
from lftj.sql.dialects import Dialect, DuckDB, Spark

if TYPE_CHECKING:
    import duckdb
    import pyspark.sql


class Connection(Protocol):
    """A database that a program is evaluated on."""

    dialect: Dialect
    prefix: str
    """Beginning of the names of all tables made here: a schema and a point, or letters."""

    def make(self, table: str, query: str) -> None:
        """Make, or replace, a table with the rows of a query."""
        ...

    def put(self, table: str, rows: pa.Table) -> None:
        """Make a table with rows from outside."""
        ...

    def rows(self, query: str) -> pa.Table:
        """The rows of a query."""
        ...

    def columns(self, table: str) -> list[str] | None:
        """The columns of a user's table; None where there is none of the name."""
        ...

    def close(self) -> None:
        """Remove all tables made here."""
        ...


class OfDuckDB:
    """A connection of DuckDB, with a schema that is dropped at the end."""

    def __init__(self, connection: duckdb.DuckDBPyConnection):
        self.dialect: Dialect = DuckDB()
        self._connection = connection
        self._schema = f"lftj_{secrets.token_hex(6)}"
        self.prefix = f"{self._schema}."
        connection.execute(f"CREATE SCHEMA {self._schema}")

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

    def columns(self, table: str) -> list[str] | None:
        import duckdb

        try:
            found = self._connection.execute(f"SELECT * FROM {table} LIMIT 0").description
        except duckdb.CatalogException:
            return None
        return [column[0] for column in found or ()]

    def close(self) -> None:
        self._connection.execute(f"DROP SCHEMA IF EXISTS {self._schema} CASCADE")


class OfSpark:
    """A session of Spark, with temporary views that are dropped at the end."""

    def __init__(self, session: pyspark.sql.SparkSession):
        self.dialect: Dialect = Spark()
        self._session = session
        self.prefix = f"lftj_{secrets.token_hex(6)}_"
        self._made: dict[str, Any] = {}

    def make(self, table: str, query: str) -> None:
        self._keep(table, self._session.sql(query))

    def put(self, table: str, rows: pa.Table) -> None:
        self._keep(table, self._session.createDataFrame(rows).distinct())

    def _keep(self, table: str, frame: Any) -> None:
        # Evaluated now: a loop would else evaluate all that came before, again and again.
        frame = frame.localCheckpoint(eager=True)
        frame.createOrReplaceTempView(table.strip("`"))
        self._made[table] = frame

    def rows(self, query: str) -> pa.Table:
        return self._session.sql(query).toArrow()

    def columns(self, table: str) -> list[str] | None:
        name = table.strip("`")
        return (
            self._session.table(name).columns if self._session.catalog.tableExists(name) else None
        )

    def close(self) -> None:
        for table in self._made:
            self._session.catalog.dropTempView(table.strip("`"))
        self._made.clear()


@contextmanager
def opened(connection: Any) -> Generator[Connection]:
    """A user's connection, left as it was found. Raises OptionError (E171) for anything that is
    none, ValueRangeError (E220) where a value leaves its type.
    """
    kind = type(connection).__module__.partition(".")[0]
    if kind in ("duckdb", "_duckdb"):
        made: Connection = OfDuckDB(connection)
    elif kind == "pyspark":
        made = OfSpark(connection)
    else:
        hint = "pass duckdb.connect(), or a SparkSession"
        raise OptionError(f"{connection!r} is no connection to a database", hint=hint)
    try:
        with _failures():
            yield made
    finally:
        made.close()


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


def table_of(rows: Sequence[tuple[Any, ...]], schema: RelationSchema) -> pa.Table:
    """Tuples as a table."""
    columns = list(zip(*rows, strict=True)) or [()] * schema.arity
    arrays = [
        pa.array(values, type=type.arrow)
        for values, (_, type) in zip(columns, schema.columns, strict=True)
    ]
    return pa.table(arrays, names=[name for name, _ in schema.columns])
