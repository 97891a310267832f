"""Counts of proofs that are kept: the same counts with less work, whatever room and parts there
are.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from lftj.errors import ValueRangeError
from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels.kept_count_kernels import COUNT_WORDS
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.assemble import Assembly
from lftj.join.run.evaluate import run_plan
from lftj.join.run.log_buffer import EXACT, Logged
from lftj.partition.executor import ThreadExecutor
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.tuning import DEFAULT, Tuning
from lftj.tuning.aids import KEPT_COUNTS
from lftj.types import INT
from lftj.types.dictionary import Dictionary
from tests.depth import enough
from tests.unit.join.bodies import Body, graph_rule
from tests.unit.join.bodies import relations as relations_of
from tests.unit.join.evaluating import surroundings, tallied
from tests.unit.join.random_rules import database, random_order, random_rows, random_rule

WITHOUT = Tuning(without=frozenset({KEPT_COUNTS}))
SHAPES = {
    "ring of four": ((0, 1), (1, 2), (2, 3), (0, 3)),
    "ring of five": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)),
    "path": ((0, 1), (1, 2), (2, 3), (3, 4)),
    "star": ((0, 1), (0, 2), (0, 3), (0, 4)),
    "triangles that share a node": ((0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)),
    "clique": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
}


def graph(arena: Arena, edges: np.ndarray) -> dict[str, RelationVersion]:
    schema = RelationSchema("e", (("a", INT), ("b", INT)))
    return {"e": RelationVersion.build(schema, arena, list(np.unique(edges, axis=1)))}


def by_matrices(edges: np.ndarray, nodes: int, atoms: tuple[tuple[int, int], ...]) -> int:
    """The number of assignments, as a sum of products over a matrix of ones."""
    matrix = np.zeros((nodes, nodes), np.int64)
    matrix[edges[0], edges[1]] = 1
    axes = ",".join("abcdef"[x] + "abcdef"[y] for x, y in atoms)
    return int(np.einsum(axes + "->", *[matrix] * len(atoms), optimize=True))


def plan_of(
    atoms: tuple[tuple[int, int], ...],
    relations: dict[str, RelationVersion],
    arena: Arena,
    order: tuple[int, ...],
) -> RulePlan:
    rule = graph_rule(atoms)
    names = tuple(rule.variables[v].name for v in order)
    statistics = surroundings(arena).statistics
    return make_plan(rule, (), relations, statistics, count=True, forced=names)


def outcome(
    plan: RulePlan,
    relations: dict[str, RelationVersion],
    arena: Arena,
    tuning: Tuning = DEFAULT,
    threads: ThreadExecutor | None = None,
) -> tuple[Counter[tuple[int, ...]] | str, int]:
    context = surroundings(arena, tuning, threads=threads)
    try:
        rows = tallied(*run_plan(plan, relations, context))
    except ValueRangeError as failure:
        return str(failure), 0
    return rows, context.budget.work


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_those_of_products_of_matrices(shape: str):
    atoms, by = SHAPES[shape], np.random.default_rng(3)
    edges = by.integers(0, 20, (2, 120)) ** 2 // 20
    arena = Arena()
    relations = graph(arena, edges)
    expected = by_matrices(edges, 20, atoms)
    nodes = range(1 + max(map(max, atoms)))
    for order in itertools.islice(itertools.permutations(nodes), 0, None, enough(4, 1)):
        plan = plan_of(atoms, relations, arena, order)
        kept = set()
        for steps in (1, 3, 20_000_000):
            rows, work = outcome(plan, relations, arena, Tuning(run_steps=steps))
            assert rows == {(): expected}
            kept.add(work)
        assert len(kept) == 1, "what is counted does not depend on where a run is interrupted"
        rows, work = outcome(plan, relations, arena, WITHOUT)
        assert rows == {(): expected}
        # each count that is searched may have been looked up before, in vain
        assert min(kept) <= 2 * work


@pytest.mark.parametrize("steps", [1, 20_000_000])
def test_random_bodies_are_counted_as_without(steps: int):
    by = random.Random(steps)
    kept = fewer = failures = 0
    for _ in range(600):
        rule, rows, arena = random_rule(by), random_rows(by), Arena(1 << 28)
        relations = database(rows, arena)
        needed = tuple(by.sample(range(len(rule.variables)), by.choice((0, 0, 1))))
        plan = make_plan(
            rule,
            needed,
            relations,
            surroundings(arena).statistics,
            count=True,
            forced=random_order(by, rule),
        )
        expected, work = outcome(plan, relations, arena, WITHOUT)
        found, less = outcome(plan, relations, arena, Tuning(run_steps=steps))
        assert found == expected
        parts = ThreadExecutor(2, parts=5, patience=3)
        assert outcome(plan, relations, arena, threads=parts)[0] == expected
        words = Assembly(plan, relations, Dictionary()).words
        kept += bool(words[at.COUNTED] < words[at.LEVELS])
        fewer += less < work
        failures += isinstance(expected, str)
    assert kept > 40
    assert fewer > 20
    assert failures > 2


def test_more_keys_than_there_is_room_for():
    """Ends of paths of two steps: more pairs than slots, which replace one another."""
    by = np.random.default_rng(5)
    edges = by.integers(0, 700, (2, 9_000))
    arena = Arena()
    relations = graph(arena, edges)
    atoms = SHAPES["ring of four"]
    plan = plan_of(atoms, relations, arena, (0, 1, 2, 3))
    rows, work = outcome(plan, relations, arena)
    assert rows == {(): by_matrices(edges, 700, atoms)}
    pairs = len(np.unique(edges, axis=1)[0]) ** 2 // 700
    assert pairs > COUNT_WORDS // 4
    _, without = outcome(plan, relations, arena, WITHOUT)
    assert work < without


def test_legs_of_a_star_are_counted_once():
    """The work is that of one leg after the other, not of their product."""
    legs = np.array([[0] * 300 + [1] * 300, [*range(300)] * 2])
    arena = Arena()
    relations = graph(arena, legs)
    atoms = ((0, 1), (0, 2), (0, 3), (0, 4))
    plan = plan_of(atoms, relations, arena, (0, 1, 2, 3, 4))
    rows, work = outcome(plan, relations, arena)
    assert rows == {(): 2 * 300**4}
    assert work < 20 * 300


def test_a_switch_and_a_trace_keep_no_counts():
    """A trace has to note what each search depends on."""
    arena = Arena()
    relations = graph(arena, np.array([[0, 1, 2, 0], [1, 2, 3, 3]]))
    plan = plan_of(SHAPES["ring of four"], relations, arena, (0, 1, 2, 3))
    assert Assembly(plan, relations, Dictionary()).words[at.COUNTED] == 3
    none = len(plan.levels) + 2
    unkept = Assembly(plan, relations, Dictionary(), keep_counts=False)
    assert unkept.words[at.COUNTED] == none
    logged = Assembly(plan, relations, Dictionary(), Logged({(0, 0): EXACT}))
    assert logged.words[at.COUNTED] == none


def test_an_order_is_chosen_for_its_kept_counts():
    """Nothing but a comparison links v to the rest: its pairs with y are few."""
    body = Body("u v x y", [("e", "uv"), ("a", "x"), ("a", "y")], filters=[("!=", "v", "y")])
    arena = Arena()
    sizes = {"e": (400, 20, 400), "a": (100, 100)}
    found = relations_of(sizes, arena)
    rows, works = [], []
    for keeping in (False, True):
        plan = make_plan(
            body.rule,
            body.numbers("x y"),
            found,
            surroundings(arena).statistics,
            count=True,
            keeping=keeping,
        )
        kept, work = outcome(plan, found, arena)
        rows.append(kept)
        works.append(work)
    assert rows[0] == rows[1]
    assert 2 * works[1] < works[0]
