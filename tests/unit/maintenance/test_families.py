"""Views that differ in constants alone: one search a commit, and right whoever comes and goes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
import lftj.views.family
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.sensitivity import hull

DECLARED = """
.decl e(x: number, y: number)  .decl s(t: symbol, x: number)
"""
KINDS: dict[str, tuple[str, str]] = {
    "steps": ("x: number, y: number", "(x, y) :- e({n}, x), e(x, y)."),
    "heads": ("y: number", "(y) :- e({n}, x), e(x, y)."),
    "sizes": ("x: number, n: number", "(x, count()) :- e({n}, x), e(x, _)."),
    "all": ("n: number", "(count()) :- e({n}, x), e(x, _)."),
    "sums": ("x: number, n: number", "(x, sum(y)) :- e({n}, x), e(x, y)."),
    "later": ("x: number, n: number", "(x, max(y)) :- e({n}, x), e(x, y)."),
    "absent": ("x: number", "(x) :- e({n}, x), !e(x, {n})."),
    "lacking": ("y: number", '(y) :- e({n}, x), e(x, y), !e(y, {n}), !s("t{n}", y), !s("u", _).'),
    "texts": ("y: number", '(y) :- s("t{n}", x), e(x, y).'),
    "both": ("x: number", '(x) :- s("t{n}", x), e({n}, x).'),
    "two rules": ("x: number", "(x) :- e({n}, x). {v}(x) :- e(x, y), e(y, {n})."),
    "beyond": ("x: number", "(x) :- e({n}, x), e(x, y), y > {n}, {n} != x."),
    "below": ("x: number, n: number", "(x, count()) :- e(x, y), y < {n}."),
    "computed": ("x: number", "(x + {n}) :- e({n}, x), x < 4."),
    "counted": ("x: number, n: number", "(x, n) :- e({n}, x), n = count : {{ e(x, _) }}."),
    "added": ("s: number", "(s + 1) :- e({n}, x), s = sum y : {{ e(x, y) }}."),
    "braces": ("x: number", "(x) :- e({n}, x), !( e(x, y), e(y, _) )."),
    "optional": (
        "x: number, z: number?",
        "(x, z) :- e({n}, x), e(x, y), ( e(y, z), e(z, _) )?.",
    ),
    "own braces": (
        "x: number, y: number",
        "(x, y) :- e({n}, x), e(x, y), !( e(y, z), e(z, {n}) ), x < y + 5.",
    ),
    "own counts": (
        "x: number, n: number",
        "(x, n + y) :- e({n}, x), e(x, y), n = count : {{ e(y, z), e(z, {n}) }}.",
    ),
    "own groups": (
        "x: number, n: number",
        "(x, sum(n)) :- e({n}, x), e(x, y), n = count : {{ e(y, z), e(z, {n}) }}, n < 4.",
    ),
    "own sums": (
        "x: number, n: number",
        "(x, n) :- e({n}, x), n = sum y : {{ e(x, y), y != {n} }}.",
    ),
    "own least": (
        "x: number, n: number",
        "(x, n) :- e(x, {n}), x != 3, n = min y : {{ e(x, y), y > {n} }}.",
    ),
    "own absent": ("x: number", "(x) :- e({n}, x), !( e(x, y), y > {n} )."),
    "own optional": (
        "y: number, z: number?",
        '(y, z) :- e({n}, x), e(x, y), ( e(y, z), s("t{n}", z) )?.',
    ),
}


def rule(kind: str, number: int) -> str:
    """The rules of one view."""
    view = f"{kind.replace(' ', '_')}{number}"
    return view + KINDS[kind][1].format(n=number, v=view)


def workspace(kinds: Any = KINDS, views: int = 6, **options: Any) -> Any:
    """A workspace with so many views of each kind declared."""
    ws = lftj.connect(**options)
    ws.add_rules(
        DECLARED
        + "".join(
            f".decl {kind.replace(' ', '_')}{number}({KINDS[kind][0]})\n"
            for kind in kinds
            for number in range(views)
        )
    )
    return ws


EDGE = st.tuples(st.integers(0, 6), st.integers(0, 6))
TEXT = st.tuples(st.sampled_from([f"t{n}" for n in range(7)]), st.integers(0, 6))
STEP = st.tuples(
    st.sets(st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 5)), max_size=3),
    st.sets(EDGE, max_size=5),
    st.sets(EDGE, max_size=5),
    st.sets(TEXT, max_size=3),
    st.sets(TEXT, max_size=3),
)


@settings(max_examples=settings().max_examples, deadline=None)
@given(
    st.sets(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4),
    st.lists(STEP, min_size=2, max_size=7),
    st.sampled_from([0.0, 0.2, float("inf")]),
)
def test_views_that_differ_in_constants_follow_rules_and_rows(
    kinds: set[str], steps: list[Any], elastic: float
) -> None:
    ws = workspace(elastic=elastic)
    handles: dict[tuple[str, int], Any] = {}
    for kind in kinds:
        for number in range(5):
            handles[kind, number] = ws.add_rules(rule(kind, number))
    for toggled, edges, less, texts, fewer in steps:
        with ws.transaction() as tx:
            for each in sorted(toggled):
                if each in handles:
                    tx.remove_rule(handles.pop(each))
                else:
                    handles[each] = tx.add_rules(rule(*each))
            tx.insert("e", sorted(edges))
            tx.delete("e", sorted(less))
            tx.insert("s", sorted(texts))
            tx.delete("s", sorted(fewer))
        assert ws.verify() == []


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"own groups"}))  # each has all groups
def test_a_commit_visits_the_views_alone_whose_constants_come_out(kind: str) -> None:
    ws = workspace([kind], 40)
    ws.add_rules("".join(rule(kind, number) for number in range(40)))
    with ws.transaction() as tx:
        tx.insert("e", [(x, y) for x in range(60) for y in (x + 1, x + 2)])
        tx.insert("s", [(f"t{n}", n) for n in range(60)])
    for _ in range(2):
        ws.load("e", [(30, 1000 + _)])
    assert len(ws.profile(last=1).relation) < 20
    assert ws.verify() == []


@pytest.mark.parametrize(
    "kind",
    [
        "steps",
        "lacking",
        "counted",
        "optional",
        "own counts",
        "own sums",
        "own least",
        "own absent",
    ],
)
def test_the_steps_of_a_commit_do_not_grow_with_the_views(kind: str) -> None:
    taken: list[int] = []
    for views in (10, 80):
        ws = workspace([kind], views)
        ws.add_rules("".join(rule(kind, number) for number in range(views)))
        ws.load("e", [(x, (7 * x + k) % 200) for x in range(200) for k in range(3)])
        for number in range(3):
            ws.load("e", [(5000, 5001 + number)])
        taken.append(int(ws.profile(last=1).steps.sum()))
    assert taken[1] <= 2 * taken[0] + 10


def test_texts_are_looked_up_once_and_not_at_each_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    ws = workspace(["texts"], 50)
    ws.load("s", [(f"t{n}", n) for n in range(30)])
    ws.add_rules("".join(rule("texts", number) for number in range(50)))
    for number in range(2):
        ws.load("e", [(4, 1000 + number)])
    looked_up: list[object] = []
    encode = lftj.views.family.encode_constant
    monkeypatch.setattr(
        "lftj.views.family.encode_constant",
        lambda *given: looked_up.append(given) or encode(*given),
    )
    for number in range(40, 44):  # texts that no row had before
        ws.load("s", [(f"t{number}", 4)])
        ws.load("e", [(4, number)])
    assert not looked_up
    assert ws["texts43"].fetchall() == sorted(ws["texts4"].fetchall())
    assert ws.verify() == []


def test_joins_that_had_traces_are_followed_together_once_they_are_many() -> None:
    ws = workspace(["heads"], 8)
    ws._backend.trace_override = TraceOverride(lambda _: hull(), first_proof=True)
    ws.load("e", [(x, y) for x in range(8) for y in range(8)])
    for number in range(8):
        ws.add_rules(rule("heads", number))
        if number == 3:
            ws._backend.trace_override = None
    draw = random.Random(4)
    for _ in range(12):
        with ws.transaction() as tx:
            tx.delete("e", [(draw.randrange(8), draw.randrange(8)) for _ in range(4)])
            tx.insert("e", [(draw.randrange(8), draw.randrange(8)) for _ in range(2)])
        assert ws.verify() == []


def test_a_change_of_many_rows_is_followed_view_by_view() -> None:
    ws = workspace(["sums", "texts"], 8)
    ws.add_rules("".join(rule(kind, n) for kind in ("sums", "texts") for n in range(8)))
    ws.load("s", [(f"t{n}", n) for n in range(8)])
    ws.load("e", [(x, y) for x in range(60) for y in range(60)])
    with ws.transaction() as tx:
        tx.delete("e", [(x, y) for x in range(60) for y in range(30)])
    assert ws.verify() == []


def test_views_that_are_followed_one_by_one_for_many_rows_keep_no_traces() -> None:
    """Delta queries search in vain; a trace would miss the changes that the family finds."""
    ws = lftj.connect(tuning=lftj.Tuning(large_change=1))
    columns = "(x: number, y: number, z: number)"
    ws.add_rules(
        ".decl a(i: number, x: number)  .decl b(x: number, y: number)"
        ".decl c(y: number, z: number)  .decl d(z: number)"
        + "".join(f".decl v{n}{columns}" for n in range(5))
        + "".join(f"v{n}(x, y, z) :- a({n}, x), b(x, y), c(y, z), d(z)." for n in range(5))
    )
    with ws.transaction() as tx:
        tx.insert("a", [(n, 2 * i) for i in range(1000) for n in range(5)])
        tx.insert("b", [(2 * i + 1, i % 7) for i in range(1000)])
        tx.insert("c", [(y, z) for y in range(7) for z in range(10)])
        tx.insert("d", [(z,) for z in range(12)])
    for number in range(8):
        with ws.transaction() as tx:
            (tx.delete if number % 2 else tx.insert)("c", [(0, 10), (1, 10)])
    ws.load("b", [(0, 70)])
    ws.load("c", [(70, 5)])
    with ws.transaction() as tx:
        tx.delete("d", [(5,), (6,)])
    assert ws["v0"].fetchall() == []
    assert ws.verify() == []


def test_views_at_a_path_are_followed_after_it_is_opened(tmp_path: Any) -> None:
    with lftj.connect(tmp_path / "w") as ws:
        ws.add_rules(
            DECLARED + "".join(f".decl steps{n}(x: number, y: number)\n" for n in range(9))
        )
        ws.add_rules("".join(rule("steps", n) for n in range(9)))
        ws.load("e", [(x, y) for x in range(9) for y in range(9)])
    with lftj.connect(tmp_path / "w") as ws:
        ws.load("e", [(3, 40), (40, 41)])
        assert (40, 41) in ws["steps3"].fetchall()
        assert ws.verify() == []


def test_an_atom_that_finds_a_value_twice_is_not_read_in_braces() -> None:
    ws = lftj.connect()
    ws.add_rules(
        DECLARED
        + ".decl f(n: number, x: number, z: number) .decl v(x: number, n: number)"
        + "v(x, n) :- f(1, x, _), n = sum y : { e(x, y), y != 9 }."
    )
    ws.load("f", [(1, 5, 0), (1, 5, 1)])
    ws.load("e", [(5, 1), (5, 2), (5, 9)])
    assert ws["v"].fetchall() == [(5, 3)]
