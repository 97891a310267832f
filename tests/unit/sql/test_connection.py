"""A user's connection: what is read from it, and that it is left as it was found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import lftj

CLOSURE = """
.decl e(x: number, y: number)
.decl t(x: number, y: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), t(y, z).
"""
DIVISION = ".decl e(x: number, y: number) .decl v(x: number) v(x / (y - 2)) :- e(x, y)."
EDGES = "CREATE TABLE e AS SELECT * FROM (VALUES (1, 2), (1, 2), (2, 3)) v(x, y)"


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute(EDGES)
        yield made


def everything(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    """All that a user could find changed."""
    return [
        connection.execute(query).fetchall()
        for query in (
            "SELECT database_name FROM duckdb_databases() ORDER BY ALL",
            "SELECT database_name, schema_name FROM duckdb_schemas() ORDER BY ALL",
            "SELECT table_name, estimated_size FROM duckdb_tables() ORDER BY ALL",
            "SELECT view_name FROM duckdb_views() ORDER BY ALL",
            "SELECT name, value FROM duckdb_settings() ORDER BY ALL",
            "SELECT current_database(), current_schema()",
            "FROM e ORDER BY ALL",
        )
    ]


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*table.to_pydict().values(), strict=True))


def test_tables_and_settings_are_left_as_they_were(connection: duckdb.DuckDBPyConnection) -> None:
    before = everything(connection)
    assert rows(lftj.sql.run(connection, CLOSURE)["t"]) == [(1, 2), (1, 3), (2, 3)]
    assert everything(connection) == before
    with pytest.raises(lftj.ValueRangeError, match="division by zero"):
        lftj.sql.run(connection, DIVISION)
    assert everything(connection) == before


@pytest.mark.parametrize("off", ["", "top_n", "common_subplan", "top_n,common_subplan"])
def test_optimizers_that_were_off_stay_off_and_the_others_on(off: str) -> None:
    setting = "SELECT current_setting('disabled_optimizers')"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE e (x BIGINT NOT NULL, y BIGINT NOT NULL)")
        connection.execute(f"SET GLOBAL disabled_optimizers = '{off}'")
        lftj.sql.run(connection, CLOSURE)
        assert connection.sql(setting).fetchall() == [(off,)]


def test_a_table_without_a_column_is_an_error(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("ALTER TABLE e RENAME y TO other")
    before = everything(connection)
    with pytest.raises(lftj.UnknownNameError, match="no column `y`"):
        lftj.sql.run(connection, CLOSURE)
    assert everything(connection) == before


def test_an_open_transaction_is_read_and_stays_open(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("BEGIN")
    connection.execute("INSERT INTO e VALUES (3, 4)")
    connection.execute("CREATE TEMP TABLE f AS SELECT 'a' AS x")
    assert (1, 4) in rows(lftj.sql.run(connection, CLOSURE)["t"])
    for program, error in (
        (DIVISION, lftj.ValueRangeError),
        (".decl f(x: number) .decl v(x: number) v(x) :- f(x).", lftj.ValueTypeError),
        (".decl e(z: number) .decl v(x: number) v(x) :- e(x).", lftj.UnknownNameError),
    ):
        with pytest.raises(error):
            lftj.sql.run(connection, program)
    assert connection.execute("SELECT count(*) FROM e").fetchall() == [(4,)]
    connection.execute("ROLLBACK")
    assert connection.execute("SELECT count(*) FROM e").fetchall() == [(3,)]


def test_a_database_that_is_only_read_serves(tmp_path: Path) -> None:
    file = tmp_path / "edges.duckdb"
    with duckdb.connect(file) as made:
        made.execute(EDGES)
    with duckdb.connect(file, read_only=True) as connection:
        assert len(rows(lftj.sql.run(connection, CLOSURE)["t"])) == 3


def test_settings_of_the_user_do_not_change_what_rules_mean() -> None:
    program = """
        .decl w(s: symbol, n: number)
        .decl same(s: symbol, t: symbol)
        same(s, t) :- w(s, n), w(t, n), s != t.
        .decl all(t: symbol)
        all(concat(s, ",", n)) :- w(s, n).
        .decl one(n: number, s: symbol) choice-domain n
        one(n % 2, s) :- w(s, n).
    """
    facts = {"w": [("a", 1), ("A", 1), ("b", 2)]}
    with duckdb.connect() as connection:
        connection.execute("SET default_collation = 'nocase'")
        connection.execute("SET default_order = 'desc'")
        connection.execute("SET integer_division = false")
        found = lftj.sql.run(connection, program, facts)
    for name, expected in lftj.evaluate(program, facts).items():
        assert rows(found[name]) == sorted(expected.fetchall()), name


def test_python_variables_are_no_tables() -> None:
    program = ".decl table(x: number) .decl v(x: number) v(x) :- table(x)."
    table = pa.table({"x": [1]})
    with duckdb.connect() as connection:
        assert lftj.sql.run(connection, program)["v"].num_rows == 0 < table.num_rows


def test_views_and_registered_tables_are_read(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE VIEW more AS FROM e")
    connection.register("other", pa.table({"X": [7], "y": [8]}))
    program = """
        .decl more(x: number, y: number)
        .decl other(x: number, y: number)
        .decl v(x: number, y: number)
        v(x, y) :- (more(x, y) ; other(x, y)).
    """
    assert rows(lftj.sql.run(connection, program)["v"]) == [(1, 2), (2, 3), (7, 8)]


def test_a_closed_connection_is_an_error() -> None:
    connection = duckdb.connect()
    connection.close()
    with pytest.raises(lftj.SqlError, match="closed"):
        lftj.sql.run(connection, CLOSURE)


def test_null_in_a_users_table_is_an_error(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("INSERT INTO e VALUES (1, NULL)")
    with pytest.raises(lftj.NullValueError, match='column "y"'):
        lftj.sql.run(connection, CLOSURE)


def test_facts_may_be_arrow_tables(connection: duckdb.DuckDBPyConnection) -> None:
    edges = pa.table({"x": [1, 2], "y": [2, 7]})
    found = lftj.sql.run(connection, CLOSURE, {"e": edges})
    assert rows(found["t"]) == [(1, 2), (1, 7), (2, 7)]


def test_facts_have_the_columns_of_their_relation() -> None:
    with duckdb.connect() as connection:
        swapped = pa.table({"y": [2, 7], "x": [1, 2]})
        found = lftj.sql.run(connection, CLOSURE, {"e": swapped})
        assert rows(found["t"]) == [(1, 2), (1, 7), (2, 7)]
        for facts, error in (
            ([(1,)], lftj.ArityError),
            ([("a", 1)], lftj.ValueTypeError),
            ([(1.5, 1)], lftj.ValueTypeError),
            ([(2**70, 1)], lftj.ValueRangeError),
            (pa.table({"x": [3]}), lftj.FrameError),
            (5, lftj.FrameError),
        ):
            with pytest.raises(error):
                lftj.sql.run(connection, CLOSURE, {"e": facts})


def test_a_fraction_in_a_users_table_is_no_integer(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE d AS SELECT 1.5::DOUBLE AS x")
    with pytest.raises(lftj.ValueTypeError, match='column "x"'):
        lftj.sql.run(connection, ".decl d(x: number) .decl v(x: number) v(x) :- d(x).")


def test_what_is_no_connection_is_refused() -> None:
    with pytest.raises(lftj.OptionError, match="no connection"):
        lftj.sql.run(object(), CLOSURE)
