# ruff: noqa: PT012, PT031 — a transaction is a block of several statements, and its end is what raises
from __future__ import annotations

import gc
import os
import signal
import threading

import pytest

import lftj
import lftj.commit


class Boom(Exception):
    pass


@pytest.fixture
def ws() -> lftj.Workspace:
    ws = lftj.connect(writer_timeout=0.05)
    ws.relation("edge", {"src": int, "dst": int})
    ws.view("reach", {"src": int, "dst": int})
    ws.relation("acct", {"id": int, "country": str}, key="id")
    ws.add_rules("reach(x, y) :- edge(x, y). reach(x, z) :- reach(x, y), edge(y, z).")
    ws.load("edge", [(1, 2), (2, 3)])
    ws.load("acct", [(1, "FR"), (2, "DE")])
    return ws


def rows(ws, name) -> set[tuple[object, ...]]:
    return set(ws[name].fetchall())


def everything(ws) -> object:
    return ws.version, {name: rows(ws, name) for name in ws.relations}, ws.rules


# ── what a commit does ────────────────────────────────────────────────────────────────────────────────────────────────
def test_changes_are_exactly_the_difference(ws):
    before = {name: rows(ws, name) for name in ws.relations}
    with ws.transaction() as tx:
        tx.insert("edge", [(3, 4), (1, 2)])
        tx.delete("edge", [(2, 3), (8, 8)])
    assert tx.changes() == ["edge", "reach"]
    for name in ws.relations:
        changes = tx.changes(name)
        assert changes.columns == (*ws.relations[name].columns, "__diff__", "__version__")
        won = {row[:-2] for row in changes if row[-2] == 1}
        lost = {row[:-2] for row in changes if row[-2] == -1}
        assert len(changes) == len(won) + len(lost)
        assert (won, lost) == (rows(ws, name) - before[name], before[name] - rows(ws, name))
        assert {row[-1] for row in changes} <= {ws.version}
    assert tx.version == ws.version == 4


def test_changes_of_an_untouched_relation_keep_their_types(ws):
    with ws.transaction() as tx:
        tx.insert("edge", [(9, 9)])
    frame = tx.changes("acct").arrow()
    assert [str(field.type) for field in frame.schema] == ["int64", "string", "int64", "int64"]
    assert frame.num_rows == 0
    with pytest.raises(lftj.UnknownNameError):
        tx.changes("nothing")


def test_the_last_operation_on_a_row_wins(ws):
    with ws.transaction() as tx:
        tx.insert("edge", [(5, 6), (6, 7)])
        tx.delete("edge", [(5, 6), (1, 2)])
        tx.insert("edge", [(1, 2)])
    assert rows(ws, "edge") == {(1, 2), (2, 3), (6, 7)}
    assert tx.changes("edge").fetchall() == [(6, 7, 1, 4)]


def test_a_transaction_that_changes_nothing_makes_no_version(ws):
    before = everything(ws)
    with ws.transaction() as tx:
        tx.insert("edge", [(1, 2), (7, 7)])
        tx.delete("edge", [(7, 7)])
    assert (tx.changes(), tx.version, everything(ws)) == ([], 3, before)


def test_nothing_shows_before_the_commit(ws):
    tx = ws.transaction()
    tx.insert("edge", [(3, 4)])
    assert rows(ws, "reach") == {(1, 2), (2, 3), (1, 3)}
    assert tx.version == 3
    assert tx.commit() == 4
    assert (1, 4) in rows(ws, "reach")


def test_rules_and_rows_together(ws):
    with ws.transaction() as tx:
        tx.add_rules(".decl loop(x: number)\nloop(x) :- reach(x, x).")
        tx.insert("edge", [(3, 1)])
        tx.insert("loop", [(100,)])
        handle = tx.add_rule("loop(x) :- edge(_, x), x > 2.")
    assert rows(ws, "loop") == {(1,), (2,), (3,), (100,)}
    with ws.transaction() as tx:
        tx.remove_rule(handle)
        tx.delete("edge", [(3, 1)])
        tx.insert("loop", [(101,)])
    assert rows(ws, "loop") == {(100,), (101,)}
    assert sorted(tx.changes("loop").fetchall()) == [(1, -1, 5), (2, -1, 5), (3, -1, 5), (101, 1, 5)]
    assert ws.verify() == []


def test_a_relation_that_gains_rules_and_rows_at_once_reports_both(ws):
    ws.relation("p", {"x": int})
    ws.load("p", [(1,), (2,)])
    with ws.transaction() as tx:
        tx.delete("p", [(2,)])
        tx.insert("p", [(5,)])
        tx.add_rule("p(x) :- edge(_, x).")
    assert rows(ws, "p") == {(1,), (2,), (3,), (5,)}
    assert [row[:2] for row in tx.changes("p")] == [(3, 1), (5, 1)]
    with ws.transaction() as tx:
        tx.remove_rule(ws.rules[-1])
        tx.insert("p", [(3,)])
    assert rows(ws, "p") == {(1,), (3,), (5,)}
    assert [row[:2] for row in tx.changes("p")] == [(2, -1)]


