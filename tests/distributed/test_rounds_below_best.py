"""Recursion with `min` and `max` in rounds after deletions: groups that may have lost their value are offered again what is left."""

from __future__ import annotations

import datetime
import heapq
import random
import shutil
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import stage_rounds
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.placing.cuts import part_of
from lftj.distributed.placing.steps import Move
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.types import INT
from tests.distributed.inline import InlineExecutor, in_rounds
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, Transact
from tests.strategies.schemas import Spec

BASES = (
    Spec("s", ("int", "int")),
    Spec("e", ("int", "int", "int")),
    Spec("n", ("int", "int")),
    Spec("f", ("int", "int", "float")),
    Spec("t", ("str", "str", "int")),
)

PROGRAMS: dict[str, tuple[tuple[Spec, ...], str]] = {
    "shortest paths": (
        (Spec("d", ("int", "int")), Spec("far", ("int", "int"))),
        """d(x, min(v)) :- s(x, v).
           d(y, min(v + w)) :- d(x, v), e(x, y, w).
           far(max(v), count()) :- d(_, v).""",
    ),
    "shortest paths of all pairs, some forbidden": (
        (Spec("d", ("int", "int", "int")),),
        """d(x, y, min(w)) :- e(x, y, w), !n(x, _).
           d(x, z, min(v + w)) :- d(x, y, v), d(y, z, w), !n(x, z).""",
    ),
    "least labels": (
        (Spec("l", ("int", "int")), Spec("roots", ("int",))),
        """l(x, min(x)) :- e(x, _, _).
           l(y, min(y)) :- e(_, y, _).
           l(y, min(k)) :- l(x, k), e(x, y, _).
           l(x, min(k)) :- l(y, k), e(x, y, _).
           roots(count()) :- l(x, x).""",
    ),
    "widest paths, in a bound that is below": (
        (Spec("b", ("int", "int")), Spec("top", ("int",))),
        """top(max(v)) :- s(_, v).
           b(x, max(v)) :- s(x, v).
           b(y, max(min(v, w))) :- b(x, v), e(x, y, w), top(t), v > t - 7, !n(y, x).""",
    ),
    "one direction by the other": (
        (Spec("lo", ("int", "int")), Spec("up", ("int", "int"))),
        """lo(x, min(v)) :- s(x, v).
           up(x, max(0 - v)) :- lo(x, v).
           lo(y, min(w - u)) :- up(x, u), e(x, y, w).""",
    ),
    "nothing in the group, and read whole": (
        (Spec("least", ("int",)), Spec("d", ("int", "int"))),
        """least(min(v)) :- d(x, v), n(x, _).
           d(x, min(v)) :- s(x, v).
           d(y, min(v + 0)) :- least(v), n(_, y).
           d(y, min(v + 1)) :- d(x, v), n(x, y).""",
    ),
    "labels of names, along edges that are there several times": (
        (Spec("l", ("str", "str")),),
        """l(x, min(x)) :- t(x, _, _).
           l(y, min(k)) :- l(x, k), t(x, y, _).
           l(x, min(k)) :- l(y, k), t(x, y, w), w > 2.""",
    ),
    "groups of two, one of which is a name": (
        (Spec("h", ("int", "str", "int")),),
        """h(v, x, min(0)) :- s(_, v), t(x, _, v).
           h(v, y, min(d + w)) :- h(v, x, d), t(x, y, w).
           h(u, x, min(d)) :- h(v, x, d), n(v, u).""",
    ),
    "floats that are said not to be negative": (
        (Spec("g", ("int", "float")),),
        """g(x, min(w)) :- f(x, x, w).
           g(y, min(v + w)) :- g(x, v), f(x, y, w), w >= 0.0.""",
    ),
}
FREE = {
    "floats": """g(x, min(w)) :- f(x, x, w).
                 g(y, min(v + w)) :- g(x, v), f(x, y, w).""",
    "values that reach a bound": """b(x, min(v)) :- s(x, v).
                                    b(y, min(max(v - 1, 0))) :- b(x, v), n(x, y).""",
}
"""Where best values may rest on others that were worse."""


