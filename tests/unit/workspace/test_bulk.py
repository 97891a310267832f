"""Changes in bulk: deletes by keys, relations that are made equal to a table, feeds of changes."""

from __future__ import annotations

import datetime
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
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
from lftj.frames.late_columns import HeldCodes, LateTexts

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


WIDE = {
    "name": str,
    "day": datetime.date,
    "note": "str?",
    "size": float,
    "price": lftj.decimal(9, 2),
    "count": "int?",
}


def wide_row(number: int, chance: random.Random) -> tuple[Any, ...]:
    return (
        f"näme {number}" if number % 5 else f"{number}",
        datetime.date(2020, 1, 1) + datetime.timedelta(days=number % 40),
        None if number % 3 == 0 else f"note {chance.randrange(4)}",
        chance.choice([0.0, -0.0, 1e300, -2.5]),
        Decimal(chance.randrange(900)) / 100,
        None if number % 4 == 0 else chance.randrange(5),
    )


def wide_table(rows: list[Any], carrier: str) -> Any:
    types = ("string", "date32[day]", "large_string", "double", pa.decimal128(12, 2), "int64")
    fields = list(zip(WIDE, types, strict=True))
    columns = [pa.array([row[i] for row in rows], type) for i, (_, type) in enumerate(fields)]
    table = pa.table(columns, names=list(WIDE))
    if carrier == "chunks":
        return pa.concat_tables([table[:700], table[700:701], table[701:]])
    if carrier == "pandas":
        return table.to_pandas(types_mapper=pd.ArrowDtype)
    return {"rows": rows, "polars": pl.from_arrow(table)}.get(carrier, table)


@pytest.mark.parametrize("key", [None, "name", ("day", "name"), ("name", "day")])
@pytest.mark.parametrize("carrier", ["rows", "arrow", "chunks", "pandas", "polars"])
def test_tables_of_all_types_in_any_order_are_compared(key: Any, carrier: str) -> None:
    chance = random.Random(f"{key} {carrier}")
    rows = [wide_row(number, chance) for number in range(3000)]
    with lftj.connect() as workspace:
        workspace.relation("r", WIDE, key=key)
        workspace.load("r", wide_table(rows, carrier))
        for turn in range(6):
            there = len(rows)
            for row in chance.sample(range(there), 9):
                rows[row] = (*rows[row][:2], *wide_row(row, chance)[2:])
            first = chance.randrange(there - 300)
            del rows[first : first + chance.choice([0, 1, 20, 300])]
            news = [wide_row(4000 * (turn + 1) + n, chance) for n in range(chance.choice([0, 3]))]
            rows[first:first] = news
            if turn > 3:
                chance.shuffle(rows)
            with workspace.transaction() as tx:
                found = tx.sync("r", wide_table([*rows, *rows[:2]], carrier))
            assert set(workspace["r"]) == set(rows)
            changes = [row[len(WIDE)] for row in tx.changes("r")]
            signs = [found.inserted + found.updated, found.deleted + found.updated]
            assert signs == [changes.count(1), changes.count(-1)]
        assert workspace.verify() == []


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


KEYS: list[Any] = [None, ("a",), ("b",), ("a", "b"), ("f", "b")]


def last_of(rows: list[Any], by: tuple[int, ...]) -> dict[Any, Any]:
    """The last row of each identity."""
    return {tuple(row[place] for place in by): row for row in rows}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("by", [None, ("a",), ("t",), ("a", "b", "t")])
