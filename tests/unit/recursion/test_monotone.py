"""Shortest and widest paths and least labels, by rules and by networkx, while edges come and go."""

from __future__ import annotations

import os
import random
import signal
import threading
from datetime import date
from decimal import Decimal

import networkx
import pytest

import lftj
from tests.unit.recursion.programs import expected, views

SHORTEST = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl dist(x: int, d: int)
dist(y, min(0)) :- source(y).
dist(y, min(e)) :- dist(x, d), edge(x, y, w), e = d + w.
"""

WIDEST = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl wide(w: int, x: int)
wide(max(1000), y) :- source(y).
wide(max(min(c, w)), y) :- wide(c, x), edge(x, y, w).
"""

LABELS = """
.decl edge(x: int, y: int, w: int)
.decl link(x: int, y: int)
.decl label(x: int, l: int)
link(x, y) :- edge(x, y, _) ; edge(y, x, _).
label(x, min(x)) :- link(x, _).
label(y, min(l)) :- label(x, l), link(x, y).
"""

Edges = dict[tuple[int, int], int]


def shortest(edges: Edges) -> set[tuple[int, int]]:
    """(node, distance from node 0)."""
    found = networkx.single_source_dijkstra_path_length(graph(edges), 0)
    return {(node, int(distance)) for node, distance in found.items()}


def widest(edges: Edges) -> set[tuple[int, int]]:
    """(least weight on a path from node 0 where that is greatest, node): the widest path is the one along a maximum spanning arborescence,
    found here by asking each weight whether its heavier edges lead there."""
    found = {0: 1000}
    for weight in sorted(set(edges.values()), reverse=True):
        heavy = graph({edge: w for edge, w in edges.items() if w >= weight})
        for node in networkx.descendants(heavy, 0):
            found.setdefault(node, weight)
    return {(weight, node) for node, weight in found.items()}


def labels(edges: Edges) -> set[tuple[int, int]]:
    """(node, least node of its component)."""
    parts = networkx.weakly_connected_components(graph(edges))
    ends = {node for edge in edges for node in edge}
    return {(node, min(part)) for part in parts for node in part if node in ends}


def graph(edges: Edges) -> networkx.DiGraph:
    made = networkx.DiGraph()
    made.add_node(0)
    made.add_weighted_edges_from((x, y, w) for (x, y), w in edges.items())
    return made


CASES = {"dist": (SHORTEST, shortest), "wide": (WIDEST, widest), "label": (LABELS, labels)}


@pytest.mark.parametrize("view", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_views_follow_the_edges(view: str, seed: int):
    text, reference = CASES[view]
    draw = random.Random(seed)
    edges: Edges = {}
    with lftj.connect() as ws:
        ws.add_rules(text)
        if "source" in ws.relations:
            ws.load("source", [(0,)])
        for _ in range(25):
            with ws.transaction() as tx:
                gone = draw.sample(sorted(edges), min(len(edges), draw.choice([0, 0, 1, 3])))
                tx.delete("edge", [(*edge, edges.pop(edge)) for edge in gone])
                new = {(draw.randrange(25), draw.randrange(25)): draw.randrange(20) for _ in range(draw.choice([1, 2, 12]))}
                new = {edge: weight for edge, weight in new.items() if edge not in edges and edge not in gone}
                tx.insert("edge", [(*edge, weight) for edge, weight in new.items()])
                edges |= new
            assert set(ws[view].fetchall()) == reference(edges)
        assert ws.verify() == []


def test_insertions_go_on_from_the_rows_there_are():
    edges = [(i, i + 1, 2) for i in range(200)]
    with lftj.connect() as ws:
        ws.add_rules(SHORTEST)
        ws.load("source", [(0,)])
        ws.load("edge", edges)
        seen: list[tuple[str, int]] = []
        ws.load("edge", [(198, 200, 1)])
        seen += strategies(ws)
        with ws.transaction() as tx:
            tx.delete("edge", [(198, 200, 1)])
        seen += strategies(ws)
    (update, little), (bootstrap, much) = seen
    assert (update, bootstrap) == ("update", "bootstrap")
    assert 20 * little < much


def test_to_count_proofs_nothing_is_found_again_that_is_there():
    """The steps of the first deletion, which counts, and of loading; the same rows found once more would be as many again."""
    by = random.Random(5)
    edges = {(x, y) for x, y in ((by.randrange(3000), by.randrange(3000)) for _ in range(9000)) if x != y}
    with lftj.connect() as ws:
        ws.add_rules("""
            .decl edge(x: number, y: number)  .decl label(x: number, l: number)
            label(x, min(x)) :- edge(x, _).
            label(y, min(l)) :- label(x, l), edge(x, y).
        """)
        ws.load("edge", edges | {(y, x) for x, y in edges})
        loading = int(ws.profile(last=1)["steps"].sum())
        x, y = min(edges)
        with ws.transaction() as tx:
            tx.delete("edge", [(x, y), (y, x)])
        (deletion,) = ws.profile(last=1).to_dict("records")
        assert deletion["strategy"] == "bootstrap"
        assert deletion["steps"] < 2.8 * loading, "3.06 times as many when rows are found again"
        assert ws.verify() == []
        with ws.transaction() as tx:
            tx.delete("edge", [max(edges)])
        (later,) = ws.profile(last=1).to_dict("records")
        assert later["strategy"] == "update"


def strategies(ws: lftj.Workspace) -> list[tuple[str, int]]:
    """How `dist` was brought up to date by the last commit, and its kernel steps."""
    row = ws.profile().query("relation == 'dist'").iloc[-1]
    return [(row["strategy"], int(row["steps"]))]


def test_rules_come_and_go():
    with lftj.connect() as ws:
        ws.add_rules(SHORTEST + "edge(0, 1, 5). edge(1, 2, 1). source(0).")
        rule = ws.add_rule("dist(y, min(d)) :- dist(x, d), edge(y, x, _).")
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 5), (2, 6)}
        ws.load("edge", [(7, 2, 1)])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 5), (2, 6), (7, 6)}
        ws.remove_rule(rule)
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 5), (2, 6)}
        assert ws.verify() == []


