"""`ws.explain_plan`: the bindings of each level are those that plain loops count."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj

BODIES = (
    "e(x, y), f(y, z)",
    "e(x, y), f(y, z), e(x, z)",
    "e(x, y), e(y, x)",
    "e(x, x), f(x, y)",
    "e(x, 1), f(x, y), !e(y, x)",
    "e(x, y), f(z, w), y < z",
    "e(x, y), z = x + y, f(z, _)",
)
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=14)


def workspace(body: str, e: object, f: object) -> lftj.Workspace:
    """Two relations and a view of one rule, which takes its first variable."""
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(a: number, b: number) .decl f(a: number, b: number) .decl v(a: number)\n"
        f"v(x) :- {body}."
    )
    ws.load("e", e)
    ws.load("f", f)
    return ws


def prefixes(atoms: list[tuple[str, tuple[object, ...]]], rows: dict, order: list[str]) -> int:
    """Bindings of variables for which each atom has a row, by trying all values."""
    found = 0
    for values in product(range(9), repeat=len(order)):
        known = dict(zip(order, values, strict=True))
        found += all(
            any(
                all(
                    (known[arg] if arg in known else row[place]) == row[place]
                    if isinstance(arg, str)
                    else arg == row[place]
                    for place, arg in enumerate(args)
                )
                for row in rows[name]
            )
            for name, args in atoms
        )
    return found


@settings(max_examples=25, deadline=None)
@given(ROWS, ROWS)
def test_levels_of_a_triangle_are_those_of_plain_loops(e, f) -> None:
    ws = workspace("e(x, y), f(y, z), e(x, z)", e, f)
    (body,) = ws.explain_plan(ws.rules[0], analyze=True).bodies
    atoms = [("e", ("x", "y")), ("f", ("y", "z")), ("e", ("x", "z"))]
    if not e or not f:
        assert [each.actual for each in body.levels] == [0, 0, 0]
        return
    for number, level in enumerate(body.levels):
        order = [each.variable for each in body.levels[: number + 1]]
        # an atom takes part once the columns that its key order begins with are bound
        bound = [
            (name, tuple(arg if arg in order else f"_{arg}" for arg in args))
            for name, args in atoms
            if set(args) & set(order)
        ]
        assert level.actual == prefixes(bound, {"e": set(e), "f": set(f)}, order)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(BODIES), ROWS, ROWS)
def test_the_last_level_has_all_assignments(body, e, f) -> None:
    ws = workspace(body, e, f)
    analysis = ws.explain_plan(ws.rules[0], analyze=True)
    question = body.replace("_", "w") if body.endswith("_)") else body
    expected = len(ws.query(question))
    assert sum(each.assignments for each in analysis.bodies) == expected
    assert sum(each.levels[-1].actual for each in analysis.bodies) == expected


def test_a_query_is_analyzed_and_nothing_is_kept() -> None:
    ws = workspace("e(x, y), f(y, z)", [(i, i % 7) for i in range(500)], [(i, i) for i in range(5)])
    before = ws.memory().fetchall()[:-3]
    analysis = ws.explain_plan("f(y, z), e(x, y)", analyze=True)
    assert analysis.bodies[-1].assignments == len(ws.query("f(y, z), e(x, y)"))
    assert analysis.analyzed
    assert analysis.seeks > 0
    assert analysis.seconds > 0
    assert ws.memory().fetchall()[:-3] == before


def test_without_analysis_only_estimates_are_there() -> None:
    ws = workspace("e(x, y), f(y, z)", [(1, 2)], [(2, 3)])
    analysis = ws.explain_plan(str(ws.rules[0]))
    assert analysis == ws.explain_plan(ws.rules[0])
    assert [each.actual for each in analysis.bodies[0].levels] == [None] * 3
    assert analysis.seconds is None
    assert "found" not in str(analysis)


def test_the_forms_of_an_analysis_agree() -> None:
    ws = workspace("e(x, y), f(y, z)", [(1, 2), (4, 2)], [(2, 3)])
    analysis = ws.explain_plan(ws.rules[0], analyze=True)
    data = analysis.to_dict()
    assert [each["actual"] for each in data["bodies"][0]["levels"]] == [
        each.actual for each in analysis.bodies[0].levels
    ]
    assert analysis.result().fetchall()[0][0] == "v"
    assert analysis.to_dot().count("->") == 2
    assert list(analysis.to_networkx().edges) == [((0, 0), (0, 1)), ((0, 1), (0, 2))]
    assert "<table>" in analysis._repr_html_()
    assert str(analysis).startswith("v(x) :- e(x, y), f(y, z).\n  v: order ")
    report = ws.plan(ws.rules[0])
    assert report.to_dict()["bodies"][0]["order"] == list(analysis.bodies[0].order)
    assert report.to_dot() == ws.explain_plan(ws.rules[0]).to_dot()


def test_memory_is_that_of_the_key_orders_read() -> None:
    ws = workspace("e(x, y)", [(1, 2), (4, 2)], [])
    (body,) = ws.explain_plan(ws.rules[0], analyze=True).bodies
    assert body.bytes == 2 * 2 * 8


def test_failing_arithmetic_of_a_prefix_is_no_error() -> None:
    ws = workspace("e(x, y), z = x / y, f(z, x)", [(4, 2)], [])
    ws.load("f", [(2, 4)])
    (body,) = ws.explain_plan(ws.rules[0], analyze=True).bodies
    assert body.assignments == 1


def test_unknown_rules_and_questions_are_errors() -> None:
    ws = workspace("e(x, y)", [], [])
    (handle,) = ws.rules
    ws.remove_rule(handle)
    with pytest.raises(lftj.UnknownNameError) as caught:
        ws.explain_plan(handle)
    assert caught.value.code == "E114"
    with pytest.raises(lftj.LftjError):
        ws.explain_plan("nothing(x)")
    with pytest.raises(lftj.ParseError):
        ws.explain_plan("v(x) :- f(x, x).")


def test_limits_hold_for_an_analysis() -> None:
    ws = workspace("e(x, y), f(z, w)", [(i, i) for i in range(400)], [(i, i) for i in range(400)])
    with ws.limits(work=300), pytest.raises(lftj.LimitError):
        ws.explain_plan(ws.rules[0], analyze=True)


def test_costs_need_no_pandas() -> None:
    program = """
import sys
sys.modules["pandas"] = None
import lftj
ws = lftj.connect()
ws.add_rules(".decl e(a: number, b: number) .decl v(a: number) v(x) :- e(x, _).")
ws.load("e", [(1, 2), (3, 4)])
assert ws.profile().to_dict()["commits"][-1]["rules"][0]["rows"] == 2
assert "delta queries" in str(ws.profile())
assert ws.profile().result().fetchall()
assert ws.explain_plan(ws.rules[0], analyze=True).bodies[0].assignments == 2
try:
    ws.profile()["steps"]
except lftj.MissingDependencyError:
    print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