@pytest.mark.parametrize("pending", [False, True])
def test_what_a_table_changes_is_the_difference_of_sets(key: Any, by: Any, pending: bool) -> None:
    """Small values, so that identities are there twice, go, come and get other keys."""
    chance = random.Random(f"{key} {by} {pending}")
    names = ("a", "b", "t", "f")
    places = tuple(map(names.index, by or key or names))
    types = pa.int32(), pa.int64(), pa.string(), pa.float64()
    with lftj.connect() as workspace:
        workspace.relation("r", {"a": int, "b": int, "t": "str?", "f": float}, key=key)
        for turn in range(12):
            texts = [None, "x", *(f"{turn}{number}" for number in range(4))]
            draws = (range(30), range(chance.choice([1, 4])), texts, [0.0, -0.0, 1.5])
            rows = [tuple(map(chance.choice, draws)) for _ in range(chance.choice([0, 3, 40]))]
            if key is not None:  # of the rows that are left, no two may have the same key
                rows = list(last_of(rows, tuple(map(names.index, key))).values())
                again = [(*row[:3], 2.5) for row in rows[:5] if "f" not in key]
                rows = again + rows
            rows = sorted(rows, key=str) if turn % 3 else rows
            left = set(last_of(rows, places).values())
            columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(types)]
            with workspace.transaction() as tx:
                if pending:
                    tx.delete("r", workspace["r"].fetchall()[::3])
                    tx.insert("r", [(100 + turn, turn, "y", 0.0)])
                    tx.insert("r", rows[:2])
                found = tx.sync("r", pa.table(columns, names=list(names)), by=by)
            assert set(workspace["r"]) == left
            if not pending:
                signs = [row[4] for row in tx.changes("r")]
                came, went = found.inserted + found.updated, found.deleted + found.updated
                assert [came, went] == [signs.count(1), signs.count(-1)]
        assert workspace.verify() == []


