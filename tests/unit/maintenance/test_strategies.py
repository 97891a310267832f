"""The strategy of a commit for each rule, by its counters: the least work possible, and the
fallback when that is too much.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import lftj
from lftj.maintenance.inputs.rule_work import RuleWork, moment
from tests.retuning import retuned

Rows = Sequence[tuple[int, ...]]
RULES = """
.decl e(x: number, y: number)  .decl n(x: number)
.decl two(x: number, z: number)    two(x, z) :- e(x, y), e(y, z).
.decl far(x: number, k: number)    far(x, count()) :- two(x, _).
.decl lonely(x: number)            lonely(x) :- n(x), !e(x, _).
.decl known(x: number)             known(x) :- n(x).  known(x) :- e(x, _).
"""


@pytest.fixture
def workspace() -> Any:
    made = lftj.connect()
    made.add_rules(RULES)
    made.load("e", [(i, i + 1) for i in range(40)])
    made.load("n", [(i,) for i in range(0, 60, 2)])
    return made


def commit(
    workspace: Any, relation: str, insert: Rows = (), delete: Rows = ()
) -> list[dict[str, Any]]:
    """Commit these changes; what was done, a row per rule."""
    with workspace.transaction() as transaction:
        transaction.insert(relation, list(insert))
        transaction.delete(relation, list(delete))
    return workspace.profile(last=1).to_dict("records")


def test_a_view_that_reads_nothing_changed_does_no_work(workspace: Any):
    done = commit(workspace, "n", insert=[(61,)])
    assert {row["relation"] for row in done} == {"lonely", "known"}
    assert {row["outcome"] for row in done} == {"update"}


def test_a_change_that_ends_in_a_view_does_not_reach_the_strata_above(workspace: Any):
    """A second way from 0 to 2 changes a support count of `two`, and no row."""
    workspace.load("e", [(100, 2)])
    done = commit(workspace, "e", insert=[(0, 100)])
    assert {row["relation"] for row in done} == {"two", "lonely", "known"}
    commit(workspace, "e", delete=[(0, 1)])
    assert (0, 2) in workspace["two"].fetchall()
    assert workspace.verify() == []


def test_counters_tell_what_one_row_does(workspace: Any):
    (two,) = [row for row in commit(workspace, "e", insert=[(7, 3)]) if row["relation"] == "two"]
    assert two["assignments"] == 2, "6, 7, 3 and 7, 3, 4"
    assert two["head_changes"] == 2
    assert two["surgeries"] == 2, "the row is one in each of the two atoms"
    assert two["seconds"] > 0
    assert two["cpu_seconds"] > 0


def test_time_spent_waiting_is_no_processor_time() -> None:
    started, work = moment(), RuleWork("", "", "")
    time.sleep(0.2)
    work.since(started)
    assert work.seconds >= 0.2
    assert work.cpu_seconds < work.seconds / 2
    spent = work.cpu_seconds
    with ThreadPoolExecutor(1) as pool:
        pool.submit(_work, spent + 0.05).result()
    work.since(started)
    assert work.cpu_seconds >= spent + 0.05, "other threads of the process count"


def _work(until: float) -> None:
    begun = time.thread_time()
    while time.thread_time() - begun < until:
        pass


def test_a_commit_that_changes_nothing_does_nothing(workspace: Any):
    version = workspace.version
    with workspace.transaction() as transaction:
        transaction.insert("e", [(0, 1)])
        transaction.delete("n", [(1,)])
    assert (transaction.changes(), transaction.work, workspace.version) == ([], 0, version)


def test_the_work_of_a_commit_does_not_grow_with_the_data():
    def steps(size: int) -> int:
        made = lftj.connect()
        made.add_rules(RULES)
        made.load("e", [(i, i + 1) for i in range(size)])
        return sum(row["steps"] for row in commit(made, "e", insert=[(size // 2, 3)]))

    assert 0 < steps(20_000) <= 2 * steps(200)


def test_profile_shows_the_last_commits(workspace: Any):
    versions = []
    for i in range(3):
        with workspace.transaction() as transaction:
            transaction.insert("n", [(1001 + i,)])
        versions.append(transaction.version)
    assert sorted(set(workspace.profile(last=2)["version"])) == versions[1:]
    assert set(workspace.profile()["version"]) > set(versions)
    assert set(workspace.profile(last=10_000)["version"]) > set(versions)
    assert len(workspace.profile(last=0)) == 0


@pytest.mark.parametrize("last", [-1, "x", 1.5, True])
def test_what_is_no_number_of_commits_is_refused(workspace: Any, last: Any):
    with pytest.raises(lftj.LftjError, match="`last` is a number of commits"):
        workspace.profile(last=last)


# ── rules that come and go ────────────────────────────────────────────────────────────────────────
def test_a_rule_that_comes_or_goes_is_the_only_one_evaluated(workspace: Any):
    handle = workspace.add_rule("known(x) :- e(_, x).")
    assert {
        (row["relation"], row["outcome"]) for row in workspace.profile(last=1).to_dict("records")
    } == {("known", "added")}
    assert (40,) in workspace["known"].fetchall()
    workspace.remove_rule(handle)
    (done,) = workspace.profile(last=1).to_dict("records")
    assert (done["relation"], done["outcome"], done["head_changes"]) == ("known", "removed", 40)
    assert done["steps"] > 0
    assert workspace.verify() == []
    assert {row["outcome"] for row in commit(workspace, "e", insert=[(50, 51)])} == {"update"}


def test_support_is_counted_where_a_row_may_be_derived_in_several_ways(workspace: Any):
    counted = {
        name: workspace._backend.state.view_states[name].support is not None
        for name in ("two", "far", "lonely", "known")
    }
    assert counted == {"two": True, "far": False, "lonely": False, "known": True}


def test_the_first_fact_of_a_view_may_be_what_its_rule_derives(workspace: Any):
    with workspace.transaction() as transaction:
        transaction.insert("lonely", [(50,), (51,)])
    assert [row[:2] for row in transaction.changes("lonely").fetchall()] == [
        (51, 1)
    ]  # 50 was there
    with workspace.transaction() as transaction:
        transaction.delete("n", [(50,), (52,)])
    assert [row[:2] for row in transaction.changes("lonely").fetchall()] == [(52, -1)]
    assert workspace.verify() == []


# ── when an update is too much ────────────────────────────────────────────────────────────────────
def test_a_changed_row_of_a_body_of_one_atom_is_the_change_of_its_assignments() -> None:
    made = lftj.connect()
    made.add_rules("""
        .decl e(x: number, y: number)
        .decl turned(x: number, y: number)  turned(y, x) :- e(x, y).
        .decl first(x: number)  first(x) :- e(x, _).
        .decl loop(x: number)  loop(x) :- e(x, x).
        .decl many(n: number)  many(count()) :- e(_, _).
    """)
    made.load("e", [(x, y) for x in range(4) for y in range(3)])
    done = commit(made, "e", insert=[(7, 7), (7, 8), (0, 9)], delete=[(1, 1), (2, 0)])
    steps = {row["relation"]: row["steps"] for row in done}
    assert {name: steps[name] for name in ("turned", "first", "many")} == dict.fromkeys(
        ("turned", "first", "many"), 5
    )
    assert made.verify() == []
    assert made["loop"].fetchall() == [(0,), (2,), (7,)]


@pytest.fixture
def strict() -> Any:
    """A workspace where an update may take hardly any of a full evaluation's work."""
    made = lftj.connect(elastic=0.001, tuning=lftj.Tuning(update_steps=1, update_soon_steps=1))
    made.add_rules(RULES)
    made.load("e", [(i, i + 1) for i in range(300)])
    return made


