"""Sums through recursion, sums of several rules, and aggregates of users in place of sums, against
the reference engine after every step of random histories: rows, rules, cycles of groups, reopenings
and branches.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.proofs import Part
from lftj.proofs.sums import DependsOnItself
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.views import levels_node
from tests.depth import enough
from tests.reference import ArithmeticFailure, evaluate
from tests.retuning import constants

least = lftj.UserAggregate(
    "least",
    zero=None,
    lift=lambda n: n,
    combine=lambda a, b: b if a is None else a if b is None else min(a, b),
    argument_types=(int,),
    result_type=int,
)
"""Keeps its rows: it has no inverse."""
ways = lftj.UserAggregate(
    "ways",
    zero=(0, 0),
    lift=lambda n, m: (n * m, 1),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    inverse=lambda a: (-a[0], -a[1]),
    finish=lambda total: total[0] + total[1] % 2,
    argument_types=(int, int),
    result_type=int,
    words=(2, 1),
)
total = lftj.UserAggregate(
    "total", 0, int, lambda a, b: a + b, lambda a: -a, argument_types=(int,), result_type=int
)
"""Keeps totals that no page holds, so that its stratum is evaluated anew after opening."""
latest = lftj.UserAggregate(
    "latest",
    zero=(1, 0),
    lift=lambda n: (2, n),
    combine=lambda a, b: (a[0] * b[0] % 997, (a[1] * b[0] + b[1]) % 997),
    finish=lambda state: state[1],
    argument_types=(int,),
    result_type=int,
)
"""Depends on the order in which values are combined."""
AGGREGATES = (least, ways, total, latest)
USERS = {
    each.name: lambda rows, each=each: each.result(each.fold(sorted(rows), [1] * len(rows)))
    for each in AGGREGATES
}

Rows = dict[str, set[tuple[Any, ...]]]
DECLARED = """
.decl uses(x: number, y: number, n: number)
.decl top(x: number, y: number, n: number)
.decl need(x: number, y: number, n: number)
.decl other(x: number, y: number, n: number)
.decl much(x: number, n: number)
much(x, count()) :- need(x, _, n), n > 3.
"""
PROGRAMS = {
    "linear": [
        "need(x, y, n) :- top(x, y, n).",
        "need(x, z, sum(n * m)) :- need(x, y, n), uses(y, z, m).",
        "need(x, z, sum(m)) :- need(x, y, _), uses(y, z, m), m > 1.",
    ],
    "mutual": [
        "need(x, y, sum(n)) :- top(x, y, n).",
        "other(x, z, sum(n * m)) :- need(x, y, n), uses(y, z, m).",
        "need(x, z, sum(n + m)) :- other(x, y, n), uses(y, z, m), !top(z, x, m).",
        "other(x, x, n) :- top(x, _, n), n != 2.",
    ],
    "twice": [
        "need(x, y, n) :- uses(x, y, n), x < y.",
        "need(x, z, sum(n * m)) :- need(x, y, n), need(y, z, m), top(_, y, _).",
    ],
    "counts": [
        "need(x, y, n) :- top(x, y, n).",
        "need(z, x, count()) :- need(x, y, _), uses(y, z, _).",
    ],
    "least": [
        "need(x, y, n) :- top(x, y, n).",
        "need(x, z, least(n + m)) :- need(x, y, n), uses(y, z, m).",
        "need(x, z, least(m)) :- need(x, y, _), uses(y, z, m), m > 1.",
    ],
    "ways": [
        "need(x, y, ways(n, 1)) :- top(x, y, n).",
        "need(x, y, ways(n, 2)) :- top(x, y, n), n < 2.",
        "other(x, z, ways(n, m)) :- need(x, y, n), uses(y, z, m).",
        "need(x, z, ways(1, n + m)) :- other(x, y, n), uses(y, z, m), !top(z, x, m).",
    ],
    "of several kinds": [
        "need(x, y, total(n)) :- top(x, y, n).",
        "other(x, z, latest(n + m)) :- need(x, y, n), uses(y, z, m).",
        "need(x, z, total(n)) :- other(x, z, n).",
        "other(x, x, n) :- top(x, _, n), n != 2.",
    ],
    "every assignment": [
        "need(x, y, n) :- (top(x, y, n) ; uses(x, y, n)).",
        "need(x, y, n) :- top(x, y, n), uses(_, _, m), m > 1.",
        "need(x, z, sum(n * m)) :- need(x, y, n), (uses(y, z, m) ; top(y, z, m)).",
        "need(x, z, m) :- need(x, y, _), uses(y, z, m), top(_, _, m).",
    ],
    "one rule": ["need(y, x, latest(m)) :- uses(y, x, m)."],
    "judged": [
        "need(x, y, n) :- top(x, y, n).",
        "need(x, z, sum(n * m)) :- need(x, y, n), uses(y, z, m), n < 3.",
        "need(x, z, sum(m)) :- need(x, y, 2), uses(y, z, m).",
    ],
    "values of many kinds": [
        "need(x, y, n) :- top(x, y, n).",
        "need(x, z, sum(n * m + x)) :- need(x, y, n), uses(y, z, m), z != x, !top(z, x, _).",
        "need(x, z, sum(k - m)) :- need(x, y, n), need(y, z, m), k = n * 2, top(y, z, _).",
        "other(y, x + 1, sum(k)) :- need(x, x, n), uses(x, y, m), top(_, y, j), k = n - m * j.",
        "need(x, 8, sum(n)) :- other(x, 3, n), uses(_, _, 2).",
        "other(x, 9, sum(n * m)) :- need(x, _, n), uses(x, _, m).",
    ],
    "flat": [
        "need(x, y, sum(n)) :- uses(x, y, n).",
        "need(x, y, sum(n)) :- top(y, x, n).",
        "need(x, 0, n) :- top(x, _, n).",
    ],
}
NAMES = ("need", "other", "much")


def _declared(workspace: Any) -> Any:
    for each in AGGREGATES:
        workspace.add_aggregate(each)
    workspace.add_rules(DECLARED)
    return workspace


def _wanted(rules: list[str], facts: Rows) -> Rows | None:
    program = parse(DECLARED + "".join(rules))
    try:
        return evaluate(tree.ParsedProgram(program.clauses), facts, users=USERS)
    except (DependsOnItself, ArithmeticFailure):
        return None


def _drawn(facts: Rows, drawn: random.Random) -> dict[str, tuple[set[Any], set[Any]]]:
    changes: dict[str, tuple[set[Any], set[Any]]] = {}
    for name in drawn.choice([["uses"], ["top"], ["uses", "top"]]):
        rows = facts[name]
        gone = {drawn.choice(sorted(rows)) for _ in range(drawn.randint(0, 2)) if rows}
        come = set[Any]()
        for _ in range(drawn.randint(1, 2)):
            x, y = drawn.randrange(7), drawn.randrange(7)
            if drawn.random() < 0.85:
                x, y = min(x, y), max(x, y)
            come.add((x, y, drawn.randint(-1, 3)))
        come |= {(x, y, drawn.randint(-1, 3)) for x, y, _ in gone if drawn.random() < 0.6}
        changes[name] = gone - come, come
    return changes


def _committed(workspace: Any, changes: dict[str, tuple[set[Any], set[Any]]]) -> bool:
    try:
        with workspace.transaction() as tx:
            for name, (gone, come) in changes.items():
                tx.delete(name, list(gone))
                tx.insert(name, list(come))
    except lftj.GroupCycleError:
        return False
    return True


def _check(workspace: Any, wanted: Rows, where: object) -> None:
    for name in NAMES:
        assert set(workspace[name].fetchall()) == wanted[name], (where, name)
    assert workspace.verify() == [], where


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("seed", range(enough(1, 20)))
@pytest.mark.parametrize("levels_first", [False, True])
def test_histories_with_cycles_of_groups(
    program: str, levels_first: bool, seed: int, tmp_path: Path
) -> None:
    few = -1 if levels_first else 1_000
    with constants(levels_node, _RAISED_AGAIN=0, _FEW_RAISED=few):
        _history(program, seed, tmp_path, enough(16, 30))


def _history(program: str, seed: int, tmp_path: Path, steps: int) -> None:
    drawn = random.Random(seed)
    path, options = tmp_path / "w.lftj", dict[str, Any](durability="off")
    workspace: Any = _declared(lftj.connect(path, **options))
    handles = {rule: workspace.add_rule(rule) for rule in PROGRAMS[program]}
    facts: Rows = {"uses": set(), "top": set()}
    refused = 0
    for step in range(steps):
        kind = drawn.choice(["change"] * 7 + ["rule", "reopen", "branch"])
        if kind == "rule" and len(handles) > 1:
            rule = drawn.choice(sorted(handles))
            workspace.remove_rule(handles.pop(rule))
            wanted = _wanted([*handles], facts)
            assert wanted is not None
            _check(workspace, wanted, (seed, step, "removed"))
            handles[rule] = workspace.add_rule(rule)
        elif kind == "reopen":
            workspace.close()
            workspace = lftj.connect(path, **options)
        elif kind == "branch":
            branch = workspace.branch("trial")
            changes = _drawn(facts, drawn)
            after = dict(facts)
            for name, (gone, come) in changes.items():
                after[name] = facts[name] - gone | come
            if _committed(branch, changes):
                facts = after
                workspace.merge(branch)
            branch.drop()
        else:
            changes = _drawn(facts, drawn)
            after = {
                name: rows - changes[name][0] | changes[name][1] if name in changes else rows
                for name, rows in facts.items()
            }
            done = _committed(workspace, changes)
            assert done == (_wanted([*handles], after) is not None), (seed, step)
            refused += not done
            facts = after if done else facts
        wanted = _wanted([*handles], facts)
        assert wanted is not None
        _check(workspace, wanted, (seed, step, kind))
    workspace.close()


def test_cycles_of_groups_are_looked_for_after_the_whole_transaction() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "".join(PROGRAMS["linear"]))
    workspace.load("top", [(0, 1, 1)])
    workspace.load("uses", [(1, 2, 2), (2, 3, 3)])
    before = sorted(workspace["need"].fetchall())
    with pytest.raises(lftj.GroupCycleError, match=r"need\(0, 1, …\) ← ") as caught:
        workspace.load("uses", [(3, 1, 1)])
    assert caught.value.code == "E302"
    assert sorted(caught.value.groups) == [("need", (0, each)) for each in (1, 2, 3)]
    assert sorted(workspace["need"].fetchall()) == before
    with workspace.transaction() as tx:
        tx.insert("uses", [(3, 1, 1)])
        tx.delete("uses", [(1, 2, 2)])
    assert workspace["need"].fetchall() == [(0, 1, 1)]
    with workspace.transaction() as tx:  # what lost its ground in the commit makes no cycle
        tx.insert("uses", [(1, 2, 2)])
        tx.delete("uses", [(2, 3, 3)])
        tx.delete("top", [(0, 1, 1)])
        tx.insert("top", [(0, 2, 5)])
    assert sorted(workspace["need"].fetchall()) == [(0, 2, 5)]
    assert workspace.verify() == []


def test_a_long_cycle_is_found_before_levels_have_gone_round_it_twice() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        """
        .decl part(p: number, cost: number)
        .decl uses(w: number, p: number, n: number)
        .decl cost(p: number, c: number)
        cost(p, sum(c)) :- part(p, c).
        cost(w, sum(n * c)) :- uses(w, p, n), cost(p, c).
        """
    )
    workspace.load("part", [(0, 0)])
    with workspace.limits(work=10_000), pytest.raises(lftj.GroupCycleError):
        workspace.load("uses", [(part, (part + 1) % 300, 1) for part in range(300)])


def test_a_sum_of_nothing_but_zeros_stays_and_cycles_of_zeros_are_cycles() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "".join(PROGRAMS["linear"][:2]))
    workspace.load("top", [(0, 1, 4)])
    workspace.load("uses", [(1, 2, 1), (1, 2, -1), (2, 3, 7)])
    assert sorted(workspace["need"].fetchall()) == [(0, 1, 4), (0, 2, 0), (0, 3, 0)]
    with pytest.raises(lftj.GroupCycleError):
        workspace.load("uses", [(3, 2, 0)])
    with workspace.transaction() as tx:
        tx.delete("uses", [(1, 2, -1)])
    assert sorted(workspace["need"].fetchall()) == [(0, 1, 4), (0, 2, 4), (0, 3, 28)]


def test_floats_are_exact_whatever_happened_before() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number, w: float) .decl f(x: number, s: float) "
        ".decl s(x: number) f(x, 1.0) :- s(x). f(y, sum(s * w)) :- f(x, s), e(x, y, w)."
    )
    workspace.load("s", [(0,)])
    workspace.load("e", [(0, 1, 0.1), (0, 2, 1e18), (1, 3, 1.0), (2, 3, 1.0), (0, 3, -1e18)])
    assert dict(workspace["f"].fetchall())[3] == 0.1
    with workspace.transaction() as tx:
        tx.delete("e", [(2, 3, 1.0), (0, 3, -1e18)])
    assert dict(workspace["f"].fetchall())[3] == 0.1
    assert workspace.verify() == []


def test_a_long_chain_is_no_cycle() -> None:
    workspace = lftj.connect()
    workspace.add_rules(
        ".decl e(x: number, y: number) .decl s(x: number) .decl w(x: number, n: number) "
        "w(x, 1) :- s(x). w(y, sum(n)) :- w(x, n), e(x, y)."
    )
    workspace.load("e", [(x, x + 1) for x in range(600)])
    workspace.load("s", [(0,), (300,)])
    assert dict(workspace["w"].fetchall())[600] == 2
    workspace.load("e", [(0, 600), (200, 400)])
    assert dict(workspace["w"].fetchall())[600] == 4
    assert workspace.verify() == []
    with pytest.raises(lftj.GroupCycleError) as caught:
        workspace.load("e", [(600, 0)])
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("judged", ["", ", n >= 0"])
def test_sums_along_long_paths_take_each_group_about_once(judged: str) -> None:
    """Levels that are raised as longer paths are found would be raised thousands of times."""
    drawn, nodes = random.Random(3), 2_000
    edges = sorted({(x, x + drawn.randrange(1, 12)) for x in range(nodes) for _ in "abc"})
    starts = {x for x, _ in edges} - {y for _, y in edges}
    wanted = dict.fromkeys(starts, 1)
    for x, y in edges:
        wanted[y] = wanted.get(y, 0) + (wanted[x] & 7)
    with lftj.connect() as workspace:
        workspace.add_rules(
            ".decl e(x: number, y: number) .decl s(x: number) .decl w(x: number, n: number) "
            "w(x, 1) :- s(x). "
            f"w(y, sum(n band 7)) :- w(x, n), e(x, y){judged}. "
        )
        workspace.load("s", [(x,) for x in starts])
        workspace.load("e", edges)
        assert dict(workspace["w"].fetchall()) == wanted
        assert workspace.profile(last=1)["steps"].sum() < 80 * len(edges)


JUDGED = """
.decl s(x: number, n: number)
.decl e(x: number, y: number)
.decl v(x: number, n: number)
v(x, n) :- s(x, n).
v(y, sum(n)) :- v(x, n), e(x, y), n < 10.
"""


@pytest.mark.parametrize("many", [0, 2_000])
def test_a_condition_is_judged_when_all_is_added(many: int) -> None:
    """1 adds to 0 only while 3 has not added to 1."""
    rows = [(0, 1), (1, 0), (2, 3), (3, 1)]
    with lftj.connect() as workspace:
        workspace.add_rules(JUDGED)
        with workspace.transaction() as tx:
            tx.insert("s", [(0, 1), (2, 9)])
            tx.insert("e", rows + [(0, x) for x in range(4, 4 + many)])
        here = [(0, 1), (1, 10), (2, 9), (3, 9)]
        assert sorted(workspace["v"].fetchall())[:4] == here
        assert len(workspace["v"]) == 4 + many
        assert workspace.verify() == []
        with pytest.raises(lftj.GroupCycleError) as caught, workspace.transaction() as tx:
            tx.delete("e", [(3, 1)])
        assert set(caught.value.groups) == {("v", (0,)), ("v", (1,))}
        with workspace.transaction() as tx:
            tx.delete("e", [(0, 1)])
            tx.insert("s", [(0, 2)])
        assert sorted(workspace["v"].fetchall())[:4] == [(0, 12), (1, 9), *here[2:]]
        assert workspace.verify() == []


EITHER = {
    "a limit": ["v(y, sum(n)) :- v(x, n), e(x, y), n < 4."],
    "a value": ["v(y, sum(m)) :- v(x, 2), e(x, y), m = y + 1."],
    "by another": ["w(y, sum(n)) :- v(x, n), e(x, y), n < 4.", "v(y, sum(n)) :- w(y, n), n != 3."],
}


@pytest.mark.parametrize("rules", EITHER)
def test_what_a_commit_does_depends_on_the_rows_and_not_on_their_history(rules: str) -> None:
    """All histories fail that lead to two groups of which either may rest on the other."""
    declared = (
        ".decl s(x: number, n: number) .decl e(x: number, y: number) "
        ".decl v(x: number, n: number) .decl w(x: number, n: number) v(x, n) :- s(x, n)."
        + "".join(EITHER[rules])
    )
    program = tree.ParsedProgram(parse(declared).clauses)
    done = refused = 0
    for seed in range(6):
        drawn, workspace = random.Random(seed), lftj.connect()
        workspace.add_rules(declared)
        facts: Rows = {"s": set(), "e": set()}
        for step in range(16):
            name = drawn.choice("se")
            gone = (
                {drawn.choice(sorted(facts[name]))} if facts[name] and drawn.random() < 0.4 else ()
            )
            row = drawn.randrange(3), drawn.randint(1, 4) if name == "s" else drawn.randrange(3)
            after = {**facts, name: facts[name].difference(gone) | {row}}
            try:
                wanted: Rows | None = evaluate(program, after)
            except DependsOnItself:
                wanted = None
            accepted = _committed(workspace, {name: ({*gone} - {row}, {row})})
            assert accepted == (wanted is not None), (seed, step, after)
            if wanted is None:
                refused += 1
                continue
            facts, done = after, done + 1
            assert {each: set(workspace[each].fetchall()) for each in "vw"} == {
                each: wanted[each] for each in "vw"
            }
    assert done > 40
    assert refused > 2


@pytest.mark.parametrize("first", [0, 1])
def test_no_history_lets_either_of_two_groups_rest_on_the_other(first: int) -> None:
    with lftj.connect() as workspace:
        workspace.add_rules(JUDGED)
        workspace.load("s", [(first, 5)])
        workspace.load("e", [(first, 1 - first)])
        workspace.load("s", [(1 - first, 5)])
        with pytest.raises(lftj.GroupCycleError):
            workspace.load("e", [(1 - first, first)])
        assert dict(workspace["v"].fetchall()) == {first: 5, 1 - first: 10}
        assert workspace.verify() == []


def test_sums_without_groups_rise_in_their_order() -> None:
    ws = lftj.connect()
    ws.add_rules(
        ".decl z(n: number) .decl on(x: number) .decl a(n: number) .decl b(n: number) "
        ".decl c(n: number) a(sum(n)) :- z(n). a(sum(n)) :- c(n), on(2). b(sum(n)) :- a(n), on(1). "
        "c(sum(n)) :- z(n). c(sum(n)) :- b(n), on(3)."
    )
    ws.load("z", [(4,)])
    ws.load("on", [(1,)])
    ws.load("on", [(2,)])
    assert [ws[name].fetchall() for name in "abc"] == [[(8,)], [(8,)], [(4,)]]
    with pytest.raises(lftj.GroupCycleError):
        ws.load("on", [(3,)])
    assert not ws.verify()


def test_each_changed_group_is_summed_once() -> None:
    """Work in proportion to the groups that change, and not to all."""
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "".join(PROGRAMS["linear"][:2]))
    wide = 40
    rows = [
        (level * wide + x, (level + 1) * wide + (x * 7 + k) % wide, 1 + k)
        for level in range(6) for x in range(wide) for k in range(3)
    ]  # fmt: skip
    workspace.load("uses", rows)
    workspace.load("top", rows)
    for row, least in (rows[-1], 100), (rows[wide * 7], 40), (rows[wide * 3 + 1], 100):
        with workspace.transaction() as tx:
            tx.delete("uses", [row])
            tx.insert("uses", [(*row[:2], 9)])
        changed = len(tx.changes("need")) // 2
        profile = workspace.profile(last=1)
        (steps,) = profile[profile["relation"] == "need"]["steps"]
        assert changed > least
        assert steps < 4 * changed
    assert workspace.verify() == []


RATES = """
.decl rate(x: number, f: float)
rate(x, sum(f)) :- need(x, _, n), f = to_float(n) / 3.0.
rate(x, f) :- top(x, _, n), f = to_float(n).
"""


@pytest.mark.parametrize("program", ["linear", "mutual", "least", "ways"])
def test_a_workspace_that_is_opened_again_goes_on_with_sums_and_levels(
    program: str, tmp_path: Path
) -> None:
    def changed(workspace: Any, times: int) -> list[list[tuple[Any, ...]]]:
        found = []
        for n in range(times):
            with workspace.transaction() as tx:
                tx.insert("uses", [(3, 50 + n, 1)])
            profile = workspace.profile(last=1)
            assert all(each.startswith("the change is followed") for each in profile["reason"])
            found.append(sorted(zip(*(profile[each] for each in ("node", "steps")), strict=True)))
            assert workspace.verify() == []
        return found

    def filled(path: Path) -> Any:
        workspace = _declared(lftj.connect(path))
        workspace.add_rules("".join(PROGRAMS[program]) + RATES)
        workspace.load("top", [(x, 1, 2) for x in range(100, 120)])
        workspace.load("uses", [(x, x + 1, 1 + x % 2) for x in range(1, 40)])
        return workspace

    with filled(tmp_path / "kept") as workspace:
        expected = changed(workspace, 3)
        rows = {name: set(workspace[name].fetchall()) for name in (*NAMES, "rate")}
    with filled(tmp_path / "opened") as workspace:
        sizes = [each for each in workspace.memory().fetchall() if "levels" in each[1]]
    with lftj.connect(tmp_path / "opened") as workspace:
        assert [each for each in workspace.memory().fetchall() if "levels" in each[1]] == sizes
        for found, before in zip(changed(workspace, 3), expected, strict=True):
            assert all(one <= other for one, other in zip(found, before, strict=True))
        assert {name: set(workspace[name].fetchall()) for name in (*NAMES, "rate")} == rows


def test_a_node_says_that_it_is_followed_by_levels() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "".join(PROGRAMS["linear"]))
    workspace.load("top", [(0, 1, 2), (0, 2, 5)])
    workspace.load("uses", [(1, 2, 3), (2, 3, 1)])
    nodes = {each[0]: each for each in workspace.plan().nodes().fetchall()}
    name, kind, *_, kept_by, rows, size = nodes["need"]
    assert (name, kind, rows) == ("need", "levels", 3)
    assert kept_by == "levels: a group once those below it are done"
    found = [each for each in workspace.memory().fetchall() if each[0] == "need"]
    assert ("need", "(sums and levels)", 3, size) in found
    assert size > 0
    assert "kept up to date by levels: each changed group" in str(workspace.plan())


ADDED = """need(0, 2, 11)
  by 2 rules that add up
  5 by need(x, y, n) :- top(x, y, n).  with x = 0, y = 2, over 1 assignment
    with n = 5
      top(0, 2, 5)  base fact
  6 by need(x, z, sum(n * m)) :- need(x, y, n), uses(y, z, m).  with x = 0, z = 2, over 1 assignment
    with y = 1, n = 2, m = 3
      need(0, 1, 2)
        by need(x, y, n) :- top(x, y, n).  with x = 0, y = 1, n = 2
        top(0, 1, 2)  base fact
      uses(1, 2, 3)  base fact"""


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each != "one rule"])
def test_rows_that_several_rules_add_up_have_proofs_that_hold(program: str) -> None:
    """And no proof holds with a part that adds something else."""
    chance, several = random.Random(program), 0
    for _ in range(2):
        workspace = _declared(lftj.connect())
        workspace.add_rules("".join(PROGRAMS[program]))
        for name in ("top", "uses"):
            pairs = [(x, x + 1 + chance.randrange(3), chance.randrange(-3, 4)) for x in range(5)]
            workspace.load(name, pairs + [(x, y, n + 1) for x, y, n in pairs[::3]])
        facts = {name: workspace[name].fetchall() for name in ("top", "uses")}
        checker = cache(partial(lftj.ProofChecker, facts=facts, aggregates=USERS))
        for relation in ("need", "other"):
            for row in workspace[relation].fetchall():
                proof = workspace.explain(relation, row)
                checker(proof.program).check(proof)
                *steps, last = proof.steps
                parts = [each for each in last.premises if isinstance(each, Part)]
                several += bool(parts)
                for place, part in enumerate(parts):
                    for wrong in (
                        part._replace(value=part.value + 1),
                        part._replace(size=part.size + 1),
                        part._replace(shown=()) if part.shown else None,
                    ):
                        if wrong is None or (wrong.shown == () and wrong.size == part.size):
                            continue
                        premises = (*parts[:place], wrong, *parts[place + 1 :])
                        made = replace(proof, steps=(*steps, replace(last, premises=premises)))
                        with pytest.raises(lftj.ProofError):
                            checker(made.program).check(made)
                if parts:
                    made = replace(proof, steps=(*steps, replace(last, premises=tuple(parts[1:]))))
                    with pytest.raises(lftj.ProofError):
                        checker(made.program).check(made)
    assert several


def test_a_row_that_one_rule_or_several_add_up_is_explained() -> None:
    workspace = lftj.connect()
    workspace.add_rules(DECLARED + "".join(PROGRAMS["linear"][:2]))
    workspace.load("top", [(0, 1, 2), (0, 2, 5)])
    workspace.load("uses", [(1, 2, 3), (2, 3, 1)])
    assert sorted(workspace["need"].fetchall()) == [(0, 1, 2), (0, 2, 11), (0, 3, 11)]
    assert "by need(x, y, n) :- top(x, y, n)." in str(workspace.explain("need", (0, 1, 2)))
    facts = {name: workspace[name].fetchall() for name in ("top", "uses")}
    proof = workspace.explain("need", (0, 2, 11))
    assert str(proof) == ADDED
    assert proof.count() == 1
    lftj.check_proof(proof, facts)
    with pytest.raises(lftj.ProofError, match="has 2 assignments"):
        lftj.check_proof(proof, {**facts, "uses": [*facts["uses"], (1, 2, 4)]})
    with workspace.transaction() as tx:
        tx.delete("top", [(0, 2, 5)])
    proof = workspace.explain("need", (0, 3, 6))
    assert "sum(n * m) = 6, over 1 assignment" in str(proof)
    lftj.check_proof(proof, {name: workspace[name].fetchall() for name in ("top", "uses")})


@pytest.mark.parametrize("by", ["duckdb", "spark"])
def test_sql_refuses_it_by_name(by: str) -> None:
    with pytest.raises(lftj.SqlError, match="several rules add up, in `need`"):
        lftj.to_sql(DECLARED + "".join(PROGRAMS["linear"]), by)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ("need(x, y, sum(n)) :- need(x, y, n), !need(y, x, n).", "E150"),
        ("need(x, y, sum(n)) :- uses(x, y, m), n = count : { need(x, _, m) }.", "E151"),
        ("need(x, y, sum(n)) :- other(x, y, n). other(x, y, n) :- need(x, y, n).", "E151"),
        ("need(x, y, min(n)) :- uses(x, y, n). need(x, y, n) :- top(x, y, n).", "E163"),
        ("need(x, sum(n), n) :- uses(x, y, n). need(x, y, sum(n)) :- top(x, y, n).", "E163"),
        ("need(x, y, sum(n)) :- uses(x, y, n). need(1, 2, 3).", "E163"),
        ("need(x, y, sum(n)) :- uses(x, y, n). need(x, y, max(n)) :- top(x, y, n).", "E163"),
    ],
)
def test_what_does_not_add_up_is_refused(rules: str, code: str) -> None:
    with pytest.raises(lftj.ProgramErrors) as caught:
        lftj.connect().add_rules(DECLARED.partition("much(x, count())")[0] + rules)
    assert {error.code for error in caught.value.errors} == {code}


def test_the_times_of_a_cycle_may_be_a_function_as_the_lift_of_an_aggregate() -> None:
    """Called in the head it is refused, and the message says so."""
    workspace = _declared(lftj.connect())
    worn: Any = lftj.UserAggregate(
        "worn",
        zero=0,
        lift=lambda n, m: n * m + n // 2,
        combine=lambda a, b: a + b,
        inverse=lambda a: -a,
        argument_types=(int, int),
        result_type=int,
    )
    workspace.add_aggregate(worn)

    @workspace.function(argument_types=(int, int), result_type=int)
    def wear(n: int, m: int) -> int:
        return n * m + n // 2

    start = "need(x, y, worn(n, 1)) :- top(x, y, n)."
    with pytest.raises(
        lftj.ProgramErrors, match=r"as its `lift`, and write total\(n, m\)"
    ) as caught:
        workspace.add_rules("need(x, z, sum(wear(n, m))) :- need(x, y, n), uses(y, z, m).")
    assert [error.code for error in caught.value.errors] == ["E151"]
    workspace.add_rules(start + "need(x, z, worn(n, m)) :- need(x, y, n), uses(y, z, m).")
    workspace.load("top", [(0, 1, 4), (0, 2, 3)])
    workspace.load("uses", [(1, 2, 3), (2, 3, 5)])
    assert sorted(workspace["need"].fetchall()) == [(0, 1, 6), (0, 2, 25), (0, 3, 137)]
    with workspace.transaction() as tx:
        tx.delete("uses", [(1, 2, 3)])
        tx.insert("uses", [(1, 2, 1)])
    assert sorted(workspace["need"].fetchall()) == [(0, 1, 6), (0, 2, 13), (0, 3, 71)]
    assert workspace.verify() == []


def test_a_product_that_no_version_has_does_not_fail_the_commit() -> None:
    """A sum goes in the commit in which a row comes that would take its product out of range."""
    program = """
        .decl w(x: number, y: number, m: number)
        .decl v(x: number, y: number, m: number)
        v(x, y, sum(m)) :- w(x, y, m).
        v(x, z, sum(k * m)) :- v(x, y, k), w(y, z, m), y < z.
    """
    history = [
        {"insert": {"w": [(0, 0, 5)]}},
        {"delete": {"w": [(0, 0, 5)]}, "insert": {"w": [(0, 5, 2**62)]}},
        {"insert": {"w": [(0, 0, 1)]}},
        {"insert": {"w": [(0, 0, 7)]}},  # has no value in either
    ]
    assert lftj.compare(program, history) is None
