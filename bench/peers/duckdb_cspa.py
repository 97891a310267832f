"""The points-to analysis `programs/cspa.dl` on DuckDB, which has no mutual recursion: semi-naïve
iterations written by hand, one thread.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

VIEWS = ("valueFlow", "valueAlias", "memoryAlias")

_FIRST = {
    "valueFlow": "select x, y from Assign union select x, x from Assign union select y, y from "
    "Assign",
    "valueAlias": "select 0::bigint x, 0::bigint y where false",
    "memoryAlias": "select x, x y from Assign union select y, y from Assign",
}
# What a round derives from rows that were new in the round before (d…), one of them in every body.
_ITERATION = {
    "valueFlow": """
        select a.x, m.y from Assign a join dmemoryAlias m on a.y = m.x union all
        select v.x, w.y from dvalueFlow v join valueFlow w on v.y = w.x union all
        select v.x, w.y from valueFlow v join dvalueFlow w on v.y = w.x""",
    "memoryAlias": "select d.y x, e.y from Dereference d join dvalueAlias a on d.x = a.x join "
    "Dereference e on a.y = e.x",
    "valueAlias": """
        select v.y x, w.y from dvalueFlow v join valueFlow w on v.x = w.x union all
        select v.y x, w.y from valueFlow v join dvalueFlow w on v.x = w.x union all
        select v.y x, w.y from dvalueFlow v join memoryAlias m on v.x = m.x join valueFlow w
            on m.y = w.x union all
        select v.y x, w.y from valueFlow v join dmemoryAlias m on v.x = m.x join valueFlow w
            on m.y = w.x union all
        select v.y x, w.y from valueFlow v join memoryAlias m on v.x = m.x join dvalueFlow w
            on m.y = w.x""",
}


class Analysis:
    """A connection with the tables Assign and Dereference."""

    def __init__(self, tables: dict[str, pa.Table]):
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        for name, table in tables.items():
            self.connection.register("source", table.rename_columns(["x", "y"]))
            self.connection.execute(f"create table {name} as select distinct x, y from source")

    def run(self) -> dict[str, int]:
        """Rounds until one finds nothing new: the number of rows of every view."""
        for view in VIEWS:
            self.connection.execute(f"create table {view} as {_FIRST[view]}")
            self.connection.execute(f"create table d{view} as from {view}")
        while any(self._count(f"d{view}") for view in VIEWS):
            for view in VIEWS:
                found = _ITERATION[view]
                new = f"select distinct x, y from ({found}) r anti join {view} using (x, y)"
                self.connection.execute(f"create table n{view} as {new}")
            for view in VIEWS:
                self.connection.execute(f"drop table d{view}")
                self.connection.execute(f"alter table n{view} rename to d{view}")
                self.connection.execute(f"insert into {view} from d{view}")
        return {view: self._count(view) for view in VIEWS}

    def _count(self, table: str) -> int:
        row = self.connection.execute(f"select count(*) from {table}").fetchone()
        assert row is not None
        return int(row[0])

    def rows(self, view: str) -> list[np.ndarray]:
        """The columns of a view, in the order of its rows' values."""
        columns = self.connection.execute(f"select x, y from {view} order by x, y").fetchnumpy()
        return [np.asarray(columns["x"]), np.asarray(columns["y"])]
