# SPDX-License-Identifier: Apache-2.0
"""Parts of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.functions.record import Function, Functor, Operator
from lftj.types import DATE, INT, TIMESTAMP, Type


def _part(
    name: str, evaluate: Callable[[Any], int], line: str, usage: str, slopes: tuple[int, ...] = ()
) -> Function:
    """A part of the calendar, which SQL calls by the same name."""
    operator = Operator(
        name=name,
        evaluate=evaluate,
        kernel=name.upper(),
        of_days=True,
        slopes=slopes,
        sql=f"CAST({name}({{0}}) AS BIGINT)",
    )
    return Function(
        name=name,
        arguments=("date",),
        line=line,
        usage=usage,
        operators=(operator,),
        conversions={"date": (operator, INT), "timestamp": (operator, INT)},
    )


_MINUTE = 60_000_000  # microseconds
_DAY = 86_400_000_000


def _clock(
    name: str,
    type: Type,
    evaluate: Callable[[Any], int],
    of: Callable[[np.ndarray], np.ndarray],
    sql: dict[str, str],
) -> Functor:
    """A part of a moment, by columns from its codes: microseconds or days since 1970-01-01."""
    return Functor(
        name=name,
        types=(type,),
        result=INT,
        evaluate=evaluate,
        columns=lambda codes: pa.array(of(codes)),
        sql=sql,
    )


def _same(name: str) -> dict[str, str]:
    return dict.fromkeys(("duckdb", "spark"), f"CAST({name}({{0}}) AS BIGINT)")


def _duration(name: str, microseconds: int, line: str, days: int | None = None) -> Function:
    return Function(
        name=name,
        arguments=("n",),
        line=line,
        usage=f"write {name}(n), beside a timestamp",
        moves={"timestamp": microseconds} | ({} if days is None else {"date": days}),
    )


_WEEKDAY = {
    "duckdb": "CAST(isodow({0}) AS BIGINT)",
    "spark": "CAST(weekday({0}) + 1 AS BIGINT)",
}
TO_DATE = Operator(
    name="to_date",
    evaluate=lambda value: value.date(),
    kernel="DAY_OF_TIME",
    slopes=(1,),
    sql="CAST({0} AS DATE)",
)
DATES = (
    Function(
        name="to_date",
        arguments=("timestamp",),
        line="The date of a timestamp.",
        usage="write to_date(timestamp)",
        operators=(TO_DATE,),
        conversions={"timestamp": (TO_DATE, DATE)},
    ),
    _part(
        "year",
        lambda value: value.year,
        "The year of a date or of a timestamp.",
        "write year(date)",
        (1,),
    ),
    _part(
        "month",
        lambda value: value.month,
        "The month of a date or of a timestamp, from 1 to 12.",
        "write month(date)",
    ),
    _part(
        "day",
        lambda value: value.day,
        "The day of the month of a date or of a timestamp, from 1 to 31.",
        "write day(date), for the day of the month",
    ),
    Function(
        name="hour",
        arguments=("timestamp",),
        line="The hour of a timestamp, from 0 to 23.",
        usage="write hour(timestamp)",
        functors=(
            _clock(
                "hour",
                TIMESTAMP,
                lambda value: value.hour,
                lambda codes: codes // (60 * _MINUTE) % 24,
                _same("hour"),
            ),
        ),
    ),
    Function(
        name="minute",
        arguments=("timestamp",),
        line="The minute of a timestamp, from 0 to 59.",
        usage="write minute(timestamp)",
        functors=(
            _clock(
                "minute",
                TIMESTAMP,
                lambda value: value.minute,
                lambda codes: codes // _MINUTE % 60,
                _same("minute"),
            ),
        ),
    ),
    _duration(
        "days",
        _DAY,
        "So many days, for timestamps and for dates, `d + days(1)`; by themselves an int of "
        "microseconds.",
        1,
    ),
    _duration("hours", 60 * _MINUTE, "So many hours, an int of microseconds, for timestamps."),
    _duration("minutes", _MINUTE, "So many minutes, an int of microseconds, for timestamps."),
    Function(
        name="weekday",
        arguments=("date",),
        line="The day of the week of a date or of a timestamp, from 1, Monday, to 7, Sunday.",
        usage="write weekday(date)",
        functors=(
            # 1970-01-01 was a Thursday.
            _clock(
                "weekday",
                DATE,
                lambda value: value.isoweekday(),
                lambda codes: (codes + 3) % 7 + 1,
                _WEEKDAY,
            ),
            _clock(
                "time_weekday",
                TIMESTAMP,
                lambda value: value.isoweekday(),
                lambda codes: (codes // _DAY + 3) % 7 + 1,
                _WEEKDAY,
            ),
        ),
    ),
)
