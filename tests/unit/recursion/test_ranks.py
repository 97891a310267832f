"""Ranks that stay while their rows do, and supports: views, and the state itself, after each of
many changes.
"""

from __future__ import annotations

import random
from collections.abc import Collection
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import lftj
from lftj.maintenance.counting.derivation_count import UNCOUNTED, standing
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.maintenance.ladder import STRATA
from lftj.scantree import Tree
from lftj.scantree.reorder import reordered
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.recursion.following import CLOSURE, strategies
from tests.unit.recursion.following import change as commit
from tests.unit.recursion.proofs import Input, Row, Rule, supported
from tests.unit.recursion.stratum import check, rows_of, states
from tests.unit.recursion.test_delete_rederive import POINTS, STATEMENTS, statements
from tests.unit.recursion.test_elastic_proofs import PROGRAMS, WIDTHS, change, fact, text

pytestmark = pytest.mark.usefixtures("unsearched")

RANKED = [name for name in PROGRAMS if name != "nullary"]
ALONE = frozenset(each.name for each in STRATA if not each.needed) - {"counting", "rederivation"}


def _right(rules: list[Rule], workspace: lftj.Workspace, facts: Input) -> int:
    """The number of supports that are counted; each is what its definition says, and what is not
    counted claims no more.
    """
    counted = 0
    for state in states(workspace):
        ranked = rows_of(state)
        true = supported(rules, ranked, facts)
        for name, rows in ranked.items():
            for row, (rank, support) in rows.items():
                assert true[name][row][1] > 0, "rests on nothing"
                if support < UNCOUNTED:
                    assert true[name][row] == (rank, support)
                    counted += 1
                else:
                    assert support - UNCOUNTED <= true[name][row][1]
    return counted


@pytest.mark.parametrize("way", ["by ranks", "compiled", "as it comes"])
@pytest.mark.parametrize("name", RANKED)
def test_supports_and_rows_are_right_after_every_change(name: str, way: str):
    rules, rnd = PROGRAMS[name], random.Random(f"ranks {name} {way}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    patience = {"compiled_patience": 0} if way == "compiled" else {}
    tuning = lftj.Tuning(without=frozenset() if way == "as it comes" else ALONE, **patience)
    workspace = lftj.connect(tuning=tuning, elastic=0.2 if way == "as it comes" else 1e9)
    workspace.add_rules(text(rules, name))
    change(workspace, facts, [], [fact(rnd, used, 5) for _ in range(14)])
    counted = 0
    for _ in range(14):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.15]
        change(workspace, facts, gone, [fact(rnd, used, 5) for _ in range(rnd.randrange(4))])
        assert {name: set(workspace[name].fetchall()) for name in WIDTHS} == evaluate(
            parse(text(rules, name)), facts
        )
        counted += _right(rules, workspace, facts)
        check(workspace)
    assert workspace.verify() == []
    assert counted or way != "by ranks", "no support was counted"


def test_ranks_stay_while_their_rows_do():
    workspace = lftj.connect(elastic=1e9, tuning=lftj.Tuning(without=ALONE))
    workspace.add_rules(CLOSURE)
    commit(workspace, {"e": [(0, 1), (1, 2), (2, 3), (3, 4), (8, 9)]}, {})
    commit(workspace, {}, {"e": [(8, 9)]})
    (state,) = states(workspace)
    assert rows_of(state)["t"][0, 3] == (2, UNCOUNTED)
    commit(workspace, {"e": [(0, 3)]}, {})
    (state,) = states(workspace)
    assert rows_of(state)["t"][0, 3] == (2, UNCOUNTED + 1), "a shorter way only adds to its support"
    commit(workspace, {}, {"e": [(1, 2)]})
    (state,) = states(workspace)
    assert rows_of(state)["t"][0, 3] == (2, 1), "doubted, it is counted"
    assert (0, 2) not in rows_of(state)["t"]


def test_rows_that_compiled_iterations_find_have_ranks_when_one_goes():
    without = ALONE - {"improvement"}
    workspace = lftj.connect(tuning=lftj.Tuning(compiled_patience=0, without=without))
    workspace.add_rules("""
        .decl s(x: number)  .decl e(x: number, y: number)  .decl r(x: number)
        r(x) :- s(x).  r(y) :- r(x), e(x, y).
    """)
    path = [(x, x + 1) for x in range(120)]
    commit(workspace, {"s": [(0,)], "e": [edge for edge in path if edge != (40, 41)]}, {})
    commit(workspace, {"e": [(40, 41)]}, {})
    commit(workspace, {}, {"e": [(100, 101)]})
    (state,) = states(workspace)
    assert [rank for _, (rank, _) in sorted(rows_of(state)["r"].items())] == sorted(
        {rank for rank, _ in rows_of(state)["r"].values()}
    )
    assert (len(workspace["r"]), workspace.verify()) == (101, [])


