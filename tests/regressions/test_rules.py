"""Rules that come and go."""

from __future__ import annotations

import pytest

import lftj


def test_after_a_rule_that_was_refused_another_has_its_number():
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(x: number)\n.decl n(x: number)\n.decl f[x: number]: y: symbol\n.decl g(x: number)"
    )
    ws.load("e", [(1,)])
    with pytest.raises(lftj.KeyViolationError):
        ws.add_rules('f[m] = "a", f[m] = "b" :- e(_), m = count : { n(i) }.')
    ws.add_rules(
        "g(x) :- n(x), x = count : { n(i), i < x }."
    )  # a count for each x: the hidden relation has a column more
    assert ws["g"].fetchall() == []


def test_a_relation_that_lost_its_rules_and_got_rows_starts_anew_with_its_next_rule():
    ws = lftj.connect()
    ws.add_rules(".decl e(x:number, y:number)\n.decl p(x:number)\n.decl q(x:number)\nq(x) :- p(x).")
    ws.load("e", [(1, 2), (2, 3)])
    first = [ws.add_rule("p(x) :- e(x, _)."), ws.add_rule("p(y) :- e(_, y).")]
    ws.remove_rule(first)
    ws.load("p", [(7,)])
    ws.add_rule("p(x) :- e(x, _).")
    assert ws["p"].fetchall() == ws["q"].fetchall() == [(1,), (2,), (7,)]
    assert not ws.verify()


def test_a_view_that_was_part_of_a_cycle_is_maintained_by_itself_again():
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(x:number)\n.decl p(x:number)\n.decl q(x:number)\np(x) :- e(x).\nq(x) :- p(x)."
    )
    ws.load("e", [(1,)])
    back = ws.add_rule("p(x) :- q(x).")
    ws.load("e", [(2,)])
    ws.remove_rule(back)
    with ws.transaction() as tx:
        tx.delete("e", [(1,)])
    assert ws["p"].fetchall() == ws["q"].fetchall() == [(2,)]
    assert not ws.verify()


def test_aggregates_of_constants_may_be_computed_with():
    # Nothing but other aggregates of constants gives `n` and `m` a type here.
    ws = lftj.connect()
    ws.add_rules(
        ".decl bolt(x:symbol)\n.decl nut(x:symbol)\n.decl both(n:number)\n.decl half(f:float)\n"
        "both(n + m) :- n = sum 1 : bolt(_), m = sum 2 : nut(_).\nhalf(1.5 * to_float(n)) :- n = "
        "max 3 : { bolt(_), nut(_) }, n * 2 > n."
    )
    ws.load("bolt", [("m3",), ("m4",)])
    ws.load("nut", [("m3",)])
    assert ws["both"].fetchall() == [(4,)]
    assert ws["half"].fetchall() == [(4.5,)]
    assert not ws.verify()


@pytest.mark.parametrize("never", ["1 < 0", "false"])
def test_a_rule_that_never_holds_leaves_rows_of_their_own(never: str):
    ws = lftj.connect()
    ws.add_rules(
        f".decl p(x: number) .decl v(x: number) .decl n(c: number) v(x) :- p(x), {never}. "
        f"n(count()) :- v(_)."
    )
    ws.load("v", [(7,), (8,)])
    with ws.transaction() as tx:
        tx.delete("v", [(7,)])
        tx.insert("p", [(1,)])
    assert (ws["v"].fetchall(), ws["n"].fetchall(), ws.verify()) == ([(8,)], [(1,)], [])
    more = ws.add_rule("v(x) :- p(x).")
    assert (ws["v"].fetchall(), ws.verify()) == ([(1,), (8,)], [])
    ws.remove_rule(more)
    assert (ws["v"].fetchall(), ws["n"].fetchall(), ws.verify()) == ([(8,)], [(1,)], [])


def test_a_rule_that_never_holds_keeps_nothing_of_one_that_did():
    ws = lftj.connect()
    ws.add_rules(".decl p(x: number) .decl v(x: number) p(1).")
    _, held = ws.add_rules("v(x) :- p(x), 1 < 0. v(x) :- p(x).")
    assert ws["v"].fetchall() == [(1,)]
    ws.remove_rule(held)
    assert (ws["v"].fetchall(), ws.verify()) == ([], [])


def test_an_aggregate_that_never_holds_has_rows_of_no_other_rule():
    ws = lftj.connect()
    ws.add_rules(".decl p(x: number) .decl v(x: number) v(count()) :- p(_), 1 < 0.")
    with pytest.raises(lftj.DeclarationError) as caught:
        ws.load("v", [(7,)])
    assert (caught.value.code, ws["v"].fetchall(), ws.verify()) == ("E163", [], [])


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_variable_of_two_constants_has_no_value_beside_parts_that_no_variable_links(times: int):
    ws = lftj.connect()
    ws.add_rules(
        ".decl a(x: number) .decl b(x: number) .decl c(x: number, y: number) .decl has(x: number) "
        f"has(x) :- a(x), b(_), n = count : {{ c(x, _) }}, n = {times}."
    )
    ws.load("a", [(1,), (2,), (3,)])
    ws.load("b", [(7,)])
    ws.load("c", [(1, 5), (2, 5), (2, 6)])
    assert ws["has"].fetchall() == [(x,) for x in (1, 2) if x == times]
