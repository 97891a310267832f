# SPDX-License-Identifier: Apache-2.0
"""Functions of floats that no operator computes: one routine for all evaluators, those of Python's
`math`, so that parts, proofs and workspaces that are opened again agree to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from lftj.errors import ValueRangeError
from lftj.functions.record import Function, Functor, Sql
from lftj.types import FLOAT


def _function(name: str, line: str, of: Callable[[float], float], sql: Sql) -> Function:
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
        name=name, arguments=("x",), line=line, usage=f"write {name}(x)", functors=(functor,)
    )


def _whole(of: Callable[[float], int]) -> Callable[[float], float]:
    return lambda value: float(of(value)) if math.isfinite(value) else value


def _whole_sql(name: str) -> Sql:
    """Spark has integers there; floats of 2⁵² and more are whole."""
    spark = f"CASE WHEN abs({{0}}) < {2**52}e0 THEN CAST({name}({{0}}) AS DOUBLE) ELSE {{0}} END"
    return {"duckdb": f"{name}({{0}})", "spark": spark}


FLOATS = (
    _function("floor", "The greatest whole number that is not above a float, as a float.",
        _whole(math.floor), _whole_sql("floor")),
    _function("ceil", "The least whole number that is not below a float, as a float.",
        _whole(math.ceil), _whole_sql("ceil")),
    _function("sqrt", "The square root of a float; of one below zero an error.", math.sqrt,
        "sqrt({0})"),
    _function("exp", "e to the power of a float.", math.exp, "exp({0})"),
    _function("ln", "The natural logarithm of a float; of zero and below an error.", math.log,
        "ln({0})"),
)  # fmt: skip
