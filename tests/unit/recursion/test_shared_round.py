"""Rounds on threads: pieces of deltas, failures, limits and counts of work."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest

import lftj
from lftj.program.normal_form import RelationSchema
from lftj.recursion.packed_rows import Packed, PackedRows
from lftj.recursion.row_set import RowSet
from lftj.storage.loose_rows import LooseRows
from lftj.types import INT
from scantree import Arena
from tests.unit.recursion.programs import expected, views

MUTUAL = """
.decl e(x: int, y: int)   .decl odd(x: int, y: int)   .decl even(x: int, y: int)   .decl both(x: int, y: int)
odd(x, y) :- e(x, y).
even(x, z) :- odd(x, y), odd(y, z).
odd(x, z) :- even(x, y), odd(y, z).
both(x, y) :- odd(x, y), even(x, y).
both(x, z) :- both(x, y), both(y, z), even(x, z).
"""
SCHEMA = RelationSchema("r", (("x", INT), ("y", INT)))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("parts", [1, 8, 64])
def test_mutual_recursion_finds_the_same_rows(threads: int, parts: int):
    by = random.Random(parts)
    facts = {"e": {(by.randrange(25), by.randrange(25)) for _ in range(45)}}
    assert views(MUTUAL, facts, executor=lftj.ThreadExecutor(threads, parts=parts, patience=1)) == expected(MUTUAL, facts)


def test_a_failure_is_that_of_one_thread():
    text = ".decl e(x: int, y: int)  .decl p(x: int, y: int)  p(x, y) :- e(x, y).  p(x, z / w) :- p(x, y), p(y, z), e(y, w)."
    facts = {"e": [(i, (i * 3) % 40) for i in range(40)]}
    messages = set()
    for executor in (lftj.ThreadExecutor(1), lftj.ThreadExecutor(2, parts=32, patience=1)):
        before = threading.active_count()
        with pytest.raises(lftj.LftjError, match="division by zero") as failure:
            views(text, facts, executor=executor)
        messages.add(str(failure.value))
        assert threading.active_count() == before
    assert len(messages) == 1


def test_the_limit_of_work_holds_for_all_threads_together():
    facts = {"e": [(i, j) for i in range(40) for j in range(40)]}
    with pytest.raises(lftj.LimitError, match="work limit"):
        views(MUTUAL, facts, work=20_000, executor=lftj.ThreadExecutor(2, patience=1))


@pytest.mark.parametrize("pieces", [2, 7, 20])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_pieces_are_all_rows_in_a_key_order(pieces: int, order: tuple[int, ...]):
    arena = Arena()
    columns = [np.arange(12), (np.arange(12) * 5) % 12]
    rows = RowSet(2, np.zeros(2), np.full(2, 20))
    rows.add(np.array(columns), np.arange(2))
    packed = rows.take_packed()
    assert packed is not None
    for loose in (LooseRows(SCHEMA, arena, columns), PackedRows(SCHEMA, arena, packed)):
        split = loose.split(pieces, order)
        assert len(split) == pieces
        found = [row for piece in split for row in zip(*(column.tolist() for column in piece.columns()), strict=True)]
        assert found == sorted(zip(*(column.tolist() for column in columns), strict=True), key=lambda row: [row[i] for i in order])
        assert loose.split(1, order) == [loose]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_packed_rows_come_in_every_key_order(order: tuple[int, ...], ordered: bool):
    by = random.Random(1)
    distinct = sorted({(by.randint(-50, 10**9), 7, by.randint(0, 3)) for _ in range(200)}, key=lambda row: by.random())
    rows = RowSet(3, np.zeros(3), np.zeros(3))
    rows.add(np.array(distinct).T.copy(), np.arange(3))
    packed = rows.take_packed(ordered)
    assert isinstance(packed, Packed)
    found = packed.sorted_by(order).columns().T.tolist()
    assert found == sorted([row[column] for column in order] for row in distinct)
