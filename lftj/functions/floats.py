# SPDX-License-Identifier: Apache-2.0
"""Functions of floats that no operator computes: one routine for all evaluators, those of Python's
`math`, so that parts, proofs and workspaces that are opened again agree to the bit.

Those that give whole numbers are operators of decimals too.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from lftj.errors import ValueRangeError
from lftj.functions.record import Function, Functor, Operator, Sql
from lftj.types import FLOAT, INT


def _function(
    name: str,
    line: str,
    of: Callable[[float], float],
    sql: Sql,
    operators: tuple[Operator, ...] = (),
) -> Function:
    def evaluate(value: float) -> float:
        try:
            return of(value) + 0.0
        except ValueError:
            raise ValueRangeError(f"{name}({value}) is not a number", code="E222") from None
        except OverflowError:
            raise ValueRangeError(f"{name}({value}) is outside the range of float") from None

    functor = Functor(
        name=name, types=(FLOAT,), result=FLOAT, evaluate=evaluate, partial=True, sql=sql
    )
    return Function(
        name=name,
        arguments=("x",),
        line=line,
        usage=f"write {name}(x)",
        operators=operators,
        functors=(functor,),
    )


def _whole(of: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(of(value)) if math.isfinite(value) else value


_SMALL = f"abs({{0}}) < {2**52}e0"
"""Test for a float that may have a fraction."""


def _whole_sql(name: str) -> Sql:
    """Spark has integers there."""
    spark = f"CASE WHEN {_SMALL} THEN CAST({name}({{0}}) AS DOUBLE) ELSE {{0}} END"
    return {"duckdb": f"{name}({{0}})", "spark": spark}


def _of_decimals(name: str, of: Callable[[decimal.Decimal], int]) -> tuple[Operator, ...]:
    return (
        Operator(
            name=name,
            evaluate=lambda value: decimal.Decimal(of(value)),
            slopes=(1,),
            sql=f"{name}({{0}})",
        ),
    )


def _rounded(value: Any, places: int) -> decimal.Decimal:
    number = value if isinstance(value, decimal.Decimal) else decimal.Decimal(value)
    return number.quantize(decimal.Decimal(1).scaleb(-places), decimal.ROUND_HALF_UP)


def _rounded_float(value: float, places: int) -> float:
    if abs(value) >= 2**52:
        return value
    with decimal.localcontext(prec=50):
        return float(_rounded(decimal.Decimal(repr(value)), places)) + 0.0


FLOATS = (
    Function(
        name="round",
        arguments=("x", "[places]"),
        line="A float, as a float, or a decimal or an int, as a decimal, with so many places, else "
        "none, halves away from zero. A float is rounded as it is written: `round(2.675, 2)` is "
        "2.68. The int is `to_number(round(x))`.",
        usage="write round(x) or round(x, places), with a number for the places",
        operators=(Operator(name="round", evaluate=_rounded, fails=True, slopes=(1, 1)),),
        functors=(
            Functor(
                name="round_float",
                types=(FLOAT, INT),
                result=FLOAT,
                evaluate=_rounded_float,
                sql={
                    "duckdb": f"CASE WHEN {_SMALL} THEN CAST(CAST(CAST(CAST({{0}} AS VARCHAR) AS "
                    "DECIMAL(38, {1})) AS VARCHAR) AS DOUBLE) ELSE {0} END",
                    "spark": f"CASE WHEN {_SMALL} THEN round({{0}}, CAST({{1}} AS INT)) "
                    "ELSE {0} END",
                },
            ),
        ),
    ),
    _function(
        "floor",
        "The greatest whole number that is not above a float or a decimal, of the same kind.",
        _whole(math.floor),
        _whole_sql("floor"),
        _of_decimals("floor", math.floor),
    ),
    _function(
        "ceil",
        "The least whole number that is not below a float or a decimal, of the same kind.",
        _whole(math.ceil),
        _whole_sql("ceil"),
        _of_decimals("ceil", math.ceil),
    ),
    _function("sqrt", "The square root of a float; of one below zero an error.", math.sqrt,
        "sqrt({0})"),
    _function("exp", "e to the power of a float.", math.exp, "exp({0})"),
    _function("ln", "The natural logarithm of a float; of zero and below an error.", math.log,
        "ln({0})"),
)  # fmt: skip
