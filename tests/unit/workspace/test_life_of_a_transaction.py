# ruff: noqa: PT031 — a transaction is a block of several statements, and its end is what raises
from __future__ import annotations

import gc
import threading

import pytest

import lftj
from tests.unit.workspace.reading import rows


def test_after_its_end_a_transaction_is_over(bank):
    tx = bank.transaction()
    tx.rollback()
    tx.rollback()
    for use in (
        tx.commit,
        lambda: tx.insert("edge", [(1, 1)]),
        lambda: tx.add_rule("reach(x, x)."),
        tx.changes,
        tx.__enter__,
    ):
        with pytest.raises(lftj.TransactionError, match="rolled back") as caught:
            use()
        assert caught.value.code == "E320"
    with bank.transaction() as tx:
        pass
    for use in (tx.commit, tx.rollback, lambda: tx.delete("edge", [(1, 1)])):
        with pytest.raises(lftj.TransactionError, match="committed"):
            use()


def test_commit_or_rollback_inside_the_block(bank):
    with bank.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.commit()
    with bank.transaction() as tx:
        tx.insert("edge", [(4, 5)])
        tx.rollback()
    assert rows(bank, "edge") == {(1, 2), (2, 3), (3, 4)}


def test_changes_wait_for_the_commit(bank):
    with bank.transaction() as tx, pytest.raises(lftj.TransactionError, match="still open"):
        tx.changes("edge")


def test_no_transaction_inside_another(bank):
    with bank.transaction() as tx:
        for write in (
            bank.transaction,
            lambda: bank.load("edge", [(8, 8)]),
            lambda: bank.relation("new", {"x": int}),
        ):
            with pytest.raises(lftj.TransactionError) as caught:
                write()
            assert caught.value.code == "E322"
        with pytest.raises(lftj.LftjError, match="a transaction is open") as caught:
            bank.close()
        assert (caught.value.code, caught.value.hint) == (
            "E342",
            "commit or roll it back, then close",
        )
        tx.insert("edge", [(3, 4)])
    assert rows(bank, "edge") == {(1, 2), (2, 3), (3, 4)}


def test_another_thread_waits_for_the_writer_lock(bank):
    problems = []

    def write(row):
        try:
            bank.load("edge", [row])
        except lftj.TransactionError as error:
            problems.append(error.code)

    with bank.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        thread = threading.Thread(target=write, args=((50, 51),))
        thread.start()
        thread.join()
    assert problems == ["E323"]
    thread = threading.Thread(target=write, args=((60, 61),))
    thread.start()
    thread.join()
    assert rows(bank, "edge") == {(1, 2), (2, 3), (3, 4), (60, 61)}


def test_a_dropped_transaction_is_rolled_back(bank):
    tx = bank.transaction()
    tx.insert("edge", [(3, 4)])
    with pytest.warns(RuntimeWarning, match="dropped without commit"):
        del tx
        gc.collect()
    bank.load("edge", [(4, 5)])
    assert rows(bank, "edge") == {(1, 2), (2, 3), (4, 5)}


def test_views_take_no_rows(bank):
    for call in ("insert", "delete", "upsert"):
        with (
            bank.transaction() as tx,
            pytest.raises(lftj.TransactionError, match="`reach` is a view") as caught,
        ):
            getattr(tx, call)("reach", [(1, 1)])
        assert caught.value.code == "E321"
    with bank.transaction() as tx, pytest.raises(lftj.TransactionError):
        tx.delete_where("reach", src=1)


def test_rows_for_a_view_come_as_its_error_says() -> None:
    with lftj.connect() as ws:
        ws.relation("edge", {"x": int, "y": int})
        ws.view("end", {"y": int})
        ws.add_rules("end(y) :- edge(_, y), !edge(y, _).")
        with pytest.raises(lftj.TransactionError) as caught:
            ws.load("end", [(7,)])
        hint = str(caught.value.hint)
        assert hint.startswith("change what its rules read: edge.")
        ws.relation("own_end", {"y": int})
        ws.add_rules(hint.rpartition(": ")[2])
        ws.load("own_end", [(7,)])
        ws.load("edge", [(1, 2)])
        assert rows(ws, "end") == {(2,), (7,)}


@pytest.mark.parametrize("name", ["insert", "delete", "upsert", "preview"])
def test_a_workspace_says_where_changes_are_made(bank, name):
    with pytest.raises(
        AttributeError,
        match=rf"'Workspace' object has no attribute '{name}'; .*with ws.transaction\(\) as tx: "
        rf"tx.{name}",
    ):
        getattr(bank, name)


def test_what_nobody_has_is_not_there(bank):
    assert not hasattr(bank, "inserts")
    with pytest.raises(AttributeError, match=r"no attribute 'inserts'$"):
        bank.inserts  # noqa: B018
