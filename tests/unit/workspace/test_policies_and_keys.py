# ruff: noqa: PT012 — a transaction is a block of several statements, and its end is what raises
from __future__ import annotations

import pytest

import lftj
from tests.unit.workspace.reading import everything, rows


def test_an_absent_row_may_be_an_error(bank):
    with pytest.raises(lftj.MissingRowError) as caught, bank.transaction() as tx:
        tx.insert("edge", [(4, 4)])
        tx.delete("edge", [(i, i) for i in range(5, 15)] + [(4, 4), (1, 2)], missing="error")
    assert caught.value.code == "E310"
    assert (
        caught.value.message
        == "relation `edge`: (5, 5), (6, 6), (7, 7), (8, 8), (9, 9) and 5 more are not there"
    )
    assert 'missing="ignore"' in str(caught.value)
    assert rows(bank, "edge") == {(1, 2), (2, 3)}


def test_a_present_row_may_be_an_error(bank):
    with pytest.raises(lftj.MissingRowError) as caught:
        bank.load("edge", [(1, 2), (3, 3)], existing="error")
    assert (caught.value.code, caught.value.message) == (
        "E311",
        "relation `edge`: (1, 2) is already there",
    )
    with bank.transaction() as tx:
        tx.delete("edge", [(1, 2)], missing="error")
        tx.insert("edge", [(1, 2), (3, 3), (3, 3)], existing="error")
        with pytest.raises(lftj.MissingRowError):
            tx.insert("edge", [(3, 3)], existing="error")
    assert rows(bank, "edge") == {(1, 2), (2, 3), (3, 3)}


def test_a_derived_row_is_not_a_row_of_its_own(bank):
    bank.relation("p", {"x": int})
    bank.add_rule("p(x) :- edge(x, _).")
    with pytest.raises(lftj.MissingRowError), bank.transaction() as tx:
        tx.delete("p", [(1,)], missing="error")
    with bank.transaction() as tx:
        tx.delete("p", [(1,)])
    assert (tx.changes(), rows(bank, "p")) == ([], {(1,), (2,)})


@pytest.mark.parametrize("call", ["insert", "delete"])
def test_other_policies_do_not_exist(bank, call):
    option = {"insert": "existing", "delete": "missing"}[call]
    with bank.transaction() as tx, pytest.raises(lftj.TransactionError) as caught:
        getattr(tx, call)("edge", [(1, 2)], **{option: "maybe"})
    assert caught.value.code == "E325"


def test_delete_where(bank):
    with bank.transaction() as tx:
        tx.insert("acct", [(3, "FR"), (4, "FR")])
        tx.delete("acct", [(4, "FR")])
        assert tx.delete_where("acct", country="FR") == 2
        assert tx.delete_where("acct", country="nowhere") == 0
        assert tx.delete_where("acct", id=2, country="FR") == 0
        with pytest.raises(lftj.UnknownNameError, match="no column `land`"):
            tx.delete_where("acct", land="FR")
    assert rows(bank, "acct") == {(2, "DE")}


def test_a_key_violation_names_the_rows_and_undoes_the_commit(bank):
    before = everything(bank)
    with pytest.raises(lftj.KeyViolationError) as caught, bank.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.insert("acct", [(2, "IT"), (3, "ES")])
    assert caught.value.rows == [(2, "DE"), (2, "IT")]
    assert "relation `acct` has two rows of one key (id): (2, 'DE') and (2, 'IT')" in str(
        caught.value
    )
    assert "upsert" in str(caught.value)
    assert everything(bank) == before


def test_two_new_rows_may_not_share_a_key(bank):
    with pytest.raises(lftj.KeyViolationError) as caught:
        bank.load("acct", [(7, "IT"), (7, "ES"), (8, "PT")])
    assert sorted(caught.value.rows) == [(7, "ES"), (7, "IT")]


def test_a_row_may_take_the_key_of_one_that_goes(bank):
    with bank.transaction() as tx:
        tx.insert("acct", [(2, "IT")])
        tx.delete("acct", [(2, "DE")])
    assert rows(bank, "acct") == {(1, "FR"), (2, "IT")}
    bank.load("acct", [(2, "IT")])
    with pytest.raises(lftj.KeyViolationError):
        bank.load("acct", [(2, "DE")])


def test_upsert_replaces_the_row_of_its_key(bank):
    with bank.transaction() as tx:
        tx.upsert("acct", {"id": 2, "country": "IT"})
        tx.upsert("acct", [(3, "ES"), (3, "PT")])
        tx.insert("acct", [(4, "NL")])
        tx.upsert("acct", [(4, "BE"), (1, "FR")])
    assert rows(bank, "acct") == {(1, "FR"), (2, "IT"), (3, "PT"), (4, "BE")}
    assert (1, "FR") not in {row[:2] for row in tx.changes("acct")}


def test_upsert_needs_a_key(bank):
    with (
        bank.transaction() as tx,
        pytest.raises(lftj.TransactionError, match="`edge` has no key") as caught,
    ):
        tx.upsert("edge", [(1, 2)])
    assert caught.value.code == "E324"


def test_a_key_of_several_columns_anywhere(bank):
    bank.relation("rate", {"value": float, "day": int, "code": str}, key=("day", "code"))
    bank.load("rate", [(1.5, 1, "EUR"), (1.6, 2, "EUR")])
    with bank.transaction() as tx:
        tx.upsert("rate", [(9.5, 2, "EUR"), (3.0, 2, "USD")])
    assert rows(bank, "rate") == {(1.5, 1, "EUR"), (9.5, 2, "EUR"), (3.0, 2, "USD")}
    with pytest.raises(lftj.KeyViolationError, match=r"\(day, code\)") as caught:
        bank.load("rate", [(0.0, 1, "EUR")])
    assert caught.value.rows == [(1.5, 1, "EUR"), (0.0, 1, "EUR")]


@pytest.mark.parametrize("data", [[(1,)], {"id": 1}])
def test_rows_are_not_deleted_by_a_key_alone(ws, data):
    ws.relation("acct", {"id": int, "owner": str}, key="id")
    with pytest.raises(lftj.LftjError) as caught, ws.transaction() as tx:
        tx.delete("acct", data)
    assert caught.value.hint.endswith("; by some columns rows are deleted with tx.delete_where(…)")


def test_the_order_of_a_key_is_made_once():
    ws = lftj.connect()
    ws.relation("item", {"price": int, "id": int}, key="id")
    ws.load("item", [(7, number) for number in range(1_000)])
    for number in range(3):
        ws.load("item", [(7, 1_000 + number)])
        assert (1, 0) in ws._backend.state.database["item"].orders()
    with pytest.raises(lftj.KeyViolationError):
        ws.load("item", [(8, 1_001)])
