"""Joins over deep trees of small pages, in every variable order and with little room, beside a
search by brute force.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from lftj.errors import LimitError, ValueRangeError
from lftj.join.budget import Budget
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.tuning import Tuning
from lftj.types import INT
from tests.unit.join.bodies import Body, Term, graph_rule
from tests.unit.join.evaluating import evaluate, surroundings

SCHEMA = RelationSchema("e", (("a", INT), ("b", INT)))
BODIES = {
    "triangle": ((0, 1), (1, 2), (0, 2)),
    "path": ((0, 1), (1, 2)),
    "loop": ((0, 0), (0, 1), (1, 2)),
    "clique": ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
}


def database(edges: set[tuple[int, int]], arena: Arena) -> dict[str, RelationVersion]:
    columns = [np.array([edge[i] for edge in sorted(edges)], np.int64) for i in range(2)]
    return {"e": RelationVersion.build(SCHEMA, arena, columns)}


def by_brute_force(
    atoms: tuple[tuple[int, int], ...], edges: set[tuple[int, int]], needed: tuple[int, ...]
) -> Counter[tuple[int, ...]]:
    """Count the assignments behind each row of `needed`."""
    found: list[dict[int, int]] = [{}]
    for a, b in atoms:
        found = [
            {**known, a: x, b: y}
            for known in found
            for x, y in edges
            if known.get(a, x) == x and known.get(b, y) == y and (a != b or x == y)
        ]
    return Counter(tuple(known[v] for v in needed) for known in found)


def counted(columns: list[np.ndarray], counts: np.ndarray) -> Counter[tuple[int, ...]]:
    total: Counter[tuple[int, ...]] = Counter()
    rows = zip(*(c.tolist() for c in columns), strict=True) if columns else [()] * len(counts)
    for row, count in zip(rows, counts.tolist(), strict=True):
        total[row] += count
    return total


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("room", [(1 << 16, 20_000_000), (3, 20_000_000), (1 << 16, 1), (3, 1)])
@pytest.mark.parametrize("body", BODIES)
def test_every_order_finds_what_brute_force_finds(body: str, room: tuple[int, int]):
    tuning = Tuning(run_rows=room[0], run_steps=room[1])
    by = random.Random(7)
    edges = {(by.randrange(14), by.randrange(14)) for _ in range(90)}
    arena = Arena()
    data = database(edges, arena)
    assert data["e"].identity.height >= 2
    atoms = BODIES[body]
    variables = graph_rule(atoms).variables
    several = (tuple(range(len(variables))), (1, 0), (len(variables) - 1,), ())
    expected = {needed: by_brute_force(atoms, edges, needed) for needed in several}
    for order in itertools.permutations(range(len(variables))):
        context = surroundings(arena, tuning, orders={1: tuple(variables[v].name for v in order)})
        for needed, rows in expected.items():
            assert counted(*evaluate(graph_rule(atoms), data, context, needed=needed)) == rows
            proved = counted(
                *evaluate(graph_rule(atoms), data, context, needed=needed, count=False)
            )
            assert proved.keys() == rows.keys()


def test_the_bitmap_refuses_values_further_apart_than_a_word_holds():
    least, greatest = -(2**63), 2**63 - 1
    ends = [least, *range(-300, 300), greatest]
    edges = (
        {(1, v) for v in ends}
        | {(v, v) for v in ends}
        | {(u, v) for u in range(100, 120) for v in ends}
    )
    arena = Arena()
    context = surroundings(arena, orders={1: ("v0", "v1", "v2")})
    atoms = BODIES["triangle"]
    columns, counts = evaluate(graph_rule(atoms), database(edges, arena), context, needed=())
    successors: dict[int, set[int]] = {}
    for x, y in edges:
        successors.setdefault(x, set()).add(y)
    assert columns == []
    assert counts.sum() == sum(
        len(successors.get(x, set()) & successors.get(y, set())) for x, y in edges
    )


def test_skew_costs_in_proportion_to_the_rows():
    def work(size: int) -> int:
        edges = {pair for i in range(1, size) for pair in ((0, i), (i, 0), (i, i + 1))}
        arena = Arena()
        context = surroundings(arena)
        evaluate(graph_rule(BODIES["triangle"]), database(edges, arena), context, needed=())
        return context.budget.work

    assert work(8000) < 2.5 * work(4000)


def test_an_evaluation_that_reached_its_limit_leaves_the_data_usable():
    edges = {(i, j) for i in range(20) for j in range(20)}
    arena = Arena()
    data = database(edges, arena)
    with pytest.raises(LimitError):
        evaluate(
            graph_rule(BODIES["triangle"]),
            data,
            surroundings(arena, Tuning(run_steps=10), budget=Budget(work_limit=50)),
            needed=(),
        )
    _, counts = evaluate(graph_rule(BODIES["triangle"]), data, surroundings(arena), needed=())
    assert counts.sum() == 20**3


BAND: list[tuple[str, Term, Term]] = [("<", "x", "y"), ("<=", "y", ("+", "x", 5))]
TURNED: list[tuple[str, Term, Term]] = [(">", ("-", "y", "x"), 0), (">=", 5, ("-", "y", "x"))]


@pytest.mark.parametrize("filters", [BAND, TURNED])
@pytest.mark.parametrize("order", [("x", "y"), ("y", "x")])
def test_a_level_is_searched_between_its_bounds(
    filters: list[tuple[str, Term, Term]], order: tuple[str, str]
):
    arena = Arena()
    body = Body("x y", [("all", "x"), ("all", "y")], filters=filters)
    known = {
        "all": RelationVersion.build(RelationSchema("all", (("a", INT),)), arena, [np.arange(3000)])
    }
    context = surroundings(arena, orders={1: order})
    (x, y), _ = evaluate(body.rule, known, context, needed=(0, 1), count=True)
    expected = {(a, b) for a in range(3000) for b in range(a + 1, min(a + 6, 3000))}
    assert set(zip(x.tolist(), y.tolist(), strict=True)) == expected
    assert context.budget.work < 20 * 3000


@pytest.mark.parametrize("order", [("x", "y"), ("y", "x")])
@pytest.mark.parametrize(
    "condition", [("<", ("-", "y", "x"), 3), ("<", ("+", "y", "x"), 3), (">", ("+", "y", "x"), 3)]
)
def test_what_would_overflow_is_not_passed_over(
    order: tuple[str, str], condition: tuple[str, Term, Term]
):
    arena = Arena()
    values = np.array([-(2**63), -5, -1, 0, 1, 5, 9, 2**63 - 1])
    known = {"all": RelationVersion.build(RelationSchema("all", (("a", INT),)), arena, [values])}
    body = Body("x y", [("all", "x"), ("all", "y")], filters=[condition])
    with pytest.raises(ValueRangeError):
        evaluate(
            body.rule,
            known,
            surroundings(arena, orders={1: order}),
            needed=(0, 1),
            count=True,
        )


@pytest.mark.parametrize(("operator", "most"), [("<", 30), (">", 10_000)])
def test_a_level_ends_at_its_upper_bound(operator: str, most: int):
    arena = Arena()
    body = Body("x y", [("few", "x"), ("many", "y")], filters=[(operator, "y", "x")])
    rows = {"few": np.array([3, 7]), "many": np.arange(4000)}
    known = {
        name: RelationVersion.build(RelationSchema(name, (("a", INT),)), arena, [column])
        for name, column in rows.items()
    }
    context = surroundings(arena, orders={1: ("x", "y")})
    (x, y), counts = evaluate(body.rule, known, context, needed=(0, 1), count=True)
    expected = {
        (a, b) for a in (3, 7) for b in range(4000) if (b < a if operator == "<" else b > a)
    }
    assert set(zip(x.tolist(), y.tolist(), strict=True)) == expected
    assert counts.sum() == len(expected)
    assert context.budget.work < most


@pytest.mark.parametrize("forced", [{}, {1: ("y", "x")}])
def test_the_rows_of_one_relation_are_read_as_they_lie(forced: dict[int, tuple[str, ...]]):
    arena = Arena()
    known = {
        "e": RelationVersion.build(
            SCHEMA, arena, [np.repeat(np.arange(100), 5), np.tile(np.arange(5), 100)]
        )
    }
    body = Body("x y", [("e", ["x", "y"])])
    context = surroundings(arena, orders=forced)
    (y,), counts = evaluate(body.rule, known, context, needed=(1,))
    assert Counter(
        dict(zip(*np.unique(np.repeat(y, counts), return_counts=True), strict=True))
    ) == Counter(dict.fromkeys(range(5), 100))
    assert (context.budget.work, len(list(known["e"].orders()))) == (500, 1)
    with pytest.raises(LimitError, match="memory limit"):
        evaluate(
            body.rule,
            known,
            surroundings(arena, budget=Budget(memory_limit=arena.bytes_in_use + 5000)),
            needed=(0, 1),
        )


A_FEW = [("few", ["x"]), ("wide", ["x", "a", "b", "c"])]
WIDE = {
    "of one atom": (Body("x a b c", A_FEW), 100, 25),
    "of one atom, behind another's": (
        Body("x y a b c", [("pairs", ["x", "y"]), A_FEW[1]]),
        200,
        35,
    ),
    "with a test": (Body("x a b c", A_FEW, filters=[("<", "c", 5)]), 50, 2000),
    "one of them twice": (Body("x a b", [A_FEW[0], ("wide", ["x", "a", "b", "b"])]), 10, 2000),
}


@pytest.mark.parametrize("case", WIDE)
def test_rows_of_columns_that_nobody_asks_for_are_counted_not_looked_through(case: str):
    body, proofs, most = WIDE[case]
    rows = {
        "few": [(1,), (2,), (7,)],
        "pairs": [(x, y) for x in (1, 2, 7) for y in (4, 5)],
        "wide": [(x, a, 5, c) for x in (0, 1, 2, 3) for a in range(10) for c in range(10)],
    }
    arena = Arena()
    known = {
        name: RelationVersion.build(
            _schema(name, len(its[0])), arena, list(np.array(its, np.int64).T)
        )
        for name, its in rows.items()
    }
    context = surroundings(arena, orders={1: tuple(body.names)})
    (found,), counts = evaluate(body.rule, known, context, needed=(0,), count=True)
    assert (found.tolist(), counts.tolist()) == ([1, 2], [proofs, proofs])
    assert context.budget.work < most


def _schema(name: str, width: int) -> RelationSchema:
    return RelationSchema(name, tuple([(f"c{i}", INT) for i in range(width)]))