@pytest.mark.parametrize("turned", [False, True])
def test_a_wrong_value_or_an_interrupt_in_the_middle_changes_nothing(
    ws: Any, turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 40_000
    rows = [(number, f"w{number % 3}", number % 5) for number in range(size)]
    rows = rows[::-1] if turned else rows
    ws.load("item", rows[40:] if not turned else rows[:-40])
    texts = [row[1].encode() for row in rows]
    texts[20_000] = texts[39_000] = b"\xff\xfe"
    wrong = named(rows).set_column(1, "who", pa.array(texts).view(pa.string()))
    other = named([*rows[:30_000], (size, "new", 1)])
    with ws.transaction() as tx:
        tx.insert("pair", [(9, "z")])
        with pytest.raises(LftjError, match=r"row 20000(.|\n)*row 39000"):
            tx.sync("item", wrong)
        with monkeypatch.context() as patch:
            read, calls = HeldCodes.read if turned else LateTexts.read, iter((True, True, False))

            def interrupted(*arguments: Any) -> None:
                if not next(calls, False):
                    raise KeyboardInterrupt
                read(*arguments)

            patch.setattr(HeldCodes if turned else LateTexts, "read", interrupted)
            with pytest.raises(KeyboardInterrupt):
                tx.sync("item", other)
    assert (len(ws["item"]), (9, "z") in set(ws["pair"])) == (size, True)
    with ws.transaction() as tx:
        assert tx.sync("item", other) == (1, 0, 10_000)
    assert (len(ws["item"]), ws.verify()) == (30_001, [])


# ── feeds of changes ──────────────────────────────────────────────────────────────────────────────
def event(op: str, before: Any, after: Any, lsn: int = 0) -> dict[str, Any]:
    images = [
        None if row is None else {"id": row[0], "who": row[1], "n": row[2], "more": [1]}
        for row in (before, after)
    ]
    return {"op": op, "before": images[0], "after": images[1], "source": {"lsn": lsn}}


def feed_of(seed: int, rows: dict[int, Any]) -> list[dict[str, Any]]:
    """Random events that lead on from some rows, which they change."""
    chance, events = random.Random(seed), list[dict[str, Any]]()
    for lsn in range(1, 120):
        number = chance.randrange(50)
        new = (number, f"w{chance.randrange(4)}", lsn)
        if number not in rows:
            events.append(event("c", None, new, lsn))
        elif chance.random() < 0.4:
            events.append(event("d", rows.pop(number), None, lsn))
            continue
        else:
            events.append(event("u", rows[number], new, lsn))
        rows[number] = new
    return events


@pytest.mark.parametrize("relation", ["item", "bare"])
@pytest.mark.parametrize("form", ["dicts", "texts", "file", "envelopes", "table"])
def test_events_are_applied_in_their_order(
    ws: Any, relation: str, form: str, tmp_path: Path
) -> None:
    ws.relation("bare", {"id": int, "who": str, "n": int})
    ws.load("bare", ROWS)
    rows = {row[0]: row for row in ROWS}
    events: Any = feed_of(3, rows)
    given: Any = events
    if form == "texts":
        given = list(map(json.dumps, events))
    elif form == "file":
        given = tmp_path / "changes.jsonl"
        given.write_text("\n".join(map(json.dumps, events)))
    elif form == "envelopes":
        given = [{"schema": {}, "payload": each} for each in events] + [None]
    elif form == "table":
        given = pd.DataFrame(
            [
                {"op": each["op"], **(each["before"] if each["op"] == "d" else each["after"])}
                for each in events
            ]
        )
        if relation == "bare":
            return  # an update of a relation without a key needs both images
    with ws.transaction() as tx:
        assert tx.apply_changes(relation, given) == len(events)
    assert sorted(ws[relation]) == sorted(rows.values())
    assert ws.verify() == []


def test_a_key_that_changes_and_a_truncation(ws: Any) -> None:
    with ws.transaction() as tx:
        tx.apply_changes("item", [event("u", (3, "w0", 3), (300, "w0", 3))])
        tx.apply_changes("item", event("u", (4, "w1", 4), (3, "w1", 4)))
    assert ids(ws) == sorted({*range(40), 300} - {4})
    with ws.transaction() as tx:
        tx.insert("item", [(77, "x", 1)])
        tx.apply_changes("item", [event("t", None, None), event("r", None, (1, "a", 1))])
    assert sorted(ws["item"]) == [(1, "a", 1)]


@pytest.mark.parametrize("way", ["batches", "each", "table"])
def test_a_feed_is_applied_exactly_once(way: str, tmp_path: Path) -> None:
    rows: dict[int, Any] = {}
    events = feed_of(5, rows)
    options: dict[str, Any] = {"feed": "orders"}

    def apply(ws: Any, first: int, last: int) -> int:
        batch: Any = events[first:last]
        if way == "batches":
            options["position"] = last
        elif way == "each":
            options["position"] = "source.lsn"
        else:
            options["position"] = "lsn"
            images = [(each, each["after"] or each["before"]) for each in batch]
            batch = [{"op": e["op"], "lsn": e["source"]["lsn"], **image} for e, image in images]
        with ws.transaction() as tx:
            return tx.apply_changes("item", batch, **options)

    with lftj.connect(tmp_path / "w.lftj") as ws:
        ws.relation("item", {"id": int, "who": str, "n": int}, key="id")
        assert apply(ws, 0, 40) == 40
        tx = ws.transaction()
        tx.apply_changes("item", events[40:], feed="orders", position=10**6)
        tx.rollback()
    with lftj.connect(tmp_path / "w.lftj") as ws:
        assert apply(ws, 0, 40) == 0
        assert apply(ws, *((40, 90) if way == "batches" else (20, 90))) == 50
        assert apply(ws, 90, 119) == 29
        assert sorted(ws["item"]) == sorted(rows.values())
        assert ws["feed_position"].fetchall() == [("orders", 119)]


def test_values_of_events_are_converted(ws: Any) -> None:
    ws.relation("t", {"k": int, "d": "date", "m": "timestamp", "p": "decimal(8,2)"}, key="k")
    images = [
        {"k": 1, "d": 19782, "m": 1709164800000, "p": "12.50"},
        {"k": 2, "d": "2024-02-29", "m": 1709164800000000, "p": 3},
        {"k": 3, "d": "2024-02-29", "m": "2024-02-29T01:00:00+01:00", "p": "0.10"},
    ]
    with ws.transaction() as tx:
        tx.apply_changes("t", [{"op": "c", "before": None, "after": image} for image in images])
    day, moment = datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29)
    prices = map(Decimal, ("12.50", "3.00", "0.10"))
    assert ws["t"].fetchall() == [
        (k, day, moment, p) for k, p in zip((1, 2, 3), prices, strict=True)
    ]


@pytest.mark.parametrize(
    ("changes", "options"),
    [
        ([{"op": "x"}], {}),
        ([{"op": "c", "after": None}], {}),
        ([{"op": "d", "before": None}], {}),
        ([event("c", None, (1, "a", None))], {}),
        ([{"op": "c", "after": {"id": 1}}], {}),
        ([event("c", None, (1, "a", 1))], {"feed": "f"}),
        ([event("c", None, (1, "a", 1))], {"position": 1}),
        ([event("c", None, (1, "a", 1))], {"feed": "f", "position": "source.no"}),
        ([{"op": "x", "id": 1, "who": "a", "n": 1}], {}),
        ([{"op": "c", "id": 1}], {}),
    ],
)
def test_changes_that_cannot_be(ws: Any, changes: Any, options: Any) -> None:
    with ws.transaction() as tx, pytest.raises(LftjError):
        tx.apply_changes("item", changes, **options)
    assert ids(ws) == list(range(40))


