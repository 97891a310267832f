"""Position of the iterations in a query's variable order: before the last columns of one atom, or
behind everything.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lftj.maintenance.counting.elastic_query import ElasticQuery
from lftj.maintenance.counting.iterated_relation import IteratedRelation
from lftj.program.normal_form import Ref, RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.sources import Role, Source
from tests.unit.join.bodies import Body
from tests.unit.join.evaluating import surroundings

RECURSIVE, BELOW = Source("p", Role.ITERATED), "e"
ROWS = {(x, (5 * x + i) % 40) for x in range(40) for i in range(3)}


def variable_order(body: Body, head: str, order: str) -> list[str]:
    """The variables, and the iterations as i0, i1 … by their atoms, of a query that is told the
    order of its variables.
    """
    arena = Arena()
    columns = list(np.array(sorted(ROWS), np.int64).T)
    schema = RelationSchema("p", (("x", INT), ("y", INT)))
    ones = np.ones(len(ROWS), np.int64)
    readings = {
        RECURSIVE: IteratedRelation.of(schema, arena, columns, 0 * ones, ones),
        BELOW: RelationVersion.build(replace(schema, name=BELOW), arena, columns),
    }
    context = surroundings(arena, orders={body.rule.source: tuple(order.split())})
    query = ElasticQuery(replace(body.rule, head=tuple(map(Ref, body.numbers(head)))))
    plan = query.prepared(readings, context).plan
    standing = {
        atom.levels[-1]: f"i{number}"
        for number, atom in enumerate(plan.atoms)
        if atom.relation == RECURSIVE
    }
    assert all(atom.order[-1] == 2 for atom in plan.atoms if atom.relation == RECURSIVE), (
        "it comes last in every key order"
    )
    return [
        standing.get(number) or body.names[level.variable or 0]
        for number, level in enumerate(plan.levels)
    ]


@pytest.mark.parametrize(
    ("atoms", "order", "expected"),
    [
        ([(RECURSIVE, "xy"), (BELOW, "yz")], "x y z", "x y i0 z"),
        ([(RECURSIVE, "xy"), (RECURSIVE, "yz")], "x y z", "x y i0 z i1"),
        ([(RECURSIVE, "xy"), (RECURSIVE, "yz")], "y z x", "y z i1 x i0"),
        ([(RECURSIVE, "xy"), (BELOW, "yz"), (BELOW, "xz")], "x y z", "x y z i0"),
        ([(RECURSIVE, "xy"), (BELOW, "yz")], "x", "x y i0 z"),
    ],
    ids=[
        "one atom left",
        "two of the stratum",
        "the other way round",
        "two atoms meet",
        "an order that is not told whole",
    ],
)
def test_iterations_stand_where_one_atom_alone_is_left_to_read(
    atoms: list[tuple[str, str]], order: str, expected: str
) -> None:
    assert variable_order(Body("x y z", atoms), "x z", order) == expected.split()
