"""Closures that are followed by searches of their graph of steps."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import lftj
from lftj.maintenance.ladder import STRATA
from lftj.maintenance.reachability import doubt
from lftj.maintenance.reachability.graph_kernels import BOTH, Steps, components
from lftj.scantree import Tree
from lftj.views.switchable import OPTIONAL
from tests.unit.recursion.programs import expected

DECLARED = """
.decl e(x: number, y: number)  .decl s(x: number, y: number)  .decl b(x: number, y: number)
"""
PAIRS = DECLARED + ".decl t(x: number, y: number)\n"
PROGRAMS = {
    "left": PAIRS + "t(x, y) :- e(x, y).  t(x, z) :- t(x, y), e(y, z).",
    "right": PAIRS + "t(x, y) :- e(x, y).  t(x, z) :- e(x, y), t(y, z).",
    "transitive": PAIRS + "t(x, y) :- e(x, y).  t(x, z) :- t(x, y), t(y, z).",
    "other seeds": PAIRS + "t(x, y) :- s(x, y).  t(x, z) :- t(x, y), e(y, z), !b(y, z).",
    "nothing kept": DECLARED + ".decl t(x: number)\nt(y) :- s(y, _).  t(z) :- t(y), e(y, z).",
    "two kept": DECLARED + ".decl t(x: number, y: number, z: number)\n"
    "t(z, x, y) :- s(x, y), e(y, z).  t(w, x, y) :- t(z, x, y), e(z, w).",
}
ALONE = frozenset(OPTIONAL) & {each.name for each in STRATA} - {"reachability"}


def row(by: random.Random, nodes: int, apart: int) -> tuple[int, int]:
    return apart * by.randrange(nodes), apart * by.randrange(nodes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_are_right_after_every_change(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With other strategies off, single searches or components first, and a budget that ends some
    of them midway. Values lie close to one another or far apart.
    """
    by = random.Random(f"{name} {seed}")
    nodes, apart = by.choice([5, 12]), by.choice([1, 1_000_003])
    least = by.choice([20_000, 10**9, 10**9])
    monkeypatch.setattr(doubt, "_SEARCHED_STEPS", by.choice([0, 16]))
    tuning = lftj.Tuning(without=ALONE, searched_least=least)
    workspace = lftj.connect(elastic=1e9, tuning=tuning)
    workspace.add_rules(PROGRAMS[name])
    facts = {"e": {row(by, nodes, apart) for _ in range(2 * nodes)}, "s": set(), "b": set()}
    facts["s"] = {row(by, nodes, apart) for _ in range(3)}
    for relation, rows in facts.items():
        workspace.load(relation, sorted(rows))
    outcomes: set[str] = set()
    for _ in range(10):
        with workspace.transaction() as tx:
            for relation in by.sample(["e", "e", "s", "b"], 2):
                some = by.choice([1, 1, 3, nodes])
                went = set(by.sample(sorted(facts[relation]), min(some, len(facts[relation]))))
                came = {row(by, nodes, apart) for _ in range(by.choice([0, some]))}
                tx.delete(relation, sorted(went - came))
                tx.insert(relation, sorted(came))
                facts[relation] = facts[relation] - went | came
        profile = workspace.profile(last=1)
        outcomes |= set(zip(profile["strategy"], profile["outcome"], strict=True))
        assert set(workspace["t"].fetchall()) == expected(PROGRAMS[name], facts)["t"]
    assert ("reachability", "update") in outcomes or least < 10**9


def closure(edges: list[tuple[int, int]], **options: object) -> lftj.Workspace:
    workspace = lftj.connect(**options)  # type: ignore[arg-type]
    workspace.relation("e", {"x": int, "y": int})
    workspace.load("e", edges)
    workspace.add_rules(".decl t(x: number, y: number)\n" + PROGRAMS["left"].split("\n")[-1])
    return workspace


def steps_of(workspace: lftj.Workspace, **change: list[tuple[int, int]]) -> int:
    with workspace.transaction() as tx:
        for verb, rows in change.items():
            getattr(tx, verb)("e", rows)
    (work,) = workspace.profile(last=1).to_dict("records")
    assert (work["strategy"], work["outcome"]) == ("reachability", "update")
    return work["steps"]


