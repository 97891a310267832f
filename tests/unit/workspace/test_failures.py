# ruff: noqa: PT012 — a transaction is a block of several statements, and its end is what raises
from __future__ import annotations

import datetime
import os
import re
import signal
import threading

import pytest

import lftj
import lftj.engine.commit.commit
import lftj.engine.live.engine
from lftj.scantree.arena import Arena
from tests.unit.workspace.reading import everything, rows


class Boom(Exception):
    """Exception that a test raises."""


@pytest.mark.parametrize(
    "phase", ["_reshape", "check_key", "refresh_as_asked", "_change_base_rows"]
)
@pytest.mark.parametrize("problem", [Boom, KeyboardInterrupt, MemoryError])
def test_a_failure_in_any_phase_changes_nothing(bank, monkeypatch, phase, problem):
    before = everything(bank)

    def fail(*_args, **_rest):
        raise problem

    expected = lftj.LimitError if problem is MemoryError else problem
    with monkeypatch.context() as patch:
        patch.setattr(lftj.engine.commit.commit, phase, fail)
        with pytest.raises(expected), bank.transaction() as tx:
            tx.add_rules(".decl q(x: number)\nq(x) :- reach(x, _).")
            tx.insert("edge", [(3, 4)])
            tx.upsert("acct", [(1, "XX")])
    assert repr(tx) == "<Transaction, rolled back>"
    assert everything(bank) == before
    with pytest.raises(lftj.TransactionError):
        tx.changes()
    bank.load("edge", [(3, 4)])
    assert (1, 4) in rows(bank, "reach")
    assert bank.verify() == []


def test_a_failure_after_evaluation_changes_nothing(bank, monkeypatch):
    before = everything(bank)
    original = lftj.engine.commit.commit.refresh_as_asked

    def evaluate_and_fail(*args, **rest):
        original(*args, **rest)
        raise Boom

    monkeypatch.setattr(lftj.engine.commit.commit, "refresh_as_asked", evaluate_and_fail)
    with pytest.raises(Boom):
        bank.load("edge", [(3, 4)])
    assert everything(bank) == before


def test_a_change_set_that_cannot_be_made_for_a_subscriber_changes_nothing(bank, monkeypatch):
    before, seen = everything(bank), []
    bank.subscribe("reach", lambda changes: seen.extend(changes.fetchall()))

    def fail(*_args):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(type(bank._backend), "change_set", fail)
        with pytest.raises(lftj.LimitError):
            bank.load("edge", [(3, 4)])
    assert everything(bank) == before
    assert seen == []
    bank.load("edge", [(3, 4)])
    assert (1, 4) in {row[:2] for row in seen}


@pytest.mark.parametrize("problem", [Boom, KeyboardInterrupt])
def test_an_exception_in_the_block_rolls_back(bank, problem):
    before = everything(bank)
    with pytest.raises(problem), bank.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        tx.add_rules(".decl q(x: number)\nq(x) :- edge(x, _).")
        raise problem
    assert everything(bank) == before
    bank.load("edge", [(3, 4)])


def test_an_error_of_an_operation_leaves_the_transaction_as_it_was(bank):
    with bank.transaction() as tx:
        tx.insert("edge", [(3, 4)])
        with pytest.raises(lftj.ArityError):
            tx.insert("edge", [(4, 5), (1, 2, 3)])
        with pytest.raises(lftj.ProgramErrors):
            tx.add_rules(".decl q(x: number)\nq(y) :- edge(x, _).")
        with pytest.raises(lftj.UnknownNameError):
            tx.insert("q", [(1,)])
    assert rows(bank, "edge") == {(1, 2), (2, 3), (3, 4)}
    assert "q" not in bank


def test_an_overflow_in_a_view_rolls_back(bank):
    bank.add_rules(".decl total(t: number)\ntotal(sum(y)) :- edge(_, y).")
    before = everything(bank)
    with pytest.raises(lftj.ValueRangeError):
        bank.load("edge", [(0, 2**63 - 1), (0, 2**63 - 2)])
    assert everything(bank) == before


def test_two_values_of_a_derived_function_are_refused(bank):
    bank.relation("visit", {"who": int, "place": int})
    bank.add_rules(".decl last[who: number]: number\nlast[w] = p :- visit(w, p).")
    bank.load("visit", [(1, 10), (2, 20)])
    before = everything(bank)
    with pytest.raises(lftj.KeyViolationError) as caught:
        bank.load("visit", [(1, 11)])
    assert sorted(caught.value.rows) == [(1, 10), (1, 11)]
    assert everything(bank) == before


