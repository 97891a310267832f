"""Queries of one table: totals, filters, groups, patterns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bench.analytics.shape import FACTS, Shape

FEW = 10_000  # groups
_FACT = ".decl fact(n: number, few: number, many: number, i: number, f: float)"
_GROUPS = ".decl found(g: number, total: {})"
_TEXT = ".decl text(n: number, t: symbol)\n.decl found(n: number)"
_LEAST = ".decl found(g: number, least: number, most: number)"


def _facts(rows: int) -> pa.Table:
    by = np.random.default_rng(1)
    few, many = min(FEW, rows // 5), rows // 5
    columns = {
        "n": by.permutation(rows),
        "few": by.integers(0, few, rows),
        "many": by.integers(0, many, rows),
        "i": by.integers(-1000, 1000, rows),
        "f": np.round(by.random(rows) * 1000, 2),
    }
    return pa.table(columns)


def _texts(rows: int) -> pa.Table:
    numbers = np.random.default_rng(2).permutation(rows)
    texts = [f"user{number * 7919 % 10**9}@host{number % 97}.example.org" for number in numbers]
    return pa.table({"n": np.arange(rows), "t": texts})


def _grouped(name: str, tables: dict[str, pa.Table], group: str, value: str) -> Shape:
    """A sum of `value` for each `group`."""
    atom = f"fact(_, {'g, _' if group == 'few' else '_, g'}, {'v, _' if value == 'i' else '_, v'})"
    return Shape(
        name,
        tables,
        f"{_FACT}\n{_GROUPS.format('float' if value == 'f' else 'number')}",
        f"found(g, sum(v)) :- {atom}.",
        f"select {group}, sum({value}) from fact group by {group}",
    )


def shapes(size: str) -> Iterator[Shape]:
    """Sums, counts, groups, distinct values, extremes and a pattern."""
    return of_rows(FACTS[size])


def of_rows(rows: int) -> Iterator[Shape]:
    """The same over tables of so many rows."""
    tables = {"fact": _facts(rows)}
    one = f"{_FACT}\n.decl found(n: number)"
    yield Shape(
        "sum", tables, one, "found(sum(v)) :- fact(_, _, _, v, _).", "select sum(i) from fact"
    )
    yield Shape(
        "filtered count",
        tables,
        one,
        "found(count()) :- fact(_, _, _, v, _), v < -800.",
        "select count(*) from fact where i < -800",
    )
    yield _grouped("float sum, few groups", tables, "few", "f")
    yield _grouped("float sum, many groups", tables, "many", "f")
    yield _grouped("integer sum, few groups", tables, "few", "i")
    yield _grouped("integer sum, many groups", tables, "many", "i")
    yield Shape(
        "distinct", tables, one, "found(g) :- fact(_, g, _, _, _).", "select distinct few from fact"
    )
    yield Shape(
        "least and greatest",
        tables,
        f"{_FACT}\n{_LEAST}",
        "found(g, min(v), max(v)) :- fact(_, g, _, v, _).",
        "select few, min(i), max(i) from fact group by few",
    )
    yield Shape(
        "match",
        {"text": _texts(rows // 5)},
        _TEXT,
        'found(n) :- text(n, t), match(".*host7[0-9][.]example.*", t).',
        "select n from text where regexp_full_match(t, '.*host7[0-9][.]example.*')",
    )
