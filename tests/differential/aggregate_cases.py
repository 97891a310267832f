"""One table of the aggregates at their edges: the values of a group, and what they come to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.differential.functor_cases import FAILS, INF, LEAST, MOST, Apart

NO_ROW = None
"""Expected of values for which an aggregate has none: the group has no row."""


@dataclass(frozen=True)
class Case:
    """An aggregate of values of a type, its result's type, and what groups come to."""

    name: str
    type: str
    result: str
    groups: Mapping[tuple[Any, ...], Any]

    def __str__(self) -> str:
        return f"{self.name} of {self.type}"


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
)  # fmt: skip
