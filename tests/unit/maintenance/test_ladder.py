"""The ladders: names, what the walker does with one that gives up, and that strategies know of no
rival.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from typing import Any

import pytest

import lftj
from lftj.join.budget import AllowanceSpentError, Budget
from lftj.join.strategy import Cost, Exhausted, Strategy, Why, walk
from lftj.tuning.aids import AIDS
from lftj.views.switchable import LADDERS, NAMES, OPTIONAL

ALL: list[type[Strategy[Any]]] = [each for ladder in LADDERS for each in ladder]


# ── who knows whom ────────────────────────────────────────────────────────────────────────────────
def _imported(module: str, seen: set[str]) -> set[str]:
    """The modules of maintenance that a module imports, these too."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    for node in ast.walk(tree):
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("lftj.maintenance") and name in sys.modules and name not in seen:
                seen.add(name)
                _imported(name, seen)
    return seen


@pytest.mark.parametrize("strategy", ALL, ids=lambda each: each.__name__)
def test_no_strategy_imports_a_rival_or_names_one(strategy: type[Strategy[Any]]):
    own = strategy.__module__
    ladder = next(ladder for ladder in LADDERS if strategy in ladder)
    rivals = {each.__module__ for each in ladder} - {own}
    bases = {base.__module__ for base in strategy.__mro__}
    assert not _imported(own, set()) & rivals - bases
    names = {each.__name__ for each in ladder} - {base.__name__ for base in strategy.__mro__}
    source = ast.parse(textwrap.dedent(inspect.getsource(strategy)))
    used = {node.id for node in ast.walk(source) if isinstance(node, ast.Name)}
    assert not used & names


def test_a_spent_budget_becomes_a_value_in_one_place():
    catching = [
        name
        for name, module in sys.modules.items()
        if name.startswith(("lftj.maintenance", "lftj.join"))
        and "except AllowanceSpentError" in inspect.getsource(module)
    ]
    assert catching == ["lftj.join.strategy"]


def test_the_last_of_each_ladder_is_needed_and_names_tell_strategies_and_aids_apart():
    assert all(ladder[-1].needed for ladder in LADDERS)
    assert not set(NAMES) & set(AIDS)
    assert set(OPTIONAL) < set(NAMES)


# ── the walker ────────────────────────────────────────────────────────────────────────────────────
class Tried(Strategy[str]):
    change: Budget
    steps = 0
    cost = Cost()

    def forecast(self) -> Cost:
        return self.cost

    def run(self) -> str | Exhausted:
        self.change.charge(self.steps)
        return f"{self.name} from {self.state}"


class Dear(Tried):
    name, cost = "dear", Cost(worthwhile=False)


class Long(Tried):
    name, steps, cost = "long", 9, Cost(allowed=5)

    def stopped(self, allowed: int) -> Exhausted:
        return Exhausted(Why.BUDGET, f"{allowed} spent")


class Elsewhere(Tried):
    name = "elsewhere"

    def applies(self) -> bool:
        return False


class Last(Tried):
    name, needed = "last", True


LADDER = (Elsewhere, Dear, Long, Last)


def test_one_strategy_after_the_other_is_asked_from_the_state_that_the_one_before_left():
    told: list[Exhausted] = []
    budget = Budget()
    found = walk(LADDER, budget, "nothing", budget, note=told.append)
    assert found == ("last", "last from 5 spent")
    assert [each.why for each in told] == [Why.FORECAST, Why.BUDGET]


def test_what_is_switched_off_is_not_asked_and_what_is_needed_is():
    budget = Budget()
    assert walk(LADDER, budget, 0, budget, {"long", "last"}) == ("last", "last from 0")
    assert walk((Dear,), budget, 0, budget) == Exhausted(Why.FORECAST, 0)


def test_a_budget_around_the_walk_still_bounds_it():
    budget = Budget()
    with pytest.raises(AllowanceSpentError), budget.allow(3):
        walk((type("Free", (Tried,), {"steps": 4}),), budget, 0, budget)


# ── switching off ─────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("walk", "is no strategy"),
        ("full evaluation", "cannot be switched off"),
        ("guarded groups", "is gone: `delta queries` took its place"),
        ("small fixpoint", "is gone: `iterations` took its place"),
    ],
)
def test_a_workspace_refuses_what_cannot_be_switched_off(name: str, what: str):
    with pytest.raises(lftj.DeclarationError, match=f"`{name}` in `without` {what}") as refused:
        lftj.connect(tuning=lftj.Tuning(without={"walks", name}))
    assert refused.value.code == "E160"
    assert all(f"`{each}`" in str(refused.value) for each in (*OPTIONAL, *AIDS))


@pytest.mark.parametrize("given", ["walks", 3, {"walks", 3}])
def test_a_tuning_refuses_what_is_no_set_of_names(given: Any):
    with pytest.raises(lftj.DeclarationError, match="without is a set of names"):
        lftj.Tuning(without=given)


def test_the_profile_names_strategies_by_the_words_of_the_ladder():
    def last(**tuning: Any) -> dict[str, str]:
        ws = lftj.connect(tuning=lftj.Tuning(**tuning))
        ws.add_rules(
            ".decl e(x: number, y: number)  .decl r(x: number, y: number)\n"
            ".decl n(x: number, z: number)\n"
            "r(x, y) :- e(x, y).  r(x, z) :- r(x, y), e(y, z).  n(x, z) :- e(x, y), e(y, z)."
        )
        ws.load("e", [(x, x + 1) for x in range(60)])
        with ws.transaction() as tx:
            tx.insert("e", [(60, 61)])
        return {row.relation: row.strategy for row in ws.profile(last=1).itertuples()}

    assert last() == {"r": "reachability", "n": "delta queries"}
    assert last(without={"reachability"})["r"] == "rederivation"
    without = {"reachability", "rederivation", "counting from nothing", "affected partitions"}
    assert last(without=without)["r"] == "from nothing"


def test_a_guard_that_comes_and_goes_is_followed():
    ws = lftj.connect()
    ws.add_rules(
        ".decl watched(d: number)  .decl flight(d: number, f: number)\n"
        ".decl flown(d: number, f: number)  .decl longest(d: number, f: number)\n"
        "flown(d, f) :- watched(d), flight(d, f).\n"
        "longest(d, f) :- flown(d, f), flight(_, f), f > 1."
    )
    with ws.transaction() as tx:
        tx.insert("watched", [(1,), (2,)])
        tx.insert("flight", [(d, f) for d in range(5) for f in range(40)])
    for day in (1, 2):
        with ws.transaction() as tx:
            tx.delete("watched", [(day,)])
            tx.insert("watched", [(day + 2,)])
            tx.delete("flight", [(day, 3)])
        assert ws.verify() == []
    assert {row[0] for row in ws["flown"].fetchall()} == {3, 4}
