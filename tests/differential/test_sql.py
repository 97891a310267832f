"""Random programs and histories: DuckDB beside the engine and the reference."""

from __future__ import annotations

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.proofs.program import FunctionConflict, evaluate
from lftj.proofs.terms import ArithmeticFailure, Value
from lftj.syntax import tree
from tests.strategies.histories import CHANGEABLE, Change, changes
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import BASES, Row, databases

_EXAMPLES = settings.default.max_examples if settings.default else 50
_REFUSED = (lftj.ValueRangeError, lftj.KeyViolationError)


def _rounded(row: tuple[Value, ...]) -> tuple[Value, ...]:
    """Databases round sums of floats otherwise."""
    return tuple(round(value, 9) if isinstance(value, float) else value for value in row)


@settings(max_examples=max(10, _EXAMPLES // 2))
@given(programs(), databases())
def test_differential_duckdb_and_the_reference(
    program: Program, database: dict[str, list[Row]]
) -> None:
    text = tree.ParsedProgram((*program.declarations, *program.rules))
    facts = {spec.name: database.get(spec.name, []) for spec in BASES}
    try:
        expected = evaluate(text, facts)
    except (ArithmeticFailure, FunctionConflict):
        expected = None
    with duckdb.connect() as connection:
        try:
            found = lftj.sql.run(connection, text, facts)
        except _REFUSED:
            # A database may fail at rows that another condition refuses: the page says so.
            return
    assert expected is not None, "the database does not see a failure"
    for name, rows in expected.items():
        table = found[name]
        if table.num_columns:
            theirs = {_rounded(tuple(row.values())) for row in table.to_pylist()}
            assert theirs == set(map(_rounded, rows)), name


@settings(max_examples=10_000 if _EXAMPLES >= 1000 else max(5, _EXAMPLES // 10))
@given(
    programs(max_levels=2),
    st.lists(
        changes(CHANGEABLE).filter(lambda each: each.verb != "upsert"), min_size=2, max_size=4
    ),
)
def test_differential_histories_by_duckdb(program: Program, steps: list[Change]) -> None:
    text = tree.ParsedProgram((*program.declarations, *program.rules))
    history = [{each.verb: {each.relation: each.rows}} for each in steps]
    found = lftj.compare(text, history, by=("triejoin", "sql-duckdb"))
    assert found is None or found.relation is None, str(found)
