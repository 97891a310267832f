# SPDX-License-Identifier: Apache-2.0
"""Values and expressions: what a term without aggregates means under bindings of its variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime

from lftj.proofs.functors import called
from lftj.proofs.kinds import ArithmeticFailure, UserCall, Value, held, kind_of
from lftj.syntax import tree

Env = Mapping[str, Value]

FAILED: Value = "#failed"
"""Value of a variable whose expression has no value."""


def value_of(term: tree.Term, env: Env) -> Value:
    """The value of a term whose variables are all bound. Raises ArithmeticFailure."""
    match term:
        case tree.Constant(value=value):
            return held(value, kind_of(term))
        case tree.Variable(name=name):
            if env[name] is FAILED:
                raise ArithmeticFailure(f"{name} has no value")
            return env[name]
        case tree.Call(functor=functor, args=args):
            values = [value_of(arg, env) for arg in args]
            if functor in ("+", "-") and _is_date(values[0]):
                match args:
                    case (_, tree.Call(functor="days", args=(count,))):
                        values[1] = value_of(count, env)
            if isinstance(term, UserCall):
                return held(_of_user(term, values), kind_of(term))
            return held(called(functor, values), kind_of(term))
    raise TypeError(f"{term} has no value of its own")


def _of_user(call: UserCall, values: list[Value]) -> Value:
    if None in values:
        return None
    try:
        return call.function(*values)
    except Exception as problem:
        raise ArithmeticFailure(f"{call.functor}: {problem!r}") from problem


def _is_date(value: Value) -> bool:
    """Test for a date, which `days(n)` beside it moves by that number."""
    return isinstance(value, date) and not isinstance(value, datetime)


def variables_of(term: tree.Term) -> set[str]:
    """The variables of a term; those inside a body aggregate are not its own."""
    if isinstance(term, tree.Variable):
        return {term.name}
    if isinstance(term, tree.Call | tree.HeadAggregate):
        return {name for arg in term.args for name in variables_of(arg)}
    return set()
