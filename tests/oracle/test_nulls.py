"""Rules over optional columns, through random histories, agree with the reference engine: joins,
comparisons, negations, groups `( … )?`, recursion and aggregates.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lftj
from lftj.proofs.kinds import ArithmeticFailure
from lftj.proofs.nested_loops import Unsafe
from lftj.proofs.program import evaluate
from lftj.syntax.parser import parse
from lftj.tuning import Tuning
from tests.strategies.terms import Draw

DECLARATIONS = """
.decl a(x: number, y: number?)
.decl b(y: number?)
.decl p(x: number)
.decl s(x: number, t: symbol?)
.decl f(y: float?, d: date?)
"""
NUMBERS = st.none() | st.integers(-2, 4)
ROWS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "a": st.tuples(st.integers(0, 4), NUMBERS),
    "b": st.tuples(NUMBERS),
    "p": st.tuples(st.integers(0, 4)),
    "s": st.tuples(st.integers(0, 4), st.sampled_from([None, "", "u", "v", "\\N"])),
}
_VARIABLE = st.sampled_from("xyzw")
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")


@st.composite
def terms(draw: Draw) -> str:
    """A number, which may be NULL."""
    one, other = draw(_VARIABLE), draw(_VARIABLE)
    return draw(
        st.sampled_from((
            one, one, one, f"{one} + 1", f"coalesce({one}, {other})", f"coalesce({one}, 3)",
            f"-{one}", f"if({one} > 1, {one}, {other})", f"max({one}, {other})", "2",
        ))
    )  # fmt: skip


@st.composite
def literals(draw: Draw, nested: bool = True, aggregated: bool = True) -> str:
    """A condition of the body. `nested`: it may have bodies inside."""
    one, other, operator = draw(_VARIABLE), draw(_VARIABLE), draw(st.sampled_from(_COMPARED))
    plain = [
        f"a({one}, {other})", f"a({one}, {other})", f"a({one}, _)", f"b({one})", f"p({one})",
        f"{one} {operator} {draw(terms())}", f"is_null({one})", f"!is_null({one})",
        f"a({one}, {other} + 1)", f"!b({one})", f"!a({one}, {other})", f"!p({one})",
        f"!({one} {operator} {draw(terms())})", f"!( a({one}, {other}), {other} {operator} 1 )",
    ]  # fmt: skip
    if aggregated and one != other:
        plain += [
            f"{one} = count : {{ a({other}, _) }}",
            f"{one} = count : {{ a(_, {other}) }}",
            f"{one} = sum q : {{ a({other}, q), !is_null(q) }}",
            f"{one} = sum q : {{ a({other}, q) }}",
            f"{one} = count(q) : {{ a({other}, q) }}",
            f"{one} = {draw(st.sampled_from(['min', 'max']))} q : {{ a(v, q), v <= {other} }}",
            f"{one} = last(q, v) : {{ a(v, q), v >= {other} }}",
            f"{other} > max q : {{ a({one}, q) }}",
        ]
    if nested and draw(st.integers(0, 3)) == 0:
        inner = st.lists(literals(nested=False, aggregated=False), min_size=1, max_size=2)
        first, second = ", ".join(draw(inner)), ", ".join(draw(inner))
        group = f"({first}, a({one}, v))?"
        return draw(st.sampled_from([f"({first} ; {second})", f"!( {first} )", group]))
    return draw(st.sampled_from(plain))


BINDING = (
    "a(x, y), a(z, w)", "a(x, y), b(z), b(w)", "a(x, y), b(z), p(w)", "a(x, y), (a(y, z), b(w))?",
    "(a(x, y) ; b(y), p(x)), a(z, w)", "p(x), (a(x, y))?, (a(y, z))?, w = x",
    "a(x, y), b(z), w = 2",
)  # fmt: skip
"""Beginnings of bodies that bind all variables."""


@st.composite
def rules(draw: Draw) -> str:
    """A rule for `h`, whose two columns are optional."""
    second = draw(terms())
    aggregate = draw(
        st.sampled_from(["", "", "sum", "min", "max", "count", "count_distinct", "last"])
    )
    body = [draw(st.sampled_from(BINDING))]
    body += draw(st.lists(literals(nested=not aggregate), max_size=3))
    if aggregate:
        second = f"{aggregate}({second}{', w' * (aggregate == 'last')})"
        body += draw(st.sampled_from([[], ["(a(x, v), b(v))?"], ["(a(y, x) ; b(x))"]]))
    return f"h({draw(terms())}, {second}) :- {', '.join(body)}."


FACTS = st.fixed_dictionaries(
    {name: st.lists(row, max_size=6, unique=True) for name, row in ROWS.items()}
)


def _commit(ws: lftj.Workspace, rows: dict[str, list[tuple[Any, ...]]]) -> None:
    with ws.transaction() as tx:
        for name, some in rows.items():
            tx.sync(name, some)


def _agrees(
    ws: lftj.Workspace, text: str, histories: list[dict[str, list[tuple[Any, ...]]]]
) -> None:
    """Commit rows after rows, each in place of the ones before, and compare all relations."""
    program = parse(text)
    for rows in histories:
        try:
            expected = evaluate(program, rows)
        except ArithmeticFailure:
            with pytest.raises(lftj.LftjError):
                _commit(ws, rows)
            continue
        _commit(ws, rows)
        for name, found in expected.items():
            assert set(ws[name].fetchall()) == found, (name, text, rows)
    assert ws.verify() == []


@given(st.data())
@settings(max_examples=3 * settings().max_examples)
def test_one_rule(data: st.DataObject):
    text = f"{DECLARATIONS}.decl h(u: number?, v: number?)\n{data.draw(rules())}"
    ws = lftj.connect()
    try:
        evaluate(parse(text), {})
        ws.add_rules(text)
    except (lftj.ProgramErrors, Unsafe):
        assume(False)
    _agrees(ws, text, [data.draw(FACTS) for _ in range(3)])


RECURSION = """
.decl reach(x: number?, y: number?)
reach(x, y) :- a(x, y).
reach(x, z) :- reach(x, y), a(y, z).
.decl ends(x: number?)
ends(y) :- reach(_, y), !( a(y, _) ).
.decl nearest(x: number, t: symbol?)
nearest(x, max(t)) :- a(x, y), s(y, t).
.decl texts(x: number, t: symbol?, n: number)
texts(x, upper(t), count(t)) :- s(x, t).
.decl words(t: symbol?)
words(t) :- s(_, t), t >= "u".
words(t) :- s(x, t), !p(x).
.decl known(x: number, s: number?, m: float?, d: float?, n: number)
known(x, sum(y), mean(y), stddev(y), count()) :- a(x, y).
"""


@given(st.data())
@settings(max_examples=2 * settings().max_examples)
def test_a_program(data: st.DataObject):
    ws = lftj.connect()
    ws.add_rules(DECLARATIONS + RECURSION)
    _agrees(ws, DECLARATIONS + RECURSION, [data.draw(FACTS) for _ in range(4)])


MEASURED = """
.decl m(g: number, y: number?, z: float?, t: symbol?, d: decimal(12, 2)?, b: bool?)
"""
OF_Y = (
    "number?",
    ["sum(y)", "min(y)", "max(y)", "quantile_disc(y, 0.3)", "sum(y + 1)", "last(y, z)"],
)
OF_Z = (
    "float?",
    [
        "sum(z)",
        "min(z)",
        "mean(y)",
        "mean(z)",
        "stddev(y)",
        "stddev(z)",
        "median(y)",
        "median(z)",
        "mean(d)",
        "stddev(d)",
        "quantile(y, 0.25)",
        "arg_max(z, t)",
    ],
)
OF_T = ("symbol?", ["min(t)", "max(t)", 'concat(t, ",")', 'concat(t, "-", y)', "arg_min(t, y)"])
OF_D = ("decimal(12, 2)?", ["min(d)", "median(d)", "first(d, y, t)"])
OF_B = ("bool?", ["any(b)", "max(b)", "arg_min(b, d)"])
COUNTS = ("number", ["count(y)", "count(t)", "count()", "count(g)", "count_distinct(y)",
                     "count_distinct(t)"])  # fmt: skip
CALLS = [(type, call) for type, calls in (OF_Y, OF_Z, OF_T, OF_D, OF_B, COUNTS) for call in calls]
MEASURES = st.tuples(
    st.integers(0, 2),
    st.none() | st.sampled_from([0, 1, -3, 2**62]),
    st.none() | st.sampled_from([0.5, -1.5, 1e16, 0.1]),
    st.sampled_from([None, "a", "b", ""]),
    st.none() | st.sampled_from([Decimal("1.25"), Decimal("-0.10"), Decimal("3.00")]),
    st.sampled_from([None, True, False]),
)


@st.composite
def heads(draw: Draw, name: str) -> str:
    """A view of a few aggregates of `m`, of which all columns but the first may be NULL."""
    calls = draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=4))
    group = draw(st.sampled_from(["g", "g", "", "y"]))
    types = [f"g: number{'?' * (group == 'y')}"] * (group != "")
    types += [f"c{place}: {type}" for place, (type, _) in enumerate(calls)]
    terms = [group] * (group != "") + [call for _, call in calls]
    body = draw(st.sampled_from(["", ", g < 2", ", p(g)"]))
    rule = f"{name}({', '.join(terms)}) :- m(g, y, z, t, d, b){body}."
    return f".decl {name}({', '.join(types)})\n{rule}"


@given(st.data(), st.booleans())
@settings(max_examples=2 * settings().max_examples)
def test_aggregates(data: st.DataObject, waits: bool):
    """Heads that share a body and groups come one after another, while rows come and go."""
    tuning = Tuning(extremes_rows=0) if waits else Tuning()
    ws, text = lftj.connect(tuning=tuning), DECLARATIONS + MEASURED
    ws.add_rules(text)
    rows: dict[str, list[tuple[Any, ...]]] = {"p": [(0,), (1,)], "m": []}
    for step in range(4):
        rule = data.draw(heads(f"h{step}"))
        ws.add_rules(rule)
        text += rule
        many = data.draw(st.lists(MEASURES, max_size=6, unique=True))
        kept = data.draw(st.lists(st.sampled_from(rows["m"]), unique=True)) if rows["m"] else []
        after = {**rows, "m": list({*many, *kept})}
        try:
            expected = evaluate(parse(text), after)
        except ArithmeticFailure:
            with pytest.raises(lftj.LftjError):
                _commit(ws, after)
            continue
        _commit(ws, after)
        rows = after
        for name, found in expected.items():
            assert set(ws[name].fetchall()) == found, (name, text, rows)
        assert ws.verify() == []


@given(data=st.data())
@settings(max_examples=8)
def test_what_is_kept_on_disk(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory):
    path: Path = tmp_path_factory.mktemp("nulls") / "data.lftj"
    program, rows = parse(DECLARATIONS + RECURSION), data.draw(FACTS)
    with lftj.connect(path=path) as ws:
        ws.add_rules(DECLARATIONS + RECURSION)
        _commit(ws, rows)
    with lftj.connect(path=path) as ws:
        for name, found in evaluate(program, rows).items():
            assert set(ws[name].fetchall()) == found
        after = data.draw(FACTS)
        _commit(ws, after)
        for name, found in evaluate(program, after).items():
            assert set(ws[name].fetchall()) == found
        assert ws.verify() == []
