"""Versions that rules read during a commit: each relation as it is, as it was, and its rows, or
prefixes of rows, that came and went.
"""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Versions
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.database import Database
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from lftj.types.sources import Role, Source

Rows = set[tuple[int, ...]]
SCHEMA = RelationSchema("t", (("a", INT), ("b", INT), ("c", INT)))


def columns(rows: Rows, width: int = 3) -> Columns:
    return [np.array([row[i] for row in sorted(rows)], np.int64) for i in range(width)]


def rows_of(found: Columns) -> Rows:
    return set(zip(*(column.tolist() for column in found), strict=True))


def versions(before: Rows, after: Rows) -> Versions:
    arena = Arena()
    old = RelationVersion.build(SCHEMA, arena, columns(before))
    delta = Delta(columns(after - before), columns(before - after))
    new = old.apply(delta)
    deltas = {"t": delta} if len(delta) else {}
    return Versions(Database().replace({"t": old}), Database().replace({"t": new}), deltas, arena)


def test_now_and_before():
    made = versions({(1, 2, 3), (4, 5, 6)}, {(1, 2, 3), (7, 8, 9)})
    assert rows_of(made["t"].columns()) == {(1, 2, 3), (7, 8, 9)}
    assert (
        rows_of(made[Source("t", Role.PREVIOUS)].columns())
        == rows_of(made.before("t").columns())
        == {(1, 2, 3), (4, 5, 6)}
    )


def test_a_relation_that_did_not_change_shares_its_key_orders():
    made = versions({(1, 2, 3)}, {(1, 2, 3)})
    assert made[Source("t", Role.PREVIOUS)] is made["t"]


def test_a_view_that_is_done_is_read_as_it_is_now():
    made = versions({(1, 2, 3)}, {(1, 2, 3)})
    later = made["t"].apply(Delta(columns({(5, 5, 5)}), columns(set())))
    made.update("t", later, later.difference(made["t"]))
    assert rows_of(made["t"].columns()) == {(1, 2, 3), (5, 5, 5)}
    assert rows_of(made[Source("t", Role.PREVIOUS)].columns()) == {(1, 2, 3)}
    assert made.deltas["t"].inserted == 1


def test_the_change_is_read_under_its_own_name():
    made = versions({(1, 2, 3)}, {(4, 5, 6)})
    readable = made.with_change("t", None, made.deltas["t"].inserts)
    assert rows_of(readable[CHANGE].columns()) == {(4, 5, 6)}
    readable = made.with_change("t", (2,), [made.deltas["t"].erases[2]])
    assert rows_of(readable[CHANGE].columns()) == {(3,)}


@pytest.mark.parametrize(
    "bound", [bound for width in range(4) for bound in itertools.combinations(range(3), width)]
)
def test_presence_is_what_appears_and_vanishes_under_a_prefix(bound: tuple[int, ...]):
    by = random.Random(17)
    every = list(itertools.product(range(3), repeat=3))
    for _ in range(20):
        before, after = (
            {row for row in every if by.random() < share}
            for share in (by.random() * 0.5, by.random() * 0.5)
        )
        made = versions(before, after)
        if "t" not in made.deltas:
            continue
        was, now = ({tuple(row[i] for i in bound) for row in rows} for rows in (before, after))
        found = made.presence("t", bound)
        if bound:
            assert (rows_of(found.inserts), rows_of(found.erases)) == (now - was, was - now)
        else:
            assert (found.inserted, found.erased) == (bool(now - was), bool(was - now))


@pytest.mark.parametrize("bound", [None, (0, 2)])
def test_a_whole_change_is_read_with_its_signs(bound: tuple[int, ...] | None):
    made = versions({(1, 2, 3), (4, 5, 6)}, {(4, 5, 6), (7, 8, 9), (1, 1, 1)})
    change = made.deltas["t"] if bound is None else made.presence("t", bound)
    wanted = (
        {(-1, 1, 2, 3), (1, 7, 8, 9), (1, 1, 1, 1)}
        if bound is None
        else {(-1, 1, 3), (1, 7, 9), (1, 1, 1)}
    )
    assert rows_of(made.with_signed("t", bound, change)[SIGNED].columns()) == wanted


def test_only_key_orders_that_are_read_already_cost_nothing_to_keep():
    made = versions({(i, i, i) for i in range(20)}, {(i, i, i) for i in range(1, 21)})
    upkeep = made.upkeep({"t": {(2, 1, 0)}}, lambda _: False)
    assert upkeep.price("t", (0, 1, 2)) == upkeep.price(Source("t", Role.PREVIOUS), (2, 1, 0)) == 0
    assert upkeep.price("t", (1, 0, 2)) > 0
    assert made.upkeep({}, lambda _: False).price("t", (2, 1, 0)) == upkeep.price("t", (1, 0, 2))
