from __future__ import annotations

import random

import pytest

import lftj

PROGRAMS = {
    "kept first": "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- r(d, x, y), e(d, y, z).",
    "kept last": "r(x, y, d) :- e(d, x, y).\nr(x, z, d) :- r(x, y, d), e(d, y, z), !f(d, x).",
    "mutual": "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- s(x, y, d), e(d, y, z).\n"
    ".decl s(x: number, y: number, d: number)\ns(x, y, d) :- r(d, x, y).",
    "with rows of its own": "r(d, x, z) :- r(d, x, y), r(d, y, z).\nr(d, x, x) :- f(d, x).",
}  # fmt: skip
DECLARED = ".decl e(d: number, x: number, y: number)\n.decl f(d: number, x: number)\n.decl r(a: number, b: number, c: number)\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_that_changed_are_evaluated_and_no_others(name):
    chooser = random.Random(name)
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + PROGRAMS[name])
    own = "r" if "own" in name else "e"

    def row(width):
        return tuple(chooser.randrange(6) for _ in range(width))

    with workspace.transaction() as tx:
        tx.insert(own, [row(3) for _ in range(120)])
    strategies = set()
    for _ in range(12):
        with workspace.transaction() as tx:
            for relation, width in ((own, 3), ("f", 2)):
                tx.insert(relation, [row(width)])
                tx.delete(relation, [row(width)])
        profile = workspace.profile(last=1)
        strategies |= set(profile["strategy"])
        assert workspace.verify() == []
    assert "parts" in strategies


def test_a_change_that_tells_no_part_is_not_answered_by_parts():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "r(d, x, y) :- e(d, x, y).\nr(d, x, z) :- r(d, x, y), f(y, z).")
    workspace.load("e", [(d, d, d + 1) for d in range(20)])
    workspace.load("f", [(3, 9), (9, 12)])
    assert set(workspace.profile(last=1)["strategy"]) != {"parts"}
    assert workspace.verify() == []


def test_rules_that_come_and_go_are_not_answered_by_parts():
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + PROGRAMS["kept first"])
    workspace.load("e", [(d, x, x + 1) for d in range(8) for x in range(4)])
    with workspace.transaction() as tx:
        tx.add_rule("r(d, x, x) :- f(d, x).")
        tx.insert("f", [(d, 7) for d in range(8)])
        tx.insert("e", [(0, 9, 10)])
    assert workspace.verify() == []
