"""Terms over variables that are already bound: arithmetic that cannot fail on small values, and
functors on strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from lftj.syntax import tree
from tests.strategies.schemas import COST, pick, values

Draw = st.DrawFn
Typed = dict[str, str]
"""Variable names with their types."""

ORDERED = ("<", "<=", ">", ">=")


def of_type(bound: Typed, type_: str) -> list[str]:
    """The bound variables of a type."""
    return [name for name, each in bound.items() if each == type_]


def plain(draw: Draw, bound: Typed, type_: str) -> tree.Term:
    """A bound variable of the type if there is one, now and then (and else) a constant."""
    names = of_type(bound, type_)
    if names and draw(st.integers(0, 4)):
        return tree.Variable(pick(draw, names))
    return tree.Constant(draw(values(type_)))


def _integer(draw: Draw, bound: Typed, functors: bool) -> tree.Term:
    left = plain(draw, bound, "int")
    days = ["days", "year", "month", "day"] * bool(of_type(bound, "date"))
    whole = ["to_number"] * bool(of_type(bound, COST))
    kind = pick(
        draw,
        [
            "+",
            "-",
            "*",
            "/",
            "%",
            "neg",
            "abs",
            "min",
            "max",
            "band",
            *["strlen"] * functors,
            *days,
            *whole,
        ],
    )
    if kind in ("neg", "abs"):
        return tree.Call(kind, (left,))
    if kind == "strlen":
        return tree.Call("strlen", (plain(draw, bound, "str"),))
    if kind in ("year", "month", "day"):
        return tree.Call(kind, (plain(draw, bound, pick(draw, ["date", "timestamp"])),))
    if kind == "to_number":
        return tree.Call(kind, (plain(draw, bound, COST),))
    if kind == "days":
        between = tree.Call("-", (plain(draw, bound, "date"), plain(draw, bound, "date")))
        return tree.Call("%", (between, tree.Constant(3)))
    if kind in "/%":
        return tree.Call(kind, (left, tree.Constant(pick(draw, [2, 3, -2]))))
    right = plain(draw, bound, "int")
    return tree.Call(kind, (left, right))


def _cost(draw: Draw, bound: Typed) -> tree.Term:
    first = plain(draw, bound, COST)
    if draw(st.booleans()):
        return tree.Call("*", (first, plain(draw, bound, "int")))
    return tree.Call("round", (tree.Call("*", (first, plain(draw, bound, COST))), tree.Constant(2)))


def _string(draw: Draw, bound: Typed) -> tree.Term:
    first = plain(draw, bound, "str")
    kind = pick(draw, ["cat", "min", "max", "substr", "to_string"])
    if kind in ("cat", "min", "max"):
        return tree.Call(kind, (first, plain(draw, bound, "str")))
    if kind == "substr":
        return tree.Call(
            "substr", (first, tree.Constant(draw(st.integers(0, 1))), tree.Constant(1))
        )
    types = sorted({"int", *bound.values()} - {"float"})  # which DuckDB writes differently
    return tree.Call("to_string", (plain(draw, bound, pick(draw, types)),))


def expression(draw: Draw, bound: Typed, type_: str, functors: bool = True) -> tree.Term:
    """A term that computes: its variables are bound, and it fails for no value of the small
    domains. `functors`: those on strings too.
    """
    if type_ == "int":
        return _integer(draw, bound, functors)
    if type_ == "str" and functors:
        return _string(draw, bound)
    if type_ in ("str", "bool"):
        return plain(draw, bound, type_)
    if type_ == COST and draw(st.booleans()):
        return _cost(draw, bound)
    if type_ == "float" and of_type(bound, COST) and draw(st.booleans()):
        return tree.Call("to_float", (plain(draw, bound, COST),))
    if type_ == "date" and of_type(bound, "timestamp") and draw(st.booleans()):
        return tree.Call("to_date", (plain(draw, bound, "timestamp"),))
    operator = pick(draw, ["min", "max"] if type_ == "timestamp" else ["+", "-", "min", "max"])
    if type_ == "date" and operator in "+-":
        return tree.Call(
            operator, (plain(draw, bound, type_), tree.Constant(draw(st.integers(0, 2))))
        )
    return tree.Call(operator, (plain(draw, bound, type_), plain(draw, bound, type_)))


def comparison(
    draw: Draw, bound: Typed, computed: bool = True, functors: bool = True
) -> tree.Comparison:
    """A test on bound variables; `computed` admits expressions on one side."""
    name = pick(draw, sorted(bound))
    type_ = bound[name]
    operators: Sequence[str] = (
        ("!=", "=") if type_ == "bool" else ("!=", "!=", *ORDERED, "<=", ">=", "=")
    )
    complex_ = computed and not draw(st.integers(0, 2))
    right = expression(draw, bound, type_, functors) if complex_ else plain(draw, bound, type_)
    return tree.Comparison(pick(draw, operators), tree.Variable(name), right)
