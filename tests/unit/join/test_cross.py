"""The last two levels at once, where neither depends on the other: the same rows, order and work
whatever room there is.
"""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.assemble import Assembly
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.dictionary import Dictionary
from tests.unit.join.bodies import Body
from tests.unit.join.evaluating import surroundings
from tests.unit.join.rooms import UNINTERRUPTED, require_rows

SCHEMA = RelationSchema("e", (("a", INT), ("b", INT)))
PRODUCT = Body("z x y", [("a", "zx"), ("b", "zy")])
pytestmark = pytest.mark.usefixtures("small_pages")  # so that ranges span leaves

ROOMS = (1, 2, 3, 5, 8, 1 << 16)


def database(arena: Arena, **rows: list[tuple[int, int]]) -> dict[str, RelationVersion]:
    return {
        name: RelationVersion.build(SCHEMA, arena, list(np.array(sorted(r), np.int64).T))
        for name, r in rows.items()
    }


def planned(body: Body, order: str, needed: str, relations: dict[str, RelationVersion]) -> RulePlan:
    statistics = surroundings(Arena()).statistics
    return make_plan(
        body.rule,
        body.numbers(needed),
        relations,
        statistics,
        count=True,
        forced=tuple(order.split()),
    )


def crosses(plan: RulePlan, relations: dict[str, RelationVersion]) -> bool:
    words = Assembly(plan, relations, Dictionary()).words
    return bool(
        words[words[at.LEVEL_TABLE] + (len(plan.levels) - 2) * at.LEVEL_RECORD + at.LEVEL_CROSS]
    )


@pytest.mark.parametrize("needed", ["x y", "y x", "z x y", "y"])
def test_all_pairs_come_out_in_order_with_any_room(needed: str, monkeypatch: pytest.MonkeyPatch):
    by, arena = random.Random(needed), Arena()
    a, b = ({(by.randrange(4), by.randrange(25)) for _ in range(40)} for _ in "ab")
    relations = database(arena, a=list(a), b=list(b))
    plan = planned(PRODUCT, "z x y", needed, relations)
    assert crosses(plan, relations)
    bindings = sorted((z, x, y) for (z, x), (w, y) in product(a, b) if z == w)
    expected = [
        tuple(binding[["z", "x", "y"].index(name)] for name in needed.split())
        for binding in bindings
    ]
    require_rows(expected, plan, relations, arena, [(room, UNINTERRUPTED) for room in ROOMS])


def test_what_depends_on_the_value_before_is_not_crossed():
    relations = database(Arena(), a=[(1, 2)], b=[(2, 3)])
    assert not crosses(
        planned(Body("x y z", [("a", "xy"), ("b", "yz")]), "x y z", "x y z", relations), relations
    )
    both = Body("z x y", [("a", "zx"), ("b", "zx"), ("b", "zy")])
    assert not crosses(planned(both, "z x y", "x y", relations), relations), "two atoms meet in x"
    tested = Body("z x y", [("a", "zx"), ("b", "zy")], filters=[("<", "x", "y")])
    assert not crosses(planned(tested, "z x y", "x y", relations), relations), (
        "the pairs are tested"
    )
    assert not crosses(planned(PRODUCT, "z x y", "z x", relations), relations), (
        "y does not come out"
    )
