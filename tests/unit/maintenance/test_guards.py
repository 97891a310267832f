"""Parts that come and go with a guard: views, what is reported of them and supports, against the
reference.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.syntax.parser import parse
from tests.oracle.maintained import supports
from tests.reference import evaluate
from tests.strategies.terms import Draw

Row = tuple[int, ...]
Rows = dict[str, set[Row]]

WIDTHS = {"on": 1, "also": 1, "e": 2, "f": 2, "t": 3}
BASES = "\n".join(
    f".decl {name}({', '.join(f'c{i}: number' for i in range(width))})"
    for name, width in WIDTHS.items()
)
RULES = {
    "a": (
        3,
        (
            "a(d, x, y) :- on(d), t(d, x, y).",
            "a(d, x, y) :- on(d), e(d, x), f(x, y).",
            "a(d, x, x) :- also(d), e(d, x).",
        ),
    ),
    "b": (
        2,
        (
            "b(d, x) :- on(d), t(d, x, _), !e(d, x).",
            "b(d, y) :- on(d), f(x, y), !t(_, x, y), e(d, x).",
        ),
    ),
    "c": (
        2,
        (
            "c(d, x) :- on(d), also(e), t(d, e, x).",
            "c(d, y) :- on(d), on(y), f(d, y), x = y + 1, x > d.",
        ),
    ),
    "g": (
        3,
        (
            "g(d, x, z) :- a(d, x, y), a(d, y, z).",
            "g(d, x, y) :- b(d, x), f(x, y), on(d).",
            "g(x, d, y) :- on(d), t(d, x, y).",
        ),
    ),
    "r": (2, ("r(d, x) :- on(d), e(d, x).\nr(d, y) :- r(d, x), t(d, x, y).",)),
    "h": (2, ("h(d, x) :- r(d, x), !a(d, x, _).", "h(d, x) :- r(d, y), f(y, x).")),
    "k": (2, ("k(x, y) :- a(d, x, _), r(d, y).",)),
    "m": (2, ("m(d, count()) :- g(d, _, _).", "m(d, sum(x)) :- on(d), e(d, x).")),
    "n": (1, ("n(d) :- on(d), e(d, _).",)),
    "o": (2, ("o(d, x) :- n(d), t(d, x, _).", "o(d, d) :- n(d).")),
    "p": (0, ("p() :- on(d), e(d, _).",)),
}
NEEDS = {"g": "ab", "h": "ra", "k": "ar", "m": "gab", "o": "n"}


@st.composite
def programs(draw: Draw) -> str:
    """Some of the views above, each with some of its rules, and those that they read."""
    chosen = draw(st.sets(st.sampled_from(sorted(RULES)), min_size=2))
    chosen |= {needed for name in chosen for needed in NEEDS.get(name, "")}
    lines = [BASES]
    for name in (name for name in RULES if name in chosen):
        width, rules = RULES[name]
        lines.append(f".decl {name}({', '.join(f'c{i}: number' for i in range(width))})")
        taken = draw(
            st.sets(st.sampled_from(rules), min_size=1, max_size=1 if name == "m" else len(rules))
        )
        lines += [rule for rule in rules if rule in taken]
    return "\n".join(lines)


@st.composite
def commits(draw: Draw) -> list[tuple[str, bool, set[Row]]]:
    """Rows that come (True) and go; guards more often than others."""
    change = st.sampled_from([*WIDTHS, "on", "on", "also"]).flatmap(
        lambda name: st.tuples(
            st.just(name),
            st.booleans(),
            st.sets(
                st.tuples(*[st.integers(0, 3)] * WIDTHS[name]),
                min_size=1,
                max_size=2 * WIDTHS[name],
            ),
        )
    )
    return draw(st.lists(change, min_size=1, max_size=5))


def evaluated(program: str, rows: Rows) -> dict[str, set[Any]]:
    return {name: set(found) for name, found in evaluate(parse(program), rows).items()}


def apply(
    workspace: Any, rows: Rows, changes: list[tuple[str, bool, set[Row]]]
) -> tuple[Rows, Any]:
    """The base rows after a commit of these changes, and the transaction."""
    after = {name: set(held) for name, held in rows.items()}
    with workspace.transaction() as transaction:
        for name, comes, changed in changes:
            (transaction.insert if comes else transaction.delete)(name, sorted(changed))
            after[name] = after[name] | changed if comes else after[name] - changed
    return after, transaction


@settings(max_examples=settings().max_examples, deadline=None)
@given(programs(), st.lists(commits(), min_size=3, max_size=7), st.sampled_from([0.2, 1e9]))
def test_guards_come_and_go(
    program: str, history: list[list[tuple[str, bool, set[Row]]]], elastic: float
):
    workspace = lftj.connect(elastic=elastic, trace_budget=0)
    workspace.add_rules(program)
    rows: Rows = {name: set() for name in WIDTHS}
    views = evaluated(program, rows)
    for changes in history:
        rows, transaction = apply(workspace, rows, changes)
        before, views = views, evaluated(program, rows)
        for name, held in views.items():
            assert set(workspace[name].fetchall()) == held, name
            reported = sorted((row[-2], row[:-2]) for row in transaction.changes(name).fetchall())
            assert reported == sorted(
                [(1, row) for row in held - before[name]]
                + [(-1, row) for row in before[name] - held]
            ), name
    assert workspace.verify() == []
    anew = lftj.connect(trace_budget=0)
    anew.add_rules(program)
    apply(
        anew,
        {name: set() for name in WIDTHS},
        [(name, True, held) for name, held in rows.items() if held],
    )
    assert supports(workspace, RULES) == supports(anew, RULES)


WATCHED = """
.decl on(d: number)
.decl e(d: number, x: number)
.decl f(x: number, y: number)
.decl a(d: number, y: number)
a(d, y) :- on(d), e(d, x), f(x, y).
.decl b(d: number, y: number, z: number)
b(d, y, z) :- a(d, y), a(d, z), y < z.
"""
DAY = 40


@pytest.fixture
def watched() -> Any:
    """Ten days of edges, of which the first seven are watched; every row of `a` is derived twice,
    and plans have been made.
    """
    workspace = lftj.connect(trace_budget=0)
    workspace.add_rules(WATCHED)
    with workspace.transaction() as tx:
        tx.insert("on", [(d,) for d in range(6)])
        tx.insert("e", [(d, x) for d in range(10) for x in range(DAY)])
        tx.insert("f", [(x, x // 2) for x in range(DAY)])
    for d in range(6, 8):
        with workspace.transaction() as tx:
            tx.insert("on", [(d,)])
            tx.delete("on", [(d - 6,)])
    return workspace


def test_a_part_that_goes_takes_what_was_derived_from_it(watched: Any):
    with watched.transaction() as tx:
        tx.delete("on", [(5,)])
    assert sorted(tx.changes("a").fetchall())[0] == (5, 0, -1, tx.version)
    assert len(tx.changes("a").fetchall()) == DAY // 2
    work = watched.profile(last=1).set_index("relation")
    assert work["outcome"].tolist() == ["update", "update"]
    assert work["head_changes"].tolist() == [DAY // 2, (DAY // 2) * (DAY // 2 - 1) // 2]
    assert watched.verify() == []


def test_a_part_that_comes_with_its_rows_is_found_once(watched: Any):
    with watched.transaction() as tx:
        tx.insert("on", [(20,)])
        tx.insert("e", [(20, x) for x in range(DAY)])
    assert len(tx.changes("a").fetchall()) == DAY // 2
    assert watched.verify() == []


def test_rows_that_do_not_say_to_which_part_they_belong(watched: Any):
    with watched.transaction() as tx:
        tx.delete("on", [(2,), (7,)])
        tx.insert("on", [(9,)])
        tx.delete("f", [(0, 0), (1, 0), (2, 1)])
        tx.insert("f", [(3, 77)])
        tx.delete("e", [(2, 5), (3, 6), (9, 7)])
    assert watched.verify() == []
    held = {row[0] for row in watched["a"].fetchall()}
    assert held == {3, 4, 5, 6, 9}


def test_a_part_goes_and_comes_again_in_one_commit(watched: Any):
    before = sorted(watched["b"].fetchall())
    with watched.transaction() as tx:
        tx.delete("on", [(4,)])
        tx.insert("on", [(4,)])
    assert tx.changes("a").fetchall() == []
    assert sorted(watched["b"].fetchall()) == before


def test_a_commit_that_fails_leaves_the_parts_alone(watched: Any):
    before = sorted(watched["b"].fetchall())
    watched.add_rules(
        ".decl q(d: number, n: number)\nq(d, 9223372036854775807 + d) :- on(d), d > 50."
    )
    changes = [("on", False, {(4,)}), ("on", True, {(60,)})]
    with pytest.raises(lftj.ValueRangeError):
        apply(watched, {"on": set()}, changes)
    assert sorted(watched["b"].fetchall()) == before
    assert watched.verify() == []