def test_a_rule_that_goes_and_comes_is_followed_by_ranks():
    workspace = lftj.connect(elastic=1e9, tuning=lftj.Tuning(without=ALONE))
    workspace.add_rules(CLOSURE)
    commit(workspace, {"e": [(x, x + 1) for x in range(20)]}, {})
    (handle,) = workspace.add_rules("t(y, x) :- t(x, y), x > 15.")
    rows = sorted(workspace["t"].fetchall())
    workspace.remove_rule(handle)
    assert (strategies(workspace), check(workspace)) == (["update"], 1)
    assert len(workspace["t"]) == 20 * 21 // 2
    workspace.add_rules("t(y, x) :- t(x, y), x > 15.")
    assert (strategies(workspace), check(workspace)) == (["update"], 1)
    assert sorted(workspace["t"].fetchall()) == rows


def _loaded(without: Collection[str] = ALONE, path: str | None = None) -> lftj.Workspace:
    tuning = lftj.Tuning(without=without)
    workspace = lftj.connect(*([path] if path else []), tuning=tuning, elastic=1e9)
    workspace.add_rules(STATEMENTS)
    for name, rows in statements().items():
        workspace.load(name, rows)
    workspace.add_rules(POINTS)
    return workspace


def _steps_of_a_deletion(workspace: lftj.Workspace) -> int:
    with workspace.transaction() as transaction:
        transaction.delete("move", [statements()["move"][40]])
    return sum(workspace.profile(last=1)["steps"])


def test_a_deletion_of_few_rows_looks_at_few():
    ranked, without = _loaded(), _loaded(ALONE | {"counting"})
    assert 3 * _steps_of_a_deletion(ranked) < _steps_of_a_deletion(without)
    assert ranked["points"].fetchall() == without["points"].fetchall()


def test_a_key_order_that_costs_more_than_is_left_is_not_made(monkeypatch: pytest.MonkeyPatch):
    counting, made = "lftj.maintenance.counting", list[tuple[int, ...]]()

    def making(tree: Tree, order: tuple[int, ...], dropped: int) -> Tree:
        made.append(order)
        return reordered(tree, order, dropped)

    def after_a_deletion() -> lftj.Workspace:
        workspace = lftj.connect(elastic=1e9, tuning=lftj.Tuning(without=ALONE))
        workspace.add_rules(CLOSURE)
        commit(workspace, {"e": [(x, x + 1) for x in range(80)]}, {})
        commit(workspace, {}, {"e": [(40, 41)]})
        assert len(workspace["t"]) == 2 * 40 * 41 // 2 - 40
        return workspace

    monkeypatch.setattr(f"{counting}.iterated_relation.reordered", making)
    assert (strategies(after_a_deletion()), bool(made)) == (["update"], True)
    made.clear()
    monkeypatch.setattr(f"{counting}.elastic_query.ORDERED", 1 << 50)
    assert (strategies(after_a_deletion()), made) == (["fallback"], [])


def test_ranks_come_back_with_a_workspace(tmp_path: Path):
    path = str(tmp_path / "flows.lftj")
    with _loaded(path=path) as workspace:
        _steps_of_a_deletion(workspace)
        assert check(workspace) == 1
        rows = workspace["points"].fetchall()
    with lftj.connect(path, elastic=1e9) as workspace:
        assert check(workspace) == 1
        for gone, come in (41, 40), (40, 41):
            with workspace.transaction() as transaction:
                transaction.insert("move", [statements()["move"][come]])
                transaction.delete("move", [statements()["move"][gone]])
            assert check(workspace) == 1
        assert workspace["points"].fetchall() == rows
        assert workspace.verify() == []


@pytest.mark.parametrize("part", [1, 1 << 20])
def test_a_support_that_is_wrong_is_told_of(part, monkeypatch):
    """Derivations are counted some at a time: all at once, those of 1.7 million rows took 19 GB."""
    monkeypatch.setattr("lftj.maintenance.counting.elastic_query._PART", part)
    workspace: Any = _loaded()
    _steps_of_a_deletion(workspace)
    (state,) = states(workspace)
    assert workspace.verify() == []
    *rows, words = state.relations["points"].columns()
    wrong = standing(words >> 32, np.full(len(words), 1_000))
    relation = IteratedRelation.of(
        workspace._backend.state.database["points"].schema,
        workspace._backend.arena,
        rows,
        words >> 32,
        wrong & (UNCOUNTED - 1),
    )
    cast("dict[str, IteratedRelation]", state.relations)["points"] = relation
    assert [each.relation for each in workspace.verify()] == ["points (supports)"]
