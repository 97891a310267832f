"""Strata without rows that one fact or one rule unlocks: what comes then is evaluated from nothing,
as following it by rows takes a multiple of that.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from tests.unit.recursion.following import EDGES, change, steps

NODES = 200
_RANDOM = random.Random(5)
DENSE = sorted({(_RANDOM.randrange(NODES), _RANDOM.randrange(NODES)) for _ in range(1200)})
DECLARED = EDGES + ".decl on(k: number)\n.decl p(x: number, y: number)\n"
BASE = "p(x, y) :- on(_), e(x, y)."
PROGRAMS = {
    "closure": BASE + "p(x, z) :- p(x, y), e(y, z).",
    "closure from the left": BASE + "p(x, z) :- e(x, y), p(y, z).",
    "closure of pairs": BASE + "p(x, z) :- p(x, y), p(y, z).",
    "two relations": ".decl q(x: number, y: number)\n"
    + BASE
    + "q(x, z) :- p(x, y), e(y, z). p(x, z) :- q(x, y), e(y, z).",
    "two kept columns": ".decl r(x: number, y: number, n: number)\n"
    "r(x, y, 0) :- on(_), e(x, y). r(x, z, n + 1) :- r(x, y, n), e(y, z), n < 4. "
    "p(x, y) :- r(x, y, _).",
}


def evaluated(rules: str, facts: dict[str, list[tuple[Any, ...]]]) -> int:
    """Kernel steps of these rules where all facts are there."""
    whole = lftj.connect()
    whole.add_rules(DECLARED)
    change(whole, facts, {})
    whole.add_rules(rules)
    return steps(whole)


def ways(target: Any) -> set[str]:
    """Strategies of the recursive strata at the last commit."""
    found = target.profile(last=1)["strategy"]
    return {each for each in found if each in ("from nothing", "rederivation")}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_one_fact_unlocks_takes_about_an_evaluation(name: str):
    rules = PROGRAMS[name]
    anew = evaluated(rules, {"e": DENSE, "on": [(1,)]})
    gated = lftj.connect()
    gated.add_rules(DECLARED)
    gated.load("e", DENSE)
    gated.add_rules(rules)
    for _ in range(3):
        change(gated, {"on": [(1,)]}, {})
        assert (ways(gated), steps(gated) <= 1.4 * anew) == ({"from nothing"}, True)
        change(gated, {}, {"on": [(1,)]})
        assert len(gated["p"]) == 0
    assert gated.verify() == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_negated_fact_locked_takes_about_an_evaluation(name: str):
    rules = PROGRAMS[name].replace("on(_)", "!on(1)")
    anew = evaluated(rules, {"e": DENSE})
    gated = lftj.connect()
    gated.add_rules(DECLARED)
    change(gated, {"e": DENSE, "on": [(1,)]}, {})
    gated.add_rules(rules)
    change(gated, {}, {"on": [(1,)]})
    assert (ways(gated), steps(gated) <= 1.4 * anew) == ({"from nothing"}, True)
    assert gated.verify() == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_base_rule_after_its_step_rule_takes_about_an_evaluation(name: str):
    rules = PROGRAMS[name]
    first = BASE if BASE in rules else "r(x, y, 0) :- on(_), e(x, y)."
    facts = {"e": DENSE, "on": [(1,)]}
    later = lftj.connect()
    later.add_rules(DECLARED)
    change(later, facts, {})
    later.add_rules(rules.replace(first, ""))
    later.add_rules(first)
    assert ways(later) == {"from nothing"}
    assert steps(later) <= 1.4 * evaluated(rules, facts)
    assert later.verify() == []


def test_what_little_comes_is_followed_by_rows():
    gated = lftj.connect()
    gated.add_rules(DECLARED)
    gated.load("e", [(3 * i, 3 * i + 1) for i in range(50_000)])
    gated.add_rules(".decl r(x: number) r(x) :- on(x). r(y) :- r(x), e(x, y).")
    change(gated, {"on": [(3,)]}, {})
    assert (ways(gated), gated["r"].fetchall()) == ({"rederivation"}, [(3,), (4,)])
    assert steps(gated) < 20
