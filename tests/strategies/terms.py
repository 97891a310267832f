"""Terms over variables that are already bound: arithmetic that cannot fail on small values, and
functors on strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from lftj.syntax import tree
from tests.strategies.schemas import COST, NULLED, constants, optional, pick, required

Draw = st.DrawFn
Typed = dict[str, str]
"""Variable names with their types."""

ORDERED = ("<", "<=", ">", ">=")


def of_type(bound: Typed, type_: str) -> list[str]:
    """The bound variables of a type; of an optional one those without NULL too."""
    if type_ in NULLED:
        return [name for name, each in bound.items() if required(each) == required(type_)]
    return [name for name, each in bound.items() if each == type_]


def plain(draw: Draw, bound: Typed, type_: str) -> tree.Term:
    """A bound variable of the type if there is one, now and then (and else) a constant."""
    names = of_type(bound, type_)
    if names and draw(st.integers(0, 4)):
        return tree.Variable(pick(draw, names))
    missing = [] if type_ in NULLED else of_type(bound, optional(type_))
    if missing and draw(st.booleans()):
        constant = tree.Constant(draw(constants(type_)))
        return tree.Call("coalesce", (tree.Variable(pick(draw, missing)), constant))
    return tree.Constant(draw(constants(type_)))


def like(type_: str, other: str) -> str:
    """The other type, with NULL where this one has it."""
    return optional(other) if type_ in NULLED else other


def _integer(draw: Draw, bound: Typed, type_: str, functors: bool) -> tree.Term:
    left = plain(draw, bound, type_)
    date, cost, text, stamp = (like(type_, each) for each in ("date", COST, "str", "timestamp"))
    days = ["days", "year", "month", "day"] * bool(of_type(bound, date))
    whole = ["to_number"] * bool(of_type(bound, cost))
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
        return tree.Call("strlen", (plain(draw, bound, text),))
    if kind in ("year", "month", "day"):
        return tree.Call(kind, (plain(draw, bound, pick(draw, [date, stamp])),))
    if kind == "to_number":
        whole = plain(draw, bound, cost)
        rounding = pick(draw, ["", "floor", "ceil", "round"])
        return tree.Call(kind, (tree.Call(rounding, (whole,)) if rounding else whole,))
    if kind == "days":
        between = tree.Call("-", (plain(draw, bound, date), plain(draw, bound, date)))
        return tree.Call("%", (between, tree.Constant(3)))
    if kind in "/%":
        return tree.Call(kind, (left, tree.Constant(pick(draw, [2, 3, -2]))))
    right = plain(draw, bound, type_)
    return tree.Call(kind, (left, right))


def _cost(draw: Draw, bound: Typed, type_: str) -> tree.Term:
    first = plain(draw, bound, type_)
    if draw(st.booleans()):
        return tree.Call("*", (first, plain(draw, bound, like(type_, "int"))))
    return tree.Call(
        "round", (tree.Call("*", (first, plain(draw, bound, type_))), tree.Constant(2))
    )


def _string(draw: Draw, bound: Typed, type_: str) -> tree.Term:
    first = plain(draw, bound, type_)
    kind = pick(draw, ["cat", "min", "max", "substr", "to_string"])
    if kind in ("cat", "min", "max"):
        return tree.Call(kind, (first, plain(draw, bound, type_)))
    if kind == "substr":
        return tree.Call(
            "substr", (first, tree.Constant(draw(st.integers(0, 1))), tree.Constant(1))
        )
    types = {required(each) for each in bound.values()} | {"int"}
    types -= {"float"}  # which DuckDB writes differently
    source = like(type_, pick(draw, sorted(types)))
    return tree.Call("to_string", (plain(draw, bound, source),))


def expression(draw: Draw, bound: Typed, type_: str, functors: bool = True) -> tree.Term:
    """A term that computes: its variables are bound, and it fails for no value of the small
    domains. `functors`: those on strings too.
    """
    plainly, cost, stamp = required(type_), like(type_, COST), like(type_, "timestamp")
    if type_ in NULLED and of_type(bound, type_) and not draw(st.integers(0, 4)):
        return _coalesced(draw, bound, type_)
    if plainly == "int":
        return _integer(draw, bound, type_, functors)
    if plainly == "str" and functors:
        return _string(draw, bound, type_)
    if plainly in ("str", "bool"):
        return plain(draw, bound, type_)
    if plainly == COST and draw(st.booleans()):
        return _cost(draw, bound, type_)
    if plainly == "float" and of_type(bound, cost) and draw(st.booleans()):
        return tree.Call("to_float", (plain(draw, bound, cost),))
    if plainly == "date" and of_type(bound, stamp) and draw(st.booleans()):
        return tree.Call("to_date", (plain(draw, bound, stamp),))
    if plainly == "date" and functors and of_type(bound, type_) and draw(st.booleans()):
        day = plain(draw, bound, type_)
        parts = (tree.Call("year", (day,)), tree.Call("month", (day,)), tree.Constant(1))
        return tree.Call("date", parts)
    if plainly == "float" and functors and draw(st.booleans()):
        return tree.Call("round", (plain(draw, bound, type_), tree.Constant(pick(draw, [0, 1]))))
    operator = pick(draw, ["min", "max"] if plainly == "timestamp" else ["+", "-", "min", "max"])
    if plainly == "date" and operator in "+-":
        return tree.Call(
            operator, (plain(draw, bound, type_), tree.Constant(draw(st.integers(0, 2))))
        )
    return tree.Call(operator, (plain(draw, bound, type_), plain(draw, bound, type_)))


def _coalesced(draw: Draw, bound: Typed, type_: str) -> tree.Term:
    names = of_type(bound, type_)
    return tree.Call("coalesce", tuple(tree.Variable(pick(draw, names)) for _ in range(2)))


def comparison(
    draw: Draw, bound: Typed, computed: bool = True, functors: bool = True
) -> tree.Comparison:
    """A test on bound variables; `computed` admits expressions on one side. Where a variable may be
    NULL, the other side may be, and now and then the test is whether it is.
    """
    name = pick(draw, sorted(bound))
    type_ = bound[name]
    if type_ in NULLED and not draw(st.integers(0, 2)):
        return tree.Comparison("is_null", tree.Variable(name), tree.Variable(name))
    operators: Sequence[str] = (
        ("!=", "=") if required(type_) == "bool" else ("!=", "!=", *ORDERED, "<=", ">=", "=")
    )
    complex_ = computed and not draw(st.integers(0, 2))
    right = expression(draw, bound, type_, functors) if complex_ else plain(draw, bound, type_)
    if required(type_) == COST and complex_ and draw(st.booleans()):  # of another scale
        right = tree.Call("*", (plain(draw, bound, type_), plain(draw, bound, type_)))
    return tree.Comparison(pick(draw, operators), tree.Variable(name), right)