def some(name: str, count: int, draw: random.Random) -> list[tuple[Any, ...]]:
    """Rows of a relation. Edges have weights of any sign, often none in a circle, and no circle has less than none."""
    height = [3, -1, 0, 0, 5, 2, -4, 0]
    rows = set[tuple[Any, ...]]()
    for _ in range(count):
        x, y, slack = draw.randrange(8), draw.randrange(8), draw.choice((0, 0, 0, 1, 2, 3))
        made = {
            "s": (x, slack),
            "e": (x, y, slack + height[y] - height[x]),
            "n": (x, y),
            "f": (x, y, slack / 10),
            "t": ("hgfedcba"[x], "hgfedcba"[y], slack),
        }
        rows.add(made[name])
    return sorted(rows)


def history(executor: InlineExecutor, views: tuple[Spec, ...], text: str, elastic: float, seed: int, steps: int = 9) -> Pair:
    """A program, rows, and changes of all that it reads, each step against the reference."""
    draw = random.Random(seed)
    workspace: Any = lftj.connect(executor=executor, elastic=elastic)
    pair = Pair((*BASES, *views), workspace)
    many = {"s": 3, "e": 14, "n": 7, "f": 14, "t": 14}
    pair.step(Transact(tuple(Change("insert", name, tuple(some(name, count, draw))) for name, count in many.items())))
    rules = [clause for clause in parse(text).clauses if isinstance(clause, tree.Rule)]
    pair.step(Transact(tuple(map(AddRule, rules))))
    read = [name for name in many if any(f"{name}(" in str(rule) for rule in rules)]
    for _ in range(steps):
        actions = []
        for _ in range(draw.randint(1, 2)):
            name = draw.choice(read)
            present = sorted(pair.model.relations[name])
            gone = draw.random() < 0.65 and present
            rows = draw.sample(present, min(len(present), draw.randint(1, 3))) if gone else some(name, draw.randint(1, 3), draw)
            actions.append(Change("delete" if gone else "insert", name, tuple(rows)))
        pair.step(Transact(tuple(actions)))
    return pair


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("name", PROGRAMS)
def test_oracle_histories_with_deletions(tmp_path: Path, name: str, parts: int) -> None:
    with in_rounds():
        pair = history(InlineExecutor(tmp_path, parts, 2), *PROGRAMS[name], inf, seed=len(name))
    profile = pair.workspace.profile()
    assert profile["overdeleted"].sum() > 0
    assert profile["anew"].sum() == profile["anew"].max()  # when the rules came: everything else was followed
    assert not list((tmp_path / "rows").glob("*news*"))


@pytest.mark.parametrize("name", FREE)
def test_oracle_values_that_may_rest_on_worse_ones_are_derived_anew(tmp_path: Path, name: str) -> None:
    views = (Spec("g", ("int", "float")), Spec("b", ("int", "int")))
    with in_rounds():
        pair = history(InlineExecutor(tmp_path, 3), views, FREE[name], inf, seed=3)
    profile = pair.workspace.profile()
    assert profile["overdeleted"].sum() == 0
    assert profile["given_up"].sum() > 0


@pytest.mark.parametrize("name", ["shortest paths of all pairs, some forbidden", "least labels"])
def test_oracle_workers_that_die_between_steps(tmp_path: Path, name: str) -> None:
    executor, draw = InlineExecutor(tmp_path, 3, 2), random.Random(5)
    executor.before = lambda task: executor.forget() if draw.random() < 0.2 else None
    with in_rounds():
        pair = history(executor, *PROGRAMS[name], inf, seed=12)
        assert pair.workspace.verify() == []
    assert pair.workspace.profile()["overdeleted"].sum() > 0


@pytest.mark.parametrize("elastic", [0, 0.4])
def test_oracle_some_deletions_are_given_up(tmp_path: Path, elastic: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_rounds, "ALWAYS", 0)
    with in_rounds():
        pair = history(InlineExecutor(tmp_path, 3, 2), *PROGRAMS["shortest paths of all pairs, some forbidden"], elastic, seed=4, steps=12)
    profile = pair.workspace.profile()
    followed = profile[(profile["overdeleted"] > 0) & (profile["anew"] == 0)]
    assert profile["given_up"].sum() > 0
    assert (len(followed) > 0) == (elastic > 0)


Edge = tuple[int, int, int]


