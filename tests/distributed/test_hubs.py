"""Hubs, values that outweigh a part: their work is cut by a second variable, and everything stays
true whatever is done to their rows.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from tests.depth import enough
from tests.distributed.inline import InlineExecutor, require_equal
from tests.distributed.test_histories import between, pair_over
from tests.strategies.histories import History, histories
from tests.unit.program.listing import list_rule

RULES = """
.decl triangles(x: number, n: number)
triangles(x, count()) :- e(x, y), e(y, z), e(x, z).
.decl corners(x: number, y: number, z: number)
corners(x, y, z) :- e(x, y), e(y, z), e(x, z).
.decl sums(x: number, n: number, s: number, m: number)
sums(x, count(), sum(y), min(y)) :- e(x, y).
.decl ways(x: number, z: number)
ways(x, z) :- e(x, y), e(y, z), x < z.
.decl oneway(x: number, y: number)
oneway(x, y) :- e(x, y), !e(y, x), !marked(x).
.decl reached(x: number, z: number)
reached(x, y) :- marked(x), e(x, y).
reached(x, z) :- reached(x, y), e(y, z).
.decl linked(x: number, z: number)
linked(x, y) :- corners(x, y, _).
linked(x, z) :- linked(x, y), linked(y, z).
.decl all(n: number, most: number)
all(count(), max(z)) :- corners(_, _, z).
.decl named(x: number, y: number, t: symbol)
named(x, y, t) :- corners(x, y, _), name(x, t).
"""
HUB = 0


def star(nodes: int, edges: int, seed: int = 1) -> list[tuple[int, int]]:
    """Random edges, six in ten of them from one node."""
    draw = random.Random(seed)
    rows = {(HUB, node) for node in range(1, 6 * edges // 10 + 1)}
    while len(rows) < edges:
        rows.add((draw.randrange(nodes), draw.randrange(nodes)))
    return sorted(rows)


def workspace(folder: Path | None, parts: int, rows: list[tuple[int, int]], least: int = 50) -> Any:
    """In parts below a folder, or in one process; `least`: rows of a hub."""
    tuning = lftj.Tuning(hub_rows=least)
    made = (
        lftj.connect()
        if folder is None
        else lftj.connect(executor=InlineExecutor(folder, parts, 2), tuning=tuning)
    )
    made.relation("e", {"x": int, "y": int})
    made.relation("marked", {"x": int})
    made.relation("name", {"x": int, "t": str}, key="x")
    made.load("e", rows)
    made.load("marked", [(HUB,), (3,)])
    made.load("name", [(node, f"n{node}") for node in range(0, 60, 2)])
    return made


def steps() -> list[list[tuple[str, str, list[tuple[Any, ...]]]]]:
    """Transactions on what lies at the hub, and beside it."""
    return [
        [("delete", "e", [(HUB, node) for node in range(1, 30, 2)])],
        [("insert", "e", [(HUB, 500), (500, 7), (HUB, 7), (7, HUB)])],
        [("delete", "marked", [(HUB,)]), ("insert", "marked", [(5,)])],
        [("upsert", "name", [(HUB, "the hub"), (61, "another")]), ("insert", "marked", [(HUB,)])],
        [("insert", "e", [(1, 2), (2, 3), (1, 3)]), ("delete", "e", [(500, 7)])],
        [("delete", "e", [(HUB, node) for node in range(200)])],
        [("insert", "e", [(HUB, node) for node in range(100)])],
    ]


@pytest.mark.parametrize("parts", enough([1, 4], [1, 3, 7]))
def test_what_is_done_to_a_hub_is_done_in_all_views(tmp_path: Path, parts: int) -> None:
    rows = star(60, 150)
    many, one = workspace(tmp_path, parts, rows), workspace(None, 0, rows)
    for each in (many, one):
        each.add_rules(RULES)
    assert ("hubs" in many._backend.manifest.program) == (parts > 1)
    for step in steps():
        changes = []
        for each in (many, one):
            with each.transaction() as tx:
                for verb, name, values in step:
                    getattr(tx, verb)(name, values)
            changes.append(
                {
                    name: sorted(row[:-1] for row in tx.changes(name).fetchall())
                    for name in each.relations
                }
            )
        assert changes[0] == changes[1]
        require_equal(many, one)
    assert many.verify() == []


def test_all_that_asks_for_rows_of_a_hub_finds_them(tmp_path: Path) -> None:
    rows = star(60, 150)
    many, one = workspace(tmp_path, 3, rows), workspace(None, 0, rows)
    for each in (many, one):
        each.add_rules(RULES)
    executor = many._backend.executor
    assert many._backend.plan.homes["e"] != 0, "the hub is split"
    for question in (
        "e(0, y)",
        "e(x, 7)",
        "e(0, 7)",
        "e(4, y)",
        "e(x, y), e(y, x)",
        "corners(0, y, z)",
        "corners(x, 2, z), name(x, t)",
    ):
        executor.tasks.clear()
        assert sorted(many.query(question).fetchall()) == sorted(one.query(question).fetchall()), (
            question
        )
        if question in ("e(0, 7)", "e(4, y)"):
            assert len(executor.tasks) == 1, question
    for values in ({"x": 4}, {"x": HUB, "y": 9}, {"x": HUB}, {"y": 2}):
        found = []
        for each in (many, one):
            with each.transaction() as tx:
                found.append(tx.delete_where("e", **values))
        assert found[0] == found[1]
        require_equal(many, one)
    many.compact()
    executor.forget()
    require_equal(many, one)
    assert {row["x"] for row in many["sums"].to_spark()} == {x for x, *_ in one["sums"].fetchall()}
    assert sorted((row["x"], row["y"]) for row in many["e"].to_spark()) == sorted(
        one["e"].fetchall()
    )


@pytest.mark.parametrize(
    ("rule", "local"),
    [
        (
            "v(x, y, z) :- e(x, y), e(y, z), e(x, z).",
            "v@0+1(x, y, z) :- e@0+1(x, y), e@all(y, z), e@0+all(x, z).",
        ),
        (
            "v(x, count(), max(z)) :- e(x, y), e(y, z), e(x, z).",
            "v%(x, count(), max(z)) :- e@0+1(x, y), e@all(y, z), e@0+all(x, z).",
        ),
        (
            "v(x, y, 1) :- e(x, y), !e(y, x).",
            "v@0+1(x, y, _2) :- e@0+1(x, y), !e@1+0(y, x), _2 := 1.",
        ),
    ],
)
def test_the_work_on_a_hub_is_cut_by_a_second_variable(
    tmp_path: Path, rule: str, local: str
) -> None:
    before, after = (
        balance(derived(tmp_path / str(least), 7, rule, least)) for least in (10**9, 1000)
    )
    many = derived(tmp_path / "again", 7, rule, 1000)
    assert local_rules(many)[0] == local
    assert after < 1.3 < 2 < before, "kernel steps of the part with most, over the mean"
    assert "sliced by x, hubs by y" in {
        how for _, _, name, how, _ in many.plan().places().fetchall() if name == "e#base"
    }


@pytest.mark.parametrize(
    "rule",
    [
        "v(x, z, 1) :- e(x, y), e(y, z).",  # all of its rows would travel
        "v(x, y, 1) :- e(x, y).\nv(x, z, 1) :- v(x, y, 1), e(y, z).",
    ],
)
def test_where_a_hub_is_not_split_the_plan_says_so(tmp_path: Path, rule: str) -> None:
    many = derived(tmp_path, 7, rule, 1000)
    assert not any("+" in each for each in many._backend.plan.local)
    assert "sliced by x, hubs not split" in {
        how for _, _, name, how, _ in many.plan().places().fetchall() if name == "e#base"
    }


def derived(folder: Path, parts: int, rule: str, least: int) -> Any:
    """A view over a star; `least`: rows of a hub."""
    many = workspace(folder, parts, star(300, 6000), least)
    many.add_rules(".decl v(a: number, b: number, c: number)\n" + rule)
    return many


def balance(many: Any) -> float:
    last = many.profile(last=1).iloc[0]
    return last["most_steps"] * last["parts"] / last["steps"]


def local_rules(many: Any) -> list[str]:
    return [
        list_rule(rule)
        for stage in many._backend.plan.stages
        for stratum in stage.strata
        for rule in stratum.rules
    ]


def test_rows_that_come_after_the_rules_are_balanced_when_asked_for(tmp_path: Path) -> None:
    many, one = workspace(tmp_path, 3, []), workspace(None, 0, [])
    for each in (many, one):
        each.add_rules(RULES)
        each.load("e", star(60, 150))
    assert "hubs" not in many._backend.manifest.program
    heard: list[Any] = []
    many.subscribe("triangles", heard.append)
    assert many.rebalance()
    assert many._backend.manifest.program["hubs"]["e"]["0"] == [90, [HUB]]
    assert not many.rebalance(), "nothing is new"
    assert not heard
    require_equal(many, one)
    for each in (many, one):
        with each.transaction() as tx:
            tx.delete_where("e", x=HUB)
    assert many.rebalance()
    assert "hubs" not in many._backend.manifest.program
    require_equal(many, one)
    many.close()
    require_equal(lftj.connect(executor=InlineExecutor(tmp_path, 3)), one)


@given(histories(), st.sampled_from([2, 3, 7]), st.data())
@settings(max_examples=settings().max_examples // 3)
def test_oracle_parts_whose_values_are_hubs_equal_the_reference(
    history: History, parts: int, data: st.DataObject
) -> None:
    tuning = lftj.Tuning(hub_rows=1)
    with pair_over(history, lambda path: InlineExecutor(path, parts, 2), tuning) as (
        pair,
        executor,
    ):
        for step in history.steps:
            between(
                pair,
                executor,
                data.draw(st.sampled_from(["nothing", "forget", "reopen", "rebalance", "compact"])),
            )
            pair.step(step)
        assert pair.workspace.verify() == []
        pair.workspace.close()
