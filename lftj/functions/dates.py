"""Parts of dates and timestamps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lftj.functions.record import Function, Operator
from lftj.types import DATE, INT


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
)
