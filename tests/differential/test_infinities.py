"""Infinite values, both zeros and NaN in columns of floats: what rules derive from them is what the
reference derives, whatever they were loaded from, over parts too, in either order of loading.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.syntax.parser import parse
from tests.distributed.inline import InlineExecutor
from tests.reference import evaluate

INF = math.inf
VALUES = (-INF, -1e308, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.5, 1e308, INF)
BASES = ".decl e(n: number, x: float)\n.decl f(x: float, y: float)\n"
DECLARED = """
.decl less(n: number, x: float, y: float)
.decl most(n: number, x: float)
.decl alike(n: number, m: number)
.decl unlike(n: number, m: number)
.decl joined(n: number, y: float)
.decl same(x: float)
.decl missing(n: number, x: float)
.decl signs(n: number, s: number)
.decl half(n: number, h: float)
.decl by_value(x: float, k: number, n: number)
.decl ends(low: float, high: float)
.decl ends_of(n: number, low: float, high: float)
.decl reach(x: float, y: float)
.decl best(x: float, y: float)
"""
RULES = """
less(n, x, y) :- e(n, x), f(y, _), x < y.
most(n, x) :- e(n, x), x <= 1.5, x != 0.0.
most(n, x) :- e(n, x), x >= 1e308.
alike(n, m) :- e(n, x), e(m, y), x = y, n != m.
unlike(n, m) :- e(n, x), e(m, y), x != y.
joined(n, y) :- e(n, x), f(x, y).
same(x) :- f(x, x).
missing(n, x) :- e(n, x), !f(x, _).
signs(n, 1) :- e(n, x), x > 0.0.
signs(n, 0) :- e(n, -0.0).
signs(n, -1) :- e(n, x), x < -0.0.
half(n, h) :- e(n, x), x > -2.0, x < 1e300, h = x / 2.0, h <= x.
by_value(x, count(), sum(n)) :- e(n, x).
ends(min(x), max(x)) :- e(_, x).
ends_of(n, min(x), max(y)) :- e(n, x), f(x, y).
reach(x, y) :- f(x, y).
reach(x, z) :- reach(x, y), f(y, z).
best(x, min(y)) :- f(x, y).
best(y, min(least)) :- f(x, y), best(x, least).
"""
VIEWS = tuple(line.split("(")[0].removeprefix(".decl ") for line in DECLARED.strip().splitlines())
FLOATS = st.sampled_from(VALUES)
E = st.sets(st.tuples(st.integers(0, 4), FLOATS), max_size=14)
F = st.sets(st.tuples(FLOATS, FLOATS), max_size=14)
Rows = dict[str, set[tuple[Any, ...]]]


def table(name: str, rows: list[tuple[Any, ...]]) -> pa.Table:
    fields = {"e": [("n", pa.int64()), ("x", pa.float64())], "f": [(c, pa.float64()) for c in "xy"]}
    columns = list(zip(*rows, strict=True)) or [(), ()]
    schema = pa.schema(fields[name])
    return pa.table([list(column) for column in columns], schema=schema)


def as_parquet(folder: Path, name: str, rows: list[tuple[Any, ...]]) -> Any:
    pa.parquet.write_table(table(name, rows), folder / f"{name}.parquet", row_group_size=3)
    return folder / f"{name}.parquet"


def as_facts(folder: Path, name: str, rows: list[tuple[Any, ...]]) -> Any:
    (folder / f"{name}.facts").write_text("".join(f"{x}\t{y}\n" for x, y in rows))
    return folder / f"{name}.facts"


def as_csv(folder: Path, name: str, rows: list[tuple[Any, ...]]) -> Any:
    names = ",".join(table(name, []).column_names)
    lines = [names, *(f"{x},{y}" for x, y in rows)]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder / f"{name}.csv"


SOURCES: dict[str, Callable[[Path, str, list[tuple[Any, ...]]], Any]] = {
    "rows": lambda folder, name, rows: rows,
    "arrow": lambda folder, name, rows: table(name, rows),
    "parquet": as_parquet,
    "facts": as_facts,
    "csv": as_csv,
}


def derived(rows: Rows) -> Rows:
    """The reference's views."""
    return evaluate(parse(BASES + DECLARED + RULES).clauses, rows)


def require_equal(workspace: Any, rows: Rows) -> None:
    expected = derived(rows)
    for name in VIEWS:
        found = workspace[name].fetchall()
        assert len(found) == len(set(found)), name
        assert set(found) == expected[name], name


@settings(max_examples=8)
@given(E, F, st.sampled_from(sorted(SOURCES)), st.data())
@pytest.mark.parametrize("parts", [0, 3])
def test_oracle_floats_beyond_numbers(
    tmp_path_factory: pytest.TempPathFactory, parts: int, e: Any, f: Any, source: str, data: Any
) -> None:
    folder = tmp_path_factory.mktemp("floats")
    executor = InlineExecutor(folder / "path", parts) if parts else None
    rules_first = data.draw(st.booleans())
    rows = {"e": sorted(e), "f": sorted(f)}
    with lftj.connect(executor=executor) as workspace:
        workspace.add_rules(BASES)
        steps = [lambda: workspace.add_rules(DECLARED + RULES)]
        for name in data.draw(st.permutations(["e", "f"])):
            for part in range(2):
                given_rows = rows[name][part::2][:: data.draw(st.sampled_from([1, -1]))]
                steps.append(
                    lambda name=name, given_rows=given_rows: workspace.load(
                        name, SOURCES[source](folder, name, given_rows)
                    )
                )
        for step in steps if rules_first else [*steps[1:], steps[0]]:
            step()
        require_equal(workspace, {"e": e, "f": f})
        gone = {row for row in f if data.draw(st.booleans())}
        with workspace.transaction() as tx:
            tx.delete("f", sorted(gone))
        require_equal(workspace, {"e": e, "f": f - gone})


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("parts", [0, 3])
def test_nan_is_no_value_wherever_it_comes_from(tmp_path: Path, parts: int, source: str) -> None:
    rows = [(1, 1.5), (2, math.nan), (3, INF)]
    executor = InlineExecutor(tmp_path / "path", parts) if parts else None
    with lftj.connect(executor=executor) as workspace:
        workspace.add_rules(BASES)
        with pytest.raises(lftj.LftjError) as caught:
            workspace.load("e", SOURCES[source](tmp_path, "e", rows))
        assert caught.value.code == "E201"
        assert workspace["e"].fetchall() == []
        assert workspace.query("e(n, _)").fetchall() == []
