# SPDX-License-Identifier: Apache-2.0
"""The words of Python rules: variables, functions, aggregates, and the conversion to the syntax
tree.

    x, y, z = vars("x y z")
    reach(x, z) <= reach(x, y) & edge(y, z) & (x != z)

makes the tree that `reach(x, z) :- reach(x, y), edge(y, z), x != z.` makes.
"""

from __future__ import annotations

from typing import cast

from lftj.errors import ExpressionError
from lftj.errors.nearest import closest
from lftj.functions.aggregates import IN_BRACES
from lftj.syntax import functors, tree
from lftj.syntax.conversion import check_name, make_rule, to_literals, to_term
from lftj.syntax.expressions import Expression, Formula, Var, call, compare
from lftj.syntax.predicate import FunctionTerm, Predicate

_ = Expression(tree.Wildcard())
"""Any value: a variable of its own at each occurrence."""


PARAMETER = "?"
"""The name under which a variable of a question is a parameter."""

parameter = Expression(tree.Variable(PARAMETER))
"""A value that comes when a question is asked, another at each occurrence, in a text `?`:
`ws.query(reach(parameter, y), 1)`.
"""


def vars(names: str) -> tuple[Var, ...]:
    """The variables that `names` lists, separated by spaces or commas: `x, y = vars("x y")`.

    Always a tuple, also of one, `(x,) = vars("x")`, so that the number of names never changes the
    type; one alone is `x = Var("x")`.
    """
    if not isinstance(names, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- not everybody runs a type checker
        raise ExpressionError(
            f"the names of variables are one text, found {names!r}", hint='write x, y = vars("x y")'
        )
    return tuple(Var(name) for name in names.replace(",", " ").split())


def to_tree(expression: object) -> tree.Node:
    """The tree of a Python expression: a term, one condition, or a body of several; trees are
    returned as they are.
    """
    if isinstance(expression, tree.Node):
        return expression
    if isinstance(expression, Formula):
        return (
            expression.literals[0]
            if len(expression.literals) == 1
            else tree.Body(expression.literals)
        )
    return to_term(expression)


def rule(head: Formula, body: object = None) -> tree.Rule:
    """`head <= body`; without a body, the fact that `head` states."""
    return make_rule(head, tree.Body(() if body is None else to_literals(body)))


# ── functions of terms ────────────────────────────────────────────────────────────────────────────
def cat(first: object, *more: object) -> Expression:
    """The strings one after another."""
    return call("cat", first, *more)


def range_(first: object, end: object, *step: object) -> Expression:
    """Each number from `first` on, without `end`: `x == range_(0, 3)` is made true by
    0, 1 and 2.
    """
    return call("range", first, end, *step)


def strlen(text: object) -> Expression:
    """The number of characters (code points) of `text`, an int."""
    return call("strlen", text)


def substr(text: object, first: object, length: object) -> Expression:
    """`length` characters of `text` from number `first` on, counted from 0.

    As many as there are: at the end fewer, and none where `first` is beyond it or a number is
    negative.
    """
    return call("substr", text, first, length)


def to_string(value: object) -> Expression:
    """The text of a value of any type, a str."""
    return call("to_string", value)


def to_number(text: object) -> Expression:
    """The integer that `text` holds, also as `0x1f` or `0b101`; of a float, what is left without
    its fraction.

    ValueTypeError (E210) where a text holds none, ValueRangeError (E220) where it is outside 64
    bits.
    """
    return call("to_number", text)


def to_unsigned(value: object) -> Expression:
    """An int, the whole part of a float, or the integer that a string holds, as an unsigned.

    ValueRangeError (E220) where it is below 0, ValueTypeError (E210) where a text holds none.
    """
    return call("to_unsigned", value)


def to_float(value: object) -> Expression:
    """The float nearest to an int, to a decimal, or to the number that a string holds.

    ValueTypeError (E210) where a string holds no number, ValueRangeError (E220) where it is too
    large for a float.
    """
    return call("to_float", value)


def to_date(time: object) -> Expression:
    """The date of a timestamp."""
    return call("to_date", time)


def year(date: object) -> Expression:
    """The year of a date or of a timestamp."""
    return call("year", date)


def month(date: object) -> Expression:
    """The month of a date or of a timestamp, from 1 to 12."""
    return call("month", date)


def day(date: object) -> Expression:
    """The day of the month of a date or of a timestamp, from 1 to 31."""
    return call("day", date)


def round_(value: object, places: int | None = None) -> Expression:
    """A float, as a float, or a decimal or an integer, as a decimal, with so many places (None:
    with none), halves away from zero. A float is rounded as it is written: 2.675 to 2.68.
    """
    return call("round", value) if places is None else call("round", value, places)


def band(left: object, right: object) -> Expression:
    """Bitwise and of two integers."""
    return call("band", left, right)


def bor(left: object, right: object) -> Expression:
    """Bitwise or of two integers."""
    return call("bor", left, right)


def bxor(left: object, right: object) -> Expression:
    """Bitwise exclusive or of two integers."""
    return call("bxor", left, right)


def bnot(value: object) -> Expression:
    """All bits of an integer inverted."""
    return call("bnot", value)


def bshl(value: object, bits: object) -> Expression:
    """An integer shifted left by so many bits, modulo 64; what leaves the 64 bits is lost, and is
    no error.
    """
    return call("bshl", value, bits)


def bshr(value: object, bits: object) -> Expression:
    """An integer shifted right by so many bits, modulo 64, keeping its sign."""
    return call("bshr", value, bits)


def bshru(value: object, bits: object) -> Expression:
    """An integer shifted right by so many bits, modulo 64, zeros coming in."""
    return call("bshru", value, bits)


def land(left: object, right: object) -> Expression:
    """1 when both integers differ from 0, else 0."""
    return call("land", left, right)


def lor(left: object, right: object) -> Expression:
    """1 when one of the integers differs from 0, else 0."""
    return call("lor", left, right)


def lxor(left: object, right: object) -> Expression:
    """1 when one of the integers differs from 0 and the other does not, else 0."""
    return call("lxor", left, right)


def lnot(value: object) -> Expression:
    """1 for 0, else 0."""
    return call("lnot", value)


def contains(part: object, text: object) -> Formula:
    """The condition that `part` occurs in `text`."""
    return compare("contains", part, text)


def choice(determining: object, determined: object) -> Formula:
    """The condition that for each value of `determining`, a variable or a tuple of them, one value
    of `determined` is chosen.
    """
    return Formula((tree.Choice(_listed(determining), _listed(determined)),))


def optional(condition: object) -> Formula:
    """The rows that match a condition, or NULL in place of the variables that it alone binds where
    none does: a left join, in a text `( … )?`.
    """
    return Formula((tree.LeftJoin((tree.Body(to_literals(condition)),)),))


def _listed(terms: object) -> tuple[tree.Term, ...]:
    return tuple(
        to_term(term)
        for term in cast("tuple[object, ...]", terms if isinstance(terms, tuple) else (terms,))
    )


def match(pattern: object, text: object) -> Formula:
    """The condition that the regular expression `pattern` matches all of `text`."""
    return compare("match", pattern, text)


# ── aggregates of a head ──────────────────────────────────────────────────────────────────────────
def _head_aggregate(function: str, *args: object) -> Expression:
    return Expression(tree.HeadAggregate(function, tuple(to_term(arg) for arg in args)))


def count() -> Expression:
    """Number of distinct assignments of all body variables in the group, in a head."""
    return _head_aggregate("count")


def sum_(value: object) -> Expression:
    """Sum of `value` over the group, of its type, in a head. Of ints exact or ValueRangeError
    (E220), of floats correctly rounded.
    """
    return _head_aggregate("sum", value)


def mean(value: object) -> Expression:
    """Mean of `value`, an int, float or decimal, over the group, in a head: a float, the exact
    total over the count.
    """
    return _head_aggregate("mean", value)


def min_(first: object, *more: object) -> Expression:
    """Least `first` of the group, in a head. With several arguments, anywhere: the least of
    them.
    """
    return call("min", first, *more) if more else _head_aggregate("min", first)


def max_(first: object, *more: object) -> Expression:
    """Greatest `first` of the group, in a head. With several arguments, anywhere: the greatest of
    them.
    """
    return call("max", first, *more) if more else _head_aggregate("max", first)


def concat(text: object, separator: object = "", *order: object) -> Expression:
    """Concatenation of the group's strings, `separator` between them, in the order of `order` (and
    of the strings), in a head.
    """
    return _head_aggregate("concat", text, separator, *order)


def agg(name: str, *args: object) -> Expression:
    """Aggregate that `ws.add_aggregate` registered as `name`, of these arguments, in a head."""
    check_name(name, functors.RESERVED_VARIABLES - functors.BODY_AGGREGATES, "aggregate")
    if functors.is_functor(name) and not (name in functors.BODY_AGGREGATES and len(args) == 1):
        raise ExpressionError(f"{name} is a function, not an aggregate", hint=functors.USAGE[name])
    return _head_aggregate(name, *args)


# ── aggregates of a body ──────────────────────────────────────────────────────────────────────────
def aggregate(function: str, *given: object) -> Expression:
    """An aggregate over a body of its own, which is the last that is given: `n ==
    aggregate("count", a(x, _))`, `s == aggregate("sum", y, a(x, y))`, `l == aggregate("last", y,
    t, a(y, t))`.

    Its value for no assignment is 0 for count and sum; min, max and mean then make the condition
    round them fail.
    """
    if function not in functors.BODY_AGGREGATES:
        near = closest(function, functors.BODY_AGGREGATES)
        hint = (
            f"did you mean {near}?"
            if near
            else f"bodies know {', '.join(sorted(functors.BODY_AGGREGATES))}"
        )
        raise ExpressionError(f"there is no aggregate {function!r} for bodies", hint=hint)
    known, terms = IN_BRACES[function], [each for each in given[:-1] if each is not None]
    count = len(terms)
    if not known.takes_in_braces(count):
        hint = 'write aggregate("count", body), and aggregate("sum", term, body) for the others'
        if known.of_values and not known.takes(1):
            hint = f'write aggregate("{function}", x, {known.arguments[1]}, body)'
        takes = f"takes {known.wanted}" if count > 0 else "needs a term"
        raise ExpressionError(f"{function} {takes} before the body", hint=hint)
    args = tuple(map(to_term, terms))
    return Expression(tree.Aggregate(function, args, tree.Body(to_literals(given[-1]))))


__all__ = [
    "Expression", "Formula", "FunctionTerm", "Predicate", "Var", "_", "agg", "aggregate", "band",
    "bnot", "bor", "bshl",
    "bshr", "bshru", "bxor", "cat", "choice", "concat", "contains", "count", "day", "land", "lnot",
    "lor", "lxor", "match", "max_", "mean",
    "min_", "month", "optional", "round_", "rule", "strlen", "substr", "sum_", "to_date",
    "to_float", "to_number", "to_string", "to_tree", "vars",
    "year",
]  # fmt: skip