def test_a_relation_enters_its_cycle_and_leaves_it():
    with lftj.connect() as ws:
        ws.add_rules("""
            .decl edge(x: int, y: int, w: int)
            .decl own(x: int, d: int)
            .decl dist(x: int, d: int)
            dist(x, min(d)) :- own(x, d).
            own(0, 7). own(0, 4). own(2, 9). edge(0, 1, 1). edge(1, 2, 1).""")
        first = {(0, 4), (2, 9)}
        assert set(ws["dist"].fetchall()) == first
        side = ws.add_rule("dist(y, min(w)) :- edge(_, y, w).")
        assert set(ws["dist"].fetchall()) == {(0, 4), (1, 1), (2, 1)}
        ws.remove_rule(side)
        assert set(ws["dist"].fetchall()) == first
        step = ws.add_rule("dist(y, min(d + w)) :- dist(x, d), edge(x, y, w).")
        assert set(ws["dist"].fetchall()) == {(0, 4), (1, 5), (2, 6)}
        ws.load("own", [(0, 1)])
        assert set(ws["dist"].fetchall()) == {(0, 1), (1, 2), (2, 3)}
        ws.remove_rule(step)
        ws.load("own", [(2, 3)])
        assert set(ws["dist"].fetchall()) == {(0, 1), (2, 3)}
        assert ws.verify() == []


def test_what_reads_a_finished_relation_may_do_anything_with_its_values():
    text = (
        SHORTEST
        + """
        .decl far(x: int, n: int)
        .decl level(d: int)
        .decl at(d: int, n: int)
        far(x, n) :- source(x), n = count : { dist(_, d), d > 3, !level(d) }.
        at(d, count()) :- dist(x, d), level(d), d != x.
    """
    )
    with lftj.connect() as ws:
        ws.add_rules(text + "source(0). level(5). level(2). edge(0, 1, 5). edge(1, 2, 1). edge(2, 3, 3). edge(0, 4, 5).")
        assert (ws["far"].fetchall(), ws["at"].fetchall()) == ([(0, 2)], [(5, 2)])
        ws.load("edge", [(0, 3, 4), (3, 1, -2)])
        assert (ws["far"].fetchall(), ws["at"].fetchall()) == ([(0, 1)], [(2, 1), (5, 1)])
        assert ws.verify() == []


@pytest.mark.parametrize(
    ("type", "values"),
    [
        ("float", [0.5, -0.25, 3.0]),
        ("decimal(10,2)", [Decimal("1.50"), Decimal("-0.25"), Decimal(7)]),
        ("date", [date(2024, 3, 1), date(1969, 12, 31), date(2024, 2, 29)]),
        ("str", ["zebra", "apple", "mango"]),
    ],
)
def test_values_of_other_types(type: str, values: list[object]):
    text = f"""
    .decl edge(x: int, y: int)
    .decl own(x: int, v: {type})
    .decl least(x: int, v: {type})
    .decl most(v: {type}, x: int)
    least(x, min(v)) :- own(x, v).
    least(y, min(v)) :- least(x, v), edge(x, y).
    most(max(v), x) :- own(x, v).
    most(max(v), y) :- most(v, x), edge(x, y).
    """
    facts = {"edge": [(0, 1), (1, 2), (2, 0), (2, 3), (4, 3)], "own": [(0, values[0]), (2, values[1]), (4, values[2]), (3, values[0])]}
    found = views(text, facts)
    assert found == expected(text, facts)
    assert (1, min(values[:2])) in found["least"]  # type: ignore[type-var]
    assert (max(values), 3) in found["most"]  # type: ignore[type-var]


