"""Changes in bulk: deletes by keys, and relations that are made equal to a table."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import lftj
from lftj.errors import (
    DeclarationError,
    FrameError,
    LftjError,
    MissingRowError,
    TransactionError,
    UnknownNameError,
)

ROWS = [(number, f"w{number % 3}", number % 5) for number in range(40)]


@pytest.fixture
def ws() -> Any:
    with lftj.connect() as workspace:
        workspace.relation("item", {"id": int, "who": str, "n": int}, key="id")
        workspace.relation("pair", {"x": int, "y": str})
        workspace.load("item", ROWS)
        workspace.load("pair", [(number % 4, str(number)) for number in range(20)])
        workspace.add_rules(".decl c(w: symbol, n: number) c(w, count()) :- item(_, w, _).")
        yield workspace


def named(rows: list[Any]) -> Any:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(("id", "who", "n"))})


def ids(ws: Any) -> list[int]:
    assert ws.verify() == []
    return sorted(row[0] for row in ws["item"])


# ── deletes by keys ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "keys",
    [
        [3, 7, 999],
        [(3,), (7,), (999,)],
        {3, 7},
        range(3, 8, 4),
        pd.DataFrame({"id": [3, 7]}),
        pa.table({"id": [3, 7], "who": ["w0", "w1"]}),
        [{"id": 3, "n": 3}, {"id": 7, "n": 2}, {"id": 8, "n": 2}],
    ],
)
def test_rows_are_deleted_by_their_keys(ws: Any, keys: Any) -> None:
    with ws.transaction() as tx:
        tx.delete("item", keys=keys)
    assert ids(ws) == [number for number in range(40) if number not in (3, 7)]


def test_rows_are_deleted_by_columns_that_are_no_key(ws: Any) -> None:
    with ws.transaction() as tx:
        tx.insert("pair", [(2, "new")])
        tx.delete("pair", keys=pd.DataFrame({"x": [1, 2, 9]}))
        tx.insert("pair", [(2, "newer")])
    assert sorted(ws["pair"]) == sorted(
        [(number % 4, str(number)) for number in range(20) if number % 4 in (0, 3)] + [(2, "newer")]
    )


def test_single_keys_keep_their_place_among_operations(ws: Any) -> None:
    chance = random.Random(7)
    held = {row[0]: row for row in ROWS}
    with ws.transaction() as tx:
        for turn in range(200):
            number = chance.randrange(50)
            if chance.random() < 0.6:
                tx.delete("item", keys=[number])
                held.pop(number, None)
            else:
                held[number] = (number, f"w{turn}", turn)
                tx.upsert("item", [held[number]])
    assert sorted(ws["item"]) == sorted(held.values())
    assert ws.verify() == []


def test_keys_that_cannot_be(ws: Any) -> None:
    with ws.transaction() as tx:
        with pytest.raises(MissingRowError, match="999"):
            tx.delete("item", keys=[3, 999], missing="error")
        with pytest.raises(TransactionError):
            tx.delete("pair", keys=[1])
        with pytest.raises(FrameError):
            tx.delete("item", keys=pd.DataFrame({"nobody": [1]}))
        for wrong in (["a"], [None], [(1, 2)], [1 << 70]):
            with pytest.raises(LftjError):
                tx.delete("item", keys=wrong)
        with pytest.raises(LftjError):
            tx.delete("item", [ROWS[0]], keys=[1])
        tx.delete("item", keys=[3], missing="error")
    assert len(ids(ws)) == 39


# ── synchronisation ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("size", [40, 9000])
@pytest.mark.parametrize("seed", range(3))
def test_a_relation_is_made_equal_to_a_table(ws: Any, size: int, seed: int) -> None:
    chance = random.Random(seed)
    rows = {number: (number, f"w{number % 3}", number % 5) for number in range(size)}
    with ws.transaction() as tx:
        assert tx.sync("item", list(rows.values())).inserted == size - 40
    before = dict(rows)
    for number in chance.sample(range(size), 9):
        rows.pop(number)
    for number in chance.sample(sorted(rows), 7):
        rows[number] = (number, "changed", 9)
    rows |= {size + number: (size + number, "new", 1) for number in range(5)}
    shuffled = chance.sample(sorted(rows.values()), len(rows))
    with ws.transaction() as tx:
        found = tx.sync("item", named(shuffled))
    assert found == (5, 7, 9)
    assert sorted(ws["item"]) == sorted(rows.values())
    assert {row[:3] for row in tx.changes("item") if row[3] > 0} == {*rows.values()} - {
        *before.values()
    }
    with ws.transaction() as tx:
        assert tx.sync("item", shuffled) == (0, 0, 0)
    assert (tx.version, ws.verify()) == (ws.version, [])


def test_a_part_of_a_relation_is_synchronised(ws: Any) -> None:
    with ws.transaction() as tx:
        assert tx.sync("item", [(0, "w0", 0), (77, "w0", 1)], where={"who": "w0"}) == (1, 0, 13)
    assert {row[1] for row in ws["item"]} == {"w0", "w1", "w2"}
    with ws.transaction() as tx:
        with pytest.raises(DeclarationError):
            tx.sync("item", [(0, "w1", 0)], where={"who": "w0"})
        with pytest.raises(LftjError):
            tx.sync("item", [(0, "w1", 0)], where={"who": "never seen"})
        with pytest.raises(UnknownNameError):
            tx.sync("item", [(0, "w1", 0)], by="nobody")
        assert tx.sync("pair", [(1, "a"), (1, "b"), (2, "c")], by="x") == (0, 2, 2)
    assert sorted(ws["pair"]) == [(1, "b"), (2, "c")]


def test_a_table_sees_what_the_transaction_did_before(ws: Any) -> None:
    with ws.transaction() as tx:
        tx.delete("item", keys=list(range(30)))
        tx.insert("item", [(100, "x", 1)])
        assert tx.sync("item", [(30, "w0", 0), (100, "x", 2)]) == (0, 1, 9)
    assert sorted(ws["item"]) == [(30, "w0", 0), (100, "x", 2)]
