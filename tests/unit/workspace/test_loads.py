"""Loads into relations without rows, which read columns where they are, against inserts that copy
them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import lftj
from lftj.errors import LftjError, NullValueError
from lftj.storage.delta import Load

COLUMNS = {"n": int, "f": float, "t": str, "d": int}
AT_ONCE, COPIED = 1, 10**9
ROWS = 700


def workspace(rows: int) -> lftj.Workspace:
    """One that loads so many rows at once."""
    ws = lftj.connect(tuning=lftj.Tuning(load_rows=rows))
    ws.relation("given", COLUMNS)
    return ws


def table(rows: int = ROWS, **others: pa.Array) -> pa.Table:
    by = np.random.default_rng(rows)
    floats = by.choice([-0.0, 0.0, 1.5, -1e300, np.inf, -np.inf], rows)
    columns = {
        "n": pa.array(by.integers(-5, 5, rows)),
        "f": pa.array(floats),
        "t": pa.array([f"text {number % 7}" for number in range(rows)]),
        "d": pa.array(by.integers(0, 9, rows).astype(np.int16)),
    }
    return pa.table(columns | others)


def in_chunks(whole: pa.Table) -> pa.Table:
    return pa.concat_tables([whole.slice(0, 3), whole.slice(3, 0), whole.slice(3)])


SOURCES = {
    "table": table(),
    "chunks": in_chunks(table()),
    "slice": table().slice(5, 600),
    "one row": table().slice(0, 1),
    "pandas": table().to_pandas(),
    "tuples": list(zip(*(column.to_pylist() for column in table().columns), strict=True)),
    "unsigned": table(n=pa.array(np.arange(ROWS, dtype=np.uint64))),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_the_rows_are_those_of_the_table(source):
    found = []
    for rows in (AT_ONCE, COPIED):
        ws = workspace(rows)
        with ws.transaction() as tx:
            tx.insert("given", source)
        assert tx.inserted("given") == len(ws["given"])
        assert len(tx.changes("given")) == len(ws["given"])
        found.append(sorted(ws["given"]))
    assert found[0] == found[1]


BROKEN = {
    "NaN": table(f=pa.array([1.0] * (ROWS - 1) + [float("nan")])),
    "NULL": table(n=pa.array([1] * (ROWS - 1) + [None])),
    "NULL among strings": table(t=pa.array(["a"] * (ROWS - 1) + [None])),
    "another type": table(f=pa.array(["a"] * ROWS)),
    "too large": table(n=pa.array([2**63] * ROWS, pa.uint64())),
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_errors_are_the_same(source):
    found = []
    for rows in (AT_ONCE, COPIED):
        ws = workspace(rows)
        with pytest.raises(LftjError) as error:
            ws.load("given", in_chunks(source))
        found.append(str(error.value))
        assert not len(ws["given"])
    assert found[0] == found[1]


def test_rows_with_null_may_be_left_out():
    source = BROKEN["NULL"]
    found = []
    for rows in (AT_ONCE, COPIED):
        ws = workspace(rows)
        with pytest.raises(NullValueError):
            ws.load("given", source)
        ws.load("given", source, nulls="drop")
        found.append(sorted(ws["given"]))
    assert found[0] == found[1]


def test_an_array_may_be_overwritten_before_the_commit():
    ws = lftj.connect(tuning=lftj.Tuning(load_rows=1))
    ws.relation("given", {"n": int, "f": float})
    numbers, floats = np.arange(9)[::-1].copy(), np.arange(9.0)
    with ws.transaction() as tx:
        tx.insert("given", pa.table({"n": numbers, "f": floats}))
        numbers[:] = 0
        floats[:] = 7
    assert sorted(ws["given"]) == [(8 - n, float(n)) for n in range(8, -1, -1)]


@pytest.mark.parametrize("rows", [AT_ONCE, COPIED])
def test_other_operations_follow_in_one_transaction(rows):
    ws = lftj.connect(tuning=lftj.Tuning(load_rows=rows))
    ws.add_rules(
        ".decl given(n: number, m: number)\n.decl twice(n: number)\n"
        "twice(n) :- given(n, m), given(m, _)."
    )
    pairs = pa.table({"n": np.arange(50)[::-1], "m": np.arange(50) % 7})
    with ws.transaction() as tx:
        tx.insert("given", pairs)
        assert tx.delete_where("given", n=49) == 1
        tx.insert("given", [(100, 3), (0, 0)])
        tx.delete("given", [(100, 3), (48, 1)])
    expected = {(49 - m, m % 7) for m in range(50)} | {(0, 0)}
    expected -= {(49, 0), (48, 1)}
    assert set(ws["given"]) == expected
    assert {row[:2] for row in tx.changes("given")} == expected
    starts = {n for n, _ in expected}
    assert set(ws["twice"]) == {(n,) for n, m in expected if m in starts}
    with ws.transaction() as tx:
        tx.insert("given", pairs)
    assert tx.inserted("given") == 2


@pytest.mark.parametrize("rows", [AT_ONCE, COPIED])
def test_two_rows_of_one_key_are_found(rows):
    ws = lftj.connect(tuning=lftj.Tuning(load_rows=rows))
    ws.relation("given", {"n": int, "m": int}, key="m")
    ws.load("given", pa.table({"n": np.arange(9), "m": np.arange(9)}))
    other = lftj.connect(tuning=lftj.Tuning(load_rows=rows))
    other.relation("given", {"n": int, "m": int}, key="m")
    with pytest.raises(lftj.KeyViolationError):
        other.load("given", pa.table({"n": np.arange(9), "m": np.arange(9) // 2}))
    assert not len(other["given"])
    assert len(ws["given"]) == 9


def test_a_load_is_kept_on_disk(tmp_path):
    for rows in (AT_ONCE, COPIED):
        path = tmp_path / str(rows)
        with lftj.connect(path, tuning=lftj.Tuning(load_rows=rows)) as ws:
            ws.relation("given", COLUMNS)
            ws.load("given", table())
            expected = sorted(ws["given"])
        with lftj.connect(path) as ws:
            assert sorted(ws["given"]) == expected


def test_the_commit_of_a_load_copies_no_column(monkeypatch):
    """The rows are in the tree; a second copy of all would be what the load takes most memory
    for.
    """

    def read(self):
        raise AssertionError("the columns of a load were read")

    monkeypatch.setattr(Load, "inserts", property(read))
    ws = workspace(AT_ONCE)
    ws.load("given", table())
    assert len(ws["given"]) == len({tuple(row.values()) for row in table().to_pylist()})