def test_a_step_that_is_implied_takes_no_more_than_the_steps() -> None:
    """Of 40,000 rows, which all may have lost a derivation, none is looked at."""
    edges = [(x, (x + k) % 200) for x in range(200) for k in (1, 7, 31)]
    workspace = closure(edges)
    assert steps_of(workspace, delete=[(0, 7)]) < 10 * len(edges)
    assert steps_of(workspace, insert=[(0, 7)]) < 10 * len(edges)


def test_steps_that_are_copied_are_read_once_and_not_as_they_were() -> None:
    edges = [(node, (node + 1) % 500) for node in range(500)] + [(1000, 0)]
    workspace = closure(edges)
    for change in ({"insert": [(1001, 1000)]}, {"delete": [(1001, 1000)]}):
        assert steps_of(workspace, **change) < 5 * len(edges)


def test_many_steps_that_are_implied_take_no_more_than_the_steps() -> None:
    """Of each node two steps go, and its part begins with others of the same component."""
    edges = [(x, (x + k) % 200) for x in range(200) for k in (1, 7, 31, 57)]
    some = [(x, (x + k) % 200) for x in range(100) for k in (7, 31)]
    workspace = closure(edges)
    assert steps_of(workspace, delete=some) < 10 * len(edges)
    assert steps_of(workspace, insert=some) < 10 * len(edges)


def test_a_step_that_matters_takes_what_changes() -> None:
    """A leaf hangs on a cycle: each of its nodes loses it, and nothing else is looked at."""
    workspace = closure([(x, (x + 1) % 300) for x in range(300)] + [(5, 1000)])
    assert steps_of(workspace, delete=[(5, 1000)]) < 5_000
    assert len(workspace["t"]) == 300 * 300
    assert steps_of(workspace, insert=[(5, 1000)]) < 5_000
    assert len(workspace["t"]) == 300 * 300 + 300


