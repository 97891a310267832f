"""Plans: what is sliced, what is whole, what travels, and where views live."""

from __future__ import annotations

from typing import Any

import pytest

from lftj.distributed.partitioning.cuts import ALL, ONE, HubCut, local_name
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.partitioning.part_planner import plan_of
from lftj.distributed.partitioning.programs import described, digest, restored
from lftj.program.program import Program
from lftj.storage.database import base_name
from lftj.syntax.parser import parse
from lftj.types.sources import Role, in_role, without_role
from tests.unit.program.listing import list_rule

EDGE = ".decl e(x: number, y: number)\n"


def plan(text: str, hubs: dict[str, Any] | None = None, **sizes: int) -> PartPlan:
    """The plan of a program text."""
    program, _ = Program().add(parse(text))
    description = described(program, frozenset(), sizes, hubs)
    assert described(*restored(description), sizes, hubs) == description
    return plan_of(description)


def rules(made: PartPlan) -> list[list[str]]:
    """Local rules by stage."""
    return [
        [list_rule(rule) for stratum in stage.strata for rule in stratum.rules]
        for stage in made.stages
    ]


def test_a_view_by_its_leading_variable_needs_nobody() -> None:
    made = plan(EDGE + ".decl t(x: number, n: number)\nt(x, count()) :- e(x, y), e(y, z), e(x, z).")
    assert rules(made) == [["t@0(x, count()) :- e@0(x, y), e@all(y, z), e@0(x, z)."]]
    assert made.homes == {"e": 0, "t": 0}
    assert made.cuts("e") == (0,)
    assert sorted((feed.cut, feed.checked) for feed in made.feeds if feed.relation == "e#base") == [
        (ALL, False),
        (0, True),
    ]


def test_an_aggregate_over_everything_is_put_together_from_shares() -> None:
    made = plan(EDGE + ".decl t(n: number, s: number)\nt(count(), sum(x)) :- e(x, _).")
    first, second = rules(made)
    assert (
        first
        == [
            "t%(count(), sum(_2), sum(_3)) :- e@0(x, _1), _2 := x bshr 32, _3 := x band 4294967295."
        ]
        or "sum(_" in first[0]
    )
    assert second[0].startswith("t@one(sum(")
    assert made.stages[1].alone == (True,)
    assert made.homes["t"] == ONE


def test_what_is_too_large_to_be_whole_is_cut_and_travels() -> None:
    text = (
        EDGE
        + ".decl f(x: number, y: number)\n.decl two(x: number, z: number)\ntwo(x, z) :- e(x, y), "
        "f(y, z)."
    )
    assert rules(plan(text)) == [["two@0(x, z) :- e@0(x, y), f@all(y, z)."]]
    assert rules(plan(text, f=10**9)) == [["two@1(x, z) :- e@all(x, y), f@1(y, z)."]]
    both = rules(plan(text, e=10**9, f=10**9))
    assert both[0] == ["two%(x, z) :- e@1(x, y), f@0(y, z)."]
    assert both[1][0].startswith("two@0(")


def test_what_is_read_whole_is_what_has_few_rows() -> None:
    star = (
        ".decl sale(c: number, p: number, a: number)\n.decl cust(c: number, s: number)\n"
        ".decl prod(p: number, k: number)\n.decl rev(s: number, k: number, n: number)\n"
        "rev(s, k, sum(a)) :- sale(c, p, a), cust(c, s), prod(p, k)."
    )
    for cust, prod, reads in (
        (50, 60, "sale@0(c, p, a), cust@0(c, s), prod@all(p, k)"),
        (90_000, 60, "sale@0(c, p, a), cust@0(c, s), prod@all(p, k)"),
        (60, 90_000, "sale@1(c, p, a), cust@all(c, s), prod@0(p, k)"),
    ):
        made = plan(star, cust=cust, prod=prod, sale=200_000)
        assert f":- {reads}," in rules(made)[0][0]
    few = rules(plan(star, cust=50, prod=60, sale=500))  # not worth a round more
    assert few == [["rev@0(s, k, sum(a)) :- sale@all(c, p, a), cust@1(c, s), prod@all(p, k)."]]

    two = (
        EDGE + ".decl f(x: number, y: number)\n.decl two(x: number, z: number)\n"
        "two(x, z) :- e(x, y), f(y, z)."
    )
    assert rules(plan(two, e=100, f=90_000)) == [["two@1(x, z) :- e@all(x, y), f@1(y, z)."]]
    assert rules(plan(two, e=90_000, f=100)) == [["two@0(x, z) :- e@0(x, y), f@all(y, z)."]]
    # rows that are no groups may be more than what is read: they do not travel for it
    assert len(plan(two, e=90_000, f=90_000).stages) == 1


HUBS = {"e": {"0": [600, [7]], "1": [90, [8, 9]]}}
X = ".decl {}(x: number, {}: number)\n"


