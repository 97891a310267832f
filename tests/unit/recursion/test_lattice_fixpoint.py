"""Shortest and widest paths and least labels, by rules and by networkx, while edges come and go."""

from __future__ import annotations

import random

import pytest

import lftj
from tests.unit.recursion.best_values import CASES, SHORTEST, Edges


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
                new = {
                    (draw.randrange(25), draw.randrange(25)): draw.randrange(20)
                    for _ in range(draw.choice([1, 2, 12]))
                }
                new = {
                    edge: weight
                    for edge, weight in new.items()
                    if edge not in edges and edge not in gone
                }
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
    """The steps of the first deletion, which counts, and of loading; the same rows found once more
    would be as many again.
    """
    by = random.Random(5)
    edges = {
        (x, y) for x, y in ((by.randrange(3000), by.randrange(3000)) for _ in range(9000)) if x != y
    }
    as_estimated = lftj.Tuning(present_order=1.0)  # whichever key orders there are
    with lftj.connect(tuning=as_estimated) as ws:
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
        assert deletion["outcome"] == "bootstrap"
        assert deletion["steps"] < 2.8 * loading, "3.06 times as many when rows are found again"
        assert ws.verify() == []
        with ws.transaction() as tx:
            tx.delete("edge", [max(edges)])
        (later,) = ws.profile(last=1).to_dict("records")
        assert later["outcome"] == "update"


def strategies(ws: lftj.Workspace) -> list[tuple[str, int]]:
    """Strategy and kernel steps of the last commit for `dist`."""
    row = ws.profile().query("relation == 'dist'").iloc[-1]
    return [(row["outcome"], int(row["steps"]))]


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
        ws.add_rules(
            text
            + "source(0). level(5). level(2). edge(0, 1, 5). edge(1, 2, 1). edge(2, 3, 3). edge(0, "
            "4, 5)."
        )
        assert (ws["far"].fetchall(), ws["at"].fetchall()) == ([(0, 2)], [(5, 2)])
        ws.load("edge", [(0, 3, 4), (3, 1, -2)])
        assert (ws["far"].fetchall(), ws["at"].fetchall()) == ([(0, 1)], [(2, 1), (5, 1)])
        assert ws.verify() == []


def test_a_long_chain():
    with lftj.connect() as ws:
        ws.add_rules(SHORTEST)
        ws.load("source", [(0,)])
        ws.load("edge", [(i, i + 1, 1) for i in range(2000)])
        assert len(ws["dist"]) == 2001
        assert ws.query("dist(2000, d)").fetchall() == [(2000,)]