def test_parts_that_lie_apart_are_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain among thirty whose nodes take turns: a hundred parts lose what is behind a step."""
    chains, length = 30, 200
    edges = [(x, x + chains) for x in range(chains * (length - 1))]
    workspace = closure(edges)
    rows = len(workspace["t"])
    read: list[int] = []
    range_of = Tree.range

    def counted(tree: Tree, *bounds: Any, **named: Any) -> Any:
        found = range_of(tree, *bounds, **named)
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(Tree, "range", counted)
    middle = chains * length // 2
    steps_of(workspace, delete=[(middle, middle + chains)])
    assert len(workspace["t"]) == rows - 101 * 99
    assert sum(read) < rows / 4


def test_no_proofs_are_counted_however_often_deletions_come() -> None:
    by = random.Random(1)
    edges = sorted({(by.randrange(100), by.randrange(100)) for _ in range(160)})
    workspace = closure(edges)
    for edge in by.sample(edges, 40):
        for verb in ("delete", "insert"):
            with workspace.transaction() as tx:
                getattr(tx, verb)("e", [edge])
            assert workspace.profile(last=1)["strategy"].tolist() == ["reachability"]
    kept = workspace.memory().df()
    assert "(iterations and proofs)" not in set(kept["key_order"])


def test_what_would_take_longer_than_an_evaluation_is_one() -> None:
    workspace = closure([(x, x + 1) for x in range(600)], tuning=lftj.Tuning(searched_least=1))
    with workspace.transaction() as tx:
        tx.delete("e", [(x, x + 1) for x in range(0, 600, 2)])
    (work,) = workspace.profile(last=1).to_dict("records")
    assert (work["strategy"], work["outcome"]) == ("from nothing", "fallback")


@pytest.mark.parametrize("seed", range(5))
def test_components_are_those_of_nodes_that_reach_each_other(seed: int) -> None:
    by = np.random.default_rng(seed)
    nodes = 30
    before, after = np.unique(by.integers(0, nodes, (20 + 6 * seed, 2)), axis=0).T
    reached = np.eye(nodes, dtype=bool)
    reached[before, after] = True
    for _ in range(nodes):
        reached |= reached @ reached
    starts = np.searchsorted(before, np.arange(nodes + 1))
    found = np.zeros(nodes, np.int64)
    flags = np.full(len(before), BOTH, np.uint8)
    components(Steps(starts, after.copy(), flags), BOTH, found, *np.empty((4, nodes), np.int64))
    assert np.array_equal(found[:, None] == found, reached & reached.T)


# ── steps that outnumber rows ─────────────────────────────────────────────────────────────────────
def reached(nodes: int, degree: int, **tuning: Any) -> tuple[lftj.Workspace, list[tuple[int, int]]]:
    """A workspace with what two roots reach in a random graph, and its edges."""
    by = random.Random(nodes)
    edges = sorted({(by.randrange(nodes), by.randrange(nodes)) for _ in range(degree * nodes)})
    workspace = lftj.connect(tuning=lftj.Tuning(**tuning))
    workspace.add_rules(PROGRAMS["nothing kept"])
    workspace.load("s", [(1, 0), (2, 0)])
    workspace.load("e", edges)
    return workspace, edges


def work_of(workspace: lftj.Workspace, verb: str, rows: list[tuple[int, int]]) -> tuple[str, int]:
    """Strategy and steps of a commit; none where the change met no row."""
    with workspace.transaction() as tx:
        getattr(tx, verb)("e", rows)
    found = workspace.profile(last=1).to_dict("records")
    return (found[-1]["strategy"], found[-1]["steps"]) if found else ("", 0)


def test_steps_that_outnumber_the_rows_are_read_once() -> None:
    """Insertions are followed by rows; the first deletion counts, and later changes look at few."""
    workspace, edges = reached(1_000, 3, searched_least=2_000)
    assert len(workspace["t"]) < len(edges)
    for strategy in "rederivation", "counting":
        new = (edges[0][0], 998 if strategy == "counting" else 999)
        done, steps = work_of(workspace, "insert", [new])
        assert (done, steps < 20) == (strategy, True)
        if strategy == "rederivation":
            done, steps = work_of(workspace, "delete", [new])
            assert (done, steps > 2_000) == ("counting from nothing", True)
    for edge in edges[::300]:
        done, steps = work_of(workspace, "delete", [edge])
        assert done in ("counting", "")
        assert steps < 300
    assert workspace.verify() == []


def test_rows_that_come_are_searched_in_a_closure_of_more_rows_than_steps() -> None:
    pairs = closure([(x, (x + 1) % 300) for x in range(300)], tuning=lftj.Tuning(searched_least=1))
    assert work_of(pairs, "insert", [(5, 100)])[0] == "reachability"


def test_a_closure_of_few_rows_does_not_read_all_steps() -> None:
    workspace, edges = reached(1_000, 3)
    done, steps = work_of(workspace, "insert", [(edges[0][0], 999)])
    assert (done, steps < 20) == ("rederivation", True)
    with workspace.transaction() as tx:  # of its rows one is left, which has two steps
        tx.delete("e", edges)
        tx.insert("e", [(x + 5_000, y + 5_000) for x, y in edges])
        tx.insert("e", [(1, 4_000), (4_000, 4_001)])
    for way in ("insert", "delete"):
        assert work_of(workspace, way, [(7_000, 7_001)]) == ("", 0)
    done, steps = work_of(workspace, "delete", [(4_000, 4_001)])
    assert (done, steps < 100) == ("rederivation", True)
    assert workspace.verify() == []


def test_rows_that_come_in_numbers_are_evaluated_and_not_searched_as_well() -> None:
    tuning = lftj.Tuning(searched_least=1, rows_least=1_000)
    layers = lftj.connect(tuning=tuning)
    layers.add_rules(PROGRAMS["nothing kept"])
    layers.load("s", [(1, 0)])
    edges = [(x, 100 + y) for x in range(10, 90) for y in range(80)]
    layers.load("e", [*edges, *((2, x) for x in range(10, 90))])
    with layers.transaction() as tx:
        tx.insert("e", [(1, 3)])
    strategy, steps = work_of(layers, "insert", [(1, 2)])
    assert (strategy, steps < 2.5 * len(edges)) == ("from nothing", True)
    assert (len(layers["t"]), layers.verify()) == (163, [])
