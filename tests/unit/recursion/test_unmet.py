"""Changes that meet no row of a recursive stratum: it is not looked at, and stays right."""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj

RULES = {
    "reach": """.decl v(x: symbol) v(y) :- e("n0", y). v(y) :- v(x), e(x, y).""",
    "closure": ".decl v(x: symbol, y: symbol) v(x, y) :- e(x, y). v(x, z) :- v(x, y), e(y, z).",
    "guarded": """.decl v(x: symbol, y: symbol) v(x, y) :- on(_), e(x, y).
        v(x, z) :- v(x, y), e(y, z), on(_).""",
    "negated": """.decl v(x: symbol) v("n0"). v(y) :- v(x), e(x, y), !off(x, y).""",
    "two": """.decl v(x: symbol) .decl u(x: symbol)
        v("n0"). u(y) :- v(x), e(x, y). v(y) :- u(x), e(x, y), !off(y, x).""",
    "least": """.decl v(x: symbol, n: number) v("n0", min(0)) :- true.
        v(y, min(n + 1)) :- v(x, n), e(x, y).""",
    "chosen": """.decl v(x: symbol, y: symbol) choice-domain y
        v("n0", "n0"). v(x, y) :- v(_, x), e(x, y).""",
    "squares": """.decl v(x: symbol, y: symbol) v(x, y) :- e(x, y), on(x).
        v(x, z) :- v(x, y), v(y, z).""",
}
EDGES = {"e": 2, "on": 1, "off": 2}


def begun(rules: str, nodes: int, **options: Any) -> Any:
    workspace = lftj.connect(**options)
    for name, arity in EDGES.items():
        workspace.relation(name, dict.fromkeys("xy"[:arity], str))
    workspace.load("e", [(f"n{x}", f"n{x + 1}") for x in range(nodes)])
    workspace.load("on", [("n0",)])
    workspace.add_rules(rules)
    return workspace


@pytest.mark.parametrize("name", RULES)
def test_changes_of_all_kinds_are_followed(name: str) -> None:
    chance, nodes = random.Random(name), 12
    workspace = begun(RULES[name], nodes)
    for _ in range(40):
        with workspace.transaction() as tx:
            for relation in chance.sample(sorted(EDGES), chance.choice((1, 1, 2))):
                rows = [
                    tuple(f"n{chance.randrange(3 * nodes)}" for _ in range(EDGES[relation]))
                    for _ in range(chance.choice((1, 2, 12)))
                ]
                tx.insert(relation, rows)
                there = sorted(workspace[relation])
                tx.delete(relation, chance.sample(there, min(len(there), chance.choice((0, 1)))))
        assert workspace.verify() == []
    fresh = begun("", 0)
    for relation in EDGES:
        fresh.load(relation, list(workspace[relation]))
    fresh.add_rules(RULES[name])
    if name != "chosen":  # which is chosen first may differ from what stays chosen
        for view in ("v", "u") if name == "two" else ("v",):
            assert sorted(workspace[view]) == sorted(fresh[view])


def looked_at(workspace: Any) -> list[str]:
    found = workspace.profile(last=1)
    return [name for name in found["relation"].tolist() if name]


@pytest.mark.parametrize("name", ["reach", "negated", "two", "least"])
def test_a_stratum_that_nothing_meets_is_not_looked_at(name: str) -> None:
    workspace = begun(RULES[name], 12)
    for row in (("m1", "m2"), ("m2", "m3")):
        with workspace.transaction() as tx:
            tx.insert("e", [row])
        assert looked_at(workspace) == []
    with workspace.transaction() as tx:
        tx.insert("off", [("m1", "m2")])
        tx.delete("e", [("m2", "m3")])
    assert looked_at(workspace) == []
    with workspace.transaction() as tx:
        tx.insert("e", [("n12", "m1")])
    assert looked_at(workspace) != []
    assert workspace.verify() == []


def test_a_partner_that_comes_with_it_is_met() -> None:
    workspace = begun(RULES["guarded"], 3)
    with workspace.transaction() as tx:
        tx.delete("on", [("n0",)])
    assert len(workspace["v"]) == 0
    with workspace.transaction() as tx:
        tx.insert("e", [("a", "b")])
    assert looked_at(workspace) == []
    with workspace.transaction() as tx:
        tx.insert("on", [("n1",)])
        tx.insert("e", [("b", "c")])
    assert ("a", "c") in workspace["v"]
    with workspace.transaction() as tx:
        tx.delete("on", [("n1",)])
        tx.delete("e", [("b", "c")])
    assert len(workspace["v"]) == 0


def test_a_partner_that_goes_with_it_was_met() -> None:
    workspace = begun('.decl v(x: symbol) v("n0"). v(y) :- v(x), e(x, y), off(x, y).', 3)
    for verb in ("insert", "delete", "insert", "delete"):
        with workspace.transaction() as tx:
            for relation in ("e", "off"):
                getattr(tx, verb)(relation, [("n0", "far")])
        assert (("far",) in workspace["v"]) == (verb == "insert")
        assert workspace.verify() == []