def test_rows_of_a_hub_stay_where_they_are_derived_if_the_head_has_both_variables() -> None:
    made = plan(
        EDGE
        + X.format("v", "y")
        + "v(x, y) :- e(x, y), e(y, z), e(x, z), !e(_, x).\nv(x, y) :- e(x, y), x > y.",
        HUBS,
    )
    assert rules(made) == [
        [
            "v@0+1(x, y) :- e@0+1(x, y), e@all(y, z), e@0+all(x, z), !e@1+all(_, x).",
            "v@0+1(x, y) :- e@0+1(x, y), x > y.",
        ]
    ]
    assert made.homes == {"e": HubCut(0, 1, (7, 8, 9)), "v": HubCut(0, 1, (7, 8, 9))}
    assert [output.cuts for output in made.outputs] == [(HubCut(0, 1, (7, 8, 9)),)]


def test_groups_of_a_hub_are_put_together_from_shares() -> None:
    made = plan(EDGE + X.format("v", "n") + "v(x, max(z)) :- e(x, y), e(y, z).", HUBS)
    assert rules(made)[0] == ["v%(x, max(z)) :- e@0+1(x, y), e@all(y, z)."]
    assert rules(made)[1][0].startswith("v@0(")


def test_of_two_relations_the_one_with_fewer_rows_of_hubs_is_in_every_part() -> None:
    text = (
        EDGE
        + ".decl f(x: number, y: number)\n"
        + X.format("v", "z")
        + "v(x, z) :- e(x, y), f(y, z)."
    )
    sizes = {"e": 10**9, "f": 10**9}
    many, few = [10**8, [7]], [100, [7]]
    made = plan(text, {"e": {"1": few}, "f": {"0": many}}, **sizes)
    assert rules(made)[0] == ["v%(x, z) :- e@1+all(x, y), f@0+1(y, z)."]
    assert rules(plan(text, {"e": {"1": many}, "f": {"0": few}}, **sizes))[0] == [
        "v%(x, z) :- e@1+0(x, y), f@0+all(y, z)."
    ]


def test_what_is_derived_from_hubs_has_hubs() -> None:
    text = (
        EDGE
        + ".decl v(x: number, y: number, z: number)\nv(x, y, z) :- e(x, y), e(y, z).\n"
        + X.format("n", "n")
    )
    made = plan(text + "n(y, count()) :- v(x, y, z).", HUBS)
    assert rules(made)[0] == [
        "v@1+2(x, y, z) :- e@1+all(x, y), e@0+1(y, z).",
        "n%(y, count()) :- v@1+2(x, y, z).",
    ]
    assert not made.hubs.has("n", 0), "a group has one row"


def test_what_no_second_variable_can_cut_is_left_as_it_is() -> None:
    for rule in (
        "v(x, z) :- e(x, y), e(y, z).",
        "v(x, y) :- e(x, y).\nv(x, z) :- v(x, y), e(y, z).",
    ):
        text = EDGE + X.format("v", "y") + rule
        assert rules(plan(text, HUBS)) == rules(plan(text))
    text = EDGE + ".decl v(x: number, y: number) choice-domain x\nv(x, y) :- e(x, y)."
    assert rules(plan(text, HUBS)) == rules(plan(text))
    text = EDGE + ".decl F[x: number]: number\nF[x] = y :- e(x, y)."
    assert plan(text, HUBS).homes["F"] == 0


def test_recursion_that_keeps_a_column_stays_in_its_part() -> None:
    text = EDGE + ".decl r(x: number, y: number)\nr(x, y) :- e(x, y).\nr(x, z) :- {}."
    assert (
        rules(plan(text.format("r(x, y), e(y, z)")))[0][1] == "r@0(x, z) :- r@0(x, y), e@all(y, z)."
    )
    assert (
        rules(plan(text.format("e(x, y), r(y, z)")))[0][1] == "r@1(x, z) :- e@all(x, y), r@1(y, z)."
    )


def test_recursion_that_keeps_no_column_goes_in_rounds_in_a_stage_of_its_own() -> None:
    text = (
        EDGE + ".decl r(x: number, y: number)\nr(x, y) :- e(x, y).\nr(x, z) :- r(x, y), r(y, z).\n"
    )
    made = plan(
        text
        + ".decl n(n: number)\nn(count()) :- r(x, x).\n.decl s(y: number)\ns(y) :- r(_, y), !e(y, "
        "_)."
    )
    supersteps = made.stages[0].supersteps
    assert supersteps is not None
    assert made.stages[0].strata == ()
    assert [list_rule(rule) for rule in supersteps.rules] == [
        "r~(x, y) :- e@0(x, y).",
        "r~(x, z) :- r@1(x, y), r@0(y, z).",
    ]
    assert supersteps.cuts == {"r": (1, 0)}
    assert supersteps.below == {"e@0", "r@1#base"}
    # what others read in those cuts is there, and does not come again
    assert "s@1(y) :- r@1(_0, y), !e@0(y, _)." in [
        rule.replace("s@0", "s@1") for rule in rules(made)[1]
    ]
    assert [feed.cut for feed in made.feeds if feed.relation == "r" and not feed.standing] == []
    (out,) = [output for output in made.outputs if output.relation == "r"]
    assert out.cuts == (1, 0)


