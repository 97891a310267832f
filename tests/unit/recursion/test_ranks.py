"""Deletions followed by ranks: views, and the ranks themselves, after each of many changes."""

from __future__ import annotations

import random
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.maintenance.deletion.ranks import Ranks
from lftj.maintenance.ladder import STRATA
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.recursion.proofs import Row
from tests.unit.recursion.stratum import check_ranks, ranks_of
from tests.unit.recursion.test_elastic_proofs import PROGRAMS, WIDTHS, change, fact, text

RANKED = [name for name in PROGRAMS if name != "nullary"]
ALONE = frozenset(each.name for each in STRATA if not each.needed) - {"rederivation"}
WALKED = {
    "closure",
    "mirrored closure",
    "steps of several instantiations",
    "non-linear",
    "unary",
    "base and derived",
}
"""Programs whose strata walks close, which need no ranks."""


AT_ONCE = {"rows_tried": 0, "rows_least": 0, "rows_counted": 0, "ranked_plan": 0}
"""Settings by which ranks are made for the first deletion."""


def _connect(
    without: Collection[str] = ALONE, at_once: bool = True, **options: float
) -> lftj.Workspace:
    settings: dict[str, Any] = AT_ONCE if at_once else {}
    return lftj.connect(tuning=lftj.Tuning(**settings, without=without), **options)


@pytest.mark.parametrize("elastic", [1e9, 0.5])
@pytest.mark.parametrize("name", RANKED)
def test_ranks_and_rows_are_right_after_every_change(name: str, elastic: float):
    rules = PROGRAMS[name]
    rnd = random.Random(f"ranks {name} {elastic}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace = _connect(ALONE if elastic > 1 else frozenset(), elastic=elastic)
    workspace.add_rules(text(rules, name))
    change(workspace, facts, [], [fact(rnd, used, 5) for _ in range(14)])
    used_ranks = kept = 0
    for _ in range(12):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.15]
        change(workspace, facts, gone, [fact(rnd, used, 5) for _ in range(rnd.randrange(4))])
        assert {name: set(workspace[name].fetchall()) for name in WIDTHS} == evaluate(
            parse(text(rules, name)), facts
        )
        kept += check_ranks(workspace)
        used_ranks += any(isinstance(ranks, Ranks) for ranks in ranks_of(workspace))
    assert workspace.verify() == []
    if elastic > 1 and name not in WALKED:
        assert kept, "no ranks were kept"
        assert used_ranks, "no deletion was followed by ranks"


@pytest.mark.parametrize("name", RANKED)
def test_a_trail_tells_ranks_after_every_change(name: str):
    rules = PROGRAMS[name]
    rnd = random.Random(f"trail {name}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace = _connect(at_once=False, elastic=1e9)
    workspace.add_rules(text(rules, name))
    change(workspace, facts, [], [fact(rnd, used, 5) for _ in range(14)])
    kept = 0
    for _ in range(12):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.1]
        change(workspace, facts, gone, [fact(rnd, used, 5) for _ in range(rnd.randrange(4))])
        kept += check_ranks(workspace)
        assert not any(isinstance(ranks, Ranks) for ranks in ranks_of(workspace))
    if name not in WALKED:
        assert kept, "no trail was kept"


STATEMENTS = """
    .decl move(to: number, origin: number)  .decl store(base: number, source: number)
"""
FLOWS = """
    .decl flow(to: number, origin: number)  .decl alias(a: number, b: number)
    flow(x, y) :- move(x, y).  flow(x, z) :- flow(x, y), alias(y, w), flow(w, z).
    flow(x, y) :- store(x, y), alias(x, y).  alias(x, y) :- flow(x, z), flow(y, z).
"""


def _flows() -> dict[str, list[tuple[int, int]]]:
    rnd = random.Random(1)
    near = [(x, (x + rnd.randrange(-6, 7)) % 60) for x in range(60) for _ in range(2)]
    return {"move": sorted(set(near[:90])), "store": sorted(set(near[90:]))}


def _loaded(workspace: lftj.Workspace) -> lftj.Workspace:
    workspace.add_rules(STATEMENTS)
    for name, rows in _flows().items():
        workspace.load(name, rows)
    workspace.add_rules(FLOWS)
    return workspace


def _steps_of_a_deletion(workspace: lftj.Workspace) -> int:
    with workspace.transaction() as transaction:
        transaction.delete("move", [_flows()["move"][40]])
    return sum(workspace.profile(last=1)["steps"])


def test_a_deletion_of_few_rows_looks_at_few():
    ranked = _loaded(_connect(elastic=1e9))
    unranked = lftj.Tuning(without=ALONE, rows_tried=1e12)
    without = _loaded(lftj.connect(tuning=unranked, elastic=1e9))
    assert 3 * _steps_of_a_deletion(ranked) < _steps_of_a_deletion(without)
    assert ranked["flow"].fetchall() == without["flow"].fetchall()


def test_ranks_come_back_with_a_workspace(tmp_path: Path):
    path = str(tmp_path / "flows.lftj")
    with _loaded(lftj.connect(path, tuning=lftj.Tuning(**AT_ONCE), elastic=1e9)) as workspace:
        _steps_of_a_deletion(workspace)
        assert check_ranks(workspace) == 1
        rows = workspace["flow"].fetchall()
    with lftj.connect(path) as workspace:
        assert check_ranks(workspace) == 1
        with workspace.transaction() as transaction:
            transaction.insert("move", [_flows()["move"][40]])
            transaction.delete("move", [_flows()["move"][41]])
        assert check_ranks(workspace) == 1
        with workspace.transaction() as transaction:
            transaction.insert("move", [_flows()["move"][41]])
            transaction.delete("move", [_flows()["move"][40]])
        assert workspace["flow"].fetchall() == rows
        assert workspace.verify() == []
