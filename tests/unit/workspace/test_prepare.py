"""`ws.prepare()`: nothing changes, and first changes take what later ones take."""

from __future__ import annotations

from pathlib import Path

import pytest

import lftj
from lftj.storage.relation import RelationVersion
from lftj.views.delta_query import DeltaQuery

PROGRAM = """
.decl sale(id: number, item: number, shop: number, amount: number)
.decl item(item: number, kind: symbol)
.decl edge(x: number, y: number)
.decl by_kind(kind: symbol, total: number)
.decl unsold(item: number)
.decl triangles(n: number)
.decl reach(x: number, y: number)
.decl late(id: number)
.decl least(shop: number, amount: number)
.decl own(x: number)
by_kind(k, sum(a)) :- sale(_, i, _, a), item(i, k).
unsold(i) :- item(i, _), !sale(_, i, _, _).
triangles(count()) :- edge(x, y), edge(y, z), edge(x, z).
reach(x, y) :- edge(x, y), x < 9.
reach(x, z) :- reach(x, y), edge(y, z).
late(i) :- sale(i, t, _, _), item(t, "late").
least(s, min(a)) :- sale(_, _, s, a).
own(x) :- edge(x, x).
"""
SALES = [(n, n % 23, n % 7, n % 31) for n in range(400)]
ITEMS = [(n, "late" if n == 3 else f"kind{n % 4}") for n in range(30)]
EDGES = [(n % 40, (7 * n + n // 40) % 40) for n in range(200)]


def filled(ws: lftj.Workspace) -> lftj.Workspace:
    """A workspace with rows, loaded after its rules."""
    ws.add_rules(PROGRAM)
    with ws.transaction() as tx:
        tx.insert("sale", SALES)
        tx.insert("item", ITEMS)
        tx.insert("edge", EDGES)
        tx.insert("own", [(77,)])
    return ws


def contents(reader: lftj.Workspace | lftj.Snapshot) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all relations."""
    return {name: sorted(reader[name].fetchall()) for name in reader.relations}


def change(ws: lftj.Workspace, number: int) -> None:
    """A change of each relation that rules read."""
    with ws.transaction() as tx:
        tx.delete("sale", [SALES[number]])
    with ws.transaction() as tx:
        tx.delete("item", [ITEMS[number]])
        tx.insert("item", [(ITEMS[number][0], "late")])
    with ws.transaction() as tx:
        tx.delete("edge", [EDGES[number]])
        tx.insert("edge", [(number, number)])


def test_nothing_changes() -> None:
    ws = filled(lftj.connect(keep="all"))
    before, version, told = contents(ws), ws.version, []
    held, log, profile = ws.snapshot(), ws.log().fetchall(), len(ws.profile())
    ws.subscribe("by_kind", told.append)
    ws.prepare()
    ws.prepare()
    assert contents(ws) == contents(held) == before
    assert (ws.version, ws.log().fetchall(), len(ws.profile()), told) == (version, log, profile, [])
    assert not ws.verify()
    fresh = filled(lftj.connect())
    for number in range(12):
        change(ws, number)
        change(fresh, number)
        assert contents(ws) == contents(fresh)
    assert not ws.verify()
    assert contents(ws.at(version)) == before
    assert ws.version == fresh.version


def test_first_changes_plan_and_build_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ws = filled(lftj.connect())
    planned, built = [], []
    plan, make = DeltaQuery._signed, RelationVersion._made
    monkeypatch.setattr(
        DeltaQuery, "_signed", lambda *args: planned.append(args[0].relation) or plan(*args)
    )
    monkeypatch.setattr(
        RelationVersion, "_made", lambda self, order: built.append(order) or make(self, order)
    )
    ws.prepare()
    assert {"sale", "item", "edge"} <= set(planned)
    planned.clear()
    built.clear()
    change(ws, 3)
    assert (planned, built) == ([], [])


def test_rows_that_cannot_go_are_left_alone() -> None:
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(x: number, y: number)\n.decl n(n: number)\n.decl share(n: number)\n"
        "n(count()) :- e(_, _).\nshare(10 / (n - 1)) :- n(n).\n"
    )
    ws.load("e", [(1, 1), (2, 2)])
    ws.prepare()
    assert ws["share"].fetchall() == [(10,)]
    assert not ws.verify()


def test_choices_stay_as_they_are() -> None:
    ws = lftj.connect()
    pair = ws.relation("pair", {"x": int, "y": int}, choice=["x"])
    ws.relation("e", {"x": int, "y": int})
    ws.add_rule("pair(x, y) :- e(x, y).")
    for y in range(5, 0, -1):
        ws.load("e", [(1, y), (2, y)])
    before = sorted(ws[pair].fetchall())
    ws.prepare()
    assert sorted(ws[pair].fetchall()) == before
    ws.load("e", [(3, 1)])
    assert sorted(ws[pair].fetchall()) == [*before, (3, 1)]


def test_at_a_path_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "w.lftj"
    with filled(lftj.connect(path, durability="off")) as ws:
        version, before = ws.version, contents(ws)
        ws.prepare()
        assert (ws.version, contents(ws)) == (version, before)
        ws.compact()
        change(ws, 1)
        after = contents(ws)
    with lftj.connect(path) as ws:
        assert contents(ws) == after
        ws.prepare()
        assert contents(ws) == after
        assert not ws.verify()
        change(ws, 2)
        assert not ws.verify()
    with (
        lftj.connect(path, read_only=True) as ws,
        pytest.raises(lftj.DurableError),
    ):
        ws.prepare()


def test_of_a_branch_and_inside_a_transaction() -> None:
    ws = filled(lftj.connect())
    other = ws.branch("other")
    change(other, 5)
    before = contents(ws), contents(other)
    other.prepare()
    assert (contents(ws), contents(other)) == before
    with ws.transaction(), pytest.raises(lftj.TransactionError):
        ws.prepare()
    with ws.limits(work=1), pytest.raises(lftj.LimitError):
        ws.prepare()
    assert contents(ws) == before[0]