def test_adding_and_removing_a_rule_in_one_transaction_is_nothing(ws):
    before = rows(ws, "reach")
    with ws.transaction() as tx:
        handle = tx.add_rule("reach(x, x) :- edge(x, _), !( edge(x, y), y > 100 ).")
        tx.remove_rule(handle)
    assert rows(ws, "reach") == before
    assert tx.changes() == []
    assert not [name for name in ws._engine.state.database if "#not" in name]


def test_hidden_relations_go_with_their_rule(ws):
    handle = ws.add_rule("reach(x, x) :- edge(x, _), !( edge(x, y), y > 100 ).")
    hidden = set(ws._engine.state.database) - {*ws.relations, "reach#base"}
    assert hidden
    ws.remove_rule(handle)
    assert set(ws._engine.state.database) == {*ws.relations, "reach#base"}


def test_views_that_depend_on_nothing_changed_do_no_work(ws):
    ws.relation("other", {"x": int})
    ws.load("edge", [(i, i + 1) for i in range(10, 300)])
    with ws.transaction() as tx:
        tx.insert("other", [(1,)])
    assert tx.work == 0
    with ws.transaction() as tx:
        tx.add_rules(".decl copy(x: number)\ncopy(x) :- other(x).")
    assert 0 < tx.work < 100
    with ws.transaction() as tx:
        tx.insert("edge", [(300, 301)])
    assert tx.work > 1000


# ── policies ──────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_an_absent_row_may_be_an_error(ws):
    with pytest.raises(lftj.MissingRowError) as caught, ws.transaction() as tx:
        tx.insert("edge", [(4, 4)])
        tx.delete("edge", [(i, i) for i in range(5, 15)] + [(4, 4), (1, 2)], missing="error")
    assert caught.value.code == "E310"
    assert caught.value.message == "relation `edge`: (5, 5), (6, 6), (7, 7), (8, 8), (9, 9) and 5 more are not there"
    assert 'missing="ignore"' in str(caught.value)
    assert rows(ws, "edge") == {(1, 2), (2, 3)}


def test_a_present_row_may_be_an_error(ws):
    with pytest.raises(lftj.MissingRowError) as caught:
        ws.load("edge", [(1, 2), (3, 3)], existing="error")
    assert (caught.value.code, caught.value.message) == ("E311", "relation `edge`: (1, 2) is already there")
    with ws.transaction() as tx:
        tx.delete("edge", [(1, 2)], missing="error")
        tx.insert("edge", [(1, 2), (3, 3), (3, 3)], existing="error")
        with pytest.raises(lftj.MissingRowError):
            tx.insert("edge", [(3, 3)], existing="error")
    assert rows(ws, "edge") == {(1, 2), (2, 3), (3, 3)}


def test_a_derived_row_is_not_a_row_of_its_own(ws):
    ws.relation("p", {"x": int})
    ws.add_rule("p(x) :- edge(x, _).")
    with pytest.raises(lftj.MissingRowError), ws.transaction() as tx:
        tx.delete("p", [(1,)], missing="error")
    with ws.transaction() as tx:
        tx.delete("p", [(1,)])
    assert (tx.changes(), rows(ws, "p")) == ([], {(1,), (2,)})


@pytest.mark.parametrize("call", ["insert", "delete"])
def test_other_policies_do_not_exist(ws, call):
    option = {"insert": "existing", "delete": "missing"}[call]
    with ws.transaction() as tx, pytest.raises(lftj.TransactionError) as caught:
        getattr(tx, call)("edge", [(1, 2)], **{option: "maybe"})
    assert caught.value.code == "E325"


def test_delete_where(ws):
    with ws.transaction() as tx:
        tx.insert("acct", [(3, "FR"), (4, "FR")])
        tx.delete("acct", [(4, "FR")])
        assert tx.delete_where("acct", country="FR") == 2
        assert tx.delete_where("acct", country="nowhere") == 0
        assert tx.delete_where("acct", id=2, country="FR") == 0
        with pytest.raises(lftj.UnknownNameError, match="no column `land`"):
            tx.delete_where("acct", land="FR")
    assert rows(ws, "acct") == {(2, "DE")}


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_key_violation_names_the_rows_and_undoes_the_commit(ws):
    before = everything(ws)
    with pytest.raises(lftj.KeyViolationError) as caught, ws.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.insert("acct", [(2, "IT"), (3, "ES")])
    assert caught.value.rows == [(2, "DE"), (2, "IT")]
    assert "relation `acct` has two rows of one key (id): (2, 'DE') and (2, 'IT')" in str(caught.value)
    assert "upsert" in str(caught.value)
    assert everything(ws) == before