def test_an_update_that_costs_more_than_allowed_is_given_up_for_a_full_evaluation(strict: Any):
    done = commit(strict, "e", insert=[(i, i + 2) for i in range(10)])
    strategies = {row["outcome"] for row in done}
    assert strategies & {"fallback", "forecast"}
    assert strict.verify() == []
    assert (0, 3) in strict["two"].fetchall()


def test_after_a_fallback_updates_go_on(strict: Any):
    commit(strict, "e", insert=[(i, i + 2) for i in range(10)])
    with retuned(strict, update_steps=20_000):
        assert {row["outcome"] for row in commit(strict, "e", delete=[(0, 2)])} == {"update"}
    assert strict.verify() == []


def test_an_update_is_not_started_when_most_has_changed():
    made = lftj.connect()
    made.add_rules(RULES)
    made.load("e", [(i, i + 1) for i in range(3000)])
    done = commit(
        made,
        "e",
        delete=[(i, i + 1) for i in range(0, 3000, 2)],
        insert=[(i, i + 2) for i in range(0, 3000, 2)],
    )
    assert "forecast" in {row["outcome"] for row in done if row["relation"] == "two"}
    assert made.verify() == []


def test_a_view_and_its_support_counts_share_pages(workspace: Any):
    commit(workspace, "e", insert=[(0, 20)], delete=[(3, 4)])
    state = workspace._backend.state
    for name in ("two", "known"):
        assert state.database[name].identity.root == state.view_states[name].support.tree.root


