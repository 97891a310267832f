"""One table of the aggregates at their edges: the values of a group, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lftj.functions.aggregates import AGGREGATES
from tests.differential.functor_cases import FAILS, INF, LEAST, MOST, Apart

NO_ROW = None
"""Expected of values for which an aggregate has none: the group has no row."""


@dataclass(frozen=True)
class Case:
    """An aggregate of values of a type, its result's type, and what groups come to. `more`: what it
    is given besides the value x, of which n is the number in its group. `databases`: these have it.
    """

    name: str
    type: str
    result: str
    groups: Mapping[tuple[Any, ...], Any]
    more: str = ""
    databases: bool = True

    def __str__(self) -> str:
        return f"{self.name} of {self.type}{self.more}"

    @property
    def call(self) -> str:
        """The aggregate in a head."""
        return f"{self.name}({'x' * AGGREGATES[self.name].of_values}{self.more})"

    @property
    def braced(self) -> str:
        """The aggregate in a body."""
        target = " x" * AGGREGATES[self.name].of_values
        return f"{self.call if self.more else self.name + target} : {{ f(k, n, x) }}"


_TINY, _HUGE = 5e-324, 1.7976931348623157e308
CENTS = "decimal(18,2)"
CASES = (
    Case("count", "number", "number", {(LEAST,): 1, (1, 2, MOST): 3}),
    Case("sum", "number", "number", {(5,): 5, (MOST, 1, -1): Apart(MOST), (MOST, 1): FAILS,
        (LEAST, -1): FAILS, (LEAST, MOST): -1}),
    Case("sum", "unsigned", "unsigned", {(5, 0): 5, (MOST, 1): FAILS}),
    Case("sum", "float", "float", {(1e16, 1.0, -1e16): Apart(1.0), (_HUGE, _HUGE / 2): FAILS,
        (INF, 1.0): INF, (INF, -INF): FAILS, (_TINY, 0.0): _TINY}),
    Case("sum", CENTS, CENTS, {(Decimal("0.10"), Decimal("0.20")): Decimal("0.30"),
        (Decimal("9999999999999999.99"), Decimal("0.01")): FAILS}),
    Case("min", "number", "number", {(3,): 3, (MOST, LEAST): LEAST}),
    Case("min", "symbol", "symbol", {("b", "a", ""): "", ("é", "z"): "z"}),
    Case("min", "bool", "bool", {(True, False): False, (True,): True}),
    Case("min", "float", "float", {(INF, -INF, 0.0): -INF}),
    Case("max", "number", "number", {(3,): 3, (MOST, LEAST): MOST}),
    Case("max", "symbol", "symbol", {("b", "a", ""): "b", ("é", "z"): "é"}),
    Case("max", "bool", "bool", {(True, False): True, (False,): False}),
    Case("mean", "number", "float", {(1, 2): 1.5, (MOST, MOST - 1): Apart(float(MOST)),
        (LEAST,): float(LEAST)}),
    Case("mean", "float", "float", {(0.1, 0.2): 0.15000000000000002, (INF, 1.0): INF,
        (INF, -INF): FAILS, (1e16, 1.0, -1e16): Apart(1 / 3)}),
    Case("mean", CENTS, "float", {(Decimal("0.10"), Decimal("0.25")): 0.175}),
    Case("stddev", "number", "float", {(7,): NO_ROW, (1, 2): math.sqrt(0.5), (4, 5, 6): 1.0,
        (MOST, LEAST): Apart(math.sqrt(2) * 2**63), (MOST, MOST - 1): Apart(math.sqrt(0.5)),
        (2**32, 2**31, -(2**31), 0): math.sqrt(5 / 3) * 2**31}),
    Case("stddev", "unsigned", "float", {(0,): NO_ROW, (0, 2): math.sqrt(2)}),
    Case("stddev", "float", "float", {(0.5,): NO_ROW, (0.1, 0.3): 0.1414213562373095,
        (1e16, 1e16 + 2): Apart(math.sqrt(2)), (1e200, -1e200): Apart(1.414213562373095e200),
        (_TINY, 0.0): Apart(_TINY), (3e-200, 1e-200): Apart(1.414213562373095e-200),
        (1e300, 1.0, -1e300): Apart(1e300), (_HUGE, 0.0): Apart(1.2711610061536462e308),
        (_HUGE, -_HUGE): FAILS, (INF, 1.0): FAILS, (INF,): NO_ROW, (INF, -INF): FAILS}),
    Case("stddev", CENTS, "float", {(Decimal("3.75"),): NO_ROW,
        (Decimal("1.25"), Decimal("3.50"), Decimal("3.75")): 1.3768926368215255,
        (Decimal("9999999999999999.99"), Decimal("9999999999999999.98")):
        Apart(0.007071067811865475)}),
    Case("any", "bool", "bool", {(True, False): True, (False,): False, (True,): True}),
    Case("concat", "symbol", "symbol", {("b", "a"): "ab", ("",): ""}),
    Case("count_distinct", "number", "number", {(5,): 1, (1, 1, 1): 1, (MOST, LEAST, MOST): 2}),
    Case("count_distinct", "symbol", "number", {("a", "", "a"): 2, ("é",): 1}),
    Case("count_distinct", "float", "number", {(0.0, -0.0, INF, _TINY): 3}),
    Case("count_distinct", CENTS, "number", {(Decimal("0.10"), Decimal("0.1")): 1}),
    Case("arg_min", "symbol", "symbol", {("b", "a", "c"): "b", ("",): ""}, ", n"),
    Case("arg_min", "number", "number", {(5, 4, 3): 4, (4, 5, 6): 4}, ", n / 2"),
    Case("arg_max", "symbol", "symbol", {("b", "a", "c"): "c", ("",): ""}, ", n"),
    Case("arg_max", "float", "float", {(INF, -INF, 0.0): 0.0}, ", n"),
    Case("arg_max", "number", "number", {(5, 4, 3): 3, (6, 5): 6}, ", n / 2"),
    Case("first", "symbol", "symbol", {("é", "z", "a"): "z", ("b", "b"): "b"}, ", n / 2, 0 - n"),
    Case("first", CENTS, CENTS, {(Decimal("0.10"), Decimal("0.05")): Decimal("0.10")}, ", n"),
    Case("last", "symbol", "symbol", {("é", "z", "a"): "a", ("b", "c"): "b"}, ", n / 2, 0 - n"),
    Case("last", "bool", "bool", {(True, False): True, (False,): False}, ", x, n"),
    Case("median", "number", "float", {(7,): 7.0, (1, 2): 1.5, (3, 1, 2): 2.0, (5, 5, 5, 1): 5.0,
        (MOST, MOST - 1): Apart(float(MOST)), (LEAST, MOST): Apart(-0.5),
        (2**53, 2**53 + 1): Apart(float(2**53)), (LEAST, LEAST): float(LEAST)}),
    Case("median", "float", "float", {(0.1, 0.3): 0.2, (_HUGE, _HUGE): _HUGE,
        (_HUGE, 1e308): Apart(1.398846567431158e308), (INF, 1.0): INF, (-INF, INF): FAILS,
        (-INF, 1.0, INF): 1.0, (INF, INF): Apart(INF), (_TINY, 0.0): Apart(0.0),
        (1e16, -1e16, 1.0, 2.0): 1.5}),
    Case("median", CENTS, CENTS, {(Decimal("0.05"), Decimal("0.06")): Decimal("0.06"),
        (Decimal("0.04"), Decimal("0.05")): Decimal("0.04"), (Decimal("-0.01"), Decimal("0")): 0,
        (Decimal("-0.03"), Decimal("0")): Decimal("-0.02"),
        (Decimal("9999999999999999.99"), Decimal("9999999999999999.98")):
        Decimal("9999999999999999.98")}, databases=False),
    Case("quantile", "number", "float", {(7,): 7.0, (1, 2): 1.95, (0, 10, 20): 19.0,
        tuple(range(21)): 19.0, (MOST, LEAST): Apart(8301034833169298227.0)}, ", 0.95"),
    Case("quantile", "float", "float", {(1.0, 2.0): 1.1,
        (0.3, 0.1, 0.2): Apart(0.12000000000000001), (INF, 1.0): Apart(INF),
        (INF, -INF): FAILS}, ", 0.1"),
    Case("quantile", "number", "float", {(3, 1, 2): 1.0, (LEAST, MOST): float(LEAST)}, ", 0"),
    Case("quantile", "float", "float", {(3.0, 1.0, 2.0): 3.0, (INF, -INF): INF}, ", 1.0"),
    Case("quantile", CENTS, CENTS, {(Decimal("0.00"), Decimal("0.02")): 0,
        (Decimal("0.00"), Decimal("0.06")): Decimal("0.02"),
        (Decimal("1.00"), Decimal("2.00"), Decimal("4.00")): Decimal("1.50")}, ", 0.25", False),
    Case("quantile_disc", "number", "number", {(7,): 7, (1, 2): 1, tuple(range(10)): 0,
        tuple(range(11)): 1, (MOST, LEAST): LEAST, (5, 5, 6): 5}, ", 0.1"),
    Case("quantile_disc", "symbol", "symbol", {("b", "a", "é", ""): "b", ("z",): "z"}, ", 0.75"),
    Case("quantile_disc", CENTS, CENTS, {(Decimal("0.10"), Decimal("0.25")): Decimal("0.25")},
        ", 1"),
    Case("quantile_disc", "bool", "bool", {(True, False): False, (True,): True}, ", 0"),
    Case("mode", "number", "number", {(7,): 7, (3, 1, 3, 1, 2): 1, (LEAST, MOST, MOST): MOST}),
    Case("mode", "symbol", "symbol", {("b", "a", "é", "b"): "b", ("z", "é", "a", ""): ""}),
    Case("mode", "float", "float", {(0.5, -0.0, 0.0, INF): 0.0, (INF, INF, 1.0): INF}),
    Case("mode", CENTS, CENTS, {(Decimal("0.10"), Decimal("0.25"), Decimal("0.25")):
        Decimal("0.25")}),
    Case("mode", "bool", "bool", {(True, False, True): True, (True, False): False}),
)  # fmt: skip
