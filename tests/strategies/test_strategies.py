"""Guarantees of the Hypothesis strategies: programs that are safe and stratified, and that exercise
every construct.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lftj.proofs.nested_loops import mentioned
from lftj.syntax import tree
from tests.reference import evaluate
from tests.reference.sql import answer
from tests.strategies.histories import Change, History, Transact, histories
from tests.strategies.programs import Program, View, conjunctive_rules, programs
from tests.strategies.schemas import BASES, COST, NULLED, Row, databases

ANY = settings(max_examples=2000, phases=[Phase.generate])
QUARTERS = (0.25, 0.5, 1.0, -2.0)


def nodes(node: object) -> list[tree.Node]:
    """All nodes below and at `node`."""
    if isinstance(node, tuple):
        return [found for each in node for found in nodes(each)]
    return [node, *nodes(tuple(vars(node).values()))] if isinstance(node, tree.Node) else []


def occurs(*tests: Callable[[Program], bool]) -> bool:
    """True when each test holds for one of the programs that are drawn, which has rules."""
    waiting = list(tests)

    def all_held(program: Program) -> bool:
        waiting[:] = [test for test in waiting if not (program.rules and test(program))]
        return not waiting

    return bool(find(programs(), all_held, settings=ANY))


@given(programs(functions=False), databases())
def test_programs_are_safe_and_stratified(program: Program, facts: dict[str, list[Row]]):
    derived = evaluate((*program.declarations, *program.rules), facts)
    assert all(
        len(row) == len(view.spec.types)
        for view in program.views
        for row in derived[view.spec.name]
    )


@given(conjunctive_rules(), databases())
@settings(max_examples=2 * settings().max_examples)
def test_the_reference_agrees_with_duckdb(rule: tree.Rule, facts: dict[str, list[Row]]):
    facts["weight"] = list(
        {(x, y, QUARTERS[place % 4]) for place, (x, y, _) in enumerate(facts["weight"])}
    )
    facts["note"] = list(
        {(x, y and QUARTERS[place % 4], z) for place, (x, y, z) in enumerate(facts["note"])}
    )
    types = {spec.name: spec.types for spec in BASES}
    assert rounded(evaluate([rule], facts)["goal"]) == rounded(answer(rule, types, facts))


def rounded(rows: set[Row]) -> set[Row]:
    """Rows whose floats have nine digits, since DuckDB adds them one after another."""
    return {
        tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)
        for row in rows
    }


@given(programs(functions=False), st.randoms(use_true_random=False))
def test_the_order_of_literals_does_not_matter_to_the_reference(
    program: Program, random: st.DataObject
):
    facts = {
        spec.name: [tuple([place % 3] * len(spec.types)) for place in range(3)]
        for spec in BASES
        if set(spec.types) == {"int"}
    }
    shuffled = [
        tree.Rule(
            rule.heads, tree.Body(tuple(random.sample(rule.body.literals, len(rule.body.literals))))
        )
        for rule in program.rules
    ]
    assert evaluate((*program.declarations, *program.rules), facts) == evaluate(
        (*program.declarations, *shuffled), facts
    )


def test_every_construct_occurs():
    def every(program: Program) -> bool:
        seen = {type(node) for node in nodes(program.rules)}
        return {tree.Negation, tree.Disjunction, tree.Aggregate, tree.Call} <= seen

    assert occurs(
        lambda program: every(program) and bool(mentioned(program.rules)),
        lambda program: any("concat" in view.aggregates for view in program.views),
        lambda program: any(view.recursive for view in program.views),
        *(
            lambda program, type_=type_: any(aggregates(view, type_) for view in program.views)
            for type_ in ("bool", "date", "timestamp", COST, "int?", "str?")
        ),
    )


def test_null_occurs():
    def asks(program: Program) -> bool:
        """Test for a left join: its last branch ends with `is_null`."""
        joins = [each for each in nodes(program.rules) if isinstance(each, tree.Disjunction)]
        ends = [each.branches[-1].literals[-1] for each in joins if each.branches[-1].literals]
        return any(isinstance(end, tree.Comparison) and end.operator == "is_null" for end in ends)

    def has_null(program: Program, kind: str) -> bool:
        views = [view for view in program.views if not NULLED.isdisjoint(view.spec.types)]
        return any(view.recursive if kind == "recursive" else view.aggregates for view in views)

    assert occurs(
        asks,
        lambda program: has_null(program, "recursive"),
        lambda program: has_null(program, "aggregate"),
    )


def aggregates(view: View, type_: str) -> bool:
    """Test for a view with several aggregates, one of which gives values of this type."""
    return len(view.aggregates) > 1 and type_ in view.spec.types[-len(view.aggregates) :]


def test_histories_change_what_the_program_reads():
    def upserts(history: History) -> bool:
        return any(
            isinstance(action, Change) and action.verb == "upsert"
            for step in history.steps
            if isinstance(step, Transact)
            for action in step.actions
        )

    assert find(histories(), upserts, settings=ANY).steps
