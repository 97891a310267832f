"""Recursive relations with one choice domain follow changes by updates, which leave the state that
a bootstrap gives.
"""

from __future__ import annotations

import math
import random

import lftj
from tests.unit.recursion import stratum
from tests.unit.recursion.following import change as commit
from tests.unit.recursion.following import strategies
from tests.unit.recursion.test_choice import ORDER, loaded, rows_of

FOREST = """
.decl edge(x: number, y: number)
.decl root(x: number)
.decl parent(y: number, x: number) choice-domain y
parent(y, y) :- root(y).
parent(y, x) :- parent(x, _), edge(x, y).
"""


def change(workspace: lftj.Workspace, verb: str, name: str, *rows: tuple[object, ...]) -> str:
    """Insert or delete rows; the strategy that followed."""
    with workspace.transaction() as tx:
        getattr(tx, verb)(name, list(rows))
    assert stratum.check(workspace) == 1
    return str(workspace.profile(last=1)["outcome"].iloc[0])


def counted(text: str, **rows: list[tuple[object, ...]]) -> lftj.Workspace:
    """A workspace that always updates, its states counted."""
    workspace = lftj.connect(elastic=math.inf)
    workspace.add_rules(text)
    for name, given in rows.items():
        workspace.load(name, given)
    return workspace


def test_the_next_candidate_takes_the_place_of_one_that_goes_in_its_own_iteration():
    forest = counted(
        FOREST, root=[(0,)], edge=[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 3)]
    )
    assert (3, 1) in rows_of(forest, "parent")
    assert change(forest, "delete", "edge", (1, 3)) == "update"
    assert rows_of(forest, "parent") == {(0, 0), (1, 0), (2, 0), (3, 2), (4, 3), (5, 4)}
    assert change(forest, "delete", "edge", (2, 3)) == "update"
    assert rows_of(forest, "parent") == {(0, 0), (1, 0), (2, 0)}


def test_a_candidate_of_an_earlier_iteration_displaces_a_later_one_with_all_that_rests_on_it():
    forest = counted(
        FOREST, root=[(0,)], edge=[(0, 1), (1, 2), (2, 3), (3, 9), (3, 4), (4, 5), (9, 5)]
    )
    assert change(forest, "insert", "edge", (0, 4)) == "update"
    assert rows_of(forest, "parent") == {(0, 0), (1, 0), (2, 1), (3, 2), (9, 3), (4, 0), (5, 4)}
    assert change(forest, "delete", "edge", (0, 4)) == "update"
    assert rows_of(forest, "parent") == {(0, 0), (1, 0), (2, 1), (3, 2), (9, 3), (4, 3), (5, 4)}


def test_a_tree_that_loses_its_root_does_not_keep_itself_alive():
    forest = counted(FOREST, root=[(0,), (8,)], edge=[(x, (x + 1) % 9) for x in range(9)])
    assert change(forest, "delete", "root", (0,)) == "update"
    assert rows_of(forest, "parent") == {(8, 8), *(((x + 1) % 9, x) for x in [8, *range(7)])}
    assert change(forest, "delete", "root", (8,)) == "update"
    assert rows_of(forest, "parent") == set()


def test_a_change_of_one_tree_of_a_forest_takes_steps_for_that_tree():
    blocks: list[tuple[object, ...]] = [
        (20 * block + x, 20 * block + (7 * x + y) % 20)
        for block in range(1000)
        for x in range(20)
        for y in (1, 8)
    ]
    forest = loaded(FOREST, root=[(20 * block,) for block in range(1000)], edge=blocks[:-1])
    whole = forest.profile(last=1)["steps"].sum()
    forest.load("edge", blocks[-1:])
    for block in (3, 500, 999):
        for verb in ("delete", "insert"):
            with forest.transaction() as tx:
                getattr(tx, verb)("edge", [(20 * block, 20 * block + 8)])
            work = forest.profile(last=1)
            assert work["outcome"].tolist() == ["update"]
            assert work["steps"].sum() < whole / 200
    assert stratum.check(forest) == 1


def test_texts_are_compared_by_code_point_when_a_candidate_comes():
    text = FOREST.replace("number", "symbol")
    forest = counted(
        text,
        root=[("r",)],
        edge=[("r", "z"), ("r", "b"), ("r", "m"), ("z", "t"), ("m", "t"), ("t", "u")],
    )
    assert ("t", "m") in rows_of(forest, "parent")
    assert change(forest, "insert", "edge", ("b", "t"), ("r", "a"), ("a", "t")) == "update"
    assert ("t", "a") in rows_of(forest, "parent")
    assert change(forest, "delete", "edge", ("a", "t")) == "update"
    assert ("t", "b") in rows_of(forest, "parent")


def test_one_choice_for_all_follows_in_a_cycle():
    text = """
    .decl start(x: symbol)
    .decl step(x: symbol, y: symbol)
    .decl first(x: symbol)
    .decl reached(x: symbol)
    first(x) :- start(x), choice((), (x)).
    reached(x) :- first(x).
    reached(y) :- reached(x), step(x, y), choice((), (x, y)).
    """
    chain = counted(
        text, start=[("b",), ("c",)], step=[("b", "y"), ("b", "x"), ("x", "z"), ("a", "b")]
    )
    assert rows_of(chain, "reached") == {("b",), ("x",)}
    assert change(chain, "delete", "step", ("b", "x")) == "update"
    assert rows_of(chain, "reached") == {("b",), ("y",)}
    change(chain, "insert", "start", ("a",))
    assert rows_of(chain, "reached") == {("a",), ("b",)}
    assert set(chain.profile(last=1)["outcome"]) == {"update"}


def test_several_domains_in_a_cycle_begin_anew():
    workspace = counted(ORDER, node=[("b",), ("d",)])
    workspace.load("node", [("c",)])
    assert workspace.profile(last=1)["outcome"].tolist() == ["choice"]


def test_chosen_rows_are_followed_again_some_time_after_what_was_in_vain():
    rnd = random.Random(7)
    workspace = lftj.connect(elastic=0.02, tuning=lftj.Tuning(elastic_steps=0))
    workspace.add_rules(FOREST)
    edges = [(1 + rnd.randrange(3000), 1 + rnd.randrange(3000)) for _ in range(12000)]
    commit(workspace, {"root": [(0,)], "edge": [(0, 1), (0, 2), *edges]}, {})
    outcomes: list[str] = []
    for edge in [(1, 5000)] * 4 + [(0, 1)] + [(1, 5000)] * 40:
        for inserted, deleted in ({}, {"edge": [edge]}), ({"edge": [edge]}, {}):
            commit(workspace, inserted, deleted)
            outcomes += strategies(workspace)
    assert {"fallback", "forecast"} & set(outcomes), "nothing was in vain"
    assert outcomes[-1] == "update"
