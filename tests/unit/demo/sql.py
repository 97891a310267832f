"""The demo's expected output on any evening, computed by DuckDB from the packaged Parquet files and
nothing else.

Nothing here is shared with `lftj.demo`: neither the feed nor the rules.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import lftj

DATA = Path(lftj.__file__).parent / "demo" / "data"

# What is known in the evening of $day: cancelled flights are still there on their own day,
# provisional delays too.
FACTS = {
    "flight": """
        SELECT id, day, carrier, origin, dest, leaves, arrives FROM source
        WHERE day < $day AND departure_delay IS NOT NULL OR day = $day""",
    "tail": "SELECT source.id, source.tail FROM source JOIN flight USING (id) WHERE source.tail IS "
    "NOT NULL",
    "delay": """
        SELECT id, CASE WHEN source.day = $day AND id % 20 = 0 THEN departure_delay
            ELSE arrival_delay END AS minutes
        FROM source JOIN flight USING (id) WHERE arrival_delay IS NOT NULL""",
}

# In an order in which each view reads only earlier ones.
VIEWS = {
    "route_delay": """
        SELECT carrier, origin, dest, count(*), avg(minutes), min(minutes), max(minutes)
        FROM flight JOIN delay USING (id) GROUP BY carrier, origin, dest""",
    "day_delay": """
        SELECT day, origin, count(*), avg(minutes)
        FROM flight JOIN delay USING (id) GROUP BY day, origin""",
    "unregistered": "SELECT DISTINCT tail, carrier FROM flight JOIN tail USING (id) ANTI JOIN "
    "planes USING (tail)",
    "unregistered_planes": "SELECT carrier, name, count(*) FROM unregistered JOIN airlines USING "
    "(carrier) GROUP BY carrier, name",
    "flown": "SELECT DISTINCT day, tail, origin, dest, leaves, arrives FROM flight JOIN tail USING "
    "(id)",
    "turn": """
        SELECT day, a.dest AS x, a.arrives AS landed, b.origin AS o, b.leaves AS off, b.dest AS y
        FROM flown AS a JOIN (SELECT day, tail, origin, leaves, dest FROM flown) AS b USING (day,
            tail)""",
    "leg": """
        SELECT day, origin AS a, dest AS b, leaves, arrives FROM flight
        UNION SELECT day, x, o, landed, off FROM turn WHERE landed < off""",
    "reach": """
        WITH RECURSIVE found(day, start, airport, time) AS (
            SELECT DISTINCT day, origin, dest, arrives FROM flight
            UNION
            SELECT found.day, start, b, arrives FROM found JOIN leg ON leg.day = found.day
                AND a = airport AND time <= leaves
        ) SELECT * FROM found""",
    "earliest": "SELECT day, start, airport, min(time) AS time FROM reach GROUP BY day, start, "
    "airport",
    "only_by_connection": """
        SELECT day, start, airport FROM earliest WHERE start <> airport
        AND NOT EXISTS (FROM flight WHERE flight.day = earliest.day AND origin = start
            AND dest = airport)""",
    "reachable": "SELECT day, start, count(*) AS airports FROM earliest WHERE start <> airport "
    "GROUP BY day, start",
    "connections": "SELECT day, start, count(*) AS airports FROM only_by_connection GROUP BY day, "
    "start",
    "linked": "SELECT DISTINCT x AS a, y AS b FROM turn WHERE x < y",
    "triangle": """
        SELECT p.a, p.b, q.b AS c FROM linked p JOIN linked q ON q.a = p.b JOIN linked r
            ON r.a = p.a AND r.b = q.b""",
    "triangles_at": """
        SELECT faa, name, count(*) FROM airports
        JOIN (SELECT unnest([a, b, c]) AS faa FROM triangle) USING (faa) GROUP BY faa, name""",
}


class Evening:
    """Facts and views as known in the evening of `day`, of flights from the day `first` on, as a
    fresh DuckDB database.
    """

    def __init__(self, day: datetime.date, first: datetime.date):
        self.database = duckdb.connect(":memory:", config={"threads": 1})
        for name in ("airlines", "airports", "planes"):
            self.database.execute(f"CREATE VIEW {name} AS FROM '{DATA / name}.parquet'")
        self.database.execute(
            f"CREATE TABLE source AS SELECT file_row_number + 1 AS id, * EXCLUDE file_row_number "
            f"FROM read_parquet('{DATA / 'flights.parquet'}', file_row_number = true) "
            f"WHERE day >= DATE '{first}'"
        )
        for name, query in (FACTS | VIEWS).items():
            self.database.execute(
                f"CREATE TABLE {name} AS {query.replace('$day', f'DATE {day.isoformat()!r}')}"
            )

    def count(self, relation: str) -> int:
        """Rows of a fact or view; views are sets here."""
        return self.ask(f"SELECT count(*) FROM {relation}")[0][0]

    def against(self, relation: str, rows: pa.Table) -> tuple[int, int]:
        """Rows of a fact or view, each as often as it is there, that `rows` lack, and rows that
        only they have.
        """
        with_those = self.database.cursor().register("those", rows)
        columns = ", ".join(f"c{place}" for place in range(rows.num_columns))
        return with_those.execute(
            f"""
            WITH signed({columns}, once) AS
                (SELECT *, 1 FROM {relation} UNION ALL SELECT *, -1 FROM those)
            SELECT coalesce(sum(n) FILTER (n > 0), 0)::BIGINT,
                coalesce(-sum(n) FILTER (n < 0), 0)::BIGINT
            FROM (SELECT sum(once) AS n FROM signed GROUP BY {columns})"""
        ).fetchall()[0]

    def table(self, relation: str) -> pa.Table:
        """All rows of a fact or view."""
        return self.database.table(relation).to_arrow_table()

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query over facts and views."""
        return self.database.execute(query).fetchall()
