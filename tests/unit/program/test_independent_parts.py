"""Parts of bodies that are taken out, and the rules that result."""

from __future__ import annotations

import pytest

import lftj
from lftj.program.program import Program
from lftj.syntax.parser import parse
from tests.unit.program.listing import list_rule

DECLARED = """
.decl d(x: number)  .decl e(x: number, y: number)  .decl f(x: number, y: number)  .decl g(x: number)
.decl k[x: number]: number  .decl m(x: float)
.decl q(x: number)  .decl p(x: number, y: number)  .decl yes()
.decl c(x: number, y: number) choice-domain x
"""


def normal(rule: str) -> list[str]:
    program, _ = Program().add(parse(DECLARED + rule))
    return [list_rule(each) for each in program.rules]


CASES = {
    "parts without a variable of the head, each linked in itself": (
        "q(x) :- d(x), e(_, _), f(y, z), g(z), !g(y).",
        ["rule1#part1() :- e(_0, "
            "_1).", "rule1#part2() :- f(y, z), g(z), "
                "!g(y).", "q(x) :- d(x), rule1#part1(), rule1#part2()."],
    ),
    "negated atoms without variables stay": (
        "q(x) :- d(x), e(_, _), !g(_), !g(3).",
        ["rule1#part1() :- e(_0, _1).", "q(x) :- d(x), rule1#part1(), !g(_), !g(3)."],
    ),
    "comparisons and equations link": (
        "q(x) :- d(x), d(y), g(z), y < z, e(a, _), f(b, _), a = b.",
        ["rule1#part1() :- d(y), g(z), y < "
            "z.", "rule1#part2() :- e(a, _1), f(a, "
                "_2).", "q(x) :- d(x), rule1#part1(), rule1#part2()."],
    ),
    "constants do not": (
        "q(x) :- e(x, k), f(k, y), k = 5, d(z), z > k.",
        [
            "rule1#part1() :- f(k, y), k := 5.",
            "rule1#part2() :- d(z), k := 5, z > k.",
            "q(x) :- e(x, k), rule1#part1(), rule1#part2(), k := 5.",
        ],
    ),
    "what is said of constants alone stays": (
        "q(x) :- d(x), g(_), k[y] = z, y = 5, z = 6.",
        ["rule1#part1() :- g(_0).", "q(x) :- d(x), k(y, z), rule1#part1(), y := 5, z := 6."],
    ),
    "one part is the body of a head without variables": (
        "yes() :- d(_), g(_).",
        ["rule1#part1() :- g(_0).", "yes() :- d(_0), rule1#part1()."],
    ),
    "the same part is asked once": (
        "q(x) :- d(x), g(_). q(x) :- g(x), ( e(x, _) ; f(x, _) ), d(_).",
        [
            "rule1#part1() :- g(_0).",
            "q(x) :- d(x), rule1#part1().",
            "rule2#part1() :- d(_0).",
            "q(x) :- g(x), e(x, _1), rule2#part1().",
            "q(x) :- g(x), f(x, _1), rule2#part1().",
        ],
    ),
    "parts with variables of the head are combined by these": (
        "p(x, y) :- e(x, _), f(y, a), g(a).",
        ["rule1#part1(x) :- e(x, "
            "_1).", "rule1#part2(y) :- f(y, a), "
                "g(a).", "p(x, y) :- rule1#part1(x), rule1#part2(y)."],
    ),
    "which cannot repeat where they are a key, or all there is": (
        "p(x, y) :- k[x] = _, d(z), y = z, e(3, _).",
        ["rule1#part1() :- e(3, _0).", "p(x, y) :- k(x, _1), d(y), rule1#part1()."],
    ),
    "min and max do not count": (
        "p(x, min(y)) :- e(x, y), f(_, _).",
        ["rule1#part1() :- f(_0, _1).", "p(x, min(y)) :- e(x, y), rule1#part1()."],
    ),
    "under negations and aggregates": (
        "q(x) :- d(x), !( e(x, _), f(_, _), g(_) ), 3 < max y : { e(x, y), g(_) }.",
        [
            "rule1#part1() :- f(_0, _1).",
            "rule1#part2() :- g(_0).",
            "rule1#not1(x) :- e(x, _1), rule1#part1(), rule1#part2().",
            "rule1#max1(x, max(y)) :- e(x, y), rule1#part2().",
            "q(x) :- d(x), rule1#max1(x, _1), !rule1#not1(x), 3 < _1.",
        ],
    ),
    "arithmetic that may fail is asked with the rest beside it": (
        "q(x) :- d(x), e(y, z), y / z > 1, f(_, _).",
        [
            "rule1#part1() :- f(_0, _1).",
            "rule1#part2() :- d(x).",
            "rule1#part3() :- e(y, z), rule1#part1(), rule1#part2(), y / z > 1.",
            "q(x) :- d(x), rule1#part1(), rule1#part3().",
        ],
    ),
    "and together with what else may fail": (
        "q(x / 2) :- d(x), e(y, z), y + z > 1, f(_, _), d(a), 3 - a > 0.",
        [
            "rule1#part1() :- f(_0, _1).",
            "rule1#part2() :- d(x).",
            "rule1#part3() :- e(y, z), d(a), rule1#part1(), rule1#part2(), y + z > 1, 3 - a > 0.",
            "q(_1) :- d(x), rule1#part1(), rule1#part3(), _1 := x / 2.",
        ],
    ),
    "and with the head's where that may": (
        "q(x + 2) :- d(x), e(y, z), y + z > 1, f(_, _).",
        ["rule1#part1() :- f(_0, "
            "_1).", "q(_3) :- d(x), e(y, z), rule1#part1(), _3 := x + 2, y + z > 1."],
    ),
    "in recursion": (
        "q(x) :- d(x). q(x) :- e(x, _), q(_), f(_, _).",
        ["q(x) :- d(x).", "rule2#part1() :- q(_0).", "rule2#part2() :- f(_0, "
            "_1).", "q(x) :- e(x, _1), rule2#part1(), rule2#part2()."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_becomes(name: str) -> None:
    rules, expected = CASES[name]
    assert normal(rules) == expected


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("q(x) :- e(x, y), f(y, z), z > 3, !g(_).", "one part"),
        ("m(mean(x)) :- d(x), e(_, _).", "all assignments count"),
        ("p(x, y) :- d(x), g(y).", "what is combined is the answer"),
        ("p(x, y) :- e(x, y), f(3, 4).", "a row of constants is looked up"),
        ("c(x, y) :- e(x, y), c(_, _).", "a choice would be made a round later"),
    ],
)
def test_stays(rule: str, why: str) -> None:
    assert len(normal(rule)) == 1, why


CHOOSING = """
.decl s(x: number, y: number) choice-domain y
s(x, y) :- e(x, y), p(y, _), q(x).
"""
ASKING = "q(x) :- d(x), f(_, y), p(y, _). p(x, y) :- s(x, y), g(_)."


@pytest.mark.parametrize("text", [CHOOSING + ASKING, ASKING + CHOOSING])
def test_nothing_is_taken_out_that_comes_to_depend_on_a_choice(text: str) -> None:
    hidden = [
        rule.partition(" :- ")[2] for rule in normal(text) if "#part" in rule.partition(" :- ")[0]
    ]
    assert hidden == ["g(_0)."]


def workspace(rows: int) -> lftj.Workspace:
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads=1))
    names = "idehlg"
    ws.add_rules("".join(f".decl {name}(x: number)\n" for name in names) + ".decl q(x: number)")
    for name in names[:-1]:
        ws.load(name, [(x,) for x in range(rows)])
    return ws


