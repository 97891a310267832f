"""Rounds of improvement done in compiled code find what the others find, in as many rounds and
steps, and are left where they cannot be.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

import lftj
from lftj.maintenance.counting import compiled_runs, question_kernels
from lftj.maintenance.lattice.compiled_lattice import CompiledLattice
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.maintenance.semi_naive import variant_plans
from lftj.scantree.jit import ADDRESSES
from tests.unit.recursion.best_values import CASES, DECLARATIONS, OTHERS, SHORTEST, Edges
from tests.unit.recursion.programs import expected
from tests.unit.recursion.stratum import check
from tests.unit.recursion.test_lattice_update import change, steps

pytestmark = [
    pytest.mark.usefixtures("unsearched"),
    pytest.mark.skipif(
        not ADDRESSES,
        reason="rounds in compiled code need kernels that are compiled and not checked",
    ),
]

Run = tuple[int, int]  # what it ended with, and after how many rounds
PLAIN = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl reached(x: int)
.decl last(x: int)
reached(x) :- source(x).
reached(y) :- reached(x), edge(x, y, _).
last(x) :- reached(x), x > 5.
"""


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Every slice of a run so far."""
    found: list[Run] = []
    one = CompiledLattice._slice

    def noted(self: CompiledLattice, *arguments: Any) -> Any:
        records = one(self, *arguments)
        found.append(
            (
                int(self._control[question_kernels.STATUS]),
                int(self._control[question_kernels.ITERATIONS]),
            )
        )
        return records

    monkeypatch.setattr(CompiledLattice, "_slice", noted)
    return found


AT_ONCE = lftj.Tuning(compiled_patience=0)
"""Runs are tried in every round."""


def workspace(text: str, edges: Iterable[tuple[int, ...]] = (), **options: Any) -> lftj.Workspace:
    ws = lftj.connect(**options)
    ws.add_rules(text)
    if "source" in ws.relations:
        ws.load("source", [(0,)])
    ws.load("edge", [*edges])
    return ws


@pytest.mark.parametrize("view", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_of_paths_with_shortcuts(view: str, seed: int, runs: list[Run]):
    text, reference = CASES[view]
    draw = random.Random(seed)
    nodes = 40
    edges: Edges = {(i, i + 1): draw.randrange(5) for i in range(nodes)} | {
        (draw.randrange(nodes), draw.randrange(nodes)): 9 for _ in range(5)
    }
    with workspace(
        text, [(*edge, weight) for edge, weight in edges.items()], elastic=1000, tuning=AT_ONCE
    ) as ws:
        assert set(ws[view].fetchall()) == reference(edges)
        for step in range(30):
            missing = [
                (i, i + 1) for i in range(nodes) if step % 4 == 3 and (i, i + 1) not in edges
            ]
            gone = draw.sample(sorted(edges), draw.choice([0, 1, 1, 3]))
            lost = [(*edge, edges.pop(edge)) for edge in gone]
            new = dict.fromkeys(
                missing, draw.randrange(9)
            )  # what was cut off comes back, from node to node
            new |= {
                (x, x + draw.choice((1, 1, 2, -3))): draw.randrange(9)
                for x in draw.sample(range(nodes), draw.randrange(4))
            }
            new = {
                edge: weight
                for edge, weight in new.items()
                if edge not in edges and edge not in gone
            }
            edges |= new
            change(ws, [(*edge, weight) for edge, weight in new.items()], lost)
            assert set(ws[view].fetchall()) == reference(edges)
            assert check(ws) <= 1
    assert sum(rounds for _, rounds in runs) > 40


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("seed", range(3))
def test_other_cycles_follow_their_facts(name: str, seed: int, runs: list[Run]):
    draw = random.Random(seed)
    widths = {"own": 2, "both": 3, "limit": 2, "closed": 1}
    facts: dict[str, set[tuple[int, ...]]] = {relation: set() for relation in widths}
    with lftj.connect(tuning=AT_ONCE) as ws:
        ws.add_rules(DECLARATIONS + OTHERS[name])
        for step in range(8):
            with ws.transaction() as tx:
                for relation, width in widths.items():
                    gone = (
                        set(draw.sample(sorted(facts[relation]), len(facts[relation]) // 4))
                        if step % 3 == 2
                        else set()
                    )
                    new = {
                        tuple(draw.randrange(8) for _ in range(width))
                        for _ in range(draw.randrange(1, 5))
                    } - facts[relation]
                    tx.delete(relation, sorted(gone))
                    tx.insert(relation, sorted(new))
                    facts[relation] = (facts[relation] - gone) | new
            reference = expected(DECLARATIONS + OTHERS[name], facts)
            assert {view: set(ws[view].fetchall()) for view in reference} == reference
    assert runs or "no cycle" in name


def chain_taken(ws: lftj.Workspace, length: int) -> list[tuple[str, int, int]]:
    """The first edge of a chain deleted and inserted twice: strategy, kernel steps and rows after
    each commit.
    """
    first = [(0, 1, 1)]
    found = [("", steps(ws), len(ws["dist"]))]
    for lost, new in ((first, []), ([], first), (first, []), ([], first)):
        found.append((change(ws, new, lost), steps(ws), len(ws["dist"])))
    return found


def test_a_long_chain_is_followed_in_compiled_rounds(runs: list[Run]):
    length = 20_000
    with workspace(SHORTEST, [(i, i + 1, 1) for i in range(length)], elastic=1000) as ws:
        assert sum(rounds for _, rounds in runs) > length - 100
        taken = chain_taken(ws, length)
        assert [rows for *_, rows in taken] == [length + 1, 1, length + 1, 1, length + 1]
        assert [strategy for strategy, *_ in taken[2:]] == ["update"] * 3
        assert sum(rounds for _, rounds in runs) > 3 * (length - 100)
        runs.clear()
        assert ws.verify() == []
        assert sum(rounds for _, rounds in runs) > length - 100
        assert check(ws) == 1


def test_rounds_and_steps_are_those_of_other_rounds(monkeypatch: pytest.MonkeyPatch):
    edges = [(i, i + 1, 1) for i in range(600)] + [(i, i + 50, 60) for i in range(0, 500, 9)]
    taken: list[list[tuple[str, int, int]]] = []
    for compiled in (True, False):
        monkeypatch.setattr(MonotoneFixpoint, "compiled", compiled)
        with workspace(SHORTEST, edges, elastic=1000) as ws:
            taken.append(chain_taken(ws, 600))
    assert taken[0] == taken[1]


def test_a_round_of_many_offers_is_left_and_the_run_taken_up_behind_it(runs: list[Run]):
    wide = [(20, 100 + i, 1) for i in range(200)] + [(100 + i, 1000, 200 - i) for i in range(200)]
    edges = [(i, i + 1, 1) for i in range(20)] + wide + [(i, i + 1, 1) for i in range(1000, 1040)]
    with workspace(SHORTEST, edges, tuning=AT_ONCE) as ws:
        assert ws.query("dist(1040, d)").fetchall() == [(62,)]
    assert question_kernels.LEFT in [status for status, _ in runs]
    assert sum(rounds for _, rounds in runs) > 50


def test_a_run_that_came_to_little_is_tried_again_only_after_more_rounds(runs: list[Run]):
    waves, many = 4, 200
    edges: list[tuple[int, int, int]] = []
    for first in range(0, 1000 * waves, 1000):
        edges += [(first + i, first + i + 1, 1) for i in range(40)]
        edges += [
            edge
            for i in range(many)
            for edge in ((first + 40, first + 100 + i, 1), (first + 100 + i, first + 1000, 1))
        ]
    with workspace(SHORTEST, edges) as ws:
        assert ws.query(f"dist({1000 * waves}, d)").fetchall() == [(42 * waves,)]
    assert [status for status, _ in runs].count(question_kernels.LEFT) == 1


def test_what_fails_on_the_way_fails_as_in_other_rounds(runs: list[Run]):
    text = SHORTEST.replace("d + w", "d + w + 1000 / (900 - x)")
    with workspace(text) as ws:
        with pytest.raises(
            lftj.ValueRangeError, match=r"division by zero with x = 900, .* in a rule for `dist`"
        ):
            ws.load("edge", [(i, i + 1, 1) for i in range(1000)])
        assert runs
        assert (len(ws["edge"]), ws["dist"].fetchall()) == (0, [(0, 0)])
        ws.load("edge", [(i, i + 1, 1) for i in range(899)])
        assert len(ws["dist"]) == 900


def test_limits_hold_on_the_way_and_leave_no_pages_behind(runs: list[Run]):
    chain = [(i, i + 1, 1) for i in range(30_000)]
    with workspace(SHORTEST) as ws:
        for _ in range(2):
            change(ws, chain)
            change(ws, [], chain)
        arena = ws._backend.arena
        used = arena.bytes_in_use
        for limit in ({"work": 60_000}, {"seconds": 0.02}, {"memory": used + (1 << 20)}):
            runs.clear()
            with ws.limits(**limit), pytest.raises(lftj.LimitError):  # type: ignore[arg-type]
                change(ws, chain)
            assert (len(ws["edge"]), ws["dist"].fetchall()) == (0, [(0, 0)])
            assert arena.bytes_in_use == used
        change(ws, chain)
        assert len(ws["dist"]) == len(chain) + 1


def test_a_plan_that_wastes_steps_is_replaced_between_two_slices(
    runs: list[Run], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(compiled_runs, "_COMPILED_ITERATIONS", 50)
    monkeypatch.setattr(variant_plans, "_PLAN_STEPS", 0)
    made: list[str] = []
    plan_rule = variant_plans.plan_rule
    monkeypatch.setattr(
        variant_plans,
        "plan_rule",
        lambda rule, *given, **named: (
            made.append(rule.relation) or plan_rule(rule, *given, **named)
        ),
    )
    text = SHORTEST.replace("edge(x, y, w)", "edge(y, x, w), y != 3 * x")
    with workspace(
        text,
        [(i + 1, i, 1) for i in range(400)] + [(1000 + i, i, 3) for i in range(400)],
        tuning=AT_ONCE,
    ) as ws:
        assert len(ws["dist"]) == 801
        assert ws.query("dist(1399, d)").fetchall() == [(402,)]
    assert len([rounds for _, rounds in runs if rounds == 50]) > 5


def test_least_texts_along_a_chain_are_compared_as_texts(runs: list[Run]):
    text = """
    .decl edge(x: int, y: int)
    .decl own(x: int, name: symbol)
    .decl least(x: int, name: symbol)
    least(x, min(n)) :- own(x, n).
    least(y, min(n)) :- least(x, n), edge(x, y).
    """
    with lftj.connect() as ws:
        ws.add_rules(text)
        ws.load("own", [(0, "m"), (40, "z"), (80, "a")])
        ws.load("edge", [(i, i + 1) for i in range(120)])
        assert [name for _, name in sorted(ws["least"].fetchall())] == ["m"] * 80 + ["a"] * 41
    assert not runs


def test_rows_alone_are_followed_in_compiled_rounds_too(runs: list[Run]):
    fan = [(0, 10_000 + i, 1) for i in range(20_000)]
    tuning = lftj.Tuning(rows_least=20_000_000, without=frozenset({"counting"}))
    # the chain was not there when all rows were found
    with workspace(PLAIN, fan, tuning=tuning) as ws:
        assert not runs
        assert change(ws, [(i, i + 1, 1) for i in range(1000)]) == "update"
        assert sum(rounds for _, rounds in runs) > 900
        assert len(ws["reached"]) == 21_001
        assert len(ws["last"]) == 20_995
        assert change(ws, [], [(10, 11, 1)]) == "update"
        assert sum(rounds for _, rounds in runs) > 1800
        assert len(ws["reached"]) == 20_011
        assert ws.verify() == []


def test_a_run_does_not_stop_for_each_of_many_questions(runs: list[Run]) -> None:
    """A ring of relations, each of which asks one question in its turn: after the first eight a
    stop plans as many as are planned.
    """
    many = 64
    declarations = [
        ".decl seed(x: int)",
        ".decl step(x: int, y: int)",
        *(f".decl r{i}(x: int)" for i in range(many)),
    ]
    rules = [
        "r0(x) :- seed(x).",
        *(f"r{(i + 1) % many}(y) :- r{i}(x), step(x, y)." for i in range(many)),
    ]
    ws = lftj.connect(tuning=replace(AT_ONCE, rows_begun=1 << 60))
    ws.add_rules("\n".join([*declarations, *rules]))
    ws.load("step", [(x, x) for x in range(3)])
    ws.load("seed", [(1,)])
    assert all(ws[f"r{i}"].fetchall() == [(1,)] for i in range(many))
    assert sum(rounds for _, rounds in runs) >= many - 2
    assert len(runs) <= 16
    assert ws.verify() == []


def test_a_run_after_a_round_that_threads_shared_reads_all_rows(runs: list[Run]):
    fan = [
        (0, x, x) for x in range(1, 301)
    ]  # more offers than a run takes: two threads do that round in pieces
    chain = [(300, 301, 1), (301, 302, 1), (302, 303, 1)]
    with workspace(
        SHORTEST,
        fan + chain,
        executor=lftj.ThreadExecutor(threads=2, parts=64, patience=1),
        tuning=AT_ONCE,
    ) as ws:
        assert len(ws["dist"]) == 304
        assert sum(rounds for _, rounds in runs) > 3
