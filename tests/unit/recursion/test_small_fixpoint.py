from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.join.strategy import Exhausted
from lftj.maintenance.semi_naive.small_fixpoint import SmallFixpoint

DECLARED = ".decl e(d: number, x: number, y: number)\n.decl f(d: number, x: number)\n"
PROGRAMS = (
    ".decl r(d: number, x: number, y: number)\nr(d, x, y) :- e(d, x, y).\nr(d, x, z) :- r(d, x, "
        "y), e(d, y, z), !f(d, z).",
    ".decl r(d: number, x: number)\nr(d, x) :- f(d, x).\nr(d, y) :- r(d, x), e(d, x, y).\nr(d, y) "
        ":- r(d, x), e(d, y, x), x < y.",
    ".decl r(x: number, d: number)\n.decl s(d: number, x: number)\n"
    "r(x, d) :- f(d, x).\ns(d, y) :- r(x, d), e(d, x, y).\nr(y, d) :- s(d, x), e(d, y, x).",
)  # fmt: skip
ROWS = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 5))
CHANGES = st.lists(
    st.tuples(st.booleans(), st.lists(ROWS, min_size=1, max_size=6)), min_size=1, max_size=4
)
START = [(d, x, (x * x + d) % 6) for d in range(8) for x in range(6)]


def _history(program, changes, **tuning):
    """The views after each commit, what changed in them, and the strategies."""
    workspace = lftj.connect(tuning=lftj.Tuning(**tuning))
    workspace.add_rules(DECLARED + program)
    with workspace.transaction() as tx:
        tx.insert("e", START)
        tx.insert("f", [(d, x) for d, x, _ in START if x % 2])
    names = [name for name in ("r", "s") if f".decl {name}(" in program]
    seen, strategies = [], set()
    for insert, rows in changes:
        with workspace.transaction() as tx:
            (tx.insert if insert else tx.delete)("e", rows)
            (tx.delete if insert else tx.insert)("f", [row[:2] for row in rows[:2]])
        seen.append(
            [
                (sorted(workspace[name].fetchall()), sorted(tx.changes(name).fetchall()))
                for name in names
            ]
        )
        strategies |= set(workspace.profile(last=1)["outcome"])
    return seen, strategies


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
@settings(max_examples=12, deadline=None)
@given(changes=CHANGES)
def test_few_rounds_find_what_rounds_of_many_rows_find(number, changes):
    with pytest.MonkeyPatch.context() as patch:
        asked = _outcomes(patch)
        few, strategies = _history(PROGRAMS[number], changes)
    many, _ = _history(PROGRAMS[number], changes, without={"small fixpoint"})
    assert few == many
    assert all(asked)
    assert bool(asked) >= ("parts" in strategies)


def _outcomes(patch):
    """Success of each attempt of small fixpoint, in a list that grows."""
    found, run = [], SmallFixpoint.run

    def noted(attempt):
        rows = run(attempt)
        found.append(not isinstance(rows, Exhausted))
        return rows

    patch.setattr(SmallFixpoint, "run", noted)
    return found


@pytest.fixture
def outcomes(monkeypatch):
    """Success of each attempt to close parts by small fixpoint."""
    return _outcomes(monkeypatch)


def _reach(outcomes, rows, more, rules="r(d, x, z) :- r(d, x, y), e(d, y, z).", **options):
    workspace = lftj.connect(**options)
    workspace.add_rules(
        DECLARED + ".decl r(d: number, x: number, y: number)\nr(d, x, y) :- e(d, x, y).\n" + rules
    )
    workspace.load("e", rows)
    outcomes.clear()
    with workspace.transaction() as tx:
        tx.insert("e", more)
    assert set(workspace.profile(last=1)["outcome"]) == {"parts"}
    return workspace


def test_a_short_path_is_closed_by_few_rounds(outcomes):
    workspace = _reach(
        outcomes, [(d, x, x + 1) for d in range(6) for x in range(10)], [(0, 10, 11), (6, 0, 1)]
    )
    assert outcomes == [True]
    assert len(workspace["r"].fetchall()) == 5 * 55 + 66 + 1
    assert workspace.verify() == []


@pytest.mark.parametrize("tuning", [lftj.Tuning(small_iterations=8), lftj.Tuning(small_rows=40)])
def test_many_rounds_and_many_rows_are_left_to_others(outcomes, tuning):
    workspace = _reach(
        outcomes,
        [(d, x, x + 1) for d in range(6) for x in range(10)],
        [(0, 10, 11)],
        tuning=tuning,
    )
    assert outcomes == [False]
    assert len(workspace["r"].fetchall()) == 5 * 55 + 66
    assert workspace.verify() == []


def test_rules_that_join_rows_of_the_stratum_are_left_to_others(outcomes):
    rules = "r(d, x, z) :- r(d, x, y), r(d, y, z)."
    workspace = _reach(
        outcomes, [(d, x, x + 1) for d in range(6) for x in range(10)], [(0, 10, 11)], rules
    )
    assert not outcomes
    assert workspace.verify() == []
