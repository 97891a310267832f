# SPDX-License-Identifier: Apache-2.0
"""The packaged flights, cut into what an operations desk would report: the past, then one
day after another.

On its day a flight is reported as scheduled, even if it will be cancelled, and for every twentieth
one the departure delay stands in for the arrival delay. The next day brings the corrections and
withdraws the cancelled flights. Nothing is drawn at random.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

DATA = Path(__file__).parent / "data"
FLIGHT_COLUMNS = ["id", "day", "carrier", "origin", "dest", "leaves", "arrives"]
FIRST_DAY = datetime.date(2013, 9, 1)
"""The first day that is committed on its own; everything before it is loaded at once."""
PROVISIONAL_EVERY = 20
ONE_DAY = datetime.timedelta(days=1)


@cache
def table(name: str) -> pa.Table:
    """One of the packaged tables: flights, airlines, airports or planes."""
    return pyarrow.parquet.read_table(DATA / f"{name}.parquet", memory_map=True)


@cache
def _flights() -> pa.Table:
    flights = table("flights").combine_chunks()
    return flights.add_column(0, "id", pa.array(np.arange(1, len(flights) + 1)))


def _between(first: datetime.date | None, last: datetime.date) -> pa.Table:
    """Flights of the days `first` to `last`, both included; rows are in order of days, so this is a
    slice.
    """
    days = _flights()["day"].combine_chunks().cast(pa.int32()).to_numpy()
    epoch = datetime.date(1970, 1, 1)
    start = 0 if first is None else int(np.searchsorted(days, (first - epoch).days, "left"))
    return _flights().slice(start, int(np.searchsorted(days, (last - epoch).days, "right")) - start)


def _where(flights: pa.Table, mask: np.ndarray) -> pa.Table:
    return flights.filter(pa.array(mask))


def _known(flights: pa.Table, column: str) -> np.ndarray:
    return flights[column].is_valid().to_numpy()


def _cancelled(flights: pa.Table) -> np.ndarray:
    return ~_known(flights, "departure_delay")


def _provisional(flights: pa.Table) -> np.ndarray:
    return _known(flights, "arrival_delay") & (flights["id"].to_numpy() % PROVISIONAL_EVERY == 0)


def _tails(flights: pa.Table) -> pa.Table:
    known = _where(flights, _known(flights, "tail"))
    return pa.table({"id": known["id"], "value": known["tail"]})


def _delays(flights: pa.Table, provisional: bool) -> pa.Table:
    """(id, minutes) of the flights that arrived; with `provisional`, as reported on the
    day itself.
    """
    arrived = _where(flights, _known(flights, "arrival_delay"))
    minutes = arrived["arrival_delay"].to_numpy()
    if provisional:
        minutes = np.where(_provisional(arrived), arrived["departure_delay"].to_numpy(), minutes)
    return pa.table({"id": arrived["id"], "value": minutes.astype(np.int64)})


@dataclass(frozen=True)
class Report:
    """Tables of one transaction, in Arrow.

    `flights`, `tails` and `delays` are new; `corrections` replace delays; `withdrawn` flights and
    their `withdrawn_tails` are deleted. Tails and delays are functions of the flight's id, so their
    columns are id and value.
    """

    day: datetime.date
    flights: pa.Table
    tails: pa.Table
    delays: pa.Table
    corrections: pa.Table
    withdrawn: pa.Table
    withdrawn_tails: pa.Table


def past(last: datetime.date, first: datetime.date | None = None) -> Report:
    """Everything known in the evening of `last`, from the day `first` on if given: earlier days
    with corrections, `last` as first reported.
    """
    earlier = _between(first, last - ONE_DAY)
    earlier = _where(earlier, ~_cancelled(earlier))
    fresh = _between(last, last)
    flights = pa.concat_tables([earlier, fresh])
    nothing = fresh.slice(0, 0)
    return Report(
        day=last,
        flights=flights.select(FLIGHT_COLUMNS),
        tails=_tails(flights),
        delays=pa.concat_tables(
            [_delays(earlier, provisional=False), _delays(fresh, provisional=True)]
        ),
        corrections=_delays(nothing, provisional=False),
        withdrawn=nothing.select(FLIGHT_COLUMNS),
        withdrawn_tails=_tails(nothing),
    )


def daily(day: datetime.date) -> Report:
    """Report of `day`: its own flights, and the corrections and withdrawals for the day before."""
    fresh, before = _between(day, day), _between(day - ONE_DAY, day - ONE_DAY)
    withdrawn = _where(before, _cancelled(before))
    return Report(
        day=day,
        flights=fresh.select(FLIGHT_COLUMNS),
        tails=_tails(fresh),
        delays=_delays(fresh, provisional=True),
        corrections=_delays(_where(before, _provisional(before)), provisional=False),
        withdrawn=withdrawn.select(FLIGHT_COLUMNS),
        withdrawn_tails=_tails(withdrawn),
    )
