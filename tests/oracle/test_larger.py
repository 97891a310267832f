"""Relations of many pages, where every page is cut, filled and emptied: the engine against DuckDB
after every batch.

Random programs live on a handful of rows; what goes wrong at the edges of pages only shows on
thousands.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import lftj
from lftj.syntax.parser import parse
from tests.reference.sql import query

ROWS, DOMAIN, BATCHES = 4000, 300, 5

TYPES = {"e": ("int", "int"), "f": ("int", "int"), "n": ("int",), "s": ("str", "int")}

RULES = {
    "triangle": "triangle(x, y, z) :- e(x, y), e(y, z), e(x, z), x < y.",
    "two_steps": "two_steps(x, z) :- e(x, y), f(y, z), !e(x, z).",
    "loops": "loops(x, y) :- e(x, x), f(y, x), x != y.",
    "from_seven": "from_seven(y, z) :- e(7, y), f(y, z).",
    "named": "named(s, y) :- s(s, x), e(x, y), n(y).",
    "out": "out(x, count(), sum(y), min(y), max(z)) :- e(x, y), f(y, z).",
    "lonely": "lonely(x) :- n(x), !e(x, _), !(f(x, y), n(y)).",
    "computed": "computed(z) :- e(x, y), z = x * 1000 + y, z % 7 = 3.",
    "fans": "fans(x, k) :- n(x), k = count : { e(x, i), f(i, _) }.",
}
DECLARED = {
    "triangle": "x: int, y: int, z: int",
    "two_steps": "x: int, z: int",
    "loops": "x: int, y: int",
    "from_seven": "y: int, z: int",
    "named": "s: str, y: int",
    "out": "x: int, n: int, total: int, least: int, most: int",
    "lonely": "x: int",
    "computed": "z: int",
    "fans": "x: int, k: int",
}
CLOSURE = (
    ".decl closure(x: int, y: int) closure(x, y) :- e(x, y), x < y. closure(x, z) :- "
    "closure(x, y), e(y, z), y < z, z < 120."
)
CLOSURE_SQL = """
    WITH RECURSIVE c(x, y) AS (
        SELECT c0, c1 FROM e WHERE c0 < c1
        UNION SELECT c.x, e.c1 FROM c JOIN e ON c.y = e.c0 WHERE c.y < e.c1 AND e.c1 < 120
    ) SELECT x, y FROM c
"""


def rows_of(name: str, by: random.Random) -> tuple[Any, ...]:
    """A random row; pairs are skewed, so that some keys are heavy."""
    skewed = min(by.randrange(DOMAIN), by.randrange(DOMAIN), by.randrange(DOMAIN))
    return {"n": (skewed,), "s": (f"s{skewed % 50}", by.randrange(DOMAIN))}.get(
        name, (skewed, by.randrange(DOMAIN))
    )


def batches(by: random.Random) -> Iterator[tuple[dict[str, set], dict[str, set]]]:
    """Insertions and deletions: much comes, about half of it goes, and more comes again."""
    held: dict[str, set] = {name: set() for name in TYPES}
    for batch in range(BATCHES):
        new = {
            name: {rows_of(name, by) for _ in range(ROWS // 3 if batch % 2 else ROWS)}
            for name in TYPES
        }
        gone = {
            name: {row for row in sorted(held[name]) if by.random() < (0.6 if batch % 2 else 0.05)}
            for name in TYPES
        }
        for name in TYPES:
            held[name] = (held[name] - gone[name]) | new[name]
        yield new, gone


def commit(
    workspace: Any, base: duckdb.DuckDBPyConnection, new: dict[str, set], gone: dict[str, set]
) -> Any:
    """One batch on both; deletions first."""
    with workspace.transaction() as transaction:
        for name in TYPES:
            transaction.delete(name, sorted(gone[name]))
            transaction.insert(name, sorted(new[name]))
    for name, types in TYPES.items():
        held = set(base.execute(f"SELECT * FROM {name}").fetchall())
        base.execute(f"DELETE FROM {name}")
        columns = [
            list(column) for column in zip(*sorted((held - gone[name]) | new[name]), strict=True)
        ]
        base.execute(f"INSERT INTO {name} SELECT {', '.join(['unnest(?)'] * len(types))}", columns)
    return transaction


SQL_TYPES = {"int": "BIGINT", "str": "VARCHAR"}


@pytest.mark.parametrize("seed", [1, 2])
def test_oracle_many_pages(seed: int):
    workspace, base = lftj.connect(), duckdb.connect()
    for name, types in TYPES.items():
        workspace.relation(name, {f"c{place}": type_ for place, type_ in enumerate(types)})
        base.execute(
            f"CREATE TABLE {name} "
            f"({', '.join(f'c{p} {SQL_TYPES[t]}' for p, t in enumerate(types))})"
        )
    workspace.add_rules(
        "\n".join(f".decl {name}({DECLARED[name]}) {rule}" for name, rule in RULES.items())
        + CLOSURE
    )
    questions = {name: query(parse(rule).clauses[0]) for name, rule in RULES.items()} | {
        "closure": CLOSURE_SQL
    }  # type: ignore[arg-type]
    before: dict[str, set] = {name: set() for name in questions}
    for new, gone in batches(random.Random(seed)):
        transaction = commit(workspace, base, new, gone)
        for name, question in questions.items():
            expected = set(base.execute(question).fetchall())
            assert set(workspace[name].fetchall()) == expected, name
            change = {(tuple(row[:-2]), row[-2]) for row in transaction.changes(name).fetchall()}
            assert change == {(row, 1) for row in expected - before[name]} | {
                (row, -1) for row in before[name] - expected
            }, name
            before[name] = expected
