"""Bootstraps that count: part by part and by joins, with whatever room, the same rows, iterations
and counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.errors import LimitError
from lftj.maintenance.counting import elastic_bootstrap as elastic_bootstraps
from lftj.maintenance.counting import iterated_relation
from lftj.maintenance.counting.apply_iteration_kernels import GONE
from lftj.maintenance.counting.derivation_count import (
    iterations_of,
    proofs_of,
    standing,
    without_proofs,
)
from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.semi_naive.proof_table import ProofTable
from lftj.partition.executor import ThreadExecutor
from lftj.scantree import Arena
from lftj.scantree.reorder import reordered
from tests.retuning import constants, retuned
from tests.unit.recursion.stratum import Rows, rows_of
from tests.unit.recursion.test_bootstrap import DECLARATIONS, DECOMPOSABLE, TYPES, VALUES


def bootstrapped(workspace: Any, work: int | None = None) -> dict[str, Rows]:
    """The state of the one recursive stratum of a workspace, from nothing."""
    engine = workspace._backend
    program, database = engine.state.program.stratified, engine.state.database
    (stratum,) = [stratum for stratum in program.strata if stratum.recursive]
    schemas = {name: program.relations[name] for name in stratum.relations}
    queries = StratumState.empty(schemas, engine.arena).queries_of(stratum.rules)
    context = engine.context({})
    context.budget.work_limit = work
    return rows_of(
        elastic_bootstrap(schemas, queries, Versions(database, database, {}, engine.arena), context)
    )


def loaded(text: str, facts: dict[str, Iterable[tuple[Any, ...]]]) -> Any:
    workspace = lftj.connect()
    workspace.add_rules(text)
    with workspace.transaction() as transaction:
        for name, rows in facts.items():
            transaction.insert(name, list(rows))
    return workspace


@pytest.mark.parametrize("kind", ["small", "far apart", "strings"])
@pytest.mark.parametrize("name", DECOMPOSABLE)
def test_parts_and_joins_count_the_same(name: str, kind: str, monkeypatch: pytest.MonkeyPatch):
    rnd = random.Random(name + kind)
    pick = lambda width: {tuple(rnd.choice(VALUES[kind]) for _ in range(width)) for _ in range(14)}  # noqa: E731
    facts = {"e": pick(2), "f": pick(3), "n": pick(1), "t": pick(2)}
    workspace = loaded(
        DECLARATIONS.format(type=TYPES.get(kind, "number")) + DECOMPOSABLE[name], facts
    )
    by_parts = bootstrapped(workspace)
    with retuned(workspace, run_steps=3), constants(elastic_bootstraps, _BOOTSTRAP_ROWS=2):
        assert bootstrapped(workspace) == by_parts
        workspace._backend.threads = ThreadExecutor(2, parts=5, patience=1)
        assert bootstrapped(workspace) == by_parts
    monkeypatch.setattr("lftj.maintenance.counting.elastic_bootstrap.decompose", lambda *_: None)
    assert bootstrapped(workspace) == by_parts
    assert any(by_parts.values())


def test_many_rows_by_parts_and_by_joins(monkeypatch: pytest.MonkeyPatch):
    rnd = random.Random(3)
    edges = {(rnd.randrange(150), rnd.randrange(150)) for _ in range(500)}
    closure = "t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z)."
    workspace = loaded(
        f".decl e(x: number, y: number)\n.decl t(x: number, y: number)\n{closure}", {"e": edges}
    )
    by_parts = bootstrapped(workspace)
    assert len(by_parts["t"]) > 10_000
    monkeypatch.setattr("lftj.maintenance.counting.elastic_bootstrap.decompose", lambda *_: None)
    assert bootstrapped(workspace) == by_parts
    with pytest.raises(LimitError):
        bootstrapped(workspace, work=1000)


def test_a_proof_table_counts_proofs_of_the_present_iteration_only():
    table = ProofTable(2)
    every = [(i * 7 % 3000, i % 11) for i in range(6000)]
    table.add(np.array([*zip(*every, strict=True), [2] * 6000]), np.arange(2))
    first = table.take_fresh()
    assert {tuple(row) for row in np.transpose(first).tolist()} == set(every)
    table.add(np.array([[0, 5000, 5000], [0, 1, 1], [1, 1, 4]]), np.arange(2))
    assert [column.tolist() for column in table.take_fresh()] == [[5000], [1]]
    assert [column.tolist() for column in table.take_fresh()] == [[], []]
    rows, iterations, proofs = table.columns()
    found = dict(
        zip(
            zip(*(column.tolist() for column in rows), strict=True),
            zip(iterations.tolist(), proofs.tolist(), strict=True),
            strict=True,
        )
    )
    assert list(found) == sorted({*every, (5000, 1)})
    assert found[5000, 1] == (1, 5)
    assert {found[row] for row in every} == {(0, 2 * every.count(row)) for row in every}


def test_standings_order_as_iterations():
    iterations, proofs = np.array([0, 0, 3, 2**31 - 1]), np.array([1, 2**31 - 1, 7, 1])
    words = standing(iterations, proofs)
    assert (np.diff(words) > 0).all()
    assert iterations_of(words).tolist() == iterations.tolist()
    assert proofs_of(words).tolist() == proofs.tolist()
    assert without_proofs(words).tolist() == standing(iterations).tolist()
    assert (~words < 0).all()
    for iteration, count in ((0, 2**31), (2**31, 1)):
        with pytest.raises(OverflowError):
            standing(np.array([iteration]), np.array([count]))


def test_a_version_gets_the_key_orders_of_an_earlier_one():
    workspace = loaded(".decl t(x: number, y: number)\n", {})
    schema = workspace._backend.state.database["t"].schema
    rows = [np.array([1, 2, 3]), np.array([9, 8, 7])]
    before = IteratedRelation.of(schema, Arena(), rows, np.array([0, 1, 2]), np.array([1, 1, 1]))
    after = before.moved(
        [np.array([2, 4]), np.array([8, 6]), standing(np.array([5, 5]))],
        [np.array([3]), np.array([7])],
    )
    before.tree((1, 0, 2))
    moved = after.with_orders_of(before).tree((1, 0, 2))
    assert [column.tolist() for column in moved.columns()[:-1]] == [[6, 8, 9], [4, 2, 1]]
    assert iterations_of(moved.columns()[-1]).tolist() == [5, 5, 0]
    assert [column.tolist() for column in after.tree((1, 0, 2)).columns()] == [
        column.tolist() for column in moved.columns()
    ]


def test_a_key_order_that_versions_of_an_update_lack_is_made_once(monkeypatch):
    made = []
    monkeypatch.setattr(
        iterated_relation, "reordered", lambda *asked: made.append(asked[1]) or reordered(*asked)
    )
    workspace = loaded(".decl t(x: number, y: number)\n", {})
    schema = workspace._backend.state.database["t"].schema
    rows = [np.array([1, 2, 3]), np.array([9, 8, 7])]
    before = IteratedRelation.of(schema, Arena(), rows, np.array([0, 1, 2]), np.array([1, 1, 1]))
    nothing = [np.empty(0, np.int64)] * 3
    first = before.moved(
        [np.array([4]), np.array([6]), standing(np.array([3]), np.array([2]))],
        nothing[:2],
    )
    second = first.moved(
        nothing,
        [np.array([3]), np.array([7])],
        np.array([[1, 3], [9, 7], [7, GONE]]),
    )
    rows_then = {
        second: [[6, 4], [8, 2], [9, 1]],
        first: [[6, 4], [7, 3], [8, 2], [9, 1]],
        before: [[7, 3], [8, 2], [9, 1]],
    }
    for version, expected in rows_then.items():
        assert np.transpose(version.tree((1, 0, 2)).columns()[:-1]).tolist() == expected
    assert made == [(1, 0)]
    assert proofs_of(second.tree((1, 0, 2)).columns()[-1]).tolist() == [0, 0, 0]
    kept = second.with_orders_of(before)
    assert kept._began is None, "what is kept holds no version before it"
    assert kept.tree((1, 0, 2)) is second.tree((1, 0, 2))