def test_recursion_over_a_large_relation_goes_in_rounds_sooner_than_reading_it_whole() -> None:
    text = EDGE + ".decl r(x: number, y: number)\nr(x, y) :- e(x, y).\nr(x, z) :- r(x, y), e(y, z)."
    assert plan(text, e=10**6).stages[0].supersteps is None
    supersteps = plan(text, e=10**9).stages[0].supersteps
    assert supersteps is not None
    assert list_rule(supersteps.rules[1]) == "r~(x, z) :- r@1(x, y), e@0(y, z)."


def test_least_values_are_never_what_rows_lie_by() -> None:
    text = (
        EDGE
        + ".decl d(x: number, n: number)\nd(x, min(0)) :- e(x, _), x < 3.\nd(y, min(n + 1)) :- "
        "d(x, n), e(x, y)."
    )
    supersteps = plan(text).stages[0].supersteps
    assert supersteps is not None
    assert supersteps.cuts == {"d!": (0,)}


def test_a_view_read_by_another_column_travels() -> None:
    text = (
        EDGE
        + ".decl r(x: number, y: number)\nr(x, y) :- e(x, y), x < 3.\n.decl s(y: number)\ns(y) :- "
        "r(_, y), !e(y, _)."
    )
    made = plan(text)
    assert rules(made) == [
        ["r@0(x, y) :- e@0(x, y), x < 3."],
        ["s@0(y) :- r@1(_0, y), !e@0(y, _)."],
    ]
    (out,) = [output for output in made.outputs if output.relation == "r"]
    assert (out.cuts, out.stage) == ((0, 1), 0)
    (feed,) = [feed for feed in made.feeds if feed.relation == "r"]
    assert (feed.cut, feed.stage) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        ".decl F[x: number]: number\nF[x] = y :- e(x, y).",
        ".decl F[x: number]: number\nF[y] = x :- e(x, y).",
    ],
)
def test_the_rows_of_a_key_are_in_one_part(text: str) -> None:
    assert plan(EDGE + text).homes["F"] == 0


def test_string_functors_and_facts() -> None:
    made = plan(
        '.decl w(s: symbol)\n.decl l(s: symbol, n: number)\nl(s, strlen(s)) :- w(s), s != "".\n'
        ".decl one(x: number)\none(1) :- true."
    )
    assert made.homes["l"] == 0
    assert len(made.stages) == 1
    assert made.homes["one"] == ONE


def test_equal_programs_have_one_digest() -> None:
    program, _ = Program().add(parse(EDGE))
    first, second = described(program, frozenset(), {}), described(program, frozenset({"e"}), {})
    assert digest(first) == digest(dict(reversed(first.items())))
    assert digest(first) != digest(second)


@pytest.mark.parametrize("hubs", [None, HUBS])
def test_the_plan_knows_in_which_cut_each_local_relation_is_held(
    hubs: dict[str, Any] | None,
) -> None:
    views = (
        "t(x, z) :- e(x, y), e(y, z), e(x, z). p(x, y) :- e(x, y). p(x, z) :- p(x, y), p(y, "
        "z). n(count()) :- p(_, _)."
    )
    made = plan(
        EDGE + X.format("t", "z") + X.format("p", "y") + ".decl n(n: number)\n" + views, hubs
    )
    unplaced = {local for local in made.local if "@" not in local}
    assert made.held.keys() == made.local.keys() - unplaced
    assert unplaced == {"p~", "n%"}
    for local, (name, cut) in made.held.items():
        share = local_name(without_role(name, Role.BASE), cut)
        assert local == (base_name(share) if in_role(name, Role.BASE) else share)


def test_best_values_in_rounds_have_witnesses_beside_them() -> None:
    text = (
        EDGE
        + """
        .decl l(x: number, k: number)
        l(x, min(x)) :- e(x, _).
        l(y, min(k)) :- l(x, k), e(x, y).
    """
    )
    (stage,) = plan(text).stages
    assert stage.supersteps is not None
    assert [list_rule(rule) for rule in stage.supersteps.rules] == [
        "l!~(x, min(x), _!2, _!3) :- e@0(x, _1), _!2 := 0, _!3 := 0.",
        "l!~(y, min(k), _!5, _!6) :- l!@0(x, k, _!3, _!4), e@0(x, y), _!5 := 1, _!6 := x.",
    ]
    assert stage.supersteps.plain == {"l!@0": "l@0"}
    made = plan(text)
    assert made.homes["l"] == 0
    assert {
        feed.relation: feed.standing for feed in made.feeds if feed.relation in ("l", "l!")
    } == {"l": True, "l!": True}


@pytest.mark.parametrize(
    "rule",
    [
        # held by another column, or whole, as well
        "l(x, min(k + m)) :- l(x, k), l(y, m), e(y, x).",
        "l(y, min(max(k - 1, 0))) :- l(x, k), e(x, y).",  # what is the best may rest on what is not
    ],
)
def test_not_all_best_values_do(rule: str) -> None:
    made = plan(EDGE + f".decl l(x: number, k: number)\nl(x, min(x)) :- e(x, _).\n{rule}")
    assert not [name for name in made.local if "!" in name]
