"""Views with constants: a commit looks at those that some changed row may match, and at
no others.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal

import pytest

import lftj
from lftj.maintenance.inputs.affected import ChangedValues

KINDS = [f"kind{i}" for i in range(40)]


def views_by_kind() -> lftj.Workspace:
    """A view for each kind of event, one that asks for a kind and a place, one that negates, and
    one that reads all.
    """
    workspace = lftj.connect()
    rules = [
        f'.decl v{i}(id: number)\nv{i}(i) :- event("{kind}", i, _).' for i, kind in enumerate(KINDS)
    ]
    workspace.add_rules(
        """
        .decl event(kind: symbol, id: number, place: number)
        .decl here(id: number) .decl without(id: number) .decl never(id: number)
        .decl all(kind: symbol, n: number)
        here(i) :- event("kind1", i, 7).
        without(i) :- event("kind2", i, _), !event("kind3", i, 5).
        never(i) :- event("no such kind", i, _).
        all(k, count()) :- event(k, _, _).
        """
        + "\n".join(rules)
    )
    workspace.load("event", [(KINDS[i % 40], i, i % 9) for i in range(2000)])
    return workspace


def looked_at(workspace: lftj.Workspace) -> set[str]:
    return set(workspace.profile(last=1)["relation"])


def test_only_views_whose_constants_are_among_what_changed_are_looked_at():
    workspace = views_by_kind()
    workspace.load("event", [("kind8", -1, 0)])
    assert looked_at(workspace) == {"v8", "all"}
    workspace.load("event", [("kind1", -1, 0), ("kind9", -1, 1)])
    assert looked_at(workspace) == {"v1", "v9", "all"}
    workspace.load("event", [("kind1", -2, 7)])
    assert looked_at(workspace) == {"v1", "here", "all"}
    workspace.load("event", [("kind3", 42, 5)])
    assert {"without", "v3", "all"} <= looked_at(workspace)
    assert (42,) not in workspace["without"].fetchall()
    workspace.load("event", [("no such kind", 1, 1)])
    assert looked_at(workspace) == {"never", "all"}
    assert workspace["never"].fetchall() == [(1,)]
    assert workspace.verify() == []


def test_constants_that_stand_in_equations_count_like_those_in_atoms():
    workspace = views_by_kind()
    workspace.add_rules("""
        .decl first(id: number) .decl place(kind: symbol, n: number) .decl lonely(id: number)
        first(i) :- event(k, i, p), k = "kind1", p = 7.
        place(k, count()) :- event(k, i, _), i = 5.
        lonely(i) :- event(k, i, _), k = "kind2", other = "kind3", !event(other, i, _).
    """)
    workspace.load("event", [("kind8", -1, 7)])
    assert looked_at(workspace) == {"v8", "all"}
    workspace.load("event", [("kind1", -1, 6), ("kind9", 5, 1)])
    assert looked_at(workspace) == {"v1", "v9", "place", "all"}
    workspace.load("event", [("kind1", -2, 7)])
    assert looked_at(workspace) == {"v1", "first", "here", "all"}
    workspace.load("event", [("kind3", 2, 0)])
    assert {"lonely", "v3", "all"} <= looked_at(workspace)
    assert (2,) not in workspace["lonely"].fetchall()
    assert workspace.verify() == []


def test_recursive_views_are_looked_at_where_a_constant_of_theirs_is_among_what_changed():
    workspace = views_by_kind()
    workspace.add_rules(
        "\n".join(
            f'.decl r{i}(id: number)\nr{i}(i) :- event("kind{i}", i, _). r{i}(j) :- r{i}(i), '
            f'event("to{i}", i, j), !event("kind9", j, {i}).'
            for i in range(5)
        )
    )
    workspace.load("event", [("to3", 3, 900)])
    assert looked_at(workspace) == {"r3", "all"}
    workspace.load("event", [("kind4", 900, 1), ("to4", 900, 901)])
    assert looked_at(workspace) == {"v4", "r4", "all"}
    workspace.load("event", [("kind9", 900, 3)])
    assert looked_at(workspace) == {"v9", "r3", "all"}
    assert [(900,) in workspace[name].fetchall() for name in ("r3", "r4")] == [False, True]
    with workspace.transaction() as tx:
        tx.insert("r2", [(5,)])
    assert looked_at(workspace) == {"r2"}
    assert workspace.verify() == []


def test_rules_that_come_with_rows_are_looked_at_whatever_these_are():
    workspace = views_by_kind()
    with workspace.transaction() as tx:
        tx.insert("event", [("kind8", -1, 0)])
        tx.add_rules('.decl late(id: number)\nlate(i) :- event("kind4", i, _).')
    assert len(workspace["late"].fetchall()) == 50
    assert workspace.verify() == []


def test_views_stay_true_over_random_changes():
    workspace, by = views_by_kind(), random.Random(1)
    for _ in range(60):
        rows = [
            (by.choice(KINDS[:5]), by.randrange(60), by.randrange(9))
            for _ in range(by.choice((1, 1, 5)))
        ]
        with workspace.transaction() as tx:
            (tx.insert if by.random() < 0.5 else tx.delete)("event", rows)
    assert workspace.verify() == []


def test_among_many_changed_rows_no_values_are_looked_for():
    workspace = views_by_kind()
    workspace.load("event", [("kind8", -i, 0) for i in range(1, 10_002)])
    assert looked_at(workspace) >= {"v1", "v8", "here", "without", "all"}
    assert len(workspace["v8"]) == 50 + 10_001
    assert workspace.verify() == []


VALUES = {
    "int": [-1, 0, 7, 2**62],
    "float": [0.0, 1.0, 2.5, -1e300],
    "str": ["", "a", "b", "7"],
    "bool": [True, False],
    "date": [datetime.date(1, 1, 1), datetime.date(1970, 1, 8), datetime.date(2026, 2, 28)],
    "timestamp": [datetime.datetime(1970, 1, 1, 0, 0, 0, 7), datetime.datetime(2026, 1, 1)],
    "decimal(8, 2)": [Decimal("0.07"), Decimal("7"), Decimal("-1.50")],
}


@pytest.mark.parametrize("type", VALUES)
def test_views_with_constants_of_every_type_are_found_by_what_changed(type, monkeypatch):
    asked: list[str] = []
    concern = ChangedValues.concern
    monkeypatch.setattr(
        ChangedValues,
        "concern",
        lambda self, rule: asked.append(rule.relation) or concern(self, rule),
    )
    workspace = lftj.connect()
    r, (x, k) = workspace.relation("r", {"x": int, "k": type}), lftj.vars("x k")
    for number, value in enumerate(VALUES[type]):
        for name, body in (
            (f"atom{number}", r(x, value)),
            (f"equation{number}", r(x, k) & (k == value)),
            (f"not{number}", r(x, k) & ~r(x, value)),
        ):
            workspace.view(name, {"x": int})
            workspace.add_rule(lftj.Predicate(name)(x) <= body)
    for number, value in enumerate(VALUES[type]):
        asked.clear()
        workspace.load("r", [(number, value)])
        everywhere = {f"not{other}" for other in range(len(VALUES[type]))}
        assert {name for name in asked if "#" not in name} == {
            f"atom{number}",
            f"equation{number}",
            *everywhere,
        }
        assert (
            workspace[f"atom{number}"].fetchall()
            == workspace[f"equation{number}"].fetchall()
            == [(number,)]
        )
    with workspace.transaction() as transaction:
        transaction.delete("r", workspace["r"])
    assert not any(
        workspace[f"{kind}{number}"]
        for kind in ("atom", "equation", "not")
        for number in range(len(VALUES[type]))
    )
    assert workspace.verify() == []


@pytest.mark.parametrize("rows", [1, 5, 300])
def test_of_a_thousand_views_with_constants_few_are_asked(rows, monkeypatch):
    asked: list[str] = []
    concern = ChangedValues.concern
    workspace = lftj.connect()
    workspace.relation("event", {"kind": str, "id": int})
    workspace.add_rules(
        "\n".join(f'.decl v{i}(id: number)\nv{i}(i) :- event("kind {i}", i).' for i in range(1000))
    )
    monkeypatch.setattr(
        ChangedValues,
        "concern",
        lambda self, rule: asked.append(rule.relation) or concern(self, rule),
    )
    workspace.load("event", [(f"kind {i}", i) for i in range(rows)])
    assert len(asked) == rows
    asked.clear()
    workspace.add_rules(
        '.decl late(id: number)\nlate(i) :- event("kind 7", i), event("kind 8", i).'
    )
    workspace.load("event", [("kind 8", 7)])
    assert sorted(asked) == ["late", "v8"]
    assert len(workspace["late"]) == (rows > 7)


def test_rows_below_a_negation_concern_the_views_that_negate_them() -> None:
    """Nothing but the negated relation changes: in a view, a group, and a recursive view."""
    ws = lftj.connect()
    ws.add_rules(
        ".decl a(x: number)  .decl b(x: number)  .decl e(x: number, y: number)\n"
        ".decl left(x: number)  .decl size(n: number)  .decl reach(x: number, y: number)\n"
        "left(x) :- a(x), !b(x).\n"
        "size(count()) :- a(x), !b(x).\n"
        "reach(x, y) :- e(x, y), !b(y).  reach(x, z) :- reach(x, y), e(y, z), !b(z)."
    )
    ws.load("a", [(1,), (2,), (3,)])
    ws.load("e", [(1, 2), (2, 3)])
    for change, left, reach in (
        ("insert", [(1,), (3,)], [(2, 3)]),
        ("delete", [(1,), (2,), (3,)], [(1, 2), (1, 3), (2, 3)]),
    ):
        with ws.transaction() as tx:
            getattr(tx, change)("b", [(2,)])
        assert ws["left"].fetchall() == left
        assert ws["size"].fetchall() == [(len(left),)]
        assert ws["reach"].fetchall() == reach
