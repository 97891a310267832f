"""Rules that come to strata whose rows alone are kept, and go: also where strata merge and split.
What is right, and what it costs.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import lftj
from tests.unit.recursion.following import CLOSURE, change, steps, strategies
from tests.unit.recursion.stratum import states
from tests.unit.recursion.test_delete_rederive import BLOCKS, loaded

DECLARED = "".join(f".decl {name}(x: number, y: number)\n" for name in "efpqr")
RULES = (
    "p(x, y) :- e(x, y).",
    "p(x, z) :- p(x, y), e(y, z).",
    "p(x, z) :- p(x, y), q(y, z).",
    "p(x, y) :- r(y, x), x < y.",
    "q(x, y) :- f(x, y).",
    "q(x, z) :- q(x, y), f(y, z).",
    "q(x, z) :- p(x, y), f(y, z), !e(x, z).",
    "q(x, y) :- p(y, x), f(x, x).",
    "r(x, y) :- q(x, y), !f(y, x).",
    "r(x, z) :- r(x, y), p(y, z), x != z.",
    "e(x, y) :- r(x, y), f(x, _).",
)
TWO = """
.decl e(x: number, y: number)
.decl f(x: number, y: number)
.decl over(x: number, y: number)
.decl back(x: number, y: number)
.decl t(x: number, y: number)
.decl u(x: number, y: number)
t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z).
u(x, y) :- f(x, y). u(x, z) :- u(x, y), f(y, z).
"""
SHORTEST = """
.decl edge(x: number, y: number, w: number)
.decl lift(x: number, y: number)
.decl dist(x: number, d: number)
dist(0, min(0)) :- edge(0, _, _).
dist(y, min(d + w)) :- dist(x, d), edge(x, y, w).
"""


def rows(workspace: Any, names: str = "efpqr") -> dict[str, set[Any]]:
    return {name: set(workspace[name].fetchall()) for name in names}


def fresh(handles: dict[str, Any], facts: set[tuple[str, tuple[int, int]]]) -> Any:
    """A workspace made at once, in another order."""
    found = lftj.connect()
    found.add_rules(DECLARED + "\n".join(reversed(handles)))
    change(found, {name: [row for of, row in facts if of == name] for name in "efpq"}, {})
    return found


# ── right ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("seed", range(12))
def test_rows_and_what_changed_are_those_of_a_workspace_made_anew(seed: int):
    nothing_too_much = lftj.Tuning(rows_steps=1 << 60, rows_least=1 << 60, rows_begun=1 << 60)
    rnd, workspace = random.Random(seed), lftj.connect(tuning=nothing_too_much)
    workspace.add_rules(DECLARED)
    handles: dict[str, Any] = {}
    facts: set[tuple[str, tuple[int, int]]] = set()
    for _ in range(16):
        before, kept, given = rows(workspace), dict(handles), set(facts)
        try:
            with workspace.transaction() as tx:
                for rule in rnd.sample(RULES, rnd.randrange(1, 4)):
                    if rule in kept:
                        tx.remove_rule(kept.pop(rule))
                    else:
                        kept[rule] = tx.add_rule(rule)
                for name, row in [
                    (rnd.choice("eeffpq"), (rnd.randrange(5), rnd.randrange(5)))
                    for _ in range(rnd.randrange(4))
                ]:
                    (tx.delete if (name, row) in given else tx.insert)(name, [row])
                    given ^= {(name, row)}
        except lftj.ProgramErrors:
            assert rows(workspace) == before
            continue
        handles, facts = kept, given
        now = rows(workspace)
        assert now == rows(fresh(handles, facts))
        for name in now:
            changes = {(each[:2], each[2]) for each in tx.changes(name).fetchall()}
            assert changes == {(row, 1) for row in now[name] - before[name]} | {
                (row, -1) for row in before[name] - now[name]
            }
    assert "update" in strategies(workspace, 100)
    assert workspace.verify() == []


def test_a_rule_that_goes_may_have_read_what_is_there_no_more():
    closure = loaded(
        CLOSURE + ".decl g(x: number, y: number)\n", {"e": BLOCKS, "g": [(5000, 5001)]}
    )
    handle = closure.add_rule("t(x, y) :- g(x, y), (x < 3 ; !e(x, y)).")
    assert (5000, 5001) in rows(closure, "t")["t"]
    closure.remove_rule(handle)
    assert (strategies(closure), len(closure["t"])) == (["update"], 200 * 190)
    assert closure.verify() == []


def test_rows_of_their_own_stay_when_their_rules_go():
    closure = loaded(CLOSURE, {"e": BLOCKS})
    handle = closure.add_rule("e(x, y) :- t(y, x), x = 19.")
    assert (strategies(closure), len(closure["e"])) == (["update"], len(BLOCKS) + 20)
    with closure.transaction() as tx:
        tx.remove_rule(handle)
        tx.insert("e", [(19, 0)])
    assert rows(closure, "e")["e"] == {*BLOCKS, (19, 0)}
    assert closure.verify() == []


# ── what it costs ─────────────────────────────────────────────────────────────────────────────────
def test_a_rule_that_derives_little_costs_little_and_leaves_the_state_as_it_was():
    closure = loaded(CLOSURE + ".decl f(x: number, y: number)\n", {"e": BLOCKS, "f": [(19, 3998)]})
    anew, memory = steps(closure), closure.memory().fetchall()
    handle = closure.add_rule("t(x, y) :- f(x, y).")
    assert (strategies(closure), len(closure["t"])) == (["update"], 200 * 190 + 2)
    assert steps(closure) < anew / 50
    closure.remove_rule(handle)
    assert (strategies(closure), states(closure)) == (["update"], [])
    with closure.transaction() as tx:
        tx.remove_rule(tx.add_rule("t(y, x) :- t(x, y)."))
    assert tx.work < anew / 50
    after = closure.memory().fetchall()
    assert {row[:3] for row in memory} <= {row[:3] for row in after}, "no more than key orders came"
    assert closure.verify() == []


def test_strata_that_merge_and_split_are_followed():
    two = loaded(
        TWO,
        {
            "e": BLOCKS,
            "f": [(x + 9000, y + 9000) for x, y in BLOCKS],
            "over": [(19, 9017)],
            "back": [(9019, 38)],
        },
        tuning=lftj.Tuning(rows_least=2_000_000),
    )
    anew = steps(two)
    over = two.add_rule("u(x, z) :- t(x, y), over(y, z).")
    assert strategies(two) == ["update"]
    for _ in range(2):
        back = two.add_rule("t(x, z) :- u(x, y), back(y, z).")
        assert strategies(two) == ["update"]
        assert {(9000, 38), (9000, 39)} <= rows(two, ["t"])["t"]
        change(two, {}, {"e": [(18, 19)]})
        change(two, {"e": [(18, 19)]}, {})
        assert strategies(two, 2) == ["update"] * 2
        two.remove_rule(back)
        assert strategies(two) == ["update"] * 2
    change(two, {}, {"e": [(38, 39)]})
    two.remove_rule(over)
    assert two.profile(last=6)["steps"].sum() < anew
    assert (states(two), len(two["u"]), two.verify()) == ([], 200 * 190, [])


def test_a_stratum_that_stays_when_another_rule_of_its_cycle_goes_is_followed_from_its_rows():
    closure = loaded(CLOSURE, {"e": BLOCKS})
    closure.remove_rule(closure.add_rule("e(x, y) :- t(x, y), x > y."))
    change(closure, {}, {"e": [(18, 19)]})
    assert (strategies(closure), len(closure["t"])) == (["update"], 200 * 190 - 19)
    assert steps(closure) < 500


def test_a_rule_that_derives_much_is_given_up():
    closure = loaded(CLOSURE, {"e": BLOCKS}, tuning=lftj.Tuning(rows_least=1_000))
    closure.add_rule("t(x, z) :- t(x, y), e(z, y).")
    assert strategies(closure) == ["fallback"]
    assert closure.verify() == []


def test_shortest_paths_go_on_from_their_rows_where_a_rule_comes():
    shortest = loaded(
        SHORTEST, {"edge": [(x, x + 1, 1) for x in range(3000)], "lift": [(2990, 2998)]}
    )
    anew = steps(shortest)
    shortest.add_rule("dist(y, min(d + 1)) :- dist(x, d), lift(x, y).")
    assert (strategies(shortest), states(shortest)) == (["update"], [])
    assert steps(shortest) < anew / 50
    assert (3000, 2993) in rows(shortest, ["dist"])["dist"]
    assert shortest.verify() == []
