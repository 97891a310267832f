"""Proofs are of smallest height: compared with lengths of paths, which tell heights directly."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable

import networkx
import pytest

import lftj
from lftj.explain.present.proof_search import Heights, Node
from tests.unit.explain.proven import PROGRAMS, history

_E = ".decl e(x: number, y: number) .decl r(x: number, y: number) r(x, y) :- e(x, y). "
LINEAR = _E + "r(x, z) :- r(x, y), e(y, z)."
DOUBLING = _E + "r(x, z) :- r(x, y), r(y, z)."
VIEWS = LINEAR + ".decl v(x: number) v(x) :- r(x, x). v(y) :- v(x), e(x, y)."
HEIGHTS: dict[str, Callable[[int], int]] = {
    LINEAR: lambda length: length,
    DOUBLING: lambda length: 1 + (length - 1).bit_length(),
}


def lengths(edges: set[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The length of the shortest path of an edge or more between each two nodes that have one."""
    graph = networkx.DiGraph(list(edges))
    found: dict[tuple[int, int], int] = {}
    for start in graph:
        for first in graph.successors(start):
            for end, length in networkx.single_source_shortest_path_length(graph, first).items():
                found[start, end] = min(found.get((start, end), length + 1), length + 1)
    return found


@pytest.mark.parametrize("program", HEIGHTS)
@pytest.mark.parametrize("counted", [False, True])
def test_heights_are_smallest_after_every_commit(program: str, counted: bool) -> None:
    chosen = random.Random(1)
    workspace = lftj.connect()
    workspace.add_rules(program)
    edges: set[tuple[int, int]] = set()
    for _ in range(6):
        new = {(chosen.randrange(12), chosen.randrange(12)) for _ in range(8)}
        gone = {edge for edge in sorted(edges) if chosen.random() < (0.6 if counted else 0.2)}
        with workspace.transaction() as tx:
            tx.delete("e", list(gone))
            tx.insert("e", list(new))
        edges = edges - gone | new
        expected = {row: HEIGHTS[program](length) for row, length in lengths(edges).items()}
        found = {row: workspace.explain("r", row) for row in workspace["r"]}
        assert {row: proof.height for row, proof in found.items()} == expected
        assert all(proof.smallest for proof in found.values())


def test_heights_go_through_all_strata() -> None:
    workspace = lftj.connect()
    workspace.add_rules(VIEWS)
    ring = [(place, (place + 1) % 6) for place in range(6)]
    workspace.load("e", [*ring, (2, 7), (7, 8)])
    assert workspace.explain("v", (0,)).height == 7
    assert workspace.explain("v", (7,)).height == 8
    assert workspace.explain("v", (8,)).height == 9


def test_a_bounded_search_says_that_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = lftj.connect()
    workspace.add_rules(DOUBLING)
    path = [(place, place + 1) for place in range(40)]
    workspace.load("e", path)
    monkeypatch.setattr(Heights.__init__, "__defaults__", (50, None))
    proof = workspace.explain("r", (0, 40))
    assert not proof.smallest
    assert proof.height >= 7
    lftj.check_proof(proof, {"e": path})


@pytest.mark.parametrize("name", ["doubling", "mutual", "inner bodies", "branches"])
@pytest.mark.parametrize("bound", [0, 3, 20])
def test_a_bounded_search_finds_proofs_that_are_right(
    name: str, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Heights.__init__, "__defaults__", (bound, None))
    for seed in range(3):
        for workspace, facts in history(name, seed):
            checker = lftj.ProofChecker(PROGRAMS[name], facts)
            for view in workspace.relations:
                for row in workspace[view].fetchall()[:20]:
                    checker.check(workspace.explain(view, row))
                    for proof in workspace.explain(view, row, proofs=3):
                        checker.check(proof)


def test_a_search_leaves_no_garbage() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DOUBLING)
    workspace.load("e", [(place, (place + 1) % 8) for place in range(8)])
    workspace.explain("r", (0, 0))
    gc.collect()
    before = len(gc.get_objects())
    gc.disable()
    try:
        for _ in range(5):
            workspace.explain("r", (0, 0))
        left = sum(type(each) is Node for each in gc.get_objects())
        assert (left, len(gc.get_objects()) - before < 500) == (0, True)
    finally:
        gc.enable()
