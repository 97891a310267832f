# SPDX-License-Identifier: Apache-2.0
"""Python expressions that stand for terms and conditions.

Every operator makes a node of the syntax tree at once, so an expression is a thin wrapper round a
node: an `Expression` round a term, a `Formula` round a conjunction of conditions. Python cannot
overload `and`, `or` and `not`; using them raises, with what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from lftj.errors import ArityError, ExpressionError
from lftj.syntax import functors, tree
from lftj.syntax.conversion import (
    ConditionHolder,
    FunctionHolder,
    TermHolder,
    check_name,
    make_rule,
    not_a_condition,
    show,
    to_literals,
    to_term,
)

# What Python would compute of a term at once, and what a rule says instead.

_WHOLE = "lftj.to_number(x), which cuts off the fraction and reads the number that a string holds"


def _refused(written: str, hint: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *others: object) -> NoReturn:
        raise ExpressionError(
            f"`{written.format(repr(self))}` is not known before the rule runs",
            hint=f"write {hint}",
        )

    return refuse


class RefusedOperators:
    """Functions and operators of Python that have another name in rules. They raise
    ExpressionError, with that name.
    """

    __slots__ = ()

    __len__ = _refused("len({})", "lftj.strlen(x)")
    __int__ = __trunc__ = _refused("int({})", _WHOLE)
    __floor__ = _refused("floor({})", "lftj.fn.floor(x)")
    __ceil__ = _refused("ceil({})", "lftj.fn.ceil(x)")
    __round__ = _refused("round({})", "lftj.round_(x, places), or " + _WHOLE)
    __float__ = _refused("float({})", "lftj.to_float(x)")
    __lshift__ = __rlshift__ = _refused("{} << …", "lftj.bshl(x, n)")
    __rshift__ = __rrshift__ = _refused("{} >> …", "lftj.bshr(x, n)")
    __getitem__ = _refused("{}[…]", "lftj.substr(x, first, length)")

    def __iter__(self) -> NoReturn:
        """Refuse `sum`, `min`, `max` and unpacking. A TypeError, as of what is no sequence, which
        all ExpressionErrors are.
        """
        hint = (
            "in a head lftj.sum_(x), lftj.min_(x), lftj.max_(x) aggregate over a group; "
            "lftj.max_(x, y) is the greater of two"
        )
        raise ExpressionError(
            f"`{self!r}` is not known before the rule runs, so Python cannot go through its values",
            hint=hint,
        )

    def __contains__(self, value: object) -> NoReturn:
        raise ExpressionError(
            f"`{value!r} in {self!r}` is not known before the rule runs",
            hint="write lftj.contains(part, text)",
        )


_NO_TRUTH = (
    "use & instead of `and`, | instead of `or`, ~ instead of `not`, and put parentheses round each "
    "comparison: "
    "(x < y) & (y < z); for `x in [1, 2]` write (x == 1) | (x == 2), and lftj.max_(x, y) for "
    "`max(x, y)`"
)


class TermOperators(RefusedOperators, TermHolder):
    """Python's operators on terms."""

    __slots__ = ()
    __array_ufunc__ = None
    """NumPy scalars on the left leave the operator to us."""

    def __repr__(self) -> str:
        return show(self.node)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            f"the truth of `{self!r}` is not known before the rule runs", hint=_NO_TRUTH
        )

    __hash__ = object.__hash__

    # ── arithmetic ────────────────────────────────────────────────────────────────────────────────
    def __add__(self, other: object) -> Expression:
        return call("+", self, other)

    def __radd__(self, other: object) -> Expression:
        return call("+", other, self)

    def __sub__(self, other: object) -> Expression:
        return call("-", self, other)

    def __rsub__(self, other: object) -> Expression:
        return call("-", other, self)

    def __mul__(self, other: object) -> Expression:
        return call("*", self, other)

    def __rmul__(self, other: object) -> Expression:
        return call("*", other, self)

    def __truediv__(self, other: object) -> Expression:
        return call("/", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return call("/", other, self)

    def __floordiv__(self, other: object) -> NoReturn:
        raise ExpressionError(
            "`//` is not an operator of rules",
            hint="`/` of integers gives an integer, cut off towards zero",
        )

    __rfloordiv__ = __floordiv__

    def __mod__(self, other: object) -> Expression:
        return call("%", self, other)

    def __rmod__(self, other: object) -> Expression:
        return call("%", other, self)

    def __pow__(self, other: object) -> Expression:
        return call("^", self, other)

    def __rpow__(self, other: object) -> Expression:
        return call("^", other, self)

    def __neg__(self) -> Expression:
        return call("neg", self)

    def __abs__(self) -> Expression:
        return call("abs", self)

    def __pos__(self) -> Expression:
        return Expression(self.node)

    # ── comparisons ───────────────────────────────────────────────────────────────────────────────
    def __eq__(self, other: object) -> Formula:  # type: ignore[override]
        return NotImplemented if isinstance(other, FunctionHolder) else compare("=", self, other)

    def __ne__(self, other: object) -> Formula:  # type: ignore[override]
        return compare("!=", self, other)

    def __lt__(self, other: object) -> Formula:
        return compare("<", self, other)

    def __le__(self, other: object) -> Formula:
        return compare("<=", self, other)

    def __gt__(self, other: object) -> Formula:
        return compare(">", self, other)

    def __ge__(self, other: object) -> Formula:
        return compare(">=", self, other)

    # ── conditions are joined, terms are not ──────────────────────────────────────────────────────
    def __and__(self, other: object) -> NoReturn:
        not_a_condition(self, "&", "band")

    def __or__(self, other: object) -> NoReturn:
        not_a_condition(self, "|", "bor")

    def __invert__(self) -> NoReturn:
        not_a_condition(self, "~", "bnot")

    __rand__ = __and__
    __ror__ = __or__

    # ── functions of strings ──────────────────────────────────────────────────────────────────────
    def cat(self, *others: object) -> Expression:
        """Concatenate this string and `others`."""
        return call("cat", self, *others)

    def strlen(self) -> Expression:
        """The number of characters."""
        return call("strlen", self)

    def substr(self, first: object, length: object) -> Expression:
        """`length` characters from number `first` on, counted from 0."""
        return call("substr", self, first, length)

    def to_string(self) -> Expression:
        """The text of a number."""
        return call("to_string", self)

    def to_number(self) -> Expression:
        """The integer that a string holds."""
        return call("to_number", self)

    def to_float(self) -> Expression:
        """The float of an integer, of a decimal or of a string."""
        return call("to_float", self)

    def contains(self, part: object) -> Formula:
        """The condition that `part` occurs in this string."""
        return compare("contains", part, self)

    def match(self, pattern: object) -> Formula:
        """The condition that the regular expression `pattern` matches this whole string."""
        return compare("match", pattern, self)


class Expression(TermOperators):
    """A term: what arithmetic and functions make of variables and constants. `node` is its tree."""

    __slots__ = ()

    def __init__(self, node: tree.Term):
        self.node = node


# Var is no subclass of Expression: Python would turn `x + 1 < y` into `y > x + 1`, since the
# operators of a subclass go first.
class Var(TermOperators):
    """A variable of a rule; two of one name are the same variable."""

    __slots__ = ()

    def __init__(self, name: str):
        check_name(name, functors.RESERVED_VARIABLES, "variable")
        self.node = tree.Variable(name)


# It has no subclasses, since Python would turn `a <= b` into `b >= a` where b is of one.
class Formula(ConditionHolder):
    """A conjunction of conditions, joined with `&`, `|` and `~`; as a head it takes a body with
    `<=`. `literals` are their trees.
    """

    __slots__ = ()

    def __init__(self, literals: tuple[tree.Literal, ...]):
        self.literals = literals

    def __repr__(self) -> str:
        return show(tree.Body(self.literals))

    def __bool__(self) -> NoReturn:
        raise ExpressionError(
            f"the truth of `{self!r}` is not known before the rule runs", hint=_NO_TRUTH
        )

    def __eq__(self, other: object) -> NoReturn:
        raise ExpressionError(
            f"`{self!r}` is a condition and has no value",
            hint="only functions have one: F[x] == y; conditions are joined with &",
        )

    __hash__ = object.__hash__

    def __and__(self, other: object) -> Formula:
        return Formula((*self.literals, *to_literals(other)))

    def __rand__(self, other: object) -> Formula:
        return Formula((*to_literals(other), *self.literals))

    def __or__(self, other: object) -> Formula:
        return _either(self.literals, to_literals(other))

    def __ror__(self, other: object) -> Formula:
        return _either(to_literals(other), self.literals)

    def __invert__(self) -> Formula:
        return Formula((tree.Negation(tree.Body(self.literals)),))

    def __le__(self, body: object) -> tree.Rule:
        """The rule with these atoms as heads."""
        return make_rule(self, tree.Body(to_literals(body)))

    def _no_rule(self, other: object) -> NoReturn:
        """`>=` would be the rule the wrong way round, as Python reads it."""
        raise ExpressionError(
            f"`{self!r}` is a condition, which is not compared",
            hint="a rule is written head <= body",
        )

    __lt__ = __gt__ = __ge__ = _no_rule

    def fact(self) -> tree.Rule:
        """An atom as a fact."""
        return make_rule(self, tree.Body(()))


def _either(left: tuple[tree.Literal, ...], right: tuple[tree.Literal, ...]) -> Formula:
    """A disjunction; `a | b | c` is one of three branches, as in text."""
    match left:
        case (tree.Disjunction(branches) as either,) if not isinstance(either, tree.LeftJoin):
            return Formula((tree.Disjunction((*branches, tree.Body(right))),))
    return Formula((tree.Disjunction((tree.Body(left), tree.Body(right))),))


def call(functor: str, *args: object) -> Expression:
    """Arithmetic or a function of terms."""
    if (
        functor in functors.USAGE
        and (wrong := functors.wrong_arity(functor, len(args))) is not None
    ):
        raise ArityError(wrong, code="E121")
    return Expression(tree.Call(functor, tuple(to_term(arg) for arg in args)))


def compare(operator: str, left: object, right: object) -> Formula:
    """A comparison, `contains` or `match`."""
    return Formula((tree.Comparison(operator, to_term(left), to_term(right)),))
