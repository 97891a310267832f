from __future__ import annotations

import pytest

import lftj
from lftj.maintenance.counting import elastic
from lftj.maintenance.lattice import lattice_update
from lftj.scantree.jit import ADDRESSES
from tests.unit.recursion.best_values import SHORTEST
from tests.unit.recursion.stratum import check, states

pytestmark = pytest.mark.skipif(
    not ADDRESSES,
    reason="iterations in compiled code need kernels that are compiled and not checked",
)

LENGTH = 1500
TURNS = """
.decl edge(x: number, y: number)
.decl even(x: number)
.decl odd(x: number)
even(0).
odd(y) :- even(x), edge(x, y).
even(y) :- odd(x), edge(x, y).
"""
FOREST = """
.decl edge(x: number, y: number)
.decl parent(y: number, x: number) choice-domain y
parent(0, 0).
parent(y, x) :- parent(x, _), edge(x, y).
"""
SQUARES = """
.decl edge(x: number, y: number)
.decl even(x: number)
.decl odd(x: number)
even(0).
odd(y) :- even(x), edge(x, y), 9000000000 / (x - 1400) != 0.
even(y) :- odd(x), edge(x, y).
"""
CHAIN = [(x, x + 1) for x in range(LENGTH)]


@pytest.fixture
def turned(monkeypatch) -> list[int]:
    """One entry for each stratum that was turned over to an update from nothing."""
    found: list[int] = []

    def noted(*given):
        found.append(1)
        return update(*given)

    update = elastic.updated_from_nothing
    for module in (elastic, lattice_update):
        monkeypatch.setattr(module, "updated_from_nothing", noted)
    return found


def test_a_long_chain_is_an_update_from_nothing_and_followed_from_then_on(turned):
    ws = lftj.connect()
    ws.add_rules(TURNS)
    ws.load("edge", CHAIN)
    assert len(turned) == 1
    assert sorted(ws["odd"].fetchall()) == [(x,) for x in range(1, LENGTH + 1, 2)]
    check(ws)
    for cut in (LENGTH - 3, LENGTH // 2, 1):
        with ws.transaction() as tx:
            tx.delete("edge", [(cut, cut + 1)])
        assert len(ws["even"]) + len(ws["odd"]) == cut + 1
        ws.load("edge", [(cut, cut + 1)])
        assert len(ws["even"]) + len(ws["odd"]) == LENGTH + 1
        check(ws)
    assert ws.verify() == []


def test_choice_along_a_long_chain(turned):
    ws = lftj.connect()
    ws.add_rules(FOREST)
    ws.load("edge", [*CHAIN, *((x, x + 7) for x in range(0, LENGTH, 100))])
    assert turned
    check(ws)
    assert ws.verify() == []


def test_short_and_broad_recursion_stays_with_rounds(turned):
    ws = lftj.connect()
    ws.add_rules(TURNS)
    ws.load("edge", [(x, (x * k + k) % 3000) for x in range(3000) for k in (2, 3, 5)])
    assert not turned
    assert ws.verify() == []


def test_what_fails_on_the_way_fails_as_in_rounds(turned):
    ws = lftj.connect()
    ws.add_rules(SQUARES)
    with pytest.raises(lftj.ValueRangeError, match="division by zero"):
        ws.load("edge", CHAIN)
    assert turned
    assert len(ws["edge"]) == 0
    ws.load("edge", CHAIN[:1399])
    assert len(ws["odd"]) == 700


def test_limits_hold_on_the_way(turned):
    ws = lftj.connect()
    ws.add_rules(TURNS)
    with pytest.raises(lftj.LimitError), ws.limits(work=3000):
        ws.load("edge", CHAIN)
    assert turned
    assert (len(ws["edge"]), len(ws["odd"])) == (0, 0)
    ws.load("edge", CHAIN)
    assert len(ws["odd"]) == LENGTH // 2


def test_where_nothing_is_followed_long_chains_are_updates_from_nothing_that_leave_no_state(turned):
    ws = lftj.connect(elastic=0)
    ws.add_rules(TURNS)
    ws.load("edge", CHAIN)
    assert len(turned) == 1
    with ws.transaction() as tx:
        tx.delete("edge", CHAIN[-1:])
    assert len(turned) == 2
    assert len(ws["even"]) + len(ws["odd"]) == LENGTH
    assert states(ws) == []
    assert ws.verify() == []
    assert len(turned) == 3


def test_proofs_under_min_along_a_long_chain_are_counted_by_an_update_from_nothing(turned):
    ws = lftj.connect()
    ws.add_rules(SHORTEST + "source(0).")
    ws.load("edge", [(*edge, 1) for edge in CHAIN])
    with ws.transaction() as tx:
        tx.delete("edge", [(*CHAIN[-1], 1)])
    assert len(turned) == 1
    assert check(ws) == 1
    near = LENGTH - 60
    ws.load("edge", [(0, near, 3)])
    assert ws.query(f"dist({near}, d)").fetchall() == [(3,)]
    assert check(ws) == 1
