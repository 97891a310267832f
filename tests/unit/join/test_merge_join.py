"""A level merged with what is read out below it, and rows of one atom that come out as they lie: as
brute force, whatever room there is.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.planner import make_plan
from lftj.join.run.assemble import Assembly
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena, Tree
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.dictionary import Dictionary
from tests.unit.join.bodies import Body
from tests.unit.join.evaluating import surroundings
from tests.unit.join.rooms import UNINTERRUPTED, require_rows

LARGEST = 2**63 - 1
ROOMS = ((1 << 16, UNINTERRUPTED), (1, UNINTERRUPTED), (3, UNINTERRUPTED), (1 << 16, 1), (7, 3))

JOINS = {
    # variable order, atoms, the level that is merged, the first level of the tail
    "the first part ends": ("x z y", [("a", "xz"), ("b", "zy")], 1, 2),
    "the second part ends": ("x z y", [("b", "zy"), ("a", "xz")], 1, 2),
    "at the first level": ("z y", [("a", "zy"), ("c", "z")], 0, 1),
    "several columns behind": ("x z y v", [("a", "xz"), ("t", "zyv")], 1, 2),
    "all pairs": ("z x y", [("a", "zx"), ("b", "zy")], 0, 2),
    "all pairs, the other way round": ("z y x", [("a", "zx"), ("b", "zy")], 0, 2),
    "all pairs below another level": ("v z x y", [("t", "vzx"), ("u", "vzy")], 1, 3),
    "pairs with what stands fixed": ("z w x y", [("a", "zx"), ("d", "zw"), ("b", "wy")], 1, 3),
    "pairs with what stands fixed, last": (
        "z w y x",
        [("a", "zx"), ("d", "zw"), ("b", "wy")],
        1,
        3,
    ),
    "a tail alone": ("x y z", [("t", "xyz")], -1, 1),
    "a tail behind three parts": ("x z y", [("a", "xz"), ("d", "xz"), ("b", "zy")], -1, 2),
    "no value is left out": ("x z y", [("a", "xz"), ("b", "zy"), ("c", "y")], -1, 2),
}


@pytest.fixture(autouse=True)
def page_sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees with so many rows to a leaf: with few, runs span leaves; with many, all lies in
    windows.
    """
    capacity = request.node.callspec.params["capacity"]
    monkeypatch.setitem(Tree.empty.__func__.__kwdefaults__, "leaf_capacity", capacity)  # type: ignore[attr-defined]
    monkeypatch.setitem(Tree.empty.__func__.__kwdefaults__, "fan", 4)  # type: ignore[attr-defined]


def database(
    by: random.Random, atoms: list[tuple[str, str]], values: list[int]
) -> dict[str, list[tuple[int, ...]]]:
    """Rows of each relation; some values occur in many of them."""
    some = lambda: by.choice(values[: by.choice((2, 4, len(values)))])  # noqa: E731
    sizes = {name: len(columns) for name, columns in atoms}
    return {
        name: sorted({tuple(some() for _ in range(arity)) for _ in range(60)})
        for name, arity in sizes.items()
    }


def brute_force(
    atoms: list[tuple[str, str]], rows: dict[str, list[tuple[int, ...]]], order: list[str]
) -> list[tuple[int, ...]]:
    found: list[dict[str, int]] = [{}]
    for name, columns in atoms:
        found = [
            {**binding, **dict(zip(columns, row, strict=True))}
            for binding, row in product(found, rows[name])
            if all(
                binding.get(variable, value) == value
                for variable, value in zip(columns, row, strict=True)
            )
        ]
    return sorted(tuple(binding[variable] for variable in order) for binding in found)


@pytest.mark.parametrize("capacity", [4, 64])
@pytest.mark.parametrize("join", JOINS)
def test_all_rows_come_out_in_order_with_any_room(
    join: str, capacity: int, monkeypatch: pytest.MonkeyPatch
):
    order, atoms, merged, tail = JOINS[join]
    needed = order.split()
    by, arena = random.Random(join), Arena()
    rows = database(by, atoms, [*range(9), LARGEST])
    relations = {
        name: RelationVersion.build(
            RelationSchema(name, tuple((f"c{i}", INT) for i in range(len(its[0])))),
            arena,
            list(np.array(its, np.int64).T),
        )
        for name, its in rows.items()
    }
    body = Body(order, atoms)
    statistics = surroundings(Arena()).statistics
    plan = make_plan(
        body.rule, body.numbers(order), relations, statistics, count=True, forced=tuple(needed)
    )
    words = Assembly(plan, relations, Dictionary()).words
    assert (words[at.MERGED], words[at.TAIL]) == (merged, tail)
    expected = brute_force(atoms, rows, needed)
    assert expected
    require_rows(expected, plan, relations, arena, ROOMS)