@pytest.mark.usefixtures("heeding_interrupts")
def test_ctrl_c_during_evaluation_rolls_back(bank):
    atoms = ", ".join(f"many({v}), also({v})" for v in "xyz")
    rules = f".decl n(c: number)\nn(count()) :- {atoms}, x + y < z."
    bank.add_rules(".decl many(x: number)\n.decl also(x: number)\nalso(x) :- many(x).")
    bank.load("many", [(i,) for i in range(5)])
    bank.remove_rule(bank.add_rules(rules))  # so that everything is compiled
    bank.load("many", [(i,) for i in range(20_000)])
    before = everything(bank)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt), bank.limits(seconds=120):
        timer.start()
        bank.add_rules(rules)
    assert everything(bank) == before
    bank.load("edge", [(3, 4)])
    assert bank.verify() == []


AGGREGATES = """.decl pay(who: symbol, cents: number, share: float)
.decl total(who: symbol, n: number)
total(w, sum(c)) :- pay(w, c, _).
.decl shares(who: symbol, x: float)
shares(w, sum(s)) :- pay(w, _, s).
.decl most(who: symbol, n: number)
most(w, n) :- pay(w, _, _), n = sum c : { pay(w, c, _) }.
"""


@pytest.mark.parametrize(
    ("without", "rows", "where", "line"),
    [
        (("shares", "most"), [("a", 2**62, 1.0), ("a", 2**62 + 1, 1.0)], "a rule for `total`", 3),
        (("total", "most"), [("a", 1, 1e308), ("a", 2, 1.1e308)], "a rule for `shares`", 5),
        (
            ("most",),
            [("a", 1, 1e308), ("a", 2, 1.1e308)],
            "one of the rules for `shares`, `total`",
            None,
        ),
        (
            ("total", "shares"),
            [("a", 2**62, 1.0), ("a", 2**62 + 1, 1.0)],
            "an inner part of a rule",
            7,
        ),
    ],
)
def test_a_failure_of_an_aggregate_names_the_rules_it_may_come_from(ws, without, rows, where, line):
    for handle in ws.add_rules(AGGREGATES):
        if str(handle).startswith(without):
            ws.remove_rule(handle)
    for given in (rows[:1], rows):  # from nothing, and as a change
        with pytest.raises(lftj.ValueRangeError) as caught:
            ws.load("pay", rows)
        assert caught.value.message.endswith(f", in {where}")
        assert (caught.value.span and caught.value.span.line) == line
        assert ("what stands in braces" in str(caught.value)) == (line == 7)
        if given is not rows:
            ws.load("pay", given)


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("w(x, z) :- e(x, y), (z = q * 4, e(x, q))?.", "q x"),
        ("w(x, z) :- e(x, y), (o(x, q))?, z = y * coalesce(q, 3).", "q x y"),
        ("w(x, if(x > 0, y, 2) * 4) :- e(x, y).", "x y"),
        ("p(x, sum(y)) :- e(x, y). p(y, sum(n * 4)) :- p(x, n), n > 3, e(x, y).", "n x y"),
    ],
)
def test_a_failure_names_the_variables_that_the_rule_is_written_with(ws, rule, names):
    ws.add_rules(
        ".decl e(x: int, y: int) .decl o(x: int, y: int?) .decl w(x: int, y: int?) "
        ".decl p(x: int, n: int)"
    )
    ws.add_rules(rule)
    with pytest.raises(lftj.ValueRangeError) as caught:
        ws.load("e", [(1, 2**62), (2**62, 3)])
    shown = re.findall(r"([\w']+) = (\w+)", caught.value.message)
    assert sorted(name for name, _ in shown) == names.split()
    assert dict(shown).get("q") in (None, "NULL", str(2**62))


def test_a_failure_shows_a_group_as_its_rows_are_shown(ws):
    ws.add_rules(
        ".decl e(d: date, k: int?, y: int) .decl s(d: date, k: int?, y: int) "
        "s(d, k, sum(y)) :- e(d, k, y)."
    )
    with pytest.raises(lftj.ValueRangeError, match=r"for the group \(2024-05-01, NULL\) is"):
        ws.load("e", [(datetime.date(2024, 5, 1), None, 2**63 - each) for each in (1, 2)])


def test_what_leaves_values_out_is_repeated_inside_the_braces(ws):
    ws.add_rules(
        ".decl e(x: int, y: int) .decl z(x: int) .decl a(x: int, s: int) .decl b(x: int, s: int)"
    )
    large = f"w = y + {2**63 - 9}"
    ws.add_rules(f"a(x, s) :- z(x), s = min w : {{ z(x), e(x, y), {large} }}.")
    ws.load("z", [(1,)])
    ws.load("e", [(1, 2), (1, 3), (4, 9)])
    assert ws["a"].fetchall() == [(1, 2**63 - 7)]
    with pytest.raises(
        lftj.ValueRangeError, match="with x = 4, y = 9, in an inner part of a rule"
    ) as caught:
        ws.add_rules(f"b(x, s) :- z(x), s = min w : {{ e(x, y), {large} }}.")
    assert "repeat inside them" in str(caught.value)


