"""Every functor at its edges by all evaluators: the kernel row by row, whole columns, constants,
substitution, proofs and SQL have the same value, or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest

import lftj
from lftj.join.access import computed_columns
from lftj.maintenance.rules import functor_rows
from lftj.syntax import tree
from tests.differential.functor_cases import CASES, FAILS, Apart, Case

Row = tuple[Any, ...]
Rows = list[Row]


def _row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computed_columns, "by_columns", lambda words: False)
    monkeypatch.setattr(functor_rows, "_by_columns", lambda *given: None)


EVALUATORS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "columns": ("triejoin", lambda monkeypatch: None),
    "rows": ("triejoin", _row_by_row),
    "substitution": ("substitution", lambda monkeypatch: None),
    "sql": ("sql-duckdb", lambda monkeypatch: None),
}


def _declared(case: Case) -> str:
    columns = ", ".join(f"{name}: {kind}" for name, kind in zip("abc", case.types, strict=False))
    result = case.result or "number"
    return (
        f".decl f(k: number, {columns}, z: {result})\n.decl v(k: number, z: {result})\n"
        f".decl w(k: number)\n"
    )


def _rules(case: Case) -> tuple[str, str]:
    """The expression as a value, and compared with what it should be."""
    atom = f"f(k, {', '.join('abc'[: len(case.types)])}, z)"
    if case.result is None:
        return (
            f"v(k, 1) :- {atom}, {case.expression}.",
            f"w(k) :- {atom}, {case.expression}, z = 1.",
        )
    if case.expression.startswith("range"):
        value = f"v(k, y) :- {atom}, y = {case.expression}."
        return value, f"w(k) :- {atom}, y = {case.expression}, y = z."
    return f"v(k, {case.expression}) :- {atom}.", f"w(k) :- {atom}, {case.expression} = z."


@cache
def _some(kind: str | None) -> Any:
    """Any value of a type."""
    text = {"symbol": '"x"', "date": 'date("2013-01-01")', "float": "0.5", "bool": "true",
        "timestamp": 'timestamp("2013-01-01 00:00:00")'}  # fmt: skip
    found = lftj.evaluate(f".decl s(z: {kind or 'number'})\ns({text.get(kind or '', '1')}).")
    return found["s"].fetchall()[0][0]


def _values(case: Case, expected: Any) -> list[Any]:
    if case.result is None:
        return [1] * expected
    return expected if isinstance(expected, list) else [expected]


def _good(case: Case, sql: bool) -> Iterator[tuple[Row, list[Any]]]:
    """The arguments that have values, and these."""
    for args, expected in case.rows.items():
        apart = isinstance(expected, Apart)
        plain = expected.expected if apart else expected
        if plain is not FAILS and not (apart and sql):
            yield args, _values(case, plain)


def _bad(case: Case, sql: bool) -> Iterator[Row]:
    for args, expected in case.rows.items():
        apart = isinstance(expected, Apart)
        if (expected.expected if apart else expected) is FAILS and not (apart and sql):
            yield args


def _alike(found: Sequence[Row], expected: Sequence[Row]) -> bool:
    """Equality, also of classes and of the scales of decimals."""
    return sorted(map(repr, found)) == sorted(map(repr, expected))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_values_at_the_edges(monkeypatch: pytest.MonkeyPatch, evaluator: str, case: Case) -> None:
    by, prepare = EVALUATORS[evaluator]
    prepare(monkeypatch)
    value, compared = _rules(case)
    program = f"{_declared(case)}{value}\n{compared}"
    sql = evaluator == "sql"
    good, some = list(_good(case, sql)), _some(case.result)
    facts = [(k, *args, (values or [some])[-1]) for k, (args, values) in enumerate(good)]
    if sql and not case.sql:
        with pytest.raises(lftj.SqlError):
            lftj.evaluate(program, {"f": facts}, by=by)
        return
    found = lftj.evaluate(program, {"f": facts}, by=by)
    expected = [(k, each) for k, (_, values) in enumerate(good) for each in values]
    assert _alike(found["v"].fetchall(), expected)
    assert found["w"].fetchall() == [(k,) for k, (_, values) in enumerate(good) if values]
    for args in _bad(case, sql):
        for rule in (value, compared):
            with pytest.raises(lftj.LftjError):
                lftj.evaluate(f"{_declared(case)}{rule}", {"f": [(0, *args, some)]}, by=by)


def _written(case: Case, k: int, args: Row) -> str | None:
    """The rule with constants in place of the variables, whose rows begin with `k`; None where a
    constant has no text.
    """
    texts = [
        f"{arg}u" if kind == "unsigned" else str(tree.Constant(arg))
        for arg, kind in zip(args, case.types, strict=True)
    ]
    if any("inf" in text for text in texts):
        return None
    named = {name: f"({text})" for name, text in zip("abc", texts, strict=False)}
    pieces = re.findall(r'"[^"]*"|\w+|\W', case.expression)
    expression = "".join(named.get(piece, piece) for piece in pieces)
    if case.result is None:
        return f"v({k}, z) :- u(z), {expression}."
    if case.expression.startswith("range"):
        return f"v({k}, y) :- y = {expression}."
    return f"v({k}, {expression}) :- u(_)."


@pytest.mark.parametrize("case", CASES, ids=str)
def test_constants_at_the_edges(case: Case) -> None:
    """Values found when a rule is read are those found of rows."""
    declared = f".decl v(k: number, z: {case.result or 'number'})\n.decl u(z: number)\nu(1).\n"
    good = [
        (_written(case, k, args), k, values) for k, (args, values) in enumerate(_good(case, False))
    ]
    program = declared + "\n".join(rule for rule, *_ in good if rule is not None)
    expected = [(k, each) for rule, k, values in good if rule is not None for each in values]
    for by in ("triejoin", "substitution"):
        found = lftj.evaluate(program, by=by)["v"].fetchall()
        assert _alike(found, expected), (program, by)
    for args in _bad(case, sql=False):
        rule = _written(case, 0, args)
        if rule is not None:
            with pytest.raises(lftj.LftjError):
                lftj.evaluate(declared + rule)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_proofs_at_the_edges(case: Case) -> None:
    """Every row's proof is accepted, and shows the row that it is asked for."""
    good, some = list(_good(case, sql=False)), _some(case.result)
    facts = [(k, *args, (values or [some])[-1]) for k, (args, values) in enumerate(good)]
    with lftj.connect() as workspace:
        workspace.add_rules(f"{_declared(case)}{''.join(_rules(case))}")
        workspace.load("f", facts)
        for name in ("v", "w"):
            for row in workspace[name].fetchall():
                proof = workspace.explain(name, row)
                assert proof.row == row
                lftj.check_proof(proof, {"f": workspace["f"].fetchall()})
