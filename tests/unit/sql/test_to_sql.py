"""Rules as SQL: the text, names, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import lftj

PATHS = """
.decl edge(x: number, y: number)
.decl reach(x: number, y: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
"""


def test_a_linear_rule_set_is_one_recursive_view() -> None:
    text = str(lftj.to_sql(PATHS))
    assert "WITH RECURSIVE reach(x, y) AS (" in text
    assert "CREATE TABLE IF NOT EXISTS edge (x BIGINT NOT NULL, y BIGINT NOT NULL);" in text


@pytest.mark.parametrize(
    "rule", ["reach(x, z) :- reach(x, y), reach(y, z).", "reach(y, x) :- reach(x, y), edge(_, y)."]
)
def test_other_recursion_is_a_comment_with_the_queries_to_repeat(rule: str) -> None:
    text = str(lftj.to_sql(PATHS + rule))
    assert "WITH RECURSIVE" not in text
    assert "reach_delta" in text


def test_spark_gets_its_own_types_and_quotation_marks() -> None:
    text = str(lftj.to_sql(".decl Order(from: symbol, since: timestamp)", "spark"))
    assert "CREATE TABLE IF NOT EXISTS `Order` (`from` STRING NOT NULL, since TIMESTAMP_NTZ" in text


def test_names_that_differ_in_case_alone_get_a_number() -> None:
    text = str(lftj.to_sql(".decl e(X: number, x: number) .decl E(x: number) E(x) :- e(x, _)."))
    assert 'CREATE VIEW "E_2"(x) AS' in text
    assert '"X" BIGINT NOT NULL, x_2 BIGINT NOT NULL' in text


def test_hostile_names_and_strings_stay_names_and_strings() -> None:
    found = lftj.evaluate(
        """.decl t(s: symbol) .decl v(s: symbol) v("'); DROP TABLE t; --") :- t(_).""",
        {"t": [("'; DROP SCHEMA main; --",)]},
        by="sql-duckdb",
    )
    assert found["t"].fetchall() == [("'; DROP SCHEMA main; --",)]
    assert found["v"].fetchall() == [("'); DROP TABLE t; --",)]


@pytest.mark.parametrize(
    ("program", "named"),
    [
        (
            ".decl e(x: number, y: number) choice-domain x, y .decl v(x: number) v(x) :- e(x, _).",
            "several choice domains of `e`",
        ),
        (
            ".decl e(x: number, y: number) .decl v(x: number) "
            "v(x) :- e(x, y), choice((x), (y)), choice((y), (x)).",
            "several choices in one rule",
        ),
        (
            ".decl e(x: number, y: number) .decl v(x: number) v(x ^ y) :- e(x, y).",
            "an integer to a power",
        ),
        (
            ".decl e(x: float) .decl v(x: float) v(y) :- e(x), y = range(x, 2.0).",
            "`float_range`",
        ),
    ],
)
def test_what_has_no_sql_is_refused_by_name(program: str, named: str) -> None:
    with pytest.raises(lftj.SqlError, match=named) as refused:
        lftj.to_sql(program)
    assert refused.value.code == "E370"


STRINGS = """
.decl word(s: symbol)
.decl edge(x: symbol, y: symbol)
.decl made(s: symbol)
.decl path(x: symbol, y: symbol, p: symbol)
"""


@pytest.mark.parametrize(
    "rule",
    [
        "made(cat(a, b)) :- made(a), word(b).",
        'made(c) :- made(a), word(b), c = a + "!" + b.',
        "path(x, z, cat(p, z)) :- path(x, y, p), edge(y, z).",
        'path(x, x, s) :- made(s), word(x). made(cat(p, "!")) :- path(_, _, p).',
    ],
)
def test_strings_that_grow_for_ever_are_refused(rule: str) -> None:
    with pytest.raises(lftj.SqlError, match="longer without a bound"):
        lftj.to_sql(STRINGS + rule)


@pytest.mark.parametrize(
    "rule",
    [
        "made(cat(a, b)) :- made(a), word(b), strlen(a) < 3.",
        "made(cat(a, b)) :- made(a), word(b), !( strlen(cat(a, b)) > 3 ).",
        "made(cat(a, b)) :- made(a), word(b), word(cat(a, b)).",
        "made(substr(cat(a, b), 0, 3)) :- made(a), word(b).",
        "path(x, z, cat(x, z)) :- path(x, y, _), edge(y, z).",
        "path(x, z, cat(p, z)) :- path(x, y, p), edge(y, z), !contains(z, p).",
        "made(b) :- made(a), word(b), b = cat(b, a).",
    ],
)
def test_strings_with_a_bound_are_not(rule: str) -> None:
    assert "concat(" in str(lftj.to_sql(STRINGS + rule))


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(lftj.LftjError, match="duckdb"):
        lftj.to_sql(PATHS, "oracle")


def test_the_command_prints_the_script(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PATHS)
    run = [sys.executable, "-m", "lftj", "sql"]
    done = subprocess.run([*run, "p.dl"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == str(lftj.to_sql(PATHS))
    bad = subprocess.run(
        [*run, "--dialect", "x", "p.dl"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert bad.returncode == 1
    assert "use 'duckdb' or 'spark'" in bad.stderr
