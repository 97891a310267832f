"""Every aggregate at its edges by all evaluators: heads and bodies, maintained, over parts, by
substitution, proofs and SQL have the same value, or none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.functions.aggregates import AGGREGATES, IN_BRACES
from tests.differential.aggregate_cases import CASES, NO_ROW, Case
from tests.differential.functor_cases import FAILS, Apart
from tests.distributed.inline import InlineExecutor

Row = tuple[Any, ...]
SPREAD = 3
"""Parts over which groups are spread."""


def test_each_aggregate_has_cases() -> None:
    assert {case.name for case in CASES} == AGGREGATES.keys()


def _program(case: Case) -> str:
    """The aggregate in a head, beside a count, and in a body, of rows f(group, number, value)."""
    call = case.call
    declared = (
        f".decl f(k: number, n: number, x: {case.type})\n.decl v(k: number, z: {case.result})\n"
        f".decl c(k: number, z: {case.result}, n: number)\n.decl b(k: number, z: {case.result})\n"
        f"v(k, {call}) :- f(k, n, x).\nc(k, {call}, count()) :- f(k, n, x).\n"
    )
    if case.name not in IN_BRACES:
        return declared
    return f"{declared}b(k, z) :- f(k, _, _), z = {case.braced}.\n"


def _groups(case: Case, sql: bool = False) -> Iterator[tuple[Row, Any]]:
    for values, expected in case.groups.items():
        apart = isinstance(expected, Apart)
        if not (sql and apart):
            yield values, expected.expected if apart else expected


def _facts(groups: Sequence[tuple[Row, Any]]) -> list[Row]:
    return [(k, n, x) for k, (values, _) in enumerate(groups) for n, x in enumerate(values)]


def _check(case: Case, groups: Sequence[tuple[Row, Any]], rows: Any, close: bool = False) -> None:
    """`close`: as databases round."""
    expected = [(k, value) for k, (_, value) in enumerate(groups) if value is not NO_ROW]
    sizes = [len(values) for values, _ in groups]
    counted = [(k, value, sizes[k]) for k, value in expected]
    wanted = {"v": expected, "c": counted, "b": expected if case.name in IN_BRACES else []}
    for name, listed in wanted.items():
        found = sorted(rows(name))
        assert [row[:1] + row[2:] for row in found] == [row[:1] + row[2:] for row in listed]
        for (_, one, *_), (_, other, *_) in zip(found, listed, strict=True):
            assert one == other or (close and math.isclose(one, other, rel_tol=1e-15))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("by", ["triejoin", "substitution", "sql-duckdb"])
def test_values_at_the_edges(by: str, case: Case) -> None:
    sql = by == "sql-duckdb"
    if sql and not case.databases:
        with pytest.raises(lftj.SqlError, match=case.name):
            lftj.evaluate(_program(case), {"f": []}, by=by)
        return
    groups = [each for each in _groups(case, sql) if each[1] is not FAILS]
    found = lftj.evaluate(_program(case), {"f": _facts(groups)}, by=by)
    _check(case, groups, lambda name: found[name].fetchall(), close=sql)
    for values, expected in _groups(case, sql):
        if expected is FAILS and not sql:
            with pytest.raises(lftj.LftjError):
                lftj.evaluate(_program(case), {"f": _facts([(values, FAILS)])}, by=by)


_OF_NOTHING = {"count": 0, "sum": 0, "any": False, "count_distinct": 0}


@pytest.mark.parametrize("case", [each for each in CASES if each.name in IN_BRACES], ids=str)
def test_what_a_body_has_of_nothing(tmp_path: Path, case: Case) -> None:
    """Of k = 1 there are no rows, from the first one on, and again once they are deleted."""
    rules = (
        f".decl f(k: number, n: number, x: {case.type})\n.decl g(k: number)\n"
        f".decl b(k: number, z: {case.result})\n"
        f"b(k, z) :- g(k), z = {case.braced}.\n"
    )
    nothing = _OF_NOTHING.get(case.name, NO_ROW)
    expected = [] if nothing is NO_ROW else [(1, type(next(iter(case.groups))[0])(nothing))]
    if case.result == "number" and nothing == 0:
        expected = [(1, 0)]
    for by in ("triejoin", "substitution", *["sql-duckdb"] * case.databases):
        found = lftj.evaluate(rules, {"f": [], "g": [(1,)]}, by=by)
        assert found["b"].fetchall() == expected
    values, some = next(each for each in _groups(case) if each[1] is not FAILS)
    for executor in (None, InlineExecutor(tmp_path, SPREAD)):
        with lftj.connect(executor=executor) as workspace:
            workspace.add_rules(rules)
            workspace.load("g", [(1,)])
            assert workspace["b"].fetchall() == expected
            rows = [(1, n, x) for n, x in enumerate(values)]
            workspace.load("f", rows)
            assert workspace["b"].fetchall() == [(1, some)] * (some is not NO_ROW)
            with workspace.transaction() as tx:
                tx.delete("f", rows)
            assert workspace["b"].fetchall() == expected
            for row in expected if executor is None else []:
                lftj.check_proof(workspace.explain("b", row), {"f": [], "g": [(1,)]})


def _filled(workspace: lftj.Workspace, case: Case) -> lftj.Workspace:
    """All groups, one after the other, each with values of all others on the way."""
    workspace.add_rules(_program(case))
    groups = [each for each in _groups(case) if each[1] is not FAILS]
    every = {x for values, _ in groups for x in values}
    for k, (values, _) in enumerate(groups):
        workspace.load("f", [(k, 0, values[0])])
        for other in sorted(every, key=repr):
            with suppress(lftj.ValueRangeError):  # it may fit no sum
                workspace.load("f", [(k, 1000, other)])
            with workspace.transaction() as tx:
                tx.delete("f", [(k, 1000, other)])
        workspace.load("f", [(k, n, x) for n, x in enumerate(values) if n])
        _check(case, groups[: k + 1], lambda name: workspace[name].fetchall())
    return workspace


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_history_leaves_a_trace(case: Case) -> None:
    with lftj.connect() as workspace:
        filled = _filled(workspace, case)
        for values, expected in _groups(case):
            if expected is FAILS:
                rows = [(99, n, x) for n, x in enumerate(values)]
                with pytest.raises(lftj.ValueRangeError, match=case.name):
                    filled.load("f", rows)
        assert filled.verify() == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_parts_leave_a_trace(tmp_path: Path, case: Case) -> None:
    groups = [each for each in _groups(case) if each[1] is not FAILS]
    with lftj.connect(executor=InlineExecutor(tmp_path, SPREAD)) as workspace:
        workspace.add_rules(_program(case))
        workspace.load("f", _facts(groups))
        _check(case, groups, lambda name: workspace[name].fetchall())
        for values, expected in _groups(case):
            if expected is FAILS:
                with pytest.raises(lftj.ValueRangeError, match=case.name):
                    workspace.load("f", [(99, n, x) for n, x in enumerate(values)])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_opened_again_goes_on(tmp_path: Path, case: Case) -> None:
    groups = [each for each in _groups(case) if each[1] is not FAILS]
    with lftj.connect(tmp_path / "w") as workspace:
        workspace.add_rules(_program(case))
        workspace.load("f", _facts(groups))
    with lftj.connect(tmp_path / "w") as workspace:
        _check(case, groups, lambda name: workspace[name].fetchall())
        with workspace.transaction() as tx:
            tx.delete("f", _facts(groups[:1]))
        workspace.load("f", _facts(groups[:1]))
        _check(case, groups, lambda name: workspace[name].fetchall())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_proofs_at_the_edges(case: Case) -> None:
    groups = [each for each in _groups(case) if each[1] is not FAILS]
    facts = _facts(groups)
    with lftj.connect() as workspace:
        workspace.add_rules(_program(case))
        workspace.load("f", facts)
        for name in ("v", "c", "b"):
            for row in workspace[name].fetchall():
                proof = workspace.explain(name, row)
                assert proof.row == row
                lftj.check_proof(proof, {"f": facts})