MANY = "i(x), d(_), e(_), h(_), l(_), !g(_)"


def test_what_only_has_to_exist_takes_no_more_work_than_its_rows() -> None:
    ws = workspace(1000)
    ws.add_rules(f"q(x) :- {MANY}.")
    assert len(ws["q"]) == 1000
    assert ws.profile(last=1)["steps"].sum() < 2000
    with ws.transaction() as tx:
        tx.delete("d", [(x,) for x in range(999)])
    assert list(ws.profile(last=1)["relation"]) == ["rule1#part1"]
    with ws.transaction() as tx:
        tx.delete("d", [(999,)])
    assert len(ws["q"]) == 0
    assert ws.verify() == []


def test_so_it_is_in_questions_negations_and_recursion() -> None:
    ws = workspace(300)
    with ws.limits(work=20_000):
        assert len(ws.query(MANY.replace("i(x)", "i(x), x < 9")).fetchall()) == 9
        ws.add_rules(
            f".decl n(x: number) n(x) :- i(x), !( e(y), y = x + 1, {MANY.replace('(x)', '(_)')} )."
        )
        assert ws["n"].fetchall() == [(299,)]
        ws.add_rules(f"q(0). q(x + 1) :- q(x), i(x), q(_), {MANY.replace('i(x), ', '')}.")
        assert len(ws["q"]) == 301


def test_parts_that_a_comparison_links_are_asked_for_one_assignment() -> None:
    ws = workspace(1000)
    with ws.limits(work=20_000):
        ws.add_rules("q(x) :- i(x), d(y), e(z), y < z, h(u), l(v), u != v.")
        assert len(ws["q"]) == 1000


def test_a_count_of_all_assignments_is_a_product() -> None:
    ws = workspace(1000)
    with ws.limits(work=20_000):
        ws.add_rules("q(count()) :- i(_), d(_), e(_), h(_), l(_), !g(_).")
        assert ws["q"].fetchall() == [(1000**5,)]
