"""The built-in aggregates, one record each. How a group is kept and followed is the affair of
`lftj.heads`, which knows four kinds of state.
"""

from __future__ import annotations

import decimal as python_decimal
import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from fractions import Fraction
from typing import Any

from lftj.functions.record import Sql
from lftj.scantree.frozen import frozen
from lftj.types import FLOAT, INT, MAX_DECIMAL_PRECISION, STR, Type, decimal


class State(Enum):
    """State that a group keeps for an aggregate: the number of its assignments, a total of
    numbers, a least or greatest value, or its texts in order.
    """

    COUNT = auto()
    TOTAL = auto()
    EXTREME = auto()
    TEXTS = auto()


@frozen(slots=True, kw_only=True)
class Aggregate:
    """A built-in aggregate.

    `arguments` and `line`: as of a function. `form`: what to write in a head, for hints; `wanted`:
    the number of arguments in words. `braces`: it stands in bodies too. `result`: its type over
    values of a type; None where it does not take them. `alike`: constants that it aggregates take
    the type that is expected of it. `of_nothing`: a group without assignments has the value 0.
    `together`: the aggregate that puts results of parts of a group together, exact for all types
    but floats; None where there is none. `parted`: parts of a group have shares of it. `direction`:
    the way that its value moves while rows come, so that a cycle may go through it. `fold`: of
    values of Python, of which there are some. `sql`: None where it depends on more than types.
    """

    name: str
    arguments: tuple[str, ...]
    line: str
    state: State
    result: Callable[[Type | None], Type | None]
    fold: Callable[[Sequence[Any]], Any]
    form: str
    wanted: str = "1 argument"
    braces: bool = True
    alike: bool = False
    of_nothing: bool = False
    together: str | None = None
    parted: bool = True
    direction: int = 0
    sql: Sql | None = None

    @property
    def in_braces(self) -> str:
        """The way to write it in a body."""
        return f"{self.name}{' x' * bool(self.arguments)} : {{ … }}"

    def takes(self, count: int) -> bool:
        """Check a number of arguments."""
        needed = [each for each in self.arguments if each != "…" and not each.startswith("[")]
        return len(needed) <= count and ("…" in self.arguments or count <= len(self.arguments))


def _sum_type(argument: Type | None) -> Type | None:
    if argument is not None and argument.name == "decimal":
        return decimal(MAX_DECIMAL_PRECISION, argument.scale or 0)
    return argument if argument is not None and argument.numeric else None


def _total(values: Sequence[Any]) -> Any:
    return math.fsum(values) if isinstance(values[0], float) else sum(values[1:], values[0])


def _mean(values: Sequence[Any]) -> float:
    total = _total(values)
    if isinstance(total, python_decimal.Decimal):
        return float(total / len(values))
    return float(Fraction(total) / len(values))


COUNT = Aggregate(
    name="count",
    arguments=(),
    line="The number of distinct assignments of all variables of the body.",
    state=State.COUNT,
    result=lambda argument: INT,
    fold=len,
    form="count(), the number of ways to make the body true; different values are counted where a "
    "view has nothing but them",
    wanted="no arguments",
    of_nothing=True,
    together="sum",
    sql="count(*)",
)
SUM = Aggregate(
    name="sum",
    arguments=("value",),
    line="The sum, of the same type; of ints and decimals exact or an error, of floats correctly "
    "rounded.",
    state=State.TOTAL,
    result=_sum_type,
    fold=_total,
    form="sum(x)",
    alike=True,
    of_nothing=True,
    together="sum",
    sql="CAST(sum({0}) AS {type})",
)
MIN = Aggregate(
    name="min",
    arguments=("value",),
    line="The least value; of bools `false` is the least.",
    state=State.EXTREME,
    result=lambda argument: argument,
    fold=min,
    form="min(x)",
    alike=True,
    together="min",
    direction=-1,
    sql="min({0})",
)
MAX = Aggregate(
    name="max",
    arguments=("value",),
    line="The greatest value.",
    state=State.EXTREME,
    result=lambda argument: argument,
    fold=max,
    form="max(x)",
    alike=True,
    together="max",
    direction=1,
    sql="max({0})",
)
MEAN = Aggregate(
    name="mean",
    arguments=("value",),
    line="The mean of numbers, a float: the exact total over the count.",
    state=State.TOTAL,
    result=lambda argument: FLOAT if argument is not None and argument.numeric else None,
    fold=_mean,
    form="mean(x)",
    sql={"duckdb": "CAST(avg({0}) AS DOUBLE)", "spark": "avg(CAST({0} AS DOUBLE))"},
)
CONCAT = Aggregate(
    name="concat",
    arguments=("text", "[separator]", "[key]", "…"),
    line="The strings of the group with a separator between them, in ascending order of the keys, "
    "then of the strings.",
    state=State.TEXTS,
    result=lambda argument: argument if argument == STR else None,
    fold="".join,
    form="concat(s), concat(s, separator) or concat(s, separator, order keys…)",
    wanted="at least one argument",
    braces=False,
    parted=False,
)

AGGREGATES: Mapping[str, Aggregate] = {
    each.name: each for each in (COUNT, SUM, MIN, MAX, MEAN, CONCAT)
}
"""All built-in aggregates, by name."""

IN_BRACES: Mapping[str, Aggregate] = {
    name: each for name, each in AGGREGATES.items() if each.braces
}
"""Aggregates that stand in bodies."""

EXTREMES = tuple(name for name, each in AGGREGATES.items() if each.state is State.EXTREME)
"""The aggregates that are a least or greatest value."""

TOTALS = tuple(name for name, each in AGGREGATES.items() if each.state is State.TOTAL)
"""The aggregates that a total of numbers leads to."""
