"""The list of rewrites: each fires on some program, and rules are shown after those that change
them.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lftj.program.program import Program
from lftj.program.rewrites.pipeline import PASSES, steps
from lftj.program.rewrites.rule_program import RuleProgram
from lftj.program.statistics_hints import NO_SIZE, Known, Size
from tests.unit.program.listing import list_rule
from tests.unit.program.rules import checked, lines, parsed

ROOT = Path(__file__).parents[3]

FIRES = {
    "choices": "h2(x, y) :- a(x, y), choice((x), (y)).",
    "heads": "h1(x), h1(y) :- a(x, y).",
    "negated tests": "h1(x) :- b(x), !(x < 2).",
    "computed arguments": "h1(x) :- b(x), a(x, x + 1).",
    "decided disjunctions": "h2(x, z) :- b(x), (x > 1, z = x ; x <= 1, z = 0).",
    "disjunctions": "h1(x) :- b(x), (a(x, _) ; e(x, _)).",
    "united disjunctions": "h2(x, count()) :- b(x), (a(x, y) ; e(x, y)).",
    "negated computations": 'hs(t) :- s(_, t), !(contains("y", t)).',
    "extreme negations": "h2(x, y) :- a(x, y), !( a(x, z), z < y ).",
    "negations": "h1(x) :- b(x), !( a(x, y), e(y, _) ).",
    "aggregates": "h2(x, n) :- b(x), n = count : { a(x, _) }.",
    "functors": 'hs(t) :- s(_, u), t = cat(u, "x").',
    "computed keys": "h2(x, y) :- a(x, u), e(y, v), u band 3 = v band 3.",
    "max as min": "h2(x, n) :- b(x), n = max y : { a(_, y), y <= x }.",
    "implied atoms": "h2(x, n) :- a(x, _), n = count : { a(_, y), y <= x }.",
    "distinct counts": "h1(count_distinct(x)) :- e(x, _), b(y), x < y.",
    "independent parts": "h1(x) :- b(x), a(y, z), e(z, y).",
    "nearest rows": "hs(t) :- e(_, y), t = last(v, u) : { s(u, v), u < y }.",
    "bounded parts": "h1(t) :- e(t, _), n = count : { a(u, y), y > 3, u < t }, n < 5.",
    "rare rows": "h1(x) :- a(x, y), e(x, z), y < z, !b(z).",
    "variable elimination": "h1(n) :- n = count : { a(x, y), e(y, z), a(z, _) }.",
    "conjunctive rules": "h2(x, y) :- a(x, y), x = y.",
}


DENSE = Size(100_000, (500.0,) * 3, (200.0,) * 3)


def _fired(text: str) -> list[str]:
    made = checked(text)
    known = Known(made.catalog.relations, lambda relation: DENSE)
    (rule,) = made.rules
    return [taken.name for taken, _ in steps(RuleProgram.of(rule, 1, known))]


def test_each_pass_has_a_program_in_which_it_fires():
    assert [each.name for each in PASSES] == list(FIRES)


@pytest.mark.parametrize("name", FIRES)
def test_fires(name: str):
    assert name in _fired(FIRES[name])


@pytest.mark.parametrize("each", PASSES, ids=[each.name for each in PASSES])
def test_a_pass_has_one_reason_and_a_source(each):
    assert 20 < len(each.reason) < 100
    assert not each.reason.endswith(".")
    assert ". " not in each.reason
    assert each.source[-4:].isdigit()


@pytest.mark.parametrize("text", FIRES.values(), ids=list(FIRES))
def test_a_pass_leaves_the_program_that_it_is_given_as_it_was(text: str):
    made = checked(text)
    program = RuleProgram.of(made.rules[0], 1, Known(made.catalog.relations))
    again = RuleProgram.of(made.rules[0], 1, Known(made.catalog.relations))
    first = [(taken.name, repr(now.open), now.names) for taken, now in steps(program)]
    assert program == again
    assert [(taken.name, repr(now.open), now.names) for taken, now in steps(program)] == first


def test_nothing_but_the_list_calls_a_rewrite():
    rewrites = ROOT / "lftj" / "program" / "rewrites"
    calls = {each.rewrite.__name__ for each in PASSES}
    named = {
        (path.name, node.name)
        for path in (ROOT / "lftj").rglob("*.py")
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.ImportFrom)
        and (found.module or "").startswith("lftj.program.rewrites")
        and (path.parent != rewrites or path.name == "pipeline.py")
        for node in found.names
        if node.name in calls or path.parent != rewrites
    }
    assert {name for file, name in named if file == "pipeline.py"} == calls - {"heads"}
    assert {name for file, name in named if file != "pipeline.py"}.isdisjoint(calls)


def test_the_docs_list_the_passes():
    page = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    told = "".join(
        f"- **{each.name}**: {each.reason}. [{each.source}] "
        + f"Without it: {each.without}. " * bool(each.without)
        for each in PASSES
    )
    assert told.strip() in " ".join(page.split())


# ── as text ───────────────────────────────────────────────────────────────────────────────────────
GOLDEN = {
    "a disjunction": (
        "h1(x) :- a(x, _), (b(x) ; e(_, x), x > 2).",
        """
        disjunctions
        h1(x) :- a(x, _), b(x).
        h1(x) :- a(x, _), e(_, x), x > 2.
        """,
    ),
    "a rule that stays as it is": ("h2(x, z) :- a(x, y), e(y, z), x < 3, !b(z).", ""),
    "a negation in an aggregate": (
        "h2(x, n) :- b(x), n = count : { a(x, y), !( e(y, z), z > x ) }.",
        """
        aggregates
        h2(x, n) :- b(x), rule1#count1(x, _1), n = _1.
        h2(x, n) :- b(x), !rule1#count1(x, _), n = _1, _1 = 0.
        rule1#count1(x, count()) :- a(x, y), !( e(y, z), z > x ).
        negations
        h2(x, n) :- b(x), rule1#count1(x, _1), n = _1.
        h2(x, n) :- b(x), !rule1#count1(x, _), n = _1, _1 = 0.
        rule1#count1(x, count()) :- a(x, y), !rule1#not1(x, y).
        rule1#not1(x, y) :- a(x, y), e(y, z), z > x.
        conjunctive rules
        h2(x, n) :- b(x), rule1#count1(x, n).
        h2(x, n) :- b(x), !rule1#count1(x, _), n = 0.
        rule1#count1(x, count()) :- a(x, y), !rule1#not1(x, y).
        rule1#not1(x, y) :- a(x, y), e(y, z), z > x.
        """,
    ),
    "a last value": (
        "h2(x, f) :- a(x, d), e(x, f), f <= d, !( e(x, g), g <= d, g > f ).",
        """
        extreme negations
        h2(x, f) :- a(x, d), e(x, f), f <= d, f = max g : { e(x, g), g <= d }.
        aggregates
        h2(x, f) :- a(x, d), e(x, f), rule1#not1(x, d, f), f <= d.
        rule1#not1(x, d, max(g)) :- a(x, d), e(x, g), g <= d.
        max as min
        h2(x, f) :- a(x, d), e(x, f), rule1#not1(x, d, _1), f = mirror(_1), f <= d.
        rule1#not1(x, d, min(_1)) :- rule1#in1(x, _1), a(x, d), _1 >= mirror(d).
        rule1#in1(x, _1) :- e(x, g), _1 = mirror(g).
        implied atoms
        h2(x, f) :- e(x, f), rule1#not1(x, d, _1), f = mirror(_1), f <= d.
        rule1#not1(x, d, min(_1)) :- rule1#in1(x, _1), a(x, d), _1 >= mirror(d).
        rule1#in1(x, _1) :- e(x, g), _1 = mirror(g).
        """,
    ),
    "a running sum": (
        "h2(x, n) :- a(x, y), n = sum z : { a(u, z), u <= x }.",
        """
        aggregates
        h2(x, n) :- a(x, y), rule1#sum1(x, _1), n = _1.
        rule1#in1(x) :- a(x, y).
        rule1#sum1(x, sum(z)) :- rule1#in1(x), a(u, z), u <= x.
        implied atoms
        h2(x, n) :- rule1#sum1(x, _1), n = _1.
        rule1#in1(x) :- a(x, y).
        rule1#sum1(x, sum(z)) :- rule1#in1(x), a(u, z), u <= x.
        conjunctive rules
        h2(x, n) :- rule1#sum1(x, n).
        rule1#in1(x) :- a(x, y).
        rule1#sum1(x, sum(z)) :- rule1#in1(x), a(u, z), u <= x.
        """,
    ),
    "a choice over computed values": (
        "h1(x) :- a(x, x + 1), b(y), choice((x), (y)).",
        """
        choices
        h1(x) :- a(x, x + 1), b(y), rule1#choice1(x, y).
        rule1#choice1(x, y) :- a(x, x + 1), b(y).
        computed arguments
        h1(x) :- a(x, _1), b(y), rule1#choice1(x, y), _1 = x + 1.
        rule1#choice1(x, y) :- a(x, _1), b(y), _1 = x + 1.
        """,
    ),
    "an empty aggregate": (
        "h1(n) :- n = count : { false }.",
        """
        aggregates
        h1(n) :- rule1#count0(_1), n = _1.
        h1(n) :- !rule1#count0(_), n = _1, _1 = 0.
        rule1#count0(count()) :- false.
        disjunctions
        h1(n) :- rule1#count0(_1), n = _1.
        h1(n) :- !rule1#count0(_), n = _1, _1 = 0.
        conjunctive rules
        h1(n) :- n = _, false.
        h1(n) :- n = _1, _1 = 0, !( false ).
        disjunctions
        h1(n) :- n = _1, _1 = 0, !( false ).
        negated tests
        h1(n) :- n = _1, _1 = 0.
        conjunctive rules
        h1(n) :- n = 0.
        """,
    ),
    "a functor": (
        'hs(t) :- s(n, u), n > 2, t = cat(u, "x").',
        """
        functors
        hs(t) :- s(n, u), rule1#cat1(u, "x", _1), t = _1, n > 2.
        rule1#in1(u, "x") :- s(n, u), n > 2.
        rule1#cat1(x1, x2, y) :- rule1#in1(x1, x2), y = cat(x1, x2).
        conjunctive rules
        hs(t) :- s(n, u), rule1#cat1(u, "x", t), n > 2.
        rule1#in1(u, _1) :- s(n, u), _1 = "x", n > 2.
        rule1#cat1(x1, x2, y) :- rule1#in1(x1, x2), y = cat(x1, x2).
        """,
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_shown(name: str):
    text, expected = GOLDEN[name]
    program, (source,) = Program().add(parsed(text))
    shown = [line for step in program.passes(source) for line in (step.name, *step.rules)]
    assert shown == lines(expected)


@pytest.mark.parametrize("text", FIRES.values(), ids=list(FIRES))
def test_the_last_rules_shown_are_the_normal_form(text: str):
    program, (source,) = Program().add(parsed(text))
    normal = program.sources[source].normal.rules
    last = program.passes(source)[-1:]
    assert len(last) <= 1
    for step in last:
        assert len(step.rules) == len(normal)
        heads = {rule.partition(" :- ")[0].partition("(")[0] for rule in step.rules}
        assert heads == {list_rule(rule).partition("(")[0] for rule in normal}


def test_what_the_rows_told_is_remembered():
    text = "h1(n) :- n = count : { a(x, y), e(y, z), a(z, _) }."
    program, (source,) = Program().add(parsed(text), lambda relation: DENSE)
    assert "variable elimination" in [step.name for step in program.passes(source)]
    program, (source,) = Program().add(parsed(text), lambda relation: NO_SIZE)
    assert "variable elimination" not in [step.name for step in program.passes(source)]
