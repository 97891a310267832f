"""DuckDB on one thread, in memory, with its tables loaded before the clock starts."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa

TRIANGLES = (
    "select count(*) from edge e, edge f, edge g where e.y = f.x and g.x = e.x and g.y = f.y"
)
PATHS = "select count(*) from edge e, edge f, edge g where e.y = f.x and f.y = g.x"
FOUR_CYCLES = (
    "select count(*) from edge e, edge f, edge g, edge h where e.y = f.x and f.y = g.x and h.x "
    "= e.x and h.y = g.y"
)
FOUR_CLIQUES = """select count(*) from edge ab, edge bc, edge ac, edge ad, edge bd, edge cd
    where ab.y = bc.x and ac.x = ab.x and ac.y = bc.y and ad.x = ab.x and bd.x = ab.y
        and bd.y = ad.y and cd.x = bc.y and cd.y = ad.y"""
# Written by hand: two triangles on one edge are most of a clique. 15 times faster than what the
# planner makes of the above.
FOUR_CLIQUES_BY_HAND = """with triangle as materialized
    (select ab.x a, ab.y b, bc.y c from edge ab, edge bc, edge ac where ab.y = bc.x
        and ac.x = ab.x and ac.y = bc.y)
    select count(*) from triangle abc, triangle abd, edge cd
    where abc.a = abd.a and abc.b = abd.b and cd.x = abc.c and cd.y = abd.c"""
CLOSURE = """create or replace table path as with recursive path(x, y) as
    (select x, y from edge union select path.x, edge.y from path, edge where path.y = edge.x)
        select x, y from path"""


class Peer:
    """A connection with one thread and the two-column table `edge`."""

    def __init__(self, edges: Sequence[np.ndarray]):
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        source = pa.table({"x": edges[0], "y": edges[1]})
        self.connection.register("source", source)
        self.connection.execute("create table edge as select * from source")

    def count(self, query: str) -> int:
        """The single number a query returns."""
        row = self.connection.execute(query).fetchone()
        assert row is not None
        return int(row[0])

    def closure(self) -> int:
        """Build the table `path`, the transitive closure, and return how many rows it has."""
        self.connection.execute(CLOSURE)
        return self.count("select count(*) from path")

    def rows(self, table: str) -> list[np.ndarray]:
        """The columns of a two-column table, in the order of its rows' values."""
        columns = self.connection.execute(f"select x, y from {table} order by x, y").fetchnumpy()
        return [np.asarray(columns["x"]), np.asarray(columns["y"])]
