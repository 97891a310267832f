"""Values at the ends of their ranges: exact results, or an error that leaves everything
as it was.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import ValueRangeError
from lftj.syntax import tree
from tests.oracle.pair import typed
from tests.reference import ArithmeticFailure, evaluate
from tests.reference.trees import atom, call, compare, declare, of_group, rule
from tests.strategies.schemas import Row
from tests.strategies.terms import Draw

TOP = 2**63 - 1
INTEGERS = (0, 1, -1, 2, -3, 10, 2**31, -(2**32), 3037000500, 2**62, TOP, TOP - 1, -TOP, -TOP - 1)
FLOATS = (0.0, 1.0, -1.5, 0.1, 1e16, 1e-16, 5e-324, 1.7976931348623157e308, -1e308, 2.0**53, 3.0)
INTEGER_OPERATORS = ("+", "-", "*", "/", "%", "min", "max", "band", "bor", "bxor", "neg", "bnot")
FLOAT_OPERATORS = ("+", "-", "*", "/", "min", "max", "neg")
AGGREGATES = ("sum", "mean", "min", "max", "count")


@st.composite
def expressions(
    draw: Draw, operators: tuple[str, ...], constants: tuple[float, ...], depth: int = 2
) -> tree.Term:
    """An expression over x and y, each operator with a variable below it: constants alone would be
    computed when the rule is added.
    """
    if depth == 0 or not draw(st.integers(0, 3)):
        return tree.Variable(draw(st.sampled_from("xy")))
    operator = draw(st.sampled_from(operators))
    inner = expressions(operators, constants, depth - 1)
    if operator in ("neg", "bnot"):
        return call(operator, draw(inner))
    args = [draw(inner), draw(st.one_of(inner, st.sampled_from(constants).map(tree.Constant)))]
    return call(operator, *draw(st.permutations(args)))


def pairs(domain: tuple[float, ...]) -> st.SearchStrategy[list[Row]]:
    """Up to five pairs."""
    return st.lists(
        st.tuples(st.sampled_from(domain), st.sampled_from(domain)), max_size=5, unique=True
    )


def judge(type_: str, made: tree.Rule, rows: list[Row], result: str | None = None) -> None:
    """The rule over these rows, in the engine and by the reference: equal rows, or an error of both
    and nothing changed.
    """
    workspace = lftj.connect()
    workspace.relation("n", {"x": type_, "y": type_})
    workspace.view("r", {f"c{place}": result or type_ for place in range(len(made.heads[0].terms))})
    workspace.add_rule(made)
    declarations = [
        declare("n", type_, type_),
        declare("r", *[result or type_] * len(made.heads[0].terms)),
    ]
    try:
        expected = evaluate([*declarations, made], {"n": rows})["r"]
    except ArithmeticFailure:
        with pytest.raises(ValueRangeError), workspace.transaction() as transaction:
            transaction.insert("n", rows)
        assert workspace["n"].fetchall() == workspace["r"].fetchall() == []
    else:
        workspace.load("n", rows)
        assert typed(workspace["r"].fetchall()) == typed(expected)


@given(expressions(INTEGER_OPERATORS, INTEGERS), pairs(INTEGERS))
@settings(max_examples=4 * settings().max_examples)
def test_oracle_integer_arithmetic(expression: tree.Term, rows: list[Row]):
    judge(
        "int",
        rule(atom("r", "x", "y", "z"), atom("n", "x", "y"), compare("z", "=", expression)),
        rows,
    )


@given(expressions(FLOAT_OPERATORS, FLOATS), pairs(FLOATS))
@settings(max_examples=2 * settings().max_examples)
def test_oracle_float_arithmetic(expression: tree.Term, rows: list[Row]):
    judge(
        "float",
        rule(atom("r", "x", "y", "z"), atom("n", "x", "y"), compare("z", "=", expression)),
        rows,
    )


@given(st.sampled_from(AGGREGATES), pairs(INTEGERS))
def test_oracle_integer_aggregates(function: str, rows: list[Row]):
    head = of_group(function) if function == "count" else of_group(function, "y")
    judge(
        "int",
        rule(atom("r", head), atom("n", "_", "y")),
        rows,
        "float" if function == "mean" else None,
    )


@given(st.sampled_from(AGGREGATES[:-1]), pairs(FLOATS))
def test_oracle_float_aggregates(function: str, rows: list[Row]):
    judge("float", rule(atom("r", of_group(function, "y")), atom("n", "_", "y")), rows)
