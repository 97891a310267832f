# SPDX-License-Identifier: Apache-2.0
"""The built-in aggregates, one record each. How a group is kept and followed is the affair of
`lftj.heads`, which knows these kinds of state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum, auto
from fractions import Fraction

from lftj.functions.deviation import deviation
from lftj.functions.fold import Fold
from lftj.functions.in_order import AtShare, Different, End, InOrder, MostFrequent
from lftj.functions.record import Sql
from lftj.scantree.frozen import frozen
from lftj.types import BOOL, FLOAT, INT, MAX_DECIMAL_PRECISION, STR, Type, decimal


class StateKind(Enum):
    """StateKind that a group keeps for an aggregate: the number of its assignments, a total of
    numbers, the least or the greatest value, its texts in order, its rows in order, or that of a
    `Fold`.
    """

    COUNT = auto()
    TOTAL = auto()
    LEAST = auto()
    GREATEST = auto()
    TEXTS = auto()
    ORDERED = auto()
    FOLD = auto()


@frozen(slots=True, kw_only=True)
class Aggregate:
    """A built-in aggregate.

    `arguments` and `line`: as of a function. `result`: its type over values of a type; None where
    it does not take them; `over`: the types that it takes, in words. `form`: what to write in a
    head, for hints; `wanted`: the number of arguments in words. `of_sql`: names that it has in SQL.
    `braces`: it stands in bodies too. `word`: no variable has its name. `fold`: its state over
    values of a type, where no other kind is its. `in_order`: what is read of rows in order.
    `constant`: the place of an argument that is a constant, `types`: the types that arguments have
    to be of, by place. `divided`: a total is divided by the number of assignments. `of_nothing`:
    the value of a group without assignments, as a whole number, where 0 is `false`; None where it
    has none. `counting`: it is that of NULLs alone too, where others are NULL. `alike`: its value
    is of the type of what it aggregates, so constants take the type that is expected of it.
    `together`: the aggregate that puts results of parts of a group together, exact for all types
    but floats; None where there is none. `parted`: parts of a group have shares of it. `sql`: None
    where there is none, or it depends on more than types.

    A group for which a `fold` has no value has no row, as a body has none for which it is asked;
    such an aggregate is a float.
    """

    name: str
    arguments: tuple[str, ...]
    line: str
    state: StateKind
    result: Callable[[Type | None], Type | None]
    form: str
    over: str = "values of any type"
    wanted: str = "1 argument"
    braces: bool = True
    word: bool = False
    fold: Callable[[Type], Fold] | None = None
    in_order: InOrder | None = None
    constant: int | None = None
    types: tuple[Type | None, ...] = ()
    divided: bool = False
    of_nothing: int | None = None
    counting: bool = False
    alike: bool = False
    together: str | None = None
    parted: bool = True
    of_sql: tuple[str, ...] = ()
    sql: Sql | None = None

    @property
    def in_braces(self) -> str:
        """The way to write it in a body."""
        if self.takes(1) or not self.arguments:
            return f"{self.name}{' x' * self.of_values} : {{ … }}"
        return f"{self.form} : {{ … }}"

    @property
    def of_values(self) -> bool:
        """True for one that needs a value of each assignment."""
        return any(not each.startswith("[") for each in self.arguments)

    def takes_in_braces(self, count: int) -> bool:
        """Check a number of arguments before a body."""
        return self.takes(count) and (count > 0 or not self.of_values)

    @property
    def direction(self) -> int:
        """The way that its value moves while rows come, so that a cycle may go through it."""
        return {StateKind.LEAST: -1, StateKind.GREATEST: 1}.get(self.state, 0)

    def takes(self, count: int) -> bool:
        """Check a number of arguments."""
        needed = [each for each in self.arguments if each != "…" and not each.startswith("[")]
        return len(needed) <= count and ("…" in self.arguments or count <= len(self.arguments))


_NUMBERS = "int, float and decimal"


def _sum_type(argument: Type | None) -> Type | None:
    if argument is not None and argument.name == "decimal":
        return decimal(MAX_DECIMAL_PRECISION, argument.scale or 0)
    return argument if argument is not None and argument.numeric else None


def _float_of_numbers(argument: Type | None) -> Type | None:
    return FLOAT if argument is not None and argument.numeric else None


def _between(argument: Type | None) -> Type | None:
    """The type of what lies between two values: that of decimals, else a float."""
    if argument is None or not argument.numeric:
        return None
    return argument if argument.name == "decimal" else FLOAT


COUNT = Aggregate(
    name="count",
    arguments=("[value]",),
    line="The number of distinct assignments of all variables of the body; of a value, of those in "
    "which it is not NULL.",
    state=StateKind.COUNT,
    result=lambda argument: INT,
    form="count(), the number of ways to make the body true; different values are counted where a "
    "view has nothing but them",
    wanted="no argument or one",
    word=True,
    of_nothing=0,
    counting=True,
    together="sum",
    sql="count(*)",
)
SUM = Aggregate(
    name="sum",
    arguments=("value",),
    line="The sum, of the same type; of ints and decimals exact or an error, of floats correctly "
    "rounded.",
    state=StateKind.TOTAL,
    result=_sum_type,
    form="sum(x)",
    over=_NUMBERS,
    word=True,
    alike=True,
    of_nothing=0,
    together="sum",
    sql="CAST(sum({0}) AS {type})",
)
MIN = Aggregate(
    name="min",
    arguments=("value",),
    line="The least value; of bools `false` is the least.",
    state=StateKind.LEAST,
    result=lambda argument: argument,
    form="min(x)",
    word=True,
    alike=True,
    together="min",
    sql="min({0})",
)
MAX = Aggregate(
    name="max",
    arguments=("value",),
    line="The greatest value.",
    state=StateKind.GREATEST,
    result=lambda argument: argument,
    form="max(x)",
    word=True,
    alike=True,
    together="max",
    sql="max({0})",
)
MEAN = Aggregate(
    name="mean",
    arguments=("value",),
    line="The mean of numbers, a float: the exact total over the count.",
    state=StateKind.TOTAL,
    result=_float_of_numbers,
    form="mean(x)",
    over=_NUMBERS,
    of_sql=("avg", "average"),
    word=True,
    divided=True,
    sql={"duckdb": "CAST(avg({0}) AS DOUBLE)", "spark": "avg(CAST({0} AS DOUBLE))"},
)
CONCAT = Aggregate(
    name="concat",
    arguments=("text", "[separator]", "[key]", "…"),
    line="The strings of the group with a separator between them, in ascending order of the keys, "
    "then of the strings.",
    state=StateKind.TEXTS,
    result=lambda argument: argument if argument == STR else None,
    form="concat(s), concat(s, separator) or concat(s, separator, order keys…)",
    wanted="at least one argument",
    braces=False,
    constant=1,
    types=(STR, STR),
    parted=False,
)

STDDEV = Aggregate(
    name="stddev",
    arguments=("value",),
    line="The sample standard deviation of numbers, a float: of the exact variance, rounded once. "
    "One value has none, so a group of one has no row.",
    state=StateKind.FOLD,
    result=_float_of_numbers,
    form="stddev(x)",
    over=_NUMBERS,
    of_sql=("std", "stdev", "stddev_samp"),
    fold=deviation,
    sql="stddev_samp(CAST({0} AS DOUBLE))",
)
ANY = Aggregate(
    name="any",
    arguments=("condition",),
    line="Whether one of the bools of the group is true; in a body, of no rows, `false`.",
    state=StateKind.GREATEST,
    result=lambda argument: BOOL if argument == BOOL else None,
    form="any(b)",
    over="bool",
    of_nothing=0,
    alike=True,
    together="any",
    sql="bool_or({0})",
)

COUNT_DISTINCT = Aggregate(
    name="count_distinct",
    arguments=("value",),
    line="The number of different values.",
    state=StateKind.ORDERED,
    result=lambda argument: None if argument is None else INT,
    form="count_distinct(x)",
    in_order=Different(),
    of_nothing=0,
    counting=True,
    parted=False,
    sql="count(DISTINCT {0})",
)
ARG_MIN = Aggregate(
    name="arg_min",
    arguments=("value", "key"),
    line="The value where the key is least; of several the least value.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="arg_min(x, key)",
    wanted="2 arguments",
    of_sql=("argmin", "min_by"),
    in_order=End(False),
    alike=True,
    parted=False,
)
ARG_MAX = Aggregate(
    name="arg_max",
    arguments=("value", "key"),
    line="The value where the key is greatest; of several the greatest value.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="arg_max(x, key)",
    wanted="2 arguments",
    of_sql=("argmax", "max_by"),
    in_order=End(True),
    alike=True,
    parted=False,
)
FIRST_VALUE = Aggregate(
    name="first",
    arguments=("value", "key", "…"),
    line="The value of the first row in ascending order of the keys, then of the values.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="first(x, key)",
    wanted="at least 2 arguments",
    of_sql=("first_value",),
    in_order=End(False),
    alike=True,
    parted=False,
)
LAST_VALUE = Aggregate(
    name="last",
    arguments=("value", "key", "…"),
    line="The value of the last row in ascending order of the keys, then of the values.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="last(x, key)",
    wanted="at least 2 arguments",
    of_sql=("last_value",),
    in_order=End(True),
    alike=True,
    parted=False,
)
MEDIAN = Aggregate(
    name="median",
    arguments=("value",),
    line="The value in the middle, or half-way between the two in the middle: of decimals a "
    "decimal, exact, then rounded half to even; of others the nearest float.",
    state=StateKind.ORDERED,
    result=_between,
    form="median(x)",
    over=_NUMBERS,
    in_order=AtShare(Fraction(1, 2), between=True),
    parted=False,
    sql={
        "duckdb": "quantile_cont(CAST({0} AS DOUBLE), 0.5)",
        "spark": "percentile(CAST({0} AS DOUBLE), 0.5)",
    },
)
QUANTILE = Aggregate(
    name="quantile",
    arguments=("value", "share"),
    line="The value below which this share of the values lies, a constant from 0 to 1, where need "
    "be between two of them; rounded as the median.",
    state=StateKind.ORDERED,
    result=_between,
    form="quantile(x, 0.95)",
    over=_NUMBERS,
    wanted="2 arguments",
    of_sql=("percentile", "percentile_cont", "quantile_cont"),
    in_order=AtShare(between=True),
    constant=1,
    types=(None, FLOAT),
    parted=False,
    sql={
        "duckdb": "quantile_cont(CAST({0} AS DOUBLE), {1})",
        "spark": "percentile(CAST({0} AS DOUBLE), {1})",
    },
)
QUANTILE_DISC = Aggregate(
    name="quantile_disc",
    arguments=("value", "share"),
    line="The least of the values for which this share of all is not greater, a constant from 0 "
    "to 1.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="quantile_disc(x, 0.95)",
    wanted="2 arguments",
    of_sql=("percentile_disc",),
    in_order=AtShare(),
    constant=1,
    types=(None, FLOAT),
    alike=True,
    parted=False,
    sql={
        "duckdb": "quantile_disc({0}, {1})",
        "spark": "percentile_disc({1}) WITHIN GROUP (ORDER BY {0})",
    },
)
MODE = Aggregate(
    name="mode",
    arguments=("value",),
    line="The value that is there most often, of several the least.",
    state=StateKind.ORDERED,
    result=lambda argument: argument,
    form="mode(x)",
    in_order=MostFrequent(),
    alike=True,
    parted=False,
    sql={
        "duckdb": "list_sort([struct_pack(often := -CAST(e.value AS BIGINT), it := e.key) "
        "FOR e IN map_entries(histogram({0}))])[1].it",
        "spark": "mode({0}, true)",
    },
)

AGGREGATES: Mapping[str, Aggregate] = {
    each.name: each
    for each in (
        COUNT, SUM, MIN, MAX, MEAN, CONCAT, STDDEV, ANY, COUNT_DISTINCT, ARG_MIN, ARG_MAX,
        FIRST_VALUE, LAST_VALUE, MEDIAN, QUANTILE, QUANTILE_DISC, MODE,
    )
}  # fmt: skip
"""All built-in aggregates, by name."""

IN_BRACES: Mapping[str, Aggregate] = {
    name: each for name, each in AGGREGATES.items() if each.braces
}
"""Aggregates that stand in bodies."""


def _of(*states: StateKind) -> frozenset[str]:
    return frozenset(name for name, each in AGGREGATES.items() if each.state in states)


COUNTS, TOTALS, TEXTS, GREATEST = map(
    _of, (StateKind.COUNT, StateKind.TOTAL, StateKind.TEXTS, StateKind.GREATEST)
)
COUNTING = frozenset(name for name, each in AGGREGATES.items() if each.counting)
"""Aggregates that are 0 of a group in which nothing but NULL is counted; others are NULL there."""
EXTREMES = _of(StateKind.LEAST, StateKind.GREATEST)
"""The aggregates by the state of a group."""

WITNESSED = frozenset(name for name in EXTREMES if AGGREGATES[name].of_nothing is None)
"""The aggregates whose value a group always has."""


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names in words, in the order of the records."""
    *first, end = [name for name in AGGREGATES if name in set(names)]
    return f"{', '.join(first)} {last} {end}" if first else end


def written_over(args: Sequence[str]) -> str:
    """The arguments of an aggregate of a body, as they stand between its name and the colon."""
    if len(args) > 1:
        return f"({', '.join(args)})"
    return f" {args[0]}" if args else ""


def takes(function: str) -> str:
    """The types that an aggregate takes, for hints, and which others take the same."""
    over = AGGREGATES[function].over
    same = [name for name, each in AGGREGATES.items() if each.over == over]
    return f"{listed(same)} take{'s' * (len(same) == 1)} {over}"
