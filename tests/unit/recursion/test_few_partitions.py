"""Few partitions of a stratum that a change touches, in few iterations and many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj

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
def test_partitions_have_the_rows_that_all_rows_tell(number, changes):
    by_parts, _ = _history(PROGRAMS[number], changes)
    others, strategies = _history(PROGRAMS[number], changes, without={"affected partitions"})
    assert by_parts == others
    assert "parts" not in strategies


@pytest.mark.parametrize(
    ("more", "rules"),
    [
        ([(0, 10, 11), (6, 0, 1)], "r(d, x, z) :- r(d, x, y), e(d, y, z)."),
        ([(0, 10, 11), (6, 0, 1)], "r(d, x, z) :- r(d, x, y), r(d, y, z)."),
        ([(0, x, x + 1) for x in range(10, 90)], "r(d, x, z) :- r(d, x, y), e(d, y, z)."),
    ],
)
def test_paths_of_few_days_that_grow(more, rules):
    workspace = lftj.connect()
    workspace.add_rules(
        DECLARED + ".decl r(d: number, x: number, y: number)\nr(d, x, y) :- e(d, x, y).\n" + rules
    )
    days = [(d, x, x + 1) for d in range(6) for x in range(10)]
    workspace.load("e", days)
    with workspace.transaction() as tx:
        tx.insert("e", more)
    assert set(workspace.profile(last=1)["outcome"]) == {"parts"}
    length = {d: sum(row[0] == d for row in days + more) for d in range(7)}
    assert len(workspace["r"]) == sum(n * (n + 1) // 2 for n in length.values())
    assert workspace.verify() == []


def test_the_rows_of_a_day_are_found_without_reading_all_days():
    """The column that tells the partition is not the first one of what iteration 0 reads: the key
    order that begins with it is made once commits have lost as much for want of it.
    """
    workspace = lftj.connect()
    workspace.add_rules(
        """
        .decl flight(id: number, d: number, x: number, y: number, l: number, a: number)
        .decl r(d: number, x: number, y: number, a: number)
        r(d, x, y, a) :- flight(_, d, x, y, _, a).
        r(d, x, z, b) :- r(d, x, y, a), flight(_, d, y, z, l, b), a <= l.
        """
    )
    flights = [(id, id // 100, id % 7, id % 11, id % 60, id % 60 + 9) for id in range(30_000)]
    workspace.load("flight", flights)
    steps = []
    for day in range(300, 312):
        today = [(day * 100 + n, day, n % 7, n % 11, n % 60, n % 60 + 9) for n in range(100)]
        with workspace.transaction() as tx:
            tx.insert("flight", today)
        profile = workspace.profile(last=1)
        assert set(profile["outcome"]) == {"parts"}
        steps.append(sum(profile["steps"]))
    assert steps[0] > 30_000
    assert max(steps[6:]) < 15_000
    assert workspace.verify() == []
