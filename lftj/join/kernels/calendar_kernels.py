"""The calendar: which year, month and day of the month a day is, by its number since 1970-01-01.

Years are counted from March on, so that the day that some have more is their last one, and in rounds of 400 years, which all have the
same number of days. Nothing before the year 1 occurs.
"""

from __future__ import annotations

from scantree.jit import compiled, inlined

_SINCE_MARCH_0 = 719468  # days from the first of March of the year 0 to 1970-01-01
_ROUND = 146097  # days of 400 years
_MICROSECONDS = 86_400_000_000


@inlined
def day_of_time(microseconds):
    """The day in which a time lies."""
    return microseconds // _MICROSECONDS


@compiled
def calendar_part(days, part):
    """The year (part 0), the month (1) or the day of the month (2)."""
    rounds = (days + _SINCE_MARCH_0) // _ROUND
    day = days + _SINCE_MARCH_0 - rounds * _ROUND
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153  # 0 is March
    if part == 2:
        return day - (153 * month + 2) // 5 + 1
    if part == 1:
        return month + 3 if month < 10 else month - 9
    return 400 * rounds + year + (1 if month >= 10 else 0)
