"""Cycles of many kinds through `min` and `max`, and values of all types, beside the reference."""

from __future__ import annotations

import random
from datetime import date
from decimal import Decimal

import pytest

import lftj
from tests.unit.recursion.best_values import DECLARATIONS, OTHERS
from tests.unit.recursion.programs import expected, views


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
    facts = {
        "edge": [(0, 1), (1, 2), (2, 0), (2, 3), (4, 3)],
        "own": [(0, values[0]), (2, values[1]), (4, values[2]), (3, values[0])],
    }
    found = views(text, facts)
    assert found == expected(text, facts)
    assert (1, min(values[:2])) in found["least"]  # type: ignore[type-var]
    assert (max(values), 3) in found["most"]  # type: ignore[type-var]


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
                    gone = (
                        set(draw.sample(sorted(facts[relation]), len(facts[relation]) // 4))
                        if step % 3 == 2
                        else set()
                    )
                    new = {
                        tuple(draw.randrange(8) for _ in range(width))
                        for _ in range(draw.randrange(5))
                    } - facts[relation]
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
    assert (
        found
        == expected(text, {"edge": [(*edge, weight) for edge, weight in edges.items()]})["far"]
    )
