from __future__ import annotations

import pytest

import lftj
from tests.unit.workspace.reading import everything, rows


def test_changes_are_exactly_the_difference(bank):
    before = {name: rows(bank, name) for name in bank.relations}
    with bank.transaction() as tx:
        tx.insert("edge", [(3, 4), (1, 2)])
        tx.delete("edge", [(2, 3), (8, 8)])
    assert tx.changes() == ["edge", "reach"]
    for name in bank.relations:
        changes = tx.changes(name)
        assert changes.columns == (*bank.relations[name].columns, "__diff__", "__version__")
        won = {row[:-2] for row in changes if row[-2] == 1}
        lost = {row[:-2] for row in changes if row[-2] == -1}
        assert len(changes) == len(won) + len(lost)
        assert (won, lost) == (rows(bank, name) - before[name], before[name] - rows(bank, name))
        assert {row[-1] for row in changes} <= {bank.version}
    assert tx.version == bank.version == 4


def test_changes_of_an_untouched_relation_keep_their_types(bank):
    with bank.transaction() as tx:
        tx.insert("edge", [(9, 9)])
    frame = tx.changes("acct").arrow()
    assert [str(field.type) for field in frame.schema] == ["int64", "string", "int64", "int64"]
    assert frame.num_rows == 0
    with pytest.raises(lftj.UnknownNameError):
        tx.changes("nothing")


def test_the_last_operation_on_a_row_wins(bank):
    with bank.transaction() as tx:
        tx.insert("edge", [(5, 6), (6, 7)])
        tx.delete("edge", [(5, 6), (1, 2)])
        tx.insert("edge", [(1, 2)])
    assert rows(bank, "edge") == {(1, 2), (2, 3), (6, 7)}
    assert tx.changes("edge").fetchall() == [(6, 7, 1, 4)]


def test_a_transaction_that_changes_nothing_makes_no_version(bank):
    before = everything(bank)
    with bank.transaction() as tx:
        tx.insert("edge", [(1, 2), (7, 7)])
        tx.delete("edge", [(7, 7)])
    assert (tx.changes(), tx.version, everything(bank)) == ([], 3, before)


def test_nothing_shows_before_the_commit(bank):
    tx = bank.transaction()
    tx.insert("edge", [(3, 4)])
    assert rows(bank, "reach") == {(1, 2), (2, 3), (1, 3)}
    assert tx.version == 3
    assert tx.commit() == 4
    assert (1, 4) in rows(bank, "reach")


def test_rules_and_rows_together(bank):
    with bank.transaction() as tx:
        tx.add_rules(".decl loop(x: number)\nloop(x) :- reach(x, x).")
        tx.insert("edge", [(3, 1)])
        tx.insert("loop", [(100,)])
        handle = tx.add_rule("loop(x) :- edge(_, x), x > 2.")
    assert rows(bank, "loop") == {(1,), (2,), (3,), (100,)}
    with bank.transaction() as tx:
        tx.remove_rule(handle)
        tx.delete("edge", [(3, 1)])
        tx.insert("loop", [(101,)])
    assert rows(bank, "loop") == {(100,), (101,)}
    assert sorted(tx.changes("loop").fetchall()) == [
        (1, -1, 5),
        (2, -1, 5),
        (3, -1, 5),
        (101, 1, 5),
    ]
    assert bank.verify() == []


def test_a_relation_that_gains_rules_and_rows_at_once_reports_both(bank):
    bank.relation("p", {"x": int})
    bank.load("p", [(1,), (2,)])
    with bank.transaction() as tx:
        tx.delete("p", [(2,)])
        tx.insert("p", [(5,)])
        tx.add_rule("p(x) :- edge(_, x).")
    assert rows(bank, "p") == {(1,), (2,), (3,), (5,)}
    assert [row[:2] for row in tx.changes("p")] == [(3, 1), (5, 1)]
    with bank.transaction() as tx:
        tx.remove_rule(bank.rules[-1])
        tx.insert("p", [(3,)])
    assert rows(bank, "p") == {(1,), (3,), (5,)}
    assert [row[:2] for row in tx.changes("p")] == [(2, -1)]


def test_adding_and_removing_a_rule_in_one_transaction_is_nothing(bank):
    before = rows(bank, "reach")
    with bank.transaction() as tx:
        handle = tx.add_rule("reach(x, x) :- edge(x, _), !( edge(x, y), y > 100 ).")
        tx.remove_rule(handle)
    assert rows(bank, "reach") == before
    assert tx.changes() == []
    assert not [name for name in bank._backend.state.database if "#not" in name]


def test_hidden_relations_go_with_their_rule(bank):
    handle = bank.add_rule("reach(x, x) :- edge(x, _), !( edge(x, y), y > 100 ).")
    hidden = set(bank._backend.state.database) - {*bank.relations, "reach#base"}
    assert hidden
    bank.remove_rule(handle)
    assert set(bank._backend.state.database) == {*bank.relations, "reach#base"}


def test_views_that_depend_on_nothing_changed_do_no_work(bank):
    bank.relation("other", {"x": int})
    bank.load("edge", [(i, i + 1) for i in range(10, 300)])
    with bank.transaction() as tx:
        tx.insert("other", [(1,)])
    assert tx.work == 0
    with bank.transaction() as tx:
        tx.add_rules(".decl copy(x: number)\ncopy(x) :- other(x).")
    assert 0 < tx.work < 100
    with bank.transaction() as tx:
        tx.insert("edge", [(300, 301)])
    assert tx.work > 500
