"""Rules as SQL on Spark: the rows of the engine, and a session that is left as it was found."""

from __future__ import annotations

from typing import Any

import pytest

import lftj

PROGRAM = """
.decl e(x: number, y: number)
.decl sink(x: number)
sink(x) :- e(_, x), !( e(x, y), !( e(y, x) ) ).
.decl sums(x: number, n: number)
sums(x, n) :- e(x, _), m = count : { e(x, _) }, n = sum y : { e(x, y), y > m }.
.decl counted(n: number)
counted(count()) :- e(x, y), (e(y, z), !e(x, z) ; z = x + 1).
.decl near(x: number, m: number)
near(x, m) :- e(x, _), m = max y : { e(x, y) ; e(y, x) }.
"""
FACTS = {"e": [(1, 2), (2, 3), (3, 2), (3, 4), (1, 4)]}


def test_spark_finds_the_rows_of_the_engine(spark: Any) -> None:
    before = {each.name for each in spark.catalog.listTables()}
    kept = set(spark.sparkContext._jsc.getPersistentRDDs())
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        found = lftj.sql.run(spark, PROGRAM, FACTS)
        for name, rows in lftj.evaluate(PROGRAM, FACTS).items():
            theirs = zip(*found[name].to_pydict().values(), strict=True)
            assert sorted(theirs) == sorted(rows.fetchall()), name
        overflow = ".decl e(x: number, y: number) .decl v(x: number) v(x * 4611686018427387904) :- "
        with pytest.raises(lftj.ValueRangeError):
            lftj.sql.run(spark, overflow + "e(x, _).", FACTS)
        assert spark.conf.get("spark.sql.ansi.enabled") == "false"
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    assert {each.name for each in spark.catalog.listTables()} == before
    assert set(spark.sparkContext._jsc.getPersistentRDDs()) <= kept


def test_a_table_of_the_users_is_read(spark: Any) -> None:
    spark.sql("SELECT 1L AS x, 2L AS Y").createOrReplaceTempView("e")
    try:
        found = lftj.sql.run(spark, ".decl e(x: number, y: number)")
        assert found["e"].to_pylist() == [{"x": 1, "y": 2}]
    finally:
        spark.catalog.dropTempView("e")


def test_a_body_that_looks_two_levels_out_is_refused_by_name() -> None:
    rule = "v(x) :- e(x, _), !( e(y, _), !( e(y, x) ) )."
    program = f".decl e(x: number, y: number) .decl v(x: number) {rule}"
    assert "NOT EXISTS" in str(lftj.to_sql(program))
    with pytest.raises(lftj.SqlError, match="two levels further out"):
        lftj.to_sql(program, "spark")
