# SPDX-License-Identifier: Apache-2.0
"""Script that made the compact copy in `data/` from the nycflights13 tables. Run by hand, once:

python -m lftj.demo.prepare FOLDER

where FOLDER holds `flights-2013-01-to-09.parquet`, `airlines.csv`, `airports.csv` and `planes.csv`.
Only the columns that the demo reads are kept, and the scheduled times become minutes after midnight
*in New York* for both ends of a flight, so that rules can compare them.
"""

from __future__ import annotations

import datetime
import sys
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

TARGET = Path(__file__).parent / "data"
NEW_YORK = "America/New_York"
# The four destinations that the airports table lacks: three in Puerto Rico, one on the Virgin
# Islands.
MISSING_ZONES = dict.fromkeys(("BQN", "PSE", "SJU", "STT"), "America/Puerto_Rico")
DAY = 24 * 60


def minutes(clock: int) -> int:
    """Minutes after midnight of a time written HHMM."""
    return clock // 100 * 60 + clock % 100


@cache
def behind_new_york(day: datetime.date, zone: str) -> int:
    """Minutes by which the clocks of `zone` are behind New York's at noon of `day`."""
    noon = datetime.datetime.combine(day, datetime.time(12))
    there, here = (
        noon.replace(tzinfo=ZoneInfo(name)).utcoffset() or datetime.timedelta()
        for name in (zone, NEW_YORK)
    )
    return int((here - there).total_seconds()) // 60


def arrival(day: datetime.date, leaves: int, clock: int, zone: str) -> int:
    """Scheduled arrival in minutes after New York's midnight of the day of departure; may pass 24
    hours.
    """
    arrives = minutes(clock) + behind_new_york(day, zone)
    while arrives <= leaves:
        arrives += DAY
    return arrives


def compact_flights(flights: pa.Table, zones: dict[str, str]) -> pa.Table:
    """One row a flight, ordered by day, carrier and route: the position is the flight's number in
    the demo.
    """
    rows = flights.to_pydict()
    days = [
        datetime.date(y, m, d)
        for y, m, d in zip(rows["year"], rows["month"], rows["day"], strict=True)
    ]
    leaves = [minutes(clock) for clock in rows["sched_dep_time"]]
    arrives = [
        arrival(day, start, clock, zones[dest])
        for day, start, clock, dest in zip(
            days, leaves, rows["sched_arr_time"], rows["dest"], strict=True
        )
    ]
    table = pa.table(
        {
            "day": pa.array(days, pa.date32()),
            "carrier": rows["carrier"],
            "origin": rows["origin"],
            "dest": rows["dest"],
            "leaves": pa.array(leaves, pa.int16()),
            "arrives": pa.array(arrives, pa.int16()),
            "tail": rows["tailnum"],
            "departure_delay": pc.cast(flights["dep_delay"], pa.int16()),
            "arrival_delay": pc.cast(flights["arr_delay"], pa.int16()),
        }
    )
    return table.sort_by(
        [(name, "ascending") for name in ("day", "carrier", "origin", "dest", "leaves", "tail")]
    )


def main(folder: str) -> None:
    """Read the original tables from `folder` and write the compact ones."""
    source = Path(folder)
    airports = pyarrow.csv.read_csv(source / "airports.csv")
    zones: dict[str, str] = MISSING_ZONES | dict(
        zip(airports["faa"].to_pylist(), airports["tzone"].to_pylist(), strict=True)
    )
    flights = compact_flights(
        pyarrow.parquet.read_table(source / "flights-2013-01-to-09.parquet"), zones
    )
    planes = pyarrow.csv.read_csv(source / "planes.csv")
    tables = {
        "flights": flights,
        "airlines": pyarrow.csv.read_csv(source / "airlines.csv"),
        "airports": pa.table(
            {
                "faa": airports["faa"],
                "name": [name.replace("\\\\'", "'") for name in airports["name"].to_pylist()],
            }
        ),
        "planes": planes.select(["tailnum", "manufacturer", "model", "seats"]).rename_columns(
            ["tail", "manufacturer", "model", "seats"]
        ),
    }
    for name, table in tables.items():
        pyarrow.parquet.write_table(
            table, TARGET / f"{name}.parquet", compression="zstd", compression_level=19
        )


if __name__ == "__main__":
    main(sys.argv[1])
