"""Plans: what becomes a level, what takes part there, and what is computed and tested where."""

from __future__ import annotations

import random
from typing import Any

import pytest

from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import Apply, Filter, NormalRule, Ref, Value
from lftj.scantree import Arena
from lftj.types import FLOAT, INT
from tests.unit.join.bodies import Body, relations
from tests.unit.join.random_rules import database, random_order, random_rows, random_rule

SIZES = {"e": (20, 5, 5), "f": (20, 5, 5), "t": (30, 5, 5, 5), "n": (4, 4), "o": (1,)}
ONE_MORE = Apply("+", (Ref(0), Value(1, INT)), INT)


def planned(body: Body, order: str, needed: str = "", **options: Any) -> RulePlan:
    return plan_of(body.rule, relations(SIZES), order, body.numbers(needed), **options)


def plan_of(
    rule: NormalRule,
    data: Any,
    order: str | None,
    needed: tuple[int, ...],
    count: bool = True,
    lasting: bool = False,
) -> RulePlan:
    forced = None if order is None else tuple(order.split())
    return make_plan(rule, needed, data, Statistics(), count=count, forced=forced, lasting=lasting)


def names(plan: RulePlan) -> list[str]:
    return [level.name for level in plan.levels]


# ── levels ────────────────────────────────────────────────────────────────────────────────────────
def test_a_forced_order_is_kept_and_completed():
    body = Body("x y z", [("t", "xyz")])
    assert planned(body, "z").variable_order == ("z", "x", "y")
    assert planned(body, "y z nobody x").variable_order == ("y", "z", "x")


def test_constants_have_levels_of_their_own_which_atoms_share():
    plan = planned(Body("x", [("e", [3, "x"]), ("f", ["x", 3])]), "x")
    assert names(plan) == ["=3", "x"]
    assert [(atom.order, atom.levels) for atom in plan.atoms] == [
        ((0, 1), (0, 1)),
        ((1, 0), (0, 1)),
    ]


def test_a_constant_twice_in_one_atom_takes_two_levels():
    plan = planned(Body("x", [("t", [3, "x", 3]), ("e", [3, 4]), ("e", ["x", 4])]), "x")
    assert names(plan) == ["=3", "=3", "=4", "x"]
    assert [atom.levels for atom in plan.atoms] == [(0, 1, 3), (0, 2), (2, 3)]


def test_constants_of_different_types_are_different():
    body = Body("x", [("t", [1, 2, "x"])])
    rule = body.rule
    rule = NormalRule(
        1,
        "r",
        (),
        rule.variables,
        (type(rule.atoms[0])("t", (Value(1, INT), Value(1.0, FLOAT), Ref(0))),),
    )
    assert len(plan_of(rule, relations(SIZES), "x", ()).levels) == 3


def test_a_repeated_variable_has_a_level_for_each_occurrence_within_an_atom():
    plan = planned(Body("x y", [("t", "xyx"), ("e", "xy"), ("e", "xx")]), "x y")
    assert names(plan) == ["x", "=x", "y"]
    assert plan.levels[1].value == Ref(0)
    assert [(atom.order, atom.levels) for atom in plan.atoms] == [
        ((0, 2, 1), (0, 1, 2)),
        ((0, 1), (0, 2)),
        ((0, 1), (0, 1)),
    ]


def test_an_atom_without_columns_reads_its_stored_zero():
    plan = planned(Body("x", [("o", []), ("n", "x")]), "x")
    assert names(plan) == ["=0", "x"]
    assert plan.levels[0].value == Value(0, INT)
    assert plan.atoms[0].levels == (0,)


def test_a_body_that_binds_nothing_has_one_level():
    assert names(planned(Body("", [], negated=[("o", [])]), "")) == ["=true"]


# ── what is computed and tested where ─────────────────────────────────────────────────────────────
def test_an_assignment_is_a_value_where_its_inputs_come_first_and_a_filter_elsewhere():
    body = Body("x y", [("e", "xy")], assignments=[("y", ONE_MORE)])
    before, after = planned(body, "x y"), planned(body, "y x")
    assert [level.value for level in before.levels] == [None, ONE_MORE]
    assert [level.filters for level in before.levels] == [[], []]
    assert [level.value for level in after.levels] == [None, None]
    assert [level.filters for level in after.levels] == [[], [Filter("=", Ref(1), ONE_MORE)]]


def test_a_second_assignment_of_a_variable_is_a_filter():
    other = Apply("*", (Ref(0), Ref(0)), INT)
    plan = planned(Body("x y", [("n", "x")], assignments=[("y", ONE_MORE), ("y", other)]), "x y")
    assert plan.levels[1].value == ONE_MORE
    assert plan.levels[1].filters == [Filter("=", Ref(1), other)]