def test_a_division_by_zero_of_rows_that_the_body_leaves_out_is_none(ws):
    ws.add_rules(
        """.decl e(x: int, y: int) .decl z(x: int) .decl b(x: int, s: int)
        b(x, s) :- z(x), s = sum w : { e(x, y), w = 6 / y }."""
    )
    ws.load("z", [(1,)])
    ws.load("e", [(1, 2), (1, 3), (4, 0)])
    assert ws["b"].fetchall() == [(1, 5)]
    with pytest.raises(lftj.ValueRangeError, match="with x = 4, y = 0"):
        ws.load("z", [(4,)])


def test_a_failure_in_a_rule_without_text_names_its_relation(ws):
    pay, half, x, y = ws.relation("pay", {"x": int}), ws.view("half", {"x": int}), *lftj.vars("x y")
    ws.add_rule(half(y) <= pay(x) & (y == 1 / x))
    with pytest.raises(
        lftj.ValueRangeError, match="division by zero with x = 0, in a rule for `half`"
    ):
        ws.load(pay, [(0,)])


@pytest.mark.parametrize(
    ("type", "expression", "row"),
    [
        (float, "x - y", (float("inf"), float("inf"))),
        (float, "x ^ y", (-8.0, 0.5)),
        (int, "x ^ y", (2, -1)),
    ],
)
def test_a_result_that_is_no_number_is_refused(ws, type, expression, row):
    ws.relation("p", {"x": type, "y": type})
    ws.view("r", {"z": type})
    ws.add_rules(f"r({expression}) :- p(x, y).")
    with pytest.raises(lftj.ValueRangeError) as caught:
        ws.load("p", [row])
    assert caught.value.code == "E222"
    assert (
        caught.value.message
        == f"the result is not a number with x = {row[0]}, y = {row[1]}, in a rule for `r`"
    )
    assert "exclude such rows in the body" in caught.value.hint
    assert len(ws["p"]) == 0


def test_memory_that_runs_out_rolls_back(monkeypatch):
    monkeypatch.setattr(lftj.engine.live.engine, "Arena", lambda *_: Arena(1 << 20))
    ws = lftj.connect()
    ws.relation("p", {"x": int})
    ws.load("p", [(1,)])
    with pytest.raises(
        lftj.LimitError, match="memory ran out; the transaction was rolled back"
    ) as caught:
        ws.load("p", [(x,) for x in range(200_000)])
    assert caught.value.code == "E333"
    assert "commit less at a time" in caught.value.hint
    ws.load("p", [(2,)])
    assert rows(ws, "p") == {(1,), (2,)}


def test_memory_that_runs_out_is_told_to_who_asks_and_who_verifies(monkeypatch):
    ws = lftj.connect()
    ws.add_rules(".decl p(x: number)\n.decl q(x: number)\nq(x) :- p(x), x > 1.")
    ws.load("p", [(1,), (2,)])

    def full(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(Arena, "require", full)
        patch.setattr(Arena, "made_in_room", full)
        with pytest.raises(lftj.LimitError, match="memory ran out; there is no answer") as caught:
            ws.query("p(x), q(y), x < y")
        assert caught.value.code == "E333"
        with pytest.raises(lftj.LimitError, match="memory ran out; views were not compared"):
            ws.verify()
    assert ws.query("p(x), q(y), x < y").fetchall() == [(1, 2)]
    assert ws.verify() == []


def test_what_a_users_function_raises_says_in_which_rule(ws):
    verbs = {"zero": 1, "lift": lambda v: 1 // v, "combine": lambda a, b: a * b}
    ws.add_aggregate(lftj.UserAggregate("times", **verbs, argument_types=(int,), result_type=int))
    ws.add_rules(
        ".decl e(x: number, y: number)\n.decl p(x: number, y: number)\np(x, times(y)) :- e(x, y).",
        file="a.dl",
    )
    for row in ((1, 0), (2, 0)):
        with pytest.raises(lftj.UserFunctionError) as caught:
            ws.load("e", [(2, 1), row])
        message = (
            "the user aggregate `times` raised ZeroDivisionError: integer division or modulo "
            "by zero"
        )
        assert caught.value.message == f"{message}, for the group ({row[0]}), in a rule for `p`"
        assert (caught.value.code, str(caught.value.span)) == ("E223", "a.dl:3:1")
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert not ws["e"]
