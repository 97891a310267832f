from __future__ import annotations

import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import bench.maintenance
import lftj
from bench.bars import BARS
from bench.figure import Report, ResultsDiffer
from bench.files import DataPathNeeded
from bench.graphs import Edges, rmat
from bench.maintenance import bulk, flights, pathway
from bench.maintenance.edit import Edit, Edits
from bench.maintenance.graph import Graph, check
from bench.maintenance.recomputation import Recomputation, require_same_views
from bench.peers.duckdb_delta import DeltaPeer
from bench.registry import run
from lftj.demo.desk import RULES, VIEWS

NONE = np.empty((0, 2), np.int64)


def pairs(edges: Edges | list[np.ndarray]) -> set[tuple[int, int]]:
    return set(zip(edges[0].tolist(), edges[1].tolist(), strict=True))


def triangles(edges: set[tuple[int, int]]) -> Counter[int]:
    """Per first vertex, by brute force."""
    return Counter(x for x, y in edges for v, z in edges if v == y and (x, z) in edges)


def test_every_figure_has_one_part() -> None:
    assert sorted(figure for _, figures in bench.maintenance.PARTS for figure in figures) == sorted(
        BARS["maintenance"]
    )


def test_edits_change_what_they_say() -> None:
    graph = rmat(800, 8)
    edits, present = Edits(graph), pairs(graph)
    hub = Counter([*graph[0].tolist(), *graph[1].tolist()]).most_common(1)[0][0]
    at_hub = 0
    for number in range(60):
        edit = edits.of_size(1 + number % 3, number)
        assert len(edit) == 1 + number % 3
        new, gone = ({(int(x), int(y)) for x, y in rows} for rows in (edit.inserted, edit.deleted))
        assert all(x < y for x, y in new)
        assert gone <= present
        assert new.isdisjoint(present)
        present = (present - gone) | new
        at_hub += sum(hub in edge for edge in new | gone)
    assert pairs(edits.edges()) == present
    assert at_hub >= 6


def test_a_bulk_edit_replaces_half_of_the_edges() -> None:
    before, edit = bulk.half_replaced(1_000, 9)
    gone, new = ({tuple(row) for row in rows.tolist()} for rows in (edit.deleted, edit.inserted))
    assert len(gone) == len(new) == len(before[0]) // 2
    assert gone <= pairs(before)
    assert new.isdisjoint(pairs(before))


def test_ours_and_duckdb_s_views_by_hand_are_those_of_brute_force() -> None:
    graph = rmat(300, 6)
    ours, peer, edits = Graph(graph), DeltaPeer(graph), Edits(graph)
    ours.evaluate()
    for number, size in enumerate((1, 1, 1, 1, 2, 7, 40)):
        edit = edits.of_size(size, number)
        ours.commit(edit)
        peer.commit(edit.inserted, edit.deleted)
        found = triangles(pairs(edits.edges()))
        expected = {"per_vertex": sorted(found.items()), "total": [(found.total(),)]}
        assert ours.views() == peer.views() == expected
    check(ours, edits.edges())


def test_edges_that_are_not_there_are_noticed() -> None:
    graph = rmat(300, 6)
    ours = Graph(graph)
    ours.evaluate()
    ours.commit(Edit(NONE, np.array([[graph[0][0], graph[1][0]]])))
    with pytest.raises(ResultsDiffer, match="edges after the commits"):
        check(ours, graph)


def test_recomputation_sees_the_rows_of_the_maintained_workspace() -> None:
    recomputation = Recomputation(
        ".decl e(x: number)", ".decl v(x: number) v(x) :- e(x), x > 1.", ["e"]
    )
    source = lftj.connect()
    source.add_rules(".decl e(x: number) .decl v(x: number) v(x) :- e(x), x > 1.")
    source.load("e", [(1,), (2,)])
    seconds, anew = recomputation.evaluate(source)
    assert seconds >= 0
    require_same_views(["v"], "now", source, anew)
    source.load("e", [(3,)])
    with pytest.raises(ResultsDiffer, match="v now"):
        require_same_views(["v"], "now", source, anew)


def test_every_commit_of_the_stream_changes_the_triangles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pathway, "COMMITS", 20)
    pathway._write_stream(tmp_path / "stream.npz", 300, 7)
    stream = np.load(tmp_path / "stream.npz")
    edges = pairs((stream["x"], stream["y"]))
    before = triangles(edges)
    for x, y, sign in zip(
        stream["commit_x"].tolist(),
        stream["commit_y"].tolist(),
        stream["sign"].tolist(),
        strict=True,
    ):
        assert ((x, y) in edges) == (sign < 0)
        (edges.add if sign > 0 else edges.remove)((x, y))
        after = triangles(edges)
        assert after != before
        before = after


def test_the_demo_s_base_relations_are_declared_apart_from_its_rules() -> None:
    declarations, rules = flights._split(RULES.read_text(encoding="utf-8"))
    assert len(declarations.splitlines()) == len(flights.BASES)
    assert not any(
        f".decl {name}" in rules
        for name in (f"{base}{bracket}" for base in flights.BASES for bracket in "([")
    )
    workspace = lftj.connect()
    workspace.add_rules(declarations)
    workspace.add_rules(rules)
    assert set(VIEWS) < set(workspace.relations)


def test_the_stream_of_ratings_needs_to_know_where_it_is() -> None:
    with pytest.raises(DataPathNeeded, match="bitcoin_speedup needs --data"):
        run("maintenance", "s", only=["bitcoin_speedup"])


def test_the_smallest_size_fills_the_figures_that_need_no_peer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in ("edits", "state", "by_hand", "bulk"):
        monkeypatch.setattr(f"bench.maintenance.{module}.GRAPHS", {"s": (1_000, 9)})
    monkeypatch.setattr("bench.maintenance.growth.SIZES", {"s": ((500, 8), (1_000, 9))})
    monkeypatch.setattr("bench.maintenance.growth.COMMITS", 4)
    monkeypatch.setattr("bench.maintenance.edits.COMMITS", {1: 6, 10: 2, 1000: 0})
    monkeypatch.setattr("bench.maintenance.by_hand.COMMITS", {1: 4})
    monkeypatch.setattr("bench.maintenance.aggregates.SIZES", {"s": (100, 200)})
    monkeypatch.setattr("bench.maintenance.aggregates.COMMITS", 8)
    monkeypatch.setattr("bench.maintenance.series.WARM", 0)
    monkeypatch.setattr("bench.maintenance.assignments.DEGREES", {"s": (2, 4)})
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    lines = "".join(f"{k % 7},{k % 5},{k % 9 - 4},{1000 - k}.5\n" for k in range(60))
    (graphs / "bitcoin-otc.csv.xz").write_bytes(lzma.compress(lines.encode()))
    apart = {
        "pathway_time",
        "pathway_memory",
        "flights_speedup",
        "flights_speedup_orders_kept",
        "flights_week_speedup",
        "edit1000",
    }
    report: Report = run("maintenance", "s", tmp_path, sorted(set(BARS["maintenance"]) - apart))
    assert {figure.name for figure in report.figures} == set(BARS["maintenance"]) - apart
