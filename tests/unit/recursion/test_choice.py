"""Choice: which candidates are accepted, in which iteration, and that nothing but the candidates
decides it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import lftj
from lftj.heads.choice import Chooser
from lftj.program.normal_form import RelationSchema
from lftj.syntax.parser import parse
from lftj.syntax.printer import print_program
from lftj.types import INT, STR
from lftj.types.dictionary import Dictionary

ORDER = """
.decl node(x: symbol)
.decl next(x: symbol, y: symbol) choice-domain x, y
next("", y) :- node(y).
next(x, y) :- next(_, x), node(y).
"""

PLAIN = ".decl a(x: number, y: number)\n.decl r(x: number, y: number) choice-domain x\n"


def loaded(text: str, **rows: list[tuple[object, ...]]) -> lftj.Workspace:
    workspace = lftj.connect()
    workspace.add_rules(text)
    for name, given in rows.items():
        workspace.load(name, given)
    return workspace


def rows_of(workspace: lftj.Workspace, name: str) -> set[tuple[object, ...]]:
    return set(workspace[name].fetchall())


# ── the chooser ───────────────────────────────────────────────────────────────────────────────────
def chosen(chooser: Chooser, *rows: tuple[int, ...]) -> list[tuple[int, ...]]:
    columns = chooser.accepted([np.array(column, np.int64) for column in zip(*rows, strict=True)])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_each_domain_admits_a_value_once():
    chooser = Chooser(
        RelationSchema("r", (("a", INT), ("b", INT)), choice=((0,), (1,))), Dictionary()
    )
    assert chosen(chooser, (2, 1), (1, 1), (1, 2), (2, 2), (3, 2)) == [(1, 1), (2, 2)]
    assert chosen(chooser, (3, 1), (4, 2), (4, 4), (3, 4)) == [(3, 4)]


def test_a_rejected_candidate_takes_no_value():
    chooser = Chooser(
        RelationSchema("r", (("a", INT), ("b", INT)), choice=((0,), (1,))), Dictionary()
    )
    assert chosen(chooser, (1, 1), (2, 1), (2, 2)) == [(1, 1), (2, 2)]


def test_a_domain_of_two_columns_is_about_both():
    chooser = Chooser(
        RelationSchema("r", (("a", INT), ("b", INT), ("c", INT)), choice=((0, 1),)), Dictionary()
    )
    assert chosen(chooser, (1, 1, 2), (1, 1, 1), (1, 2, 3)) == [(1, 1, 1), (1, 2, 3)]


def test_strings_are_compared_by_code_point_and_not_by_arrival():
    dictionary = Dictionary()
    codes = dictionary.encode(["z", "\U0001f600", "\uffff", "a"])
    chooser = Chooser(RelationSchema("r", (("a", INT), ("s", STR)), choice=((0,),)), dictionary)
    columns = [np.array([1, 2, 2, 1], np.int64), np.asarray(codes, np.int64)]
    found = chooser.accepted(columns)
    assert set(zip(found[0].tolist(), found[1].tolist(), strict=True)) == {
        (1, int(codes[3])),
        (2, int(codes[2])),
    }


def test_many_strings_are_compared_as_few_are() -> None:
    dictionary = Dictionary()
    codes = np.asarray(dictionary.encode([f"v{number:04}" for number in range(1100, 0, -1)]))
    chooser = Chooser(RelationSchema("r", (("a", INT), ("s", STR)), choice=((0,),)), dictionary)
    found = chooser.accepted([np.arange(1100) % 2, codes])
    assert found[1].tolist() == [codes[1098], codes[1099]]


# ── programs ──────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("names", list(itertools.permutations(["b", "a", "\U0001f600", "\uffff"])))
def test_a_total_order_does_not_depend_on_the_order_of_arrival(names: tuple[str, ...]):
    workspace = loaded(ORDER, node=[(name,) for name in names])
    inside = ["", *sorted(names)]
    assert rows_of(workspace, "next") == set(itertools.pairwise(inside))


def test_an_earlier_iteration_wins_over_a_lesser_value():
    workspace = loaded(
        """
        .decl edge(x: number, y: number)
        .decl parent(y: number, x: number) choice-domain y
        parent(9, 0).
        parent(y, x) :- parent(x, _), edge(x, y).
        """,
        edge=[(9, 5), (5, 4), (4, 3), (9, 3), (4, 5)],
    )
    assert rows_of(workspace, "parent") == {(9, 0), (5, 9), (3, 9), (4, 5)}


def test_facts_are_candidates_beside_those_of_rules_that_need_no_iteration():
    workspace = loaded(
        ".decl a(x: number, y: number)\n.decl r(x: number, y: number) choice-domain x\nr(1, 2). "
        "r(2, 1). r(x, y) :- a(x, y)."
    )
    workspace.load("a", [(1, 1), (2, 2)])
    assert rows_of(workspace, "r") == {(1, 1), (2, 1)}
    with workspace.transaction() as tx:
        tx.delete("a", [(1, 1)])
        tx.delete("r", [(2, 1)])
    assert rows_of(workspace, "r") == {(1, 2), (2, 2)}


def test_a_relation_without_rules_chooses_among_its_rows_and_remembers_the_others():
    workspace = loaded(".decl r(x: number, y: number) choice-domain x", r=[(1, 2), (1, 1), (2, 7)])
    assert rows_of(workspace, "r") == {(1, 1), (2, 7)}
    with workspace.transaction() as tx:
        tx.delete("r", [(1, 1)])
    assert rows_of(workspace, "r") == {(1, 2), (2, 7)}
    assert set(tx.changes("r").fetchall()) == {(1, 1, -1, tx.version), (1, 2, 1, tx.version)}


def test_rules_come_and_go():
    workspace = loaded(PLAIN, a=[(1, 1)], r=[(1, 2)])
    rule = workspace.add_rule("r(x, y) :- a(x, y).")
    assert rows_of(workspace, "r") == {(1, 1)}
    workspace.remove_rule(rule)
    assert rows_of(workspace, "r") == {(1, 2)}
    assert workspace.verify() == []


@pytest.mark.parametrize("domains", ["x", "x, y"])
def test_a_rule_whose_cycle_is_cut_chooses_anew_though_no_candidate_came_or_went(domains: str):
    text = f"""
    .decl first(x: number, y: number)
    .decl step(y: number, z: number)
    .decl found(x: number, y: number)
    .decl r(x: number, y: number) choice-domain {domains}
    found(x, y) :- first(x, y).
    found(x, z) :- found(x, y), step(y, z).
    r(x, y) :- found(x, y).
    """
    workspace = loaded(text, first=[(1, 9)], step=[(9, 2)])
    assert rows_of(workspace, "r") == {(1, 2)}, "the least of all that is found"
    cycle = workspace.add_rule("found(x, z) :- r(x, y), step(z, y), x > 5.")
    assert rows_of(workspace, "r") == {(1, 9)}, "the one that is found first"
    with workspace.transaction() as tx:
        tx.remove_rule(cycle)
    assert set(tx.changes("r").fetchall()) == {(1, 9, -1, tx.version), (1, 2, 1, tx.version)}
    assert not tx.changes("found").fetchall()
    assert workspace.verify() == []
    workspace.load("first", [(3, 4)])
    assert rows_of(workspace, "r") == {(1, 2), (3, 4)}
    assert workspace.verify() == []


def test_the_profile_names_the_strategy_and_what_nothing_touches_does_no_work():
    workspace = loaded(ORDER + ".decl other(x: number)", node=[("b",)])
    workspace.load("node", [("a",)])
    assert workspace.profile(last=1)[["relation", "outcome", "head_changes"]].values.tolist() == [
        ["next", "choice", 3]
    ]
    workspace.load("other", [(1,)])
    assert workspace.profile(last=1).empty


def test_many_rounds_cost_what_is_new_in_them():
    workspace = loaded(
        """
        .decl edge(x: number, y: number)
        .decl parent(y: number, x: number) choice-domain y
        parent(0, 0).
        parent(y, x) :- parent(x, _), edge(x, y).
        """
    )
    workspace.load("edge", [(x, x + 1) for x in range(3000)])
    short = workspace.profile(last=1)["steps"].sum()
    workspace.load("edge", [(x, x + 1) for x in range(3000, 6000)])
    assert len(workspace["parent"].fetchall()) == 6001
    assert workspace.profile(last=1)["steps"].sum() < 3 * short


# ── choice in a rule ──────────────────────────────────────────────────────────────────────────────
def test_a_choice_in_a_rule_gives_one_value_for_each():
    workspace = loaded(
        ".decl a(x: number, y: number)\n.decl r(y: number, x: number)\nr(y, x) :- a(x, y), "
        "choice((x), (y))."
    )
    workspace.load("a", [(1, 2), (1, 1), (2, 1)])
    assert rows_of(workspace, "r") == {(1, 1), (1, 2)}


def test_several_choices_in_a_rule_choose_together_in_any_order():
    for choices in itertools.permutations(["choice((x), (y))", "choice((y), (x))"]):
        workspace = loaded(
            f".decl a(x: number, y: number)\n.decl r(x: number, y: number)\nr(x, y) :- "
            f"{choices[0]}, a(x, y), {choices[1]}."
        )
        workspace.load("a", [(1, 2), (1, 1), (2, 1), (2, 2)])
        assert rows_of(workspace, "r") == {(1, 1), (2, 2)}


def test_a_choice_for_nothing_takes_the_least_of_all():
    workspace = loaded(
        ".decl a(x: symbol)\n.decl r(x: symbol)\nr(x) :- a(x), choice((), (x)).",
        a=[("b",), ("a",), ("c",)],
    )
    assert rows_of(workspace, "r") == {("a",)}


def test_the_head_ranges_over_all_that_goes_with_what_is_chosen():
    workspace = loaded(
        ".decl a(x: number, y: number, z: number)\n.decl r(x: number, n: number)\nr(x, count()) :- "
        "a(x, y, z), choice((x), (y))."
    )
    workspace.load("a", [(1, 1, 5), (1, 1, 6), (1, 2, 7), (2, 2, 1)])
    assert rows_of(workspace, "r") == {(1, 2), (2, 1)}


def test_text_reads_back():
    text = (
        '.decl r(x: number, y: number, z: symbol) choice-domain x, (y, z)\nr(x, y, "") :- a(x, '
        "y), choice((x), (y)), choice((), (x, y)).\n"
    )
    assert print_program(parse(text)) == text


# ── in Python ─────────────────────────────────────────────────────────────────────────────────────
def test_relations_and_rules_in_python_are_those_of_the_text():
    workspace = lftj.connect()
    workspace.relation("r", {"x": int, "y": int, "z": str}, choice=["x", ("z", "y")])
    workspace.add_rules(".decl r(x: number, y: number, z: symbol) choice-domain (y, z), x")
    with pytest.raises(lftj.UnknownNameError):
        workspace.relation("s", {"x": int}, choice="y")
    x, y, z = lftj.vars("x y z")
    a, b = (
        workspace.relation("a", {"x": int, "y": int, "z": int}),
        workspace.relation("b", {"x": int}),
    )
    rule = b(x) <= a(x, y, z) & lftj.choice((x, y), z) & lftj.choice((), (x, y, z))
    assert str(
        lftj.rule(b(x), a(x, y, z) & lftj.choice((x, y), z) & lftj.choice((), (x, y, z)))
    ) == ("b(x) :- a(x, y, z), choice((x, y), (z)), choice((), (x, y, z)).")
    workspace.load(a, [(2, 1, 1), (1, 2, 1)])
    workspace.add_rule(rule)
    assert rows_of(workspace, "b") == {(1,)}
