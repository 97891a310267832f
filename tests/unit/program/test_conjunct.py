"""Equations become assignments, filters, or one variable in place of two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lftj.program.normal_form import Apply, Assignment, Expression, Filter, Ref, Value
from lftj.program.rewrites.conjunctive_rules import orient
from lftj.types import INT


def plus(*variables: int) -> Expression:
    """The sum of variables and 1."""
    made: Expression = Value(1, INT)
    for variable in variables:
        made = Apply("+", (Ref(variable), made), INT)
    return made


def test_unbound_variables_are_assigned_in_order():
    equations = [Filter("=", Ref(2), plus(1)), Filter("=", plus(0), Ref(1))]
    assert orient(equations, frozenset({0})) == (
        [Assignment(1, plus(0)), Assignment(2, plus(1))],
        [],
    )


def test_a_bound_variable_may_be_assigned_once():
    equations = [Filter("=", Ref(1), plus(0)), Filter("=", Ref(1), plus(0, 0))]
    assert orient(equations, frozenset({0, 1})) == (
        [Assignment(1, plus(0))],
        [Filter("=", Ref(1), plus(0, 0))],
    )


def test_an_equation_of_two_expressions_is_a_filter():
    equation = Filter("=", plus(0), plus(1))
    assert orient([equation], frozenset({0, 1})) == ([], [equation])


def test_an_equation_that_fixes_itself_is_a_filter():
    equation = Filter("=", Ref(0), plus(0))
    assert orient([equation], frozenset({0})) == ([], [equation])


pairs = st.tuples(st.integers(0, 4), st.lists(st.integers(0, 4), max_size=2))


@given(st.lists(pairs, max_size=6))
def test_assignments_close_no_circle_and_nothing_is_lost(drawn: list[tuple[int, list[int]]]):
    equations = list(dict.fromkeys(Filter("=", Ref(left), plus(*right)) for left, right in drawn))
    assignments, filters = orient(equations, frozenset(range(5)))
    assert [
        *filters,
        *(Filter("=", Ref(each.variable), each.expression) for each in assignments),
    ].sort(key=str) == equations.sort(key=str)
    assert len(assignments) + len(filters) == len(equations)
    done: set[int] = set(range(5)) - {each.variable for each in assignments}
    waiting = list(assignments)
    while waiting:
        ready = [each for each in waiting if _variables(each.expression) <= done]
        assert ready
        done |= {each.variable for each in ready}
        waiting = [each for each in waiting if each not in ready]


def _variables(expression: Expression) -> set[int]:
    if isinstance(expression, Ref):
        return {expression.variable}
    return (
        {found for arg in expression.args for found in _variables(arg)}
        if isinstance(expression, Apply)
        else set()
    )
