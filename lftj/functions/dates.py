# SPDX-License-Identifier: Apache-2.0
"""Parts of dates and timestamps."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import ValueRangeError
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


def _date(year: int, month: int, day: int) -> datetime.date:
    try:
        return datetime.date(year, month, day)
    except (ValueError, OverflowError):
        raise ValueRangeError(
            f"date({year}, {month}, {day}) is no day of the years 1 to 9999"
        ) from None


def _date_columns(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> pa.Array | None:
    """The dates of whole columns; None where one is no day."""
    for part, most in ((year, 9999), (month, 12), (day, 31)):
        if ((part < 1) | (part > most)).any():
            return None
    months = ((year - 1970) * 12 + month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    return pa.array(days.astype(np.int64)) if (days.astype("M8[M]") == months).all() else None


_MAKE_DATE = (
    "CASE WHEN {{0}} NOT BETWEEN 1 AND 9999 THEN {error}('a date beyond the years 1 to 9999') "
    "ELSE make_date({{0}}, {{1}}, {{2}}) END"
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
        name="date",
        arguments=("year", "month", "day"),
        line="The date of a year, a month and a day of the month; of what is no day, as the 30th "
        "of February, an error.",
        usage='write date(year, month, day), or date("2013-01-31")',
        functors=(
            Functor(
                name="date",
                types=(INT, INT, INT),
                result=DATE,
                evaluate=_date,
                partial=True,
                columns=_date_columns,
                sql={
                    "duckdb": _MAKE_DATE.format(error="error"),
                    "spark": _MAKE_DATE.format(error="raise_error"),
                },
            ),
        ),
        of_sql=("make_date", "datefromparts", "date_from_parts"),
    ),
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