def distances(edges: Iterable[Edge], start: int = 0) -> dict[int, int]:
    """The least sums of weights, none of which is negative, by another way [Dijkstra]."""
    after: dict[int, list[tuple[int, int]]] = {}
    for x, y, weight in edges:
        after.setdefault(x, []).append((y, weight))
    found, waiting = dict[int, int](), [(0, start)]
    while waiting:
        value, x = heapq.heappop(waiting)
        if x not in found:
            found[x] = value
            for y, weight in after.get(x, ()):
                heapq.heappush(waiting, (value + weight, y))
    return found


def routing(folder: Path, parts: int, edges: Iterable[Edge], **options: float) -> tuple[Any, InlineExecutor]:
    executor = InlineExecutor(folder, parts, 2)
    workspace = lftj.connect(executor=executor, **options)
    workspace.relation("s", {"x": int})
    workspace.relation("e", {"x": int, "y": int, "w": int})
    workspace.view("d", {"x": int, "v": int})
    workspace.load("s", [(0,)])
    workspace.load("e", sorted(edges))
    workspace.add_rules("d(x, min(0)) :- s(x). d(y, min(v + w)) :- d(x, v), e(x, y, w).")
    executor.tasks.clear()
    return workspace, executor


def change(workspace: Any, edges: set[Edge], gone: set[Edge], came: set[Edge] = frozenset()) -> Any:  # type: ignore[assignment]
    """Change edges, look whether all is right, and give what it took."""
    with workspace.transaction() as tx:
        tx.delete("e", sorted(gone))
        tx.insert("e", sorted(came))
    before, after = distances(edges).items(), distances((edges - gone) | came).items()
    assert set(workspace["d"].fetchall()) == set(after)
    expected = {(*row, 1) for row in after - before} | {(*row, -1) for row in before - after}
    assert sorted(row[:3] for row in tx.changes("d").fetchall()) == sorted(expected)
    return workspace.profile(last=1).iloc[0]


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_circles_without_weight_hold_nothing_up(tmp_path: Path, parts: int) -> None:
    """Nodes of such a circle are as near by one another: cut off from where that came, none may stay for that."""
    ring = {(n, n % 12 + 1, 0) for n in range(1, 13)} | {(n % 12 + 1, n, 0) for n in range(1, 13)}
    edges = ring | {(0, 1, 5), (0, 7, 8), (4, 20, 1), (20, 20, 0)}
    workspace, _ = routing(tmp_path, parts, edges)
    report = change(workspace, edges, {(0, 1, 5)})  # now by 7
    assert (report["overdeleted"], report["anew"]) == (13, 0)
    edges -= {(0, 1, 5)}
    report = change(workspace, edges, {(0, 7, 8)})  # not at all
    assert (report["overdeleted"], report["anew"]) == (13, 0)
    edges -= {(0, 7, 8)}
    report = change(workspace, edges, {(4, 20, 1)}, {(0, 9, 1)})
    assert (report["overdeleted"], report["anew"]) == (0, 0)


def grid(side: int) -> set[Edge]:
    """Streets to the east and to the south, of different lengths, and back."""
    draw, found = random.Random(7), set[Edge]()
    for x in range(side * side):
        for y in [x + 1] * (x % side < side - 1) + [x + side] * (x < side * (side - 1)):
            found |= {(x, y, draw.randint(1, 9)), (y, x, draw.randint(1, 9))}
    return found


def test_a_deletion_in_a_large_graph_is_followed(tmp_path: Path) -> None:
    edges = grid(40)
    workspace, executor = routing(tmp_path, 7, edges)
    whole = workspace.profile(last=1).iloc[0]
    near = distances(edges)
    best = sorted(edge for edge in edges if near[edge[0]] + edge[2] == near[edge[1]])
    tight = [edge for edge in best if sum(edge[1] == other[1] for other in best) == 1]  # the only way of a node, with the fewest ties
    change(workspace, edges, {tight[-3]})  # builds the key orders that are read
    edges -= {tight[-3]}
    executor.tasks.clear()
    report = change(workspace, edges, {tight[-20]})
    edges -= {tight[-20]}
    assert report["anew"] == 0
    assert 0 < report["overdeleted"] < 40
    assert report["steps"] < whole["steps"] / 50
    assert report["rows"] < 200
    moves = [task.steps[-1].move for task in executor.tasks]
    assert Move.ANEW not in moves
    assert moves.count(Move.BEGIN) == 1
    executor.tasks.clear()
    slack = next(edge for edge in sorted(edges, reverse=True) if near[edge[0]] + edge[2] > near[edge[1]])
    report = change(workspace, edges, {slack})
    assert report["overdeleted"] == 0  # nobody came by it
    assert len(executor.tasks) <= 2  # of its nodes


