from __future__ import annotations

import numpy as np
import pytest

from bench.graphs import Edges, random_forest, random_graph, rmat, skewed
from bench.peers.duckdb import FOUR_CLIQUES, FOUR_CLIQUES_BY_HAND, FOUR_CYCLES, TRIANGLES, Peer


def _pairs(edges: Edges) -> list[tuple[int, int]]:
    return list(zip(edges[0].tolist(), edges[1].tolist(), strict=True))


@pytest.mark.parametrize(
    "edges",
    [rmat(2_000, 9), random_graph(60, 0.1), random_forest(600, 100), skewed(40)],
    ids=["rmat", "random", "forest", "skewed"],
)
def test_edges_are_sorted_distinct_loopless_int64(edges: Edges) -> None:
    pairs = _pairs(edges)
    assert pairs == sorted(set(pairs))
    assert all(x != y for x, y in pairs)
    assert edges[0].dtype == edges[1].dtype == np.int64


def test_rmat_is_oriented_and_the_same_every_time() -> None:
    x, y = rmat(1_000, 10)
    assert len(x) == 1_000
    assert (x < y).all()
    assert all(map(np.array_equal, rmat(1_000, 10), (x, y)))


def test_the_graph_of_the_triangle_figure_is_still_the_one_the_bar_was_set_on() -> None:
    pairs = _pairs(rmat(1_000, 10))
    above: dict[int, set[int]] = {}
    for x, y in pairs:
        above.setdefault(x, set()).add(y)
    triangles = sum(len(above[x] & above.get(y, set())) for x, y in pairs)
    assert triangles == Peer(rmat(1_000, 10)).count(TRIANGLES) == 437


def test_random_graph_has_about_the_edges_its_probability_promises() -> None:
    assert 9_500 < len(random_graph(1_000, 0.01)[0]) < 10_500


def test_forest_gives_every_node_one_parent_and_has_no_cycle() -> None:
    edges = random_forest(1_200, 300)
    parent = {child: node for node, child in _pairs(edges)}
    assert len(parent) == len(edges[0]) == 1_200
    roots = set(edges[0].tolist()) - set(parent)
    assert len(roots) == 4
    for node in parent:
        steps = 0
        while node in parent:
            node, steps = parent[node], steps + 1
            assert steps <= 300


def test_skewed_graph_is_the_one_described() -> None:
    assert _pairs(skewed(2)) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 3)]
    assert Peer(skewed(50)).count(TRIANGLES) == 3 * 50 - 3


def test_the_peer_s_patterns_count_what_they_say() -> None:
    complete = [(x, y) for x in range(6) for y in range(x + 1, 6)]
    peer = Peer(list(np.array(complete, np.int64).T))
    assert [
        peer.count(query) for query in (TRIANGLES, FOUR_CYCLES, FOUR_CLIQUES, FOUR_CLIQUES_BY_HAND)
    ] == [20, 15, 15, 15]


def test_the_peer_s_closure_is_a_closure() -> None:
    peer = Peer(list(np.array([(1, 2), (2, 3), (3, 1), (4, 1)], np.int64).T))
    assert peer.closure() == 12
    assert [column.tolist() for column in peer.rows("path")] == [
        [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3,
        [1, 2, 3] * 4,
    ]