def test_two_new_rows_may_not_share_a_key(ws):
    with pytest.raises(lftj.KeyViolationError) as caught:
        ws.load("acct", [(7, "IT"), (7, "ES"), (8, "PT")])
    assert sorted(caught.value.rows) == [(7, "ES"), (7, "IT")]


def test_a_row_may_take_the_key_of_one_that_goes(ws):
    with ws.transaction() as tx:
        tx.insert("acct", [(2, "IT")])
        tx.delete("acct", [(2, "DE")])
    assert rows(ws, "acct") == {(1, "FR"), (2, "IT")}
    ws.load("acct", [(2, "IT")])
    with pytest.raises(lftj.KeyViolationError):
        ws.load("acct", [(2, "DE")])


def test_upsert_replaces_the_row_of_its_key(ws):
    with ws.transaction() as tx:
        tx.upsert("acct", {"id": 2, "country": "IT"})
        tx.upsert("acct", [(3, "ES"), (3, "PT")])
        tx.insert("acct", [(4, "NL")])
        tx.upsert("acct", [(4, "BE"), (1, "FR")])
    assert rows(ws, "acct") == {(1, "FR"), (2, "IT"), (3, "PT"), (4, "BE")}
    assert (1, "FR") not in {row[:2] for row in tx.changes("acct")}


def test_upsert_needs_a_key(ws):
    with ws.transaction() as tx, pytest.raises(lftj.TransactionError, match="`edge` has no key") as caught:
        tx.upsert("edge", [(1, 2)])
    assert caught.value.code == "E324"


def test_a_key_of_several_columns_anywhere(ws):
    ws.relation("rate", {"value": float, "day": int, "code": str}, key=("day", "code"))
    ws.load("rate", [(1.5, 1, "EUR"), (1.6, 2, "EUR")])
    with ws.transaction() as tx:
        tx.upsert("rate", [(9.5, 2, "EUR"), (3.0, 2, "USD")])
    assert rows(ws, "rate") == {(1.5, 1, "EUR"), (9.5, 2, "EUR"), (3.0, 2, "USD")}
    with pytest.raises(lftj.KeyViolationError, match=r"\(day, code\)") as caught:
        ws.load("rate", [(0.0, 1, "EUR")])
    assert caught.value.rows == [(1.5, 1, "EUR"), (0.0, 1, "EUR")]


# ── failure leaves everything as it was ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("phase", ["_reshape", "check_key", "refresh", "_change_base_rows"])
@pytest.mark.parametrize("problem", [Boom, KeyboardInterrupt, MemoryError])
def test_a_failure_in_any_phase_changes_nothing(ws, monkeypatch, phase, problem):
    before = everything(ws)

    def fail(*_args, **_rest):
        raise problem

    expected = lftj.LimitError if problem is MemoryError else problem
    with monkeypatch.context() as patch:
        patch.setattr(lftj.commit, phase, fail)
        with pytest.raises(expected), ws.transaction() as tx:
            tx.add_rules(".decl q(x: number)\nq(x) :- reach(x, _).")
            tx.insert("edge", [(3, 4)])
            tx.upsert("acct", [(1, "XX")])
    assert repr(tx) == "<Transaction, rolled back>"
    assert everything(ws) == before
    with pytest.raises(lftj.TransactionError):
        tx.changes()
    ws.load("edge", [(3, 4)])
    assert (1, 4) in rows(ws, "reach")
    assert ws.verify() == []


def test_a_failure_after_evaluation_changes_nothing(ws, monkeypatch):
    before = everything(ws)
    original = lftj.commit.refresh

    def evaluate_and_fail(*args, **rest):
        original(*args, **rest)
        raise Boom

    monkeypatch.setattr(lftj.commit, "refresh", evaluate_and_fail)
    with pytest.raises(Boom):
        ws.load("edge", [(3, 4)])
    assert everything(ws) == before


@pytest.mark.parametrize("problem", [Boom, KeyboardInterrupt])
def test_an_exception_in_the_block_rolls_back(ws, problem):
    before = everything(ws)
    with pytest.raises(problem), ws.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.add_rules(".decl q(x: number)\nq(x) :- edge(x, _).")
        raise problem
    assert everything(ws) == before
    ws.load("edge", [(3, 4)])


def test_an_error_of_an_operation_leaves_the_transaction_as_it_was(ws):
    with ws.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        with pytest.raises(lftj.ArityError):
            tx.insert("edge", [(4, 5), (1, 2, 3)])
        with pytest.raises(lftj.ProgramErrors):
            tx.add_rules(".decl q(x: number)\nq(y) :- edge(x, _).")
        with pytest.raises(lftj.UnknownNameError):
            tx.insert("q", [(1,)])
    assert rows(ws, "edge") == {(1, 2), (2, 3), (3, 4)}
    assert "q" not in ws