def test_comparisons_are_tested_where_both_sides_are_known():
    body = Body("x y z", [("t", "xyz")], filters=[("<", "x", "y"), ("!=", "z", 4), (">", "y", "z")])
    plan = planned(body, "y z x")
    assert [[f.operator for f in level.filters] for level in plan.levels] == [
        [],
        ["!=", ">"],
        ["<"],
    ]


def test_comparisons_come_after_the_levels_of_constants():
    plan = planned(Body("x", [("e", [3, "x"])], filters=[("<", "x", 9)]), "x")
    assert [len(level.filters) for level in plan.levels] == [0, 1]


# ── negated atoms ─────────────────────────────────────────────────────────────────────────────────
def test_a_probe_looks_up_its_bound_columns_at_the_last_of_their_levels():
    plan = planned(
        Body("x y", [("e", "xy")], negated=[("t", [None, "y", "x"]), ("e", ["x", None])]), "x y"
    )
    assert [level.probes for level in plan.levels] == [[1], [0]]
    assert [(probe.order, probe.args) for probe in plan.probes] == [
        ((1, 2, 0), (Ref(1), Ref(0))),
        ((0, 1), (Ref(0),)),
    ]


def test_a_probe_takes_an_existing_key_order_that_begins_with_its_columns():
    body = Body("x y", [("e", "xy")], negated=[("t", [None, "x", "y"])])
    data = relations(SIZES)
    data["t"].tree((2, 1, 0))
    assert plan_of(body.rule, data, "x y", ()).probes[0].order == (2, 1, 0)
    assert plan_of(body.rule, data, "x y", ()).probes[0].args == (Ref(1), Ref(0))


def test_a_probe_for_constants_is_made_once_at_the_first_level():
    plan = planned(Body("x", [("n", "x")], negated=[("e", [1, 2]), ("o", [])]), "x")
    assert plan.levels[0].probes == [0, 1]
    assert [probe.args for probe in plan.probes] == [
        (Value(1, INT), Value(2, INT)),
        (Value(0, INT),),
    ]


# ── what comes out ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("needed", "emit", "outputs"), [("", 0, ()), ("x", 2, (1,)), ("y x", 3, (2, 1)), ("z", 4, (3,))]
)
def test_rows_come_out_below_the_last_needed_level(
    needed: str, emit: int, outputs: tuple[int, ...]
):
    plan = planned(Body("x y z", [("t", "xyz"), ("e", [7, "x"])]), "x y z", needed)
    assert (plan.emit_level, plan.outputs) == (emit, outputs)


def test_a_plan_names_the_key_orders_it_reads():
    plan = planned(Body("x y", [("e", "xy"), ("f", "yx")], negated=[("n", "y")]), "x y")
    assert list(plan.key_orders()) == [("e", (0, 1)), ("f", (1, 0)), ("n", (0,))]


def test_a_lasting_plan_chooses_for_itself():
    body = Body("x y", [("e", "xy"), ("n", "y")])
    assert planned(body, "x y").variable_order == ("x", "y")
    assert planned(body, "x y", lasting=True).variable_order == ("y", "x")


def test_random_plans_are_consistent():
    by = random.Random(3)
    for _ in range(200):
        rule = random_rule(by)
        order = random_order(by, rule)
        needed = tuple(by.sample(range(len(order)), by.randrange(len(order) + 1)))
        plan = plan_of(
            rule, database(random_rows(by), Arena()), by.choice((None, " ".join(order))), needed
        )
        place = {
            level.variable: i for i, level in enumerate(plan.levels) if level.variable is not None
        }
        assert sorted(place) == list(range(len(rule.variables)))
        for atom, source in zip(plan.atoms, rule.atoms, strict=True):
            assert sorted(atom.order) == list(range(max(1, len(source.args))))
            assert list(atom.levels) == sorted(set(atom.levels))
            for column, number in zip(atom.order, atom.levels, strict=True):
                argument = source.args[column] if source.args else Value(0, INT)
                level = plan.levels[number]
                variable = level.variable if level.variable is not None else level.value
                assert variable in (
                    (argument.variable, argument) if isinstance(argument, Ref) else (argument,)
                )
        for number, level in enumerate(plan.levels):
            read = [level.value] if level.value is not None else []
            assert all(place[v] < number for each in read for v in variables_of(each))
            assert all(
                place[v] <= number
                for f in level.filters
                for side in (f.left, f.right)
                for v in variables_of(side)
            )
            assert all(
                place[a.variable] <= number
                for p in level.probes
                for a in plan.probes[p].args
                if isinstance(a, Ref)
            )
        assert sorted(p for level in plan.levels for p in level.probes) == list(
            range(len(rule.negated))
        )
        computed = sum(
            level.variable is not None and level.value is not None for level in plan.levels
        )
        assert sum(len(level.filters) for level in plan.levels) + computed == len(
            rule.filters
        ) + len(rule.assignments)
