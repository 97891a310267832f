"""Deletions under `min` and `max` in a cycle: followed at the cost of what they touch, to the state
that evaluation from nothing gives.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import pytest

import lftj
from lftj.join.plan import cardinality
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from tests.retuning import retuned
from tests.unit.recursion.best_values import (
    CASES,
    DECLARATIONS,
    LABELS,
    OTHERS,
    SHORTEST,
    Edges,
    shortest,
)
from tests.unit.recursion.stratum import check, rows_of, states
from tests.unit.workspace.reading import everything

Row = tuple[int, ...]


def change(
    ws: lftj.Workspace,
    inserted: Iterable[Row] = (),
    deleted: Iterable[Row] = (),
    relation: str = "edge",
) -> str:
    """One commit; how the stratum with the aggregate was brought up to date."""
    with ws.transaction() as tx:
        tx.delete(relation, list(deleted))
        tx.insert(relation, list(inserted))
    return strategy(ws)


def strategy(ws: lftj.Workspace) -> str:
    """The strategy of the last recursive stratum of the last commit; "" if none was affected."""
    work = ws.profile(last=1)
    taken = [
        strategy for strategy, rule in zip(work["outcome"], work["rule"], strict=True) if not rule
    ]
    return taken[-1] if taken else ""


def steps(ws: lftj.Workspace) -> int:
    """Kernel steps of the last commit."""
    return int(ws.profile(last=1)["steps"].sum())


def counted(text: str, edges: Iterable[Row], **options: Any) -> lftj.Workspace:
    """A workspace with these edges, and node 0 as source, whose proofs are counted."""
    ws = lftj.connect(**options)
    ws.add_rules(text)
    extra = (-1, -2, 1)
    if "source" in ws.relations:
        ws.load("source", [(0,)])
        extra = (0, -2, 1)  # what meets no row is not looked at
    ws.load("edge", [*edges, extra])
    assert change(ws, deleted=[extra]) in ("bootstrap", "update")
    assert check(ws) == 1
    return ws


def drawn(draw: random.Random, nodes: int, many: int, weights: int) -> Edges:
    return {
        (draw.randrange(nodes), draw.randrange(nodes)): draw.randrange(weights) for _ in range(many)
    }


@pytest.mark.parametrize("view", CASES)
@pytest.mark.parametrize(
    ("nodes", "start", "weights"), [(25, 30, 20), (12, 40, 1), (12, 30, 3), (40, 30, 4)]
)
def test_oracle_histories_by_networkx(view: str, nodes: int, start: int, weights: int):
    text, reference = CASES[view]
    draw = random.Random(nodes + weights)
    edges = drawn(draw, nodes, start, weights)
    seen: set[str] = set()
    with counted(text, [(*edge, weight) for edge, weight in edges.items()]) as ws:
        for _ in range(30):
            gone = draw.sample(sorted(edges), min(len(edges), draw.choice([0, 1, 1, 1, 3, 8])))
            lost = [(*edge, edges.pop(edge)) for edge in gone]
            new = drawn(draw, nodes, draw.choice([0, 1, 1, 2, 9]), weights)
            new = {
                edge: weight
                for edge, weight in new.items()
                if edge not in edges and edge not in gone
            }
            edges |= new
            seen.add(change(ws, [(*edge, weight) for edge, weight in new.items()], lost))
            assert set(ws[view].fetchall()) == reference(edges)
            assert check(ws) == 1
        assert ws.verify() == []
    assert seen <= {"update", ""}


@pytest.mark.parametrize("name", OTHERS)
def test_other_cycles_keep_states_that_equal_a_bootstrap(name: str):
    draw = random.Random(7)
    widths = {"own": 2, "both": 3, "limit": 2, "closed": 1}
    facts: dict[str, set[Row]] = {relation: set() for relation in widths}
    with lftj.connect(elastic=math.inf) as ws:
        ws.add_rules(DECLARATIONS + OTHERS[name])
        for _ in range(12):
            with ws.transaction() as tx:
                for relation, width in widths.items():
                    gone = set(draw.sample(sorted(facts[relation]), len(facts[relation]) // 3))
                    new = {
                        tuple(draw.randrange(8) for _ in range(width))
                        for _ in range(draw.randrange(5))
                    } - facts[relation]
                    tx.delete(relation, sorted(gone))
                    tx.insert(relation, sorted(new))
                    facts[relation] = (facts[relation] - gone) | new
            check(ws)
            assert ws.verify() == []


def test_a_cycle_of_weight_zero_that_is_cut_off_falls():
    ring = [(1, 2, 0), (2, 3, 0), (3, 1, 0), (3, 4, 1), (4, 2, 0)]
    with counted(SHORTEST, [(0, 1, 5), (0, 4, 9), *ring]) as ws:
        assert change(ws, deleted=[(0, 1, 5)]) == "update"
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 9), (2, 9), (3, 9), (4, 9)}
        assert change(ws, deleted=[(0, 4, 9)]) == "update"
        assert ws["dist"].fetchall() == [(0, 0)]
        assert check(ws) == 1


def test_a_value_that_came_to_rest_on_itself_falls():
    text = """
    .decl edge(x: int, y: int, w: int)
    .decl best(x: int, b: int)
    best(x, min(w)) :- edge(x, _, w).
    best(x, min(max(b - 1, 0))) :- best(y, b), edge(x, y, _).
    """
    with lftj.connect(elastic=math.inf) as ws:
        ws.add_rules(text)
        ws.load("edge", [(1, 1, 5), (2, 3, 8), (7, 8, 3)])
        assert set(ws["best"].fetchall()) == {(1, 0), (2, 8), (7, 3)}
        assert change(ws, deleted=[(7, 8, 3)]) == "bootstrap"
        assert states(ws) == []  # (1, 0) is derived from (1, 0) alone
        assert change(ws, deleted=[(1, 1, 5)]) == "bootstrap"
        assert ws["best"].fetchall() == [(2, 8)]
        assert change(ws, [(7, 8, 3)]) == "update"
        assert change(ws, deleted=[(7, 8, 3)]) == "bootstrap"
        assert check(ws) == 1  # no row rests on itself any more
        assert change(ws, [(1, 1, 5)]) == "update"
        assert (set(ws["best"].fetchall()), states(ws)) == ({(1, 0), (2, 8)}, [])
        assert change(ws, deleted=[(1, 1, 5)]) == "bootstrap"
        assert ws["best"].fetchall() == [(2, 8)]


def test_iterations_and_proofs_are_those_of_the_finished_rows():
    with counted(
        SHORTEST, [(0, 1, 2), (0, 2, 1), (2, 1, 1), (1, 3, 1), (2, 3, 2), (0, 3, 7)]
    ) as ws:
        assert rows_of(states(ws)[0])["dist"] == {
            (0, 0): (0, 1),
            (1, 2): (1, 1),
            (2, 1): (1, 1),
            (3, 3): (2, 2),
        }
        change(ws, deleted=[(0, 1, 2)])
        assert rows_of(states(ws)[0])["dist"] == {
            (0, 0): (0, 1),
            (1, 2): (2, 1),
            (2, 1): (1, 1),
            (3, 3): (2, 1),
        }


def graph(nodes: int, many: int) -> list[Row]:
    draw = random.Random(1)
    edges = {
        (draw.randrange(nodes), draw.randrange(nodes)): draw.randrange(1, 100) for _ in range(many)
    }
    return [(x, y, weight) for (x, y), weight in edges.items() if x != y]


@pytest.mark.parametrize("view", ["dist", "label"])
def test_an_edge_at_the_rim_takes_few_steps(view: str):
    rim = [(5, 100_001, 3), (100_001, 100_002, 3), (7, 100_001, 200)]
    with counted(CASES[view][0], [*graph(20_000, 100_000), *rim]) as ws:
        assert change(ws, [(8, 100_003, 1)]) == "update"
        for edge in rim[:2]:
            assert change(ws, deleted=[edge]) == "update"
            assert steps(ws) < 300
            assert change(ws, [edge]) == "update"
            assert steps(ws) < 300
        assert len(states(ws)) == 1
        assert ws.verify() == []


def test_an_edge_that_no_least_label_rests_on_moves_nothing():
    ring = [(i, i + 1, 0) for i in range(3000)] + [(3000, 0, 0)]
    with counted(LABELS, ring) as ws:
        assert change(ws, deleted=[(1500, 1501, 0)]) == "update"
        assert steps(ws) < 300
        assert {label for _, label in ws["label"].fetchall()} == {0}
        ws._backend.fraction = 20  # half of all rows move
        assert change(ws, deleted=[(2990, 2991, 0)]) == "update"
        assert set(ws["label"].fetchall()) == {
            (x, 1501 if 1501 <= x <= 2990 else 0) for x in range(3001)
        }
        assert check(ws) == 1


def test_an_update_that_costs_too_much_is_given_up_without_a_trace():
    chain = [(i, i + 1, 1) for i in range(300)]
    detour = [(0, 500, 1), (500, 1, 1)]
    with (
        counted(SHORTEST, [*chain, *detour]) as ws,
        retuned(ws, elastic_steps=1000, elastic_forecast=1 << 60),
    ):
        ws._backend.fraction = 1e-9
        assert change(ws, deleted=[(0, 1, 1)]) == "fallback"
        edges = {(x, y): w for x, y, w in (*chain[1:], *detour)}
        assert set(ws["dist"].fetchall()) == shortest(edges)
        assert ws.verify() == []
        ws._backend.fraction = 20
        assert change(ws, [(0, 1, 1)]) == "update"
        assert set(ws["dist"].fetchall()) == shortest(edges | {(0, 1): 1})


def test_an_update_that_is_expected_to_cost_too_much_is_not_started():
    edges = graph(50, 200)
    with counted(SHORTEST, edges) as ws, retuned(ws, elastic_steps=1_000):
        assert change(ws, deleted=edges[::2]) == "forecast"
        assert set(ws["dist"].fetchall()) == shortest({(x, y): w for x, y, w in edges[1::2]})
        assert change(ws, edges[::2]) == "update"  # there is no state: it goes on from the rows
        assert (states(ws), ws.verify()) == ([], [])


def test_a_limit_inside_an_update_leaves_rows_and_state():
    chain = [(i, i + 1, 1) for i in range(2000)]
    with counted(SHORTEST, [*chain, (0, 5000, 1), (5000, 1, 1)]) as ws:
        before, kept = everything(ws), states(ws)
        ws._backend.fraction = 20  # all rows move
        for work in (200, 4000, 20_000):
            with ws.limits(work=work), pytest.raises(lftj.LimitError):
                change(ws, deleted=[(0, 1, 1)])
            assert everything(ws) == before
            assert states(ws) == kept
        assert change(ws, deleted=[(0, 1, 1)]) == "update"
        assert ws.query("dist(2000, d)").fetchall() == [(2001,)]
        assert check(ws) == 1


def test_a_failure_inside_an_update_is_that_of_an_evaluation_from_nothing():
    most = 2**63 - 1
    with counted(SHORTEST, [(0, 1, 1), (1, 2, 5), (3, 1, 1)]) as ws:
        assert change(ws, [(0, 1, most - 2)]) == "update"
        kept = states(ws)
        with pytest.raises(lftj.ValueRangeError):
            change(ws, deleted=[(0, 1, 1)])
        assert (set(ws["dist"].fetchall()), states(ws)) == ({(0, 0), (1, 1), (2, 6)}, kept)
        assert change(ws, [(0, 1, 3)], [(0, 1, 1), (1, 2, 5)]) == "update"
        assert (set(ws["dist"].fetchall()), check(ws)) == ({(0, 0), (1, 3)}, 1)


def test_rules_that_come_and_go_are_followed():
    with counted(
        SHORTEST + ".decl lift(x: int, y: int) lift(3, 9). lift(0, 3).", graph(60, 150)
    ) as ws:
        rule = ws.add_rule("dist(y, min(d + 1)) :- dist(x, d), lift(x, y).")
        assert (strategy(ws), check(ws)) == ("update", 1)
        before = rows_of(states(ws)[0])
        other = ws.add_rule("dist(y, min(d)) :- dist(x, d), lift(y, x), !source(x).")
        assert (strategy(ws), check(ws)) == ("update", 1)
        ws.remove_rule(other)
        assert rows_of(states(ws)[0]) == before
        ws.remove_rule(rule)
        assert (strategy(ws), check(ws)) == ("update", 1)
        assert ws.verify() == []


def test_a_relation_stops_aggregating_in_its_cycle():
    with counted(SHORTEST, [(0, 1, 2), (1, 2, 3), (0, 2, 9)]) as ws:
        rules = [row for row in ws.rules if "dist" in str(row)]
        with ws.transaction() as tx:
            for rule in rules:
                tx.remove_rule(rule)
            tx.add_rule("dist(y, 0) :- source(y).")
            tx.add_rule("dist(y, d) :- dist(x, d), edge(x, y, _).")
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 0), (2, 0)}
        change(ws, deleted=[(0, 2, 9)])
        change(ws, deleted=[(1, 2, 3)])
        assert set(ws["dist"].fetchall()) == {(0, 0), (1, 0)}
        assert ws.verify() == []


def test_without_states_deletions_begin_anew():
    with lftj.connect(elastic=0) as ws:
        ws.add_rules(SHORTEST)
        ws.load("source", [(0,)])
        ws.load("edge", [(0, 1, 2), (1, 2, 3)])
        assert change(ws, [(2, 3, 1)]) == "update"
        assert change(ws, deleted=[(1, 2, 3)]) == "bootstrap"
        assert change(ws, deleted=[(2, 3, 1)]) == ""
        assert (set(ws["dist"].fetchall()), states(ws)) == ({(0, 0), (1, 2)}, [])


LEVELS = """
.decl east(x: int, toll: int)  .decl north(y: int, toll: int)  .decl toll(x: int, y: int, sum: int)
toll(0, 0, min(0)) :- east(_, _), north(_, _).
toll(x + 1, y, min(s + t)) :- toll(x, y, s), east(x + 1, t).
toll(x, y + 1, min(s + t)) :- toll(x, y, s), north(y + 1, t).
toll(x + 1, y + 1, min(s)) :- toll(x, y, s), east(v, t), north(w, t), v = x + 1, w = y + 1.
"""


def test_what_is_sampled_under_one_name_always_has_the_same_columns(
    monkeypatch: pytest.MonkeyPatch,
):
    arities: dict[str, set[int]] = {}
    sampled = cardinality.estimate

    def noted(relation: RelationVersion, tuning: lftj.Tuning) -> cardinality.RelationStatistics:
        name = relation.schema.name + "#loose" * isinstance(relation, TransientRelation)
        arities.setdefault(name, set()).add(relation.schema.arity)
        return sampled(relation, tuning)

    monkeypatch.setattr(cardinality, "estimate", noted)
    draw = random.Random(8)
    ws = lftj.connect(elastic=math.inf)
    ws.add_rules(LEVELS)
    streets = [
        (name, (place, draw.randrange(1, 4))) for name in ("east", "north") for place in range(1, 9)
    ]
    for name, row in streets:
        ws.load(name, [row])
    for name, row in draw.choices(streets, k=30):
        change(ws, deleted=[row], relation=name)
        check(ws)
        change(ws, inserted=[row], relation=name)
    assert "toll#lost#loose" in arities
    assert {name: found for name, found in arities.items() if len(found) > 1} == {}


def two_halves() -> tuple[list[Row], Row]:
    """Two random graphs, and the edge between them."""
    draw = random.Random(3)
    pairs = [(draw.randrange(200), draw.randrange(200)) for _ in range(700)]
    edges = sorted({(x + half, y + half, 1) for x, y in pairs for half in (0, 1000)})
    return edges, (0, 1000, 1)


@pytest.mark.parametrize("text", [LABELS, SHORTEST], ids=["labels", "shortest"])
def test_what_was_given_up_is_not_tried_at_once_again(text: str):
    edges, bridge = two_halves()
    with lftj.connect(elastic=0) as anew:
        anew.add_rules(text)
        if "source" in anew.relations:
            anew.load("source", [(0,)])
        anew.load("edge", [*edges, bridge])
        change(anew, deleted=[bridge])
        evaluation = steps(anew)
    with counted(text, edges) as ws, retuned(ws, elastic_steps=1_000):
        assert change(ws, [bridge]) == "fallback"
        change(ws, deleted=[bridge])
        took: dict[str, int] = {}
        for _ in range(2):
            assert change(ws, [bridge]) == "update"  # no counts are made until rows may go
            took[change(ws, deleted=[bridge])] = steps(ws)
        assert took["forecast"] <= 1.01 * evaluation  # trees of another past
        outcomes: list[str] = []
        for edge in 30 * edges[:1]:  # each time the next one is expected to take less
            outcomes.append(change(ws, deleted=[edge]))
            change(ws, [edge])
        assert "forecast" in outcomes
        assert "bootstrap" in outcomes
        assert ws.verify() == []


@pytest.mark.parametrize("text", [LABELS, SHORTEST], ids=["labels", "shortest"])
def test_rules_that_come_and_go_are_no_reason_to_count(text: str):
    with lftj.connect() as ws:
        ws.add_rules(text)
        if "source" in ws.relations:
            ws.load("source", [(0,)])
        ws.load("edge", two_halves()[0])
        first, last = ws.rules[-2:]
        ws.remove_rule(first)
        assert states(ws) == []
        ws.add_rules(str(first))
        assert (strategy(ws), states(ws)) == ("update", [])
        ws.remove_rule(last)
        ws.add_rules(str(last))
        assert states(ws) == []
        assert ws.verify() == []