SERIES: list[Any] = [
    pd.Series, pd.Index, pl.Series, np.array, pa.array, lambda keys: pa.chunked_array([keys]),
]  # fmt: skip


@pytest.mark.parametrize("form", SERIES)
@pytest.mark.parametrize("make", [int, str, lambda i: datetime.date(2020, 1, 1 + i)])
def test_keys_are_a_series_or_an_array(form: Any, make: Any) -> None:
    ws = lftj.connect()
    ws.relation("r", {"a": type(make(0)), "b": int}, key="a")
    ws.load("r", [(make(i), i) for i in range(5)])
    with ws.transaction() as tx:
        tx.delete("r", keys=form([make(1), make(3)]), missing="error")
    assert sorted(b for _, b in ws["r"]) == [0, 2, 4]


@pytest.mark.parametrize("as_events", [False, True])
def test_changes_of_a_batch_are_applied_by_position(as_events: bool) -> None:
    """A table of changes comes from a query without an order; the last position of a key counts."""
    ws = lftj.connect()
    ws.relation("r", {"a": int, "b": int}, key="a")
    rows = [("u", 1, 30, 3), ("c", 1, 10, 1), ("d", 2, 0, 4), ("c", 2, 20, 2), ("c", 3, 5, 2)]
    given: Any = pl.DataFrame(rows, schema=["op", "a", "b", "lsn"], orient="row")
    if as_events:
        given = [{"op": op, "before": {"a": a, "b": b}, "after": {"a": a, "b": b}, "lsn": lsn}
                 for op, a, b, lsn in rows]  # fmt: skip
    for expected in (5, 0):  # exactly once
        with ws.transaction() as tx:
            assert tx.apply_changes("r", given, feed="f", position="lsn") == expected
        assert sorted(ws["r"].fetchall()) == [(1, 30), (3, 5)]
        assert ws["feed_position"].fetchall() == [("f", 4)]


def test_results_of_relations_go_by_name_and_those_of_queries_by_position() -> None:
    ws = lftj.connect(keep="all")
    ws.relation("p", {"name": str, "city": str})
    ws.relation("q", {"city": str, "name": str})
    ws.relation("r", {"a": str, "b": str})
    ws.load("p", [("Ada", "Basel")])
    for name in "qr":
        ws.load(name, ws["p"])
    assert (list(ws["q"]), list(ws["r"])) == ([("Basel", "Ada")], [("Ada", "Basel")])
    ws.load("q", ws.query("p(city, name)"))
    assert ("Ada", "Basel") in list(ws["q"])
    version = ws.version
    ws.alter("p", drop="city", add={"mail": str | None})
    with pytest.raises(FrameError, match='columns that the relation lacks: "city"'):
        ws.load("p", ws.at(version)["p"])
    ws.load("r", ws["q"], columns={"a": "name", "b": "city"})
    assert list(ws["p"]) == [("Ada", None)]


def test_a_change_that_is_no_mapping_is_told() -> None:
    ws = lftj.connect()
    ws.relation("p", {"id": int}, key="id")
    tx = ws.transaction()
    with pytest.raises(FrameError, match=r"change 0 is none that a feed has: \('c', 1\)"):
        tx.apply_changes("p", [("c", 1)])
    tx.rollback()


def test_missing_values_of_pandas_among_python_values() -> None:
    ws = lftj.connect()
    ws.relation("p", {"id": int, "n": int | None})
    ws.load("p", [(1, pd.NA), (2, pd.NaT), (3, 4)])
    assert list(ws["p"]) == [(1, None), (2, None), (3, 4)]
    with pytest.raises(lftj.LftjError, match="'oops'"):
        ws.load("p", [(4, pd.NA), (5, "oops")])
    with pytest.raises(lftj.LftjError, match="E220"):
        ws.load("p", [(4, pd.NA), (5, -(2**63))])
