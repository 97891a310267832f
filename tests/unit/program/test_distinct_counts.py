"""Counts of different values over rows that have them once: by hand, and random ones against the
reference engine, while rows come and go.
"""

from __future__ import annotations

import random

import pytest

import lftj
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.program.rules import normal

CASES = {
    "an atom that another implies": (
        "h2(x, count_distinct(y)) :- e(x, y), e(x, z).",
        ["h2(x, count_distinct(y)) :- e(x, y)."],
    ),
    "a part that nothing links": (
        "h1(count_distinct(x)) :- e(x, _), b(y), y > 3.",
        [
            "rule1#part1() :- b(y), y > 3.",
            "rule1#part2(x) :- e(x, _1), rule1#part1().",
            "h1(count()) :- rule1#part2(x).",
        ],
    ),
    "atoms that a comparison alone links": (
        "h1(count_distinct(x)) :- e(x, _), b(y), x < y.",
        ["rule1#part1(x) :- e(x, _1), b(y), x < y.", "h1(count()) :- rule1#part1(x)."],
    ),
    "in braces": (
        "h2(x, n) :- e(x, _), n = count_distinct y : { e(x, y), e(x, z), e(w, z) }.",
        [
            "rule1#count_distinct1(x, count_distinct(y)) :- e(x, y).",
            "h2(x, n) :- rule1#count_distinct1(x, n).",
            "h2(x, n) :- e(x, _1), !rule1#count_distinct1(x, _), n := 0.",
        ],
    ),
    "one atom stays": (
        "h2(x, count_distinct(y)) :- e(x, y).",
        ["h2(x, count_distinct(y)) :- e(x, y)."],
    ),
    "what nothing is won for stays": (
        "h2(x, count_distinct(z)) :- e(x, y), e(y, z).",
        ["h2(x, count_distinct(z)) :- e(x, y), e(y, z)."],
    ),
    "beside another aggregate it stays": (
        "h2(count_distinct(x), count()) :- e(x, y), e(x, z).",
        ["h2(count_distinct(x), count()) :- e(x, y), e(x, z)."],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_shapes(name: str):
    text, expected = CASES[name]
    assert normal(text) == expected


DECLARED = """
.decl e(x: number, y: number)  .decl g(x: number, l: symbol)  .decl w(x: number, v: number?)
"""
BODIES = {
    "a chain": "v(count_distinct(x)) :- e(x, y), e(y, z), e(z, u), e(u, _).",
    "groups": "v(l, count_distinct(y)) :- g(x, l), e(x, a), e(a, b), e(b, y).",
    "both ends": "v(l, count_distinct(k)) :- g(x, l), e(x, a), e(a, y), g(y, k).",
    "a negated atom": "v(x, count_distinct(z)) :- e(x, y), e(y, z), !e(x, z), e(z, _).",
    "a value that is computed": "v(count_distinct((x + z) % 7)) :- e(x, y), e(y, z).",
    "a group that is computed": "v(x % 3, count_distinct(z)) :- e(x, y), e(y, z), e(z, _).",
    "NULL does not count": "v(l, count_distinct(n)) :- g(x, l), w(x, n), e(y, _), y < x.",
    "braces": "v(x, n) :- g(x, _), n = count_distinct z : { e(x, y), e(y, u), e(u, z) }.",
    "nothing in braces": "v(x, n) :- g(x, _), n = count_distinct z : { e(x, y), e(y, z), z < 3 }.",
}


@pytest.mark.parametrize("name", BODIES)
def test_rows_are_those_of_the_reference_while_facts_come_and_go(name: str):
    rnd = random.Random(name)
    rule = BODIES[name]
    head = "l: symbol, " if "(l," in rule else "x: number, " if "(x" in rule[:4] else ""
    text = f"{DECLARED}.decl v({head}n: number)\n{rule}"

    def edge() -> tuple[int, int]:
        return int(40 * rnd.random() ** 2), int(40 * rnd.random() ** 2)

    facts: dict[str, set[tuple[object, ...]]] = {
        "e": {edge() for _ in range(160)},
        "g": {(x, "ab"[x % 2]) for x in range(30)},
        "w": {(x, None if x % 4 else x // 9) for x in range(40)},
    }
    workspace = lftj.connect()
    workspace.add_rules(DECLARED)
    for relation, rows in facts.items():
        workspace.load(relation, sorted(rows, key=str))
    workspace.add_rules(f".decl v({head}n: number)\n{rule}")
    for _ in range(6):
        expected = evaluate(parse(text), facts)["v"]
        assert set(workspace["v"].fetchall()) == expected
        gone, come = rnd.sample(sorted(facts["e"], key=str), 3), {edge() for _ in range(2)}
        with workspace.transaction() as tx:
            tx.delete("e", gone)
            tx.insert("e", sorted(come))
        facts["e"] = facts["e"].difference(gone) | come


def test_a_long_body_takes_no_longer_than_one_split_by_hand():
    edges = sorted({(int(300 * random.Random(n).random() ** 2), n % 300) for n in range(2_000)})
    steps = []
    for rules in (
        "v(count_distinct(x)) :- e(x, y), e(y, z), e(z, u), e(u, w), e(w, t).",
        ".decl d(x: number)  v(count()) :- d(x).\n"
        "d(x) :- e(x, y), e(y, z), e(z, u), e(u, w), e(w, t).",
    ):
        workspace = lftj.connect()
        workspace.add_rules(DECLARED)
        workspace.load("e", edges)
        workspace.add_rules(f".decl v(n: number)\n{rules}")
        steps.append(int(workspace.profile(1).df()["steps"].sum()))
    assert workspace["v"].fetchall()[0][0] > 0
    assert steps[0] <= steps[1]