OTHERS = {
    "a body with the relation twice": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c + d)) :- cost(x, c), cost(y, d), both(x, y, z).""",
    "through another relation of the cycle": """
        cost(x, min(w)) :- own(x, w), !closed(x).
        cost(z, min(c + 1)) :- open(x), cost(x, c), both(x, _, z).
        open(x) :- cost(x, d), d < 9.""",
    "through a relation that has rows of its own": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c + 1)) :- closed(x), cost(x, c), both(x, _, z).
        closed(x) :- cost(x, d), both(_, x, _), d < 4.""",
    "values that stop being good enough": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(2 * c + 1)) :- cost(x, c), both(x, y, z), limit(y, l), c <= l - 1.""",
    "one value for all": """
        best(min(w)) :- own(_, w).
        best(min(max(b / 2, 1))) :- best(b), own(_, w), b < w.
        cost(x, b) :- best(b), own(x, _).""",
    "branches of one rule": """
        cost(x, min(c)) :- ( own(x, c) ; cost(y, d), c = d + 1, ( both(x, y, _) ; both(x, _, y) ) ), !closed(x).""",
    "two relations in turn": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c)) :- back(c, z).
        back(min(c + w), y) :- cost(x, c), both(x, y, w).""",
    "the other way by subtraction": """
        cost(x, min(w)) :- own(x, w).
        back(max(100 - c), z) :- cost(x, c), both(x, z, _).
        cost(z, min(100 - c)) :- back(c, x), both(x, _, z).""",
    "several rules that are no cycle": """
        cost(x, min(w)) :- own(x, w).
        cost(x, min(l)) :- limit(x, l).
        open(x) :- cost(x, c), c > 3, !closed(x).""",
}
DECLARATIONS = """
.decl own(x: int, w: int)
.decl both(x: int, y: int, z: int)
.decl limit(x: int, l: int)
.decl closed(x: int)
.decl cost(x: int, c: int)
.decl back(c: int, x: int)
.decl open(x: int)
.decl best(b: int)
"""


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("seed", range(4))
def test_other_cycles_follow_their_facts(name: str, seed: int):
    text = DECLARATIONS + OTHERS[name]
    draw = random.Random(seed)
    widths = {"own": 2, "both": 3, "limit": 2, "closed": 1}
    facts: dict[str, set[tuple[int, ...]]] = {relation: set() for relation in widths}
    with lftj.connect() as ws:
        ws.add_rules(text)
        for step in range(8):
            with ws.transaction() as tx:
                for relation, width in widths.items():
                    gone = set(draw.sample(sorted(facts[relation]), len(facts[relation]) // 4)) if step % 3 == 2 else set()
                    new = {tuple(draw.randrange(8) for _ in range(width)) for _ in range(draw.randrange(5))} - facts[relation]
                    tx.delete(relation, sorted(gone))
                    tx.insert(relation, sorted(new))
                    facts[relation] = (facts[relation] - gone) | new
            reference = expected(text, facts)
            assert {view: set(ws[view].fetchall()) for view in reference} == reference
        assert ws.verify() == []


def test_a_value_per_group_of_a_function():
    text = """
    .decl edge(x: int, y: int, w: int)
    .decl far[x: int, y: int]: int
    far[x, y] = min(w) :- edge(x, y, w).
    far[x, z] = min(d + w) :- far[x, y] = d, edge(y, z, w).
    """
    draw = random.Random(1)
    edges = {(draw.randrange(12), draw.randrange(12)): draw.randrange(9) for _ in range(30)}
    found = views(text, {"edge": [(*edge, weight) for edge, weight in edges.items()]})["far"]
    assert found == expected(text, {"edge": [(*edge, weight) for edge, weight in edges.items()]})["far"]


def test_a_long_chain():
    with lftj.connect() as ws:
        ws.add_rules(SHORTEST)
        ws.load("source", [(0,)])
        ws.load("edge", [(i, i + 1, 1) for i in range(2000)])
        assert len(ws["dist"]) == 2001
        assert ws.query("dist(2000, d)").fetchall() == [(2000,)]


def test_an_interrupt_inside_a_fixpoint_leaves_everything_as_it_was():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        with lftj.connect() as ws:
            ws.add_rules(SHORTEST + "source(0). edge(0, 1, 1).")
            timer.start()
            with pytest.raises(KeyboardInterrupt), ws.limits(seconds=60):
                ws.load("edge", [(1, 0, -2)])
            assert (set(ws["dist"].fetchall()), len(ws["edge"])) == ({(0, 0), (1, 1)}, 1)
            ws.load("edge", [(1, 2, 3)])
            assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1), (2, 4)}
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_a_value_that_improves_for_ever_meets_a_limit():
    with lftj.connect() as ws:
        ws.add_rules(SHORTEST + "source(0). edge(0, 1, 1).")
        with ws.limits(work=2000), pytest.raises(lftj.LimitError, match="work limit"):
            ws.load("edge", [(1, 0, -2)])
        with ws.limits(seconds=0.1), pytest.raises(lftj.LimitError, match="time limit"):
            ws.load("edge", [(1, 0, -2)])
        with pytest.raises(lftj.ValueRangeError, match="out of range"):
            ws.load("edge", [(1, 0, -(2**62))])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1)}
        ws.load("edge", [(1, 2, 1)])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 1), (2, 2)}
