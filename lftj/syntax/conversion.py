# SPDX-License-Identifier: Apache-2.0
"""Conversion of Python objects to the nodes of the syntax tree, with an error that says what to
write when an object has no place in a rule.
"""

from __future__ import annotations

from typing import NoReturn

from lftj.errors import ExpressionError
from lftj.syntax import functors, tree
from lftj.syntax.conditionals import has_conditionals, without_conditionals
from lftj.syntax.constants import check_value
from lftj.syntax.depth import check_depth
from lftj.syntax.phrases import LITERALS, TERMS


class TermHolder:
    """Base of what stands for a term; `node` is its tree."""

    __slots__ = ("node",)
    node: tree.Term


class ConditionHolder:
    """Base of what stands for a conjunction of conditions; `literals` are their trees."""

    __slots__ = ("literals",)
    literals: tuple[tree.Literal, ...]


class FunctionHolder:
    """Base of `F[x]`, which is neither a term nor a condition until `== y` follows."""

    __slots__ = ()


def to_term(value: object) -> tree.Term:
    """The tree of a term; a Python value becomes a constant."""
    if isinstance(value, TermHolder):
        return value.node
    if isinstance(value, TERMS):
        return value
    if isinstance(value, FunctionHolder):
        raise ExpressionError(
            f"`{value!r}` stands inside a term",
            hint=f"write the condition {value!r} == v and use v here",
        )
    if isinstance(value, ConditionHolder) or callable(value):
        what = (
            f"the condition `{value!r}`" if isinstance(value, ConditionHolder) else f"`{value!r}`"
        )
        hint = "a term is a variable, a value, arithmetic or a function of terms"
        if isinstance(value, ConditionHolder):
            hint = "as a value a condition is lftj.fn.if_(condition, True, False)"
        raise ExpressionError(f"{what} stands where a term is expected", hint=hint)
    if (
        isinstance(value, (tuple, list))
        and value
        and all(isinstance(each, TermHolder) for each in value)
    ):
        one = (
            f'lftj.vars always gives a tuple: write (x,) = lftj.vars("{value[0]!r}")'
            if len(value) == 1
            else "write r(*terms)"
        )
        raise ExpressionError(
            f"`{value!r}` is a {type(value).__name__} of terms, not a term", hint=one
        )
    return tree.Constant(check_value(value))


def to_literals(value: object) -> tuple[tree.Literal, ...]:
    """The trees of a condition, or of several joined with `&`."""
    if isinstance(value, ConditionHolder | tree.Body):
        return value.literals
    if isinstance(value, LITERALS):
        return (value,)
    if isinstance(value, bool):
        return (tree.Truth(value),)
    if isinstance(value, TermHolder):
        not_a_condition(value, "&", "band")
    if isinstance(value, type):
        raise ExpressionError(
            f"`{value.__name__}` is a type, where a condition is expected",
            hint=f"a column that may be NULL is of the type {value.__name__} | None; "
            f"lftj.optional(condition) is a left join",
        )
    hint = "a condition is an atom r(x, y), a comparison (x < y), or ~ before one"
    hint += (
        "; call the relation"
        if callable(value)
        else "; conditions are joined with &"
        if isinstance(value, (list, tuple))
        else ""
    )
    raise ExpressionError(f"`{value!r}` stands where a condition is expected", hint=hint)


def not_a_condition(expression: TermHolder, operator: str, functor: str) -> NoReturn:
    """Refuse a term where conditions are joined."""
    hint = (
        f"put parentheses round comparisons: a(x) & (x < 3); on the bits of integers use "
        f"{functor}(…)"
    )
    raise ExpressionError(
        f"`{operator}` joins conditions, and `{expression!r}` is a term", hint=hint
    )


def show(node: tree.Node) -> str:
    """The text of a node; a stand-in where it is nested too deeply to be printed."""
    return (
        str(node)
        if check_depth(node) is None
        else f"a {type(node).__name__.lower()} nested too deeply to be shown"
    )


def make_rule(heads: ConditionHolder, body: tree.Body) -> tree.Rule:
    """The rule `heads :- body`; a fact when `body` is empty."""
    atoms = tuple(literal for literal in heads.literals if isinstance(literal, tree.Atom))
    if len(atoms) != len(heads.literals):
        hint = "write (r(x) & s(x)) <= body; in a body, put comparisons in parentheses"
        raise ExpressionError(f"the head `{heads!r}` holds more than atoms", hint=hint)
    rule = tree.Rule(atoms, body)
    if check_depth(rule) is None and has_conditionals(rule):
        rule = without_conditionals(rule)
    if (problem := check_depth(rule)) is not None:
        raise problem
    return rule


def check_name(name: str, reserved: frozenset[str], what: str) -> None:
    """Raise ExpressionError when text could not hold `name`."""
    if not isinstance(name, str) or not functors.NAME.fullmatch(name):
        raise ExpressionError(
            f"{name!r} cannot name a {what}",
            hint="names are letters, digits and _, and do not start with a digit",
        )
    if name in reserved:
        raise ExpressionError(
            f"`{name}` is a word of the language",
            hint=f"choose another name for the {what}, such as {name}_",
        )