# ── plans of delta queries ────────────────────────────────────────────────────────────────────────
VIA = """
.decl w(x: number, y: number, k: number)  .decl d(x: number, v: number)
.decl via(y: number, x: number)            via(y, x) :- d(y, v), d(x, u), w(x, y, k), v = u + k.
"""
ROADS = [(x, (x * 7 + k) % 3000, k) for x in range(3000) for k in (1, 2, 3)]
FAR = [(x, x % 37) for x in range(3000)]


def steps_of_changes(workspace: Any) -> list[int]:
    """The steps of commits that move a few values."""
    done = [
        commit(workspace, "d", insert=[(x, x % 37 + 1)], delete=[(x, x % 37)]) for x in (5, 70, 900)
    ]
    assert workspace.verify() == []
    return [sum(row["steps"] for row in each if row["relation"] == "via") for each in done]


def test_a_plan_that_was_made_when_there_was_nothing_to_join_is_made_again_at_once():
    workspace = lftj.connect()
    workspace.add_rules(VIA)
    workspace.load("d", FAR[:1])
    workspace.load("w", ROADS)
    workspace.load("d", FAR[1:])
    assert max(steps_of_changes(workspace)) < 200


def test_a_plan_that_was_made_for_a_large_change_does_not_serve_a_small_one():
    workspace = lftj.connect(elastic=float("inf"))
    workspace.add_rules(VIA)
    with workspace.transaction() as tx:
        tx.insert("w", ROADS)
        tx.insert("d", FAR)
    assert max(steps_of_changes(workspace)) < 200


def test_a_plan_for_a_change_expects_it_where_most_rows_are():
    """Of ten changed rows of `own` all have one of two values that have half of its rows; what
    other values have on average says little.
    """
    own = [(x, y) for x in (1, 2) for y in range(3000)] + [
        (x, x * 7 % 3000) for x in range(3, 3000)
    ]
    every = [(y, (y * 11 + k) % 3000) for y in range(3000) for k in range(4)]
    workspace = lftj.connect()
    workspace.add_rules("""
.decl own(x: number, y: number)  .decl all(x: number, y: number)
.decl t(x: number, n: number)    t(x, count()) :- own(x, y), own(x, z), all(y, z).
""")
    workspace.load("all", every)
    workspace.load("own", own)
    with workspace.transaction() as tx:
        tx.delete("all", every[::100])
        tx.delete("own", own[:6000:600])
    (done,) = workspace.profile(last=1).to_dict("records")
    assert done["outcome"] == "update"
    assert done["steps"] < 10_000, "39,000 when it looks at all rows of those two values for each"
    assert workspace.verify() == []