def test_an_overflow_in_a_view_rolls_back(ws):
    ws.add_rules(".decl total(t: number)\ntotal(sum(y)) :- edge(_, y).")
    before = everything(ws)
    with pytest.raises(lftj.ValueRangeError):
        ws.load("edge", [(0, 2**63 - 1), (0, 2**63 - 2)])
    assert everything(ws) == before


def test_two_values_of_a_derived_function_are_refused(ws):
    ws.relation("visit", {"who": int, "place": int})
    ws.add_rules(".decl last[who: number]: number\nlast[w] = p :- visit(w, p).")
    ws.load("visit", [(1, 10), (2, 20)])
    before = everything(ws)
    with pytest.raises(lftj.KeyViolationError) as caught:
        ws.load("visit", [(1, 11)])
    assert sorted(caught.value.rows) == [(1, 10), (1, 11)]
    assert everything(ws) == before


# ── the life of a transaction ─────────────────────────────────────────────────────────────────────────────────────────
def test_after_its_end_a_transaction_is_over(ws):
    tx = ws.transaction()
    tx.rollback()
    tx.rollback()
    for use in (tx.commit, lambda: tx.insert("edge", [(1, 1)]), lambda: tx.add_rule("reach(x, x)."), tx.changes, tx.__enter__):
        with pytest.raises(lftj.TransactionError, match="rolled back") as caught:
            use()
        assert caught.value.code == "E320"
    with ws.transaction() as tx:
        pass
    for use in (tx.commit, tx.rollback, lambda: tx.delete("edge", [(1, 1)])):
        with pytest.raises(lftj.TransactionError, match="committed"):
            use()


def test_commit_or_rollback_inside_the_block(ws):
    with ws.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.commit()
    with ws.transaction() as tx:
        tx.insert("edge", [(4, 5)])
        tx.rollback()
    assert rows(ws, "edge") == {(1, 2), (2, 3), (3, 4)}


def test_changes_wait_for_the_commit(ws):
    with ws.transaction() as tx, pytest.raises(lftj.TransactionError, match="still open"):
        tx.changes("edge")


def test_no_transaction_inside_another(ws):
    with ws.transaction() as tx:
        for write in (ws.transaction, lambda: ws.load("edge", [(8, 8)]), lambda: ws.relation("new", {"x": int})):
            with pytest.raises(lftj.TransactionError) as caught:
                write()
            assert caught.value.code == "E322"
        with pytest.raises(lftj.LftjError, match="a transaction is open"):
            ws.close()
        tx.insert("edge", [(3, 4)])
    assert rows(ws, "edge") == {(1, 2), (2, 3), (3, 4)}


def test_another_thread_waits_for_the_writer_lock(ws):
    problems = []

    def write(row):
        try:
            ws.load("edge", [row])
        except lftj.TransactionError as error:
            problems.append(error.code)

    with ws.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        thread = threading.Thread(target=write, args=((50, 51),))
        thread.start()
        thread.join()
    assert problems == ["E323"]
    thread = threading.Thread(target=write, args=((60, 61),))
    thread.start()
    thread.join()
    assert rows(ws, "edge") == {(1, 2), (2, 3), (3, 4), (60, 61)}


def test_a_dropped_transaction_is_rolled_back(ws):
    tx = ws.transaction()
    tx.insert("edge", [(3, 4)])
    with pytest.warns(ResourceWarning, match="dropped without commit"):
        del tx
        gc.collect()
    ws.load("edge", [(4, 5)])
    assert rows(ws, "edge") == {(1, 2), (2, 3), (4, 5)}


def test_views_take_no_rows(ws):
    for call in ("insert", "delete", "upsert"):
        with ws.transaction() as tx, pytest.raises(lftj.TransactionError, match="`reach` is a view") as caught:
            getattr(tx, call)("reach", [(1, 1)])
        assert caught.value.code == "E321"
    with ws.transaction() as tx, pytest.raises(lftj.TransactionError):
        tx.delete_where("reach", src=1)


# ── interrupts ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_ctrl_c_during_evaluation_rolls_back(ws):
    rules = ".decl n(c: number)\nn(count()) :- many(x), many(y), many(z), x + y < z."
    ws.relation("many", {"x": int})
    ws.load("many", [(i,) for i in range(5)])
    ws.remove_rule(ws.add_rules(rules))  # so that everything is compiled
    ws.load("many", [(i,) for i in range(20_000)])
    before = everything(ws)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        ws.add_rules(rules)
    assert everything(ws) == before
    ws.load("edge", [(3, 4)])
    assert ws.verify() == []
