# SPDX-License-Identifier: Apache-2.0
"""`lftj.fn`: the built-in functions and aggregates by the names that they have in rules."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

from lftj.functions import FUNCTIONS
from lftj.functions.aggregates import AGGREGATES
from lftj.syntax import tree
from lftj.syntax.conversion import to_literals, to_term
from lftj.syntax.expressions import Expression, Formula, call, compare
from lftj.syntax.functors import unknown_hint


class BuiltInFunctions:
    """Attributes are the built-in functions and aggregates: `fn.max(x, y)` is the greater of two,
    and `fn.max(x)` in a head the greatest of a group.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.endswith("_") and keyword.iskeyword(name[:-1]):
            name = name[:-1]
        if name not in _NAMES:
            hint = unknown_hint(name, _NAMES, f"functions are {', '.join(_NAMES)}", quote="")
            raise AttributeError(f"there is no function {name!r}: {hint}", name=name, obj=self)
        made = _made(name)
        self.__dict__[name] = made
        return made

    def __dir__(self) -> list[str]:
        return _NAMES

    def __repr__(self) -> str:
        return "<lftj.fn: built-in functions and aggregates>"


_NAMES = sorted(name for name in {**FUNCTIONS, **AGGREGATES} if name.isalpha() or "_" in name)
_NAMES.remove("neg")  # which is written -x


def _made(name: str) -> Callable[..., Expression | Formula]:
    """The function of a name, with the signature and the line of its record."""
    function, aggregate = FUNCTIONS.get(name), AGGREGATES.get(name)

    def made(*args: object) -> Expression | Formula:
        if aggregate is not None and (function is None or len(args) == 1):
            return Expression(tree.HeadAggregate(name, tuple(to_term(arg) for arg in args)))
        if name == "if":
            condition, first, second = inspect.signature(made).bind(*args).args
            body = tree.Body(to_literals(condition))
            return Expression(tree.Conditional("if", (to_term(first), to_term(second)), body))
        if function is not None and function.condition:
            bound = inspect.signature(made).bind(*args)
            return compare(name, bound.args[0], bound.args[-1])
        return call(name, *args)

    known = function or aggregate
    assert known is not None
    arguments = ("first", "…") if function and aggregate else known.arguments
    made.__name__ = name
    made.__qualname__ = f"fn.{name}"
    made.__doc__ = known.line
    made.__signature__ = _signature(arguments)  # type: ignore[attr-defined]
    return made


def _signature(arguments: Sequence[str]) -> inspect.Signature:
    """The signature of a function with these arguments; none can be given by name."""
    kinds = inspect.Parameter
    made: list[inspect.Parameter] = []
    for each in arguments:
        name = each.strip("[]")
        if each == "…":
            made.append(kinds("more", kinds.VAR_POSITIONAL))
        elif each.startswith("["):
            made.append(kinds(name, kinds.POSITIONAL_ONLY, default=...))
        else:
            made.append(kinds(f"{name}_" if name == "from" else name, kinds.POSITIONAL_ONLY))
    return inspect.Signature(made)


fn = BuiltInFunctions()
"""The built-in functions and aggregates, by the names that they have in rules: `fn.max(x, y)`,
`fn.sum(x)`, `fn.range(0, n)`.
"""
