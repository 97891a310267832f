"""Changes that a transaction would make, before it is committed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import lftj
from lftj.engine.live import engine

Changes = dict[str, list[Any]]


@pytest.fixture
def workspace() -> Iterator[Any]:
    """Roads, where they lead, and a relation with a key."""
    with lftj.connect(keep="all") as made:
        made.add_rules(
            ".decl road(x: number, y: number) .decl reach(x: number, y: number) "
            "reach(x, y) :- road(x, y). reach(x, z) :- reach(x, y), road(y, z)."
        )
        made.relation("age", {"who": int, "age": int}, key="who")
        made.load("road", [(1, 2), (2, 3)])
        made.load("age", [(1, 30)])
        yield made


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The proposals that were carried out."""
    found: list[object] = []
    carry_out = engine.carry_out

    def noted(before: Any, proposal: Any, context: Any) -> Any:
        found.append(proposal)
        return carry_out(before, proposal, context)

    monkeypatch.setattr(engine, "carry_out", noted)
    return found


def listed(preview: Any) -> Changes:
    """The changes of a preview."""
    return {name: sorted(preview[name].fetchall()) for name in preview}


def committed(workspace: Any, tx: Any) -> Changes:
    """The changes of a commit."""
    found = {name: sorted(tx.changes(name).fetchall()) for name in workspace.relations}
    return {name: rows for name, rows in found.items() if rows}


def test_a_preview_is_what_the_commit_reports_and_is_computed_once(
    workspace: Any, carried_out: list[object]
) -> None:
    tx = workspace.transaction()
    tx.insert("road", [(3, 4)])
    tx.delete("road", [(1, 2)])
    preview = tx.preview()
    found = listed(preview)
    assert found["reach"] == [(1, 2, -1, 4), (1, 3, -1, 4), (2, 4, 1, 4), (3, 4, 1, 4)]
    assert sorted(preview) == ["reach", "road"]
    assert len(preview) == 2
    assert preview["road"].columns == ("x", "y", "__diff__", "__version__")
    assert listed(tx.preview()) == found
    assert tx.commit() == 4
    assert len(carried_out) == 1
    assert committed(workspace, tx) == found
    assert tx.work > 0


def test_each_kind_of_operation_after_a_preview_is_in_the_commit(workspace: Any) -> None:
    (rule,) = workspace.add_rules("reach(x, x) :- road(x, _).")
    operations = [
        lambda tx: tx.insert("road", [(8, 9)]),
        lambda tx: tx.delete("road", [(1, 2)]),
        lambda tx: tx.upsert("age", [(1, 31)]),
        lambda tx: tx.delete_where("road", x=2),
        lambda tx: tx.add_rule("reach(y, x) :- road(x, y)."),
        lambda tx: tx.remove_rule(rule),
        lambda tx: tx.add_rules(".decl twice(x: number) twice(2 * x) :- road(x, _)."),
        lambda tx: tx.add_rules(".decl new(x: number) new(7)."),
    ]
    for operation in operations:
        tx = workspace.transaction()
        tx.insert("road", [(5, 6)])
        first = listed(tx.preview())
        assert (5, 6, 1, workspace.version + 1) in first["road"]
        operation(tx)
        second = listed(tx.preview())
        version = workspace.version
        tx.commit()
        assert committed(workspace, tx) == second
        assert workspace.version == version + 1
        assert workspace.verify() == []
        with workspace.transaction() as undo:
            undo.delete("road", [(5, 6)])


def test_a_preview_raises_what_the_commit_raises_and_leaves_the_transaction_open(
    workspace: Any,
) -> None:
    tx = workspace.transaction()
    tx.insert("age", [(1, 31)])
    with pytest.raises(lftj.KeyViolationError) as of_preview:
        tx.preview()
    with pytest.raises(lftj.KeyViolationError) as of_commit:
        tx.commit()
    assert str(of_preview.value) == str(of_commit.value)
    tx = workspace.transaction()
    tx.insert("age", [(1, 31)])
    with pytest.raises(lftj.KeyViolationError):
        tx.preview()
    tx.delete("age", [(1, 30)])
    assert listed(tx.preview()) == {"age": [(1, 30, -1, 4), (1, 31, 1, 4)]}
    tx.commit()
    assert workspace["age"].fetchall() == [(1, 31)]


def test_nobody_hears_of_a_preview_and_a_rollback_leaves_nothing(workspace: Any) -> None:
    heard: list[Any] = []
    workspace.subscribe("reach", lambda change: heard.append(change.fetchall()))
    before, log = workspace.snapshot(), len(workspace.log())
    tx = workspace.transaction()
    tx.insert("road", [(3, 4)])
    tx.add_rules(".decl other(x: number) other(x) :- reach(x, _).")
    assert sorted(tx.preview()) == ["other", "reach", "road"]
    assert not heard
    assert sorted(workspace["reach"]) == sorted(before["reach"])
    assert list(workspace.changes("reach", since=1, timeout=0)) != []
    assert list(workspace.changes("reach", timeout=0)) == []
    tx.rollback()
    assert not heard
    assert (workspace.version, len(workspace.log())) == (3, log)
    assert "other" not in workspace.relations
    assert workspace.verify() == []
    with pytest.raises(lftj.TransactionError):
        tx.preview()
    with workspace.transaction() as tx:
        tx.insert("road", [(3, 9)])
    assert sorted(heard[0]) == [(1, 9, 1, 4), (2, 9, 1, 4), (3, 9, 1, 4)]
    assert len(heard) == 1


def test_the_preview_of_nothing_is_empty(workspace: Any) -> None:
    with workspace.transaction() as tx:
        assert len(tx.preview()) == 0
        assert repr(tx.preview()) == "<Preview of changes to nothing>"
    assert workspace.version == 3
