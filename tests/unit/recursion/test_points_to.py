"""Points-to with other facts than the paper's (tests/unit/recursion/test_paper.py): iterations and
proofs of every tuple, by hand.

Program, facts and the first epoch are those that the first author of Elastic published beside the
paper (github.com/davidwzhao/souffle-fault-localization, tests/points-to: a session that should be
secure may be an insecure one). Here each multiset is a row with (iteration, proofs).
"""

from __future__ import annotations

from typing import Any

import pytest

import lftj
from tests.unit.recursion.stratum import check, counted_at_once, rows_of, states

PROGRAM = """
.decl vpt, new(var: symbol, obj: symbol)
.decl assign, alias(var1: symbol, var2: symbol)
.decl load(to: symbol, from: symbol, field: symbol)
.decl store(from: symbol, field: symbol, to: symbol)

vpt(v, o) :- new(v, o).
vpt(v, o) :- assign(v, w), vpt(w, o).
vpt(v, o) :- load(v, b, f), store(c, f, w), vpt(w, o), vpt(b, a), vpt(c, a).
alias(v, w) :- vpt(v, o), vpt(w, o), v != w.
"""
FACTS = {
    "new": [("admin", "L1"), ("sec", "L2"), ("ins", "L3")],
    "assign": [("userSession", "ins")],
    "store": [("admin", "session", "ins"), ("admin", "session", "sec")],
}
MADE = {("admin", "L1"): (0, 1), ("sec", "L2"): (0, 1), ("ins", "L3"): (0, 1)}
LOADED = ("userSession", "admin", "session")
EPOCHS: list[
    tuple[dict[str, list[Any]], dict[str, list[Any]], dict[Any, Any]]
] = [  # inserted, deleted, what userSession points to then
    (
        {"load": [LOADED]},
        {},
        {"L3": (1, 2), "L2": (1, 1)},
    ),  # L3 by the assignment and by what was stored
    (
        {},
        {"assign": [("userSession", "ins")]},
        {"L3": (1, 1), "L2": (1, 1)},
    ),  # one proof less moves nothing
    ({}, {"store": [("admin", "session", "sec")]}, {"L3": (1, 1)}),
    (
        {"assign": [("x", "userSession"), ("userSession", "x")]},
        {},
        {"L3": (1, 1)},
    ),  # what x gives back comes later than L3 itself
    ({}, {"load": [LOADED]}, {}),  # the circle of x and userSession holds nothing up
    ({"load": [LOADED], "new": [("x", "L4")]}, {}, {"L3": (1, 1), "L4": (1, 1)}),
    ({"store": [("admin", "session", "x")]}, {}, {"L3": (1, 1), "L4": (1, 2)}),
]
OF_X = [{}, {}, {}, {"L3": (2, 1)}, {}, {"L3": (2, 1), "L4": (0, 1)}, {"L3": (2, 1), "L4": (0, 1)}]


def multiset(workspace: Any) -> dict[tuple[str, ...], tuple[int, int]]:
    (state,) = states(workspace)
    decode = workspace._backend.dictionary.decode
    return {
        tuple(decode(list(row)).to_pylist()): counted
        for row, counted in rows_of(state)["vpt"].items()
    }


@pytest.mark.parametrize("elastic", [0.2, 1e9], ids=["elastic", "always updated"])
def test_multisets_of_points_to_epoch_by_epoch(elastic: float):
    workspace = lftj.connect(elastic=elastic)
    workspace.add_rules(PROGRAM)
    for name, rows in FACTS.items():
        workspace.load(name, rows)
    for (inserted, deleted, session), of_x in zip(EPOCHS, OF_X, strict=True):
        with counted_at_once(), workspace.transaction() as transaction:
            for name, rows in deleted.items():
                transaction.delete(name, rows)
            for name, rows in inserted.items():
                transaction.insert(name, rows)
        expected = {
            **MADE,
            **{("userSession", o): counted for o, counted in session.items()},
            **{("x", o): c for o, c in of_x.items()},
        }
        assert multiset(workspace) == expected
        check(workspace)
        pointing = {(v, w) for v, o in expected for w, p in expected if o == p and v != w}
        assert set(workspace["alias"]) == pointing
    assert workspace.verify() == []
