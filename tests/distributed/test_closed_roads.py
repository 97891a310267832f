"""Shortest paths in rounds after roads were closed: what it takes, and that no circle holds itself
up.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.partitioning.steps import Move
from tests.distributed.inline import InlineExecutor

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


def routing(
    folder: Path, parts: int, edges: Iterable[Edge], **options: float
) -> tuple[Any, InlineExecutor]:
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
    """Nodes of such a circle are as near by one another: cut off from where that came, none may
    stay for that.
    """
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
    edges = grid(28)
    workspace, executor = routing(tmp_path, 7, edges)
    whole = workspace.profile(last=1).iloc[0]
    near = distances(edges)
    best = sorted(edge for edge in edges if near[edge[0]] + edge[2] == near[edge[1]])
    tight = [
        edge for edge in best if sum(edge[1] == other[1] for other in best) == 1
    ]  # the only way of a node, with the fewest ties
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
    slack = next(
        edge for edge in sorted(edges, reverse=True) if near[edge[0]] + edge[2] > near[edge[1]]
    )
    report = change(workspace, edges, {slack})
    assert report["overdeleted"] == 0  # nobody came by it
    assert len(executor.tasks) <= 2  # of its nodes


def test_what_loses_too_much_is_derived_anew(tmp_path: Path) -> None:
    edges = {(n, n + 1, 1) for n in range(30)} | {(0, 31, 7)}
    workspace, executor = routing(tmp_path / "a", 3, edges)
    report = change(workspace, edges, {(20, 21, 1)})
    assert (report["anew"], report["given_up"], report["overdeleted"]) == (
        0,
        0,
        10,
    )  # so few always
    workspace, executor = routing(tmp_path / "b", 3, edges, elastic=0)
    report = change(workspace, edges, {(0, 31, 7)})
    assert (report["anew"], report["given_up"]) == (1, 1)
    assert Move.RESUME not in [task.steps[-1].move for task in executor.tasks]


@pytest.mark.parametrize(
    "move", [Move.BEGIN, Move.OVERDELETE, Move.RESUME, Move.SUPERSTEP, Move.TELL]
)
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