LABELS = """
    .decl l(x: number, k: number)
    l(x, min(x)) :- e(x, _).
    l(y, min(k)) :- l(x, k), e(x, y).
"""


def test_an_edge_of_a_component_that_is_nearly_all_concerns_who_was_reached_by_it(tmp_path: Path) -> None:
    draw, nodes = random.Random(3), 1000
    pairs = {(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(2 * nodes)}
    executor = InlineExecutor(tmp_path, 4, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", sorted(pairs | {(y, x) for x, y in pairs}))
    workspace.add_rules(LABELS)
    whole = workspace.profile(last=1).iloc[0]
    gone = draw.sample(sorted(pairs), 12)
    for x, y in gone:
        with workspace.transaction() as tx:
            tx.delete("e", [(x, y), (y, x)])
    profile = workspace.profile(last=len(gone))
    assert profile["anew"].sum() == profile["given_up"].sum() == 0
    assert 0 < profile["overdeleted"].sum() < nodes / 3
    assert profile["steps"].median() < whole["steps"] / 100
    assert workspace.verify() == []


def test_what_is_there_twice_may_go_once(tmp_path: Path) -> None:
    """A component has its label from a node that has more than one edge, and nodes theirs by edges of several days."""
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.relation("e", {"x": int, "y": int, "day": int})
    workspace.load("e", [(n, n + 1, day) for n in range(20) for day in (1, 2)] + [(0, 5, 1)])
    workspace.add_rules(LABELS.replace("e(x, y)", "e(x, y, _)").replace("e(x, _)", "e(x, _, _)"))
    with workspace.transaction() as tx:
        tx.delete("e", [(0, 1, 1), (7, 8, 2)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
    with workspace.transaction() as tx:
        tx.delete("e", [(7, 8, 1)])
        tx.insert("e", [(7, 8, 3)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
    with workspace.transaction() as tx:
        tx.delete("e", [(7, 8, 3)])
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 13
    assert set(workspace["l"]) == {(n, 0 if n < 8 else 8) for n in range(21)}
    assert workspace.verify() == []


@pytest.mark.parametrize("type", ["date", "float", "timestamp", "decimal(4,1)"])
def test_groups_of_any_type_hold_nothing_up_in_a_circle(tmp_path: Path, type: str) -> None:
    """Who took its value from whom is told of groups of each type, else any that offers as much would stand for it."""
    nodes: list[Any] = {
        "date": [datetime.date(1970, 1, day) for day in (1, 2, 3)],
        "float": [0.0, 0.5, -1.0],
        "timestamp": [datetime.datetime(1970, 1, 1, hour) for hour in range(3)],
        "decimal(4,1)": [Decimal("0.0"), Decimal("0.5"), Decimal("-1.0")],
    }[type]
    with in_rounds():
        workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 1))
        workspace.add_rules(f"""
            .decl s(x: {type})  .decl e(x: {type}, y: {type}, day: number)  .decl l(x: {type}, v: number)
            l(x, min(0)) :- s(x).
            l(y, min(v)) :- l(x, v), e(x, y, _).
        """)
        first, second, third = nodes
        workspace.load("s", [(first,)])
        workspace.load("e", [(first, second, 1), (first, second, 2), (second, third, 1), (third, second, 1)])
        with workspace.transaction() as tx:
            tx.delete("e", [(first, second, 1)])
        assert workspace.profile(last=1).iloc[0]["overdeleted"] == 0
        with workspace.transaction() as tx:
            tx.delete("e", [(first, second, 2)])
    report = workspace.profile(last=1).iloc[0]
    assert workspace["l"].fetchall() == [(first, 0)]
    assert (report["overdeleted"], report["anew"]) == (2, 0)


def test_parts_that_nothing_reaches_run_no_task(tmp_path: Path) -> None:
    """Where edges lie by both ends, those parts alone are asked for other values that border on groups without one."""
    executor = InlineExecutor(tmp_path, 64, 2)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.add_rules("""
        .decl l(x: number, k: number)
        l(x, min(x)) :- e(x, _).
        l(y, min(y)) :- e(_, y).
        l(y, min(k)) :- l(x, k), e(x, y).
        l(x, min(k)) :- l(y, k), e(x, y).
    """)
    workspace.load("e", [(1, 2), (2, 3), (3, 1), (3, 4)] + [(100 * n + m, 100 * n + m + 1) for n in range(1, 30) for m in range(9)])
    executor.tasks.clear()
    with workspace.transaction() as tx:
        tx.delete("e", [(3, 4)])
    assert sorted(row[:3] for row in tx.changes("l").fetchall()) == [(4, 1, -1)]  # nor has it one of its own
    with workspace.transaction() as tx:
        tx.delete("e", [(3, 1)])
    assert not tx.changes("l").fetchall()
    assert workspace.profile(last=1).iloc[0]["overdeleted"] == 1  # node 1 has its label by another edge
    assert {task.part for task in executor.tasks} <= {part_of(n, INT, 64) for n in range(1, 5)}
    with workspace.transaction() as tx:
        tx.delete("e", [(1, 2)])
    assert sorted(row[:3] for row in tx.changes("l").fetchall()) == [(1, 1, -1), (2, 1, -1), (2, 2, 1), (3, 1, -1), (3, 2, 1)]
    assert workspace.profile(last=3)["anew"].sum() == 0


def test_what_loses_too_much_is_derived_anew(tmp_path: Path) -> None:
    edges = {(n, n + 1, 1) for n in range(30)} | {(0, 31, 7)}
    workspace, executor = routing(tmp_path / "a", 3, edges)
    report = change(workspace, edges, {(20, 21, 1)})
    assert (report["anew"], report["given_up"], report["overdeleted"]) == (0, 0, 10)  # so few always
    workspace, executor = routing(tmp_path / "b", 3, edges, elastic=0)
    report = change(workspace, edges, {(0, 31, 7)})
    assert (report["anew"], report["given_up"]) == (1, 1)
    assert Move.RESUME not in [task.steps[-1].move for task in executor.tasks]


@pytest.mark.parametrize("move", [Move.BEGIN, Move.OVERDELETE, Move.RESUME, Move.ROUND, Move.TELL])
def test_a_commit_that_fails_in_a_step_has_not_been(tmp_path: Path, move: Move) -> None:
    edges = grid(6)
    workspace, executor = routing(tmp_path, 3, edges)
    version, gone = workspace.version, {edge for edge in edges if edge[0] in (0, 14)}

    def fail(task: Any) -> None:
        if task.steps[-1].move is move and task.part != 0:
            raise RuntimeError("a fault")

    executor.before = fail
    tx = workspace.transaction()
    tx.delete("e", sorted(gone))
    tx.insert("e", [(0, 20, 2)])
    with pytest.raises(RuntimeError, match="a fault"):
        tx.commit()
    executor.before = lambda task: None
    assert workspace.version == version
    assert set(workspace["d"].fetchall()) == set(distances(edges).items())
    report = change(workspace, edges, gone, {(0, 20, 3)})
    assert report["anew"] == 0


def test_a_path_from_before_there_were_witnesses_is_derived_anew_once(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 3)
    workspace: Any = lftj.connect(executor=executor)
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", [(n, n + 1) for n in range(30)])
    workspace.add_rules(LABELS)
    workspace.close()
    now = Manifest.load(tmp_path)
    assert now is not None
    program = {name: said for name, said in now.program.items() if name != "layout"}
    log = {name: entries for name, entries in now.log.items() if "!" not in name}
    replace(now, program=program, log=log).store(tmp_path)
    shutil.rmtree(tmp_path / "state")
    executor.forget()
    workspace = lftj.connect(executor=executor)
    assert set(workspace["l"]) == {(n, 0) for n in range(31)}
    assert workspace.verify() == []
    for gone, least in (((20, 21), 21), ((9, 10), 10)):
        with workspace.transaction() as tx:
            tx.delete("e", [gone])
        assert {row[:2] for row in tx.changes("l").fetchall() if row[2] > 0} == {(n, least) for n in range(least, 31 if least > 20 else 21)}
        assert workspace.verify() == []
    assert workspace.profile()["anew"].tolist() == [1, 0]
