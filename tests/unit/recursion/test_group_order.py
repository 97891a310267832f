"""Groups whose values come from one another are taken in an order in which each is taken once."""

from __future__ import annotations

import random

import networkx
import numpy as np
import pytest

import lftj
from lftj.maintenance.lattice import lattice_fixpoint
from lftj.maintenance.lattice.best_rows import BestRows
from lftj.maintenance.lattice.group_order_kernels import rank_nodes
from tests.retuning import constants
from tests.unit.recursion.best_values import CASES, DECLARATIONS, OTHERS, Edges
from tests.unit.recursion.programs import expected
from tests.unit.recursion.test_lattice_update import steps

LONGEST = """
.decl task(x: int, y: int, w: int)
.decl late(x: int, t: int)
late(x, max(0)) :- task(x, _, _), !task(_, x, _).
late(y, max(t + w)) :- late(x, t), task(x, y, w).
"""


@pytest.mark.parametrize("seed", range(6))
def test_ranks_are_lengths_of_longest_paths(seed: int):
    draw = random.Random(seed)
    nodes = draw.randrange(1, 60)
    ends = [(draw.randrange(nodes), draw.randrange(nodes)) for _ in range(draw.randrange(90))]
    edges = [(a, b) for a, b in ends if a < b or draw.random() < seed / 30]
    graph = networkx.MultiDiGraph(edges)
    graph.add_nodes_from(range(nodes))
    late = set[int]()
    for part in networkx.strongly_connected_components(graph):
        if len(part) > 1 or graph.has_edge(*2 * list(part)):
            late |= part.union(*(networkx.descendants(graph, node) for node in part))
    ranks = np.zeros(nodes, np.int64)
    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T.copy()
    assert rank_nodes(sources, targets, ranks) == nodes - len(late)
    longest = dict.fromkeys(range(nodes), 0)
    for node in networkx.topological_sort(graph.subgraph(set(range(nodes)) - late)):
        for before in graph.predecessors(node):
            longest[node] = max(longest[node], longest[before] + 1)
    last = max([longest[node] for node in range(nodes) if node not in late], default=0) + 1
    assert ranks.tolist() == [last if node in late else longest[node] for node in range(nodes)]


@pytest.mark.parametrize("deep", [False, True])
def test_longest_paths_take_each_group_about_once(deep: bool):
    """Of deep graphs few groups are found at a time, and compiled code begins."""
    draw = random.Random(4)
    nodes, ahead = 6_000, 16 if deep else 2_000
    tasks = {
        (x, min(nodes - 1, x + draw.randrange(1, ahead)), draw.randrange(1, 9))
        for x in range(nodes - 1)
        for _ in range(4)
    }
    found = dict.fromkeys(range(nodes), -1)
    for x, y, w in sorted(tasks):
        found[x] = max(found[x], 0)
        found[y] = max(found[y], found[x] + w)
    with lftj.connect() as ws:
        ws.add_rules(LONGEST)
        ws.load("task", sorted(tasks))
        assert steps(ws) < 16 * len(tasks)
        assert dict(ws["late"].fetchall()) == found
        with ws.transaction() as tx:
            tx.insert("task", [(0, 1, 100)])
        assert ws.verify() == []


TOGETHER = """
cost(x, max(w)) :- own(x, w).
best(max(c)) :- cost(_, c).
cost(x, max(min(b + w, 50))) :- best(b), own(x, w).
"""


@constants(lattice_fixpoint, _AGAIN=0, _FEW_TAKEN=-1)
@constants(BestRows, rising=property(lambda _: True, lambda *_: None))
def test_one_value_for_all_and_a_value_for_each_have_an_order_together():
    own = {(x, x % 7 + 1) for x in range(20)}
    with lftj.connect() as ws:
        ws.add_rules(DECLARATIONS + TOGETHER)
        ws.load("own", sorted(own))
        reference = expected(DECLARATIONS + TOGETHER, {"own": own})
        assert {view: set(ws[view].fetchall()) for view in reference} == reference


@constants(lattice_fixpoint, _AGAIN=0, _FEW_TAKEN=-1)
@constants(BestRows, rising=property(lambda _: True, lambda *_: None))
@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_an_order_changes_no_value(name: str):
    """With cycles or without, of one relation or of several."""
    for seed in range(3):
        draw = random.Random(seed)
        if name in CASES:
            text, reference = CASES[name]
            edges: Edges = {
                (a, b): draw.randrange(9)
                for a, b in [sorted(draw.sample(range(30), 2)) for _ in range(70)]
            } | {(draw.randrange(30), draw.randrange(30)): 3 for _ in range(seed)}
            with lftj.connect() as ws:
                ws.add_rules(text)
                if "source" in ws.relations:
                    ws.load("source", [(0,)])
                ws.load("edge", [(*edge, weight) for edge, weight in edges.items()])
                assert set(ws[name].fetchall()) == reference(edges)
            continue
        widths = {"own": 2, "both": 3, "limit": 2, "closed": 1}
        facts = {
            relation: {tuple(draw.randrange(9) for _ in range(width)) for _ in range(8 * width)}
            for relation, width in widths.items()
        }
        facts["closed"] = {(3,), (5,)}
        with lftj.connect() as ws:
            ws.add_rules(DECLARATIONS + OTHERS[name])
            for relation, rows in facts.items():
                ws.load(relation, sorted(rows))
            reference = expected(DECLARATIONS + OTHERS[name], facts)
            assert {view: set(ws[view].fetchall()) for view in reference} == reference
