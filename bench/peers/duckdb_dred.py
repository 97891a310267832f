"""Delete and re-derive for the closure of a graph on DuckDB, in iterations written by hand in SQL,
one thread.

After a deletion all paths that used the edge go, and those that have another way come back; nothing
is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.peers.duckdb import Peer


class RederivingPeer(Peer):
    """A connection with the tables `edge` and `path`."""

    def __init__(self, edges: Sequence[np.ndarray]):
        super().__init__(edges)
        self.closure()

    def delete(self, x: int, y: int) -> None:
        """Take out an edge that is there."""
        run = self.connection.execute
        run(
            f"create or replace temp table fresh as select x, {y} y from (select {x} x union "
            f"select x from path where y = {x})"
        )
        run("create or replace temp table gone as from fresh")
        self._iterate(
            "gone",
            "select distinct f.x, e.y from fresh f join edge e on f.y = e.x anti join gone on "
            "gone.x = f.x and gone.y = e.y",
        )
        run(f"delete from edge where x = {x} and y = {y}")
        run("create or replace temp table kept as from path anti join gone using (x, y)")
        run("create or replace table path as from kept")
        # what has a proof from the rows that stayed, then what follows from these
        run("""create or replace temp table fresh as
            select x, y from gone semi join edge using (x, y) union
            select p.x, e.y from path p join edge e on p.y = e.x semi join gone g on g.x = p.x
                and g.y = e.y""")
        run("insert into path from fresh")
        self._grow()

    def insert(self, x: int, y: int) -> None:
        """Put in an edge that is not there."""
        run = self.connection.execute
        run(f"insert into edge values ({x}, {y})")
        run(
            f"create or replace temp table fresh as select s.x, {y} y from (select {x} x union "
            f"select x from path where y = {x}) s"
            f" anti join path p on p.x = s.x and p.y = {y}"
        )
        run("insert into path from fresh")
        self._grow()

    def _grow(self) -> None:
        self._iterate(
            "path",
            "select distinct f.x, e.y from fresh f join edge e on f.y = e.x anti join path p on "
            "p.x = f.x and p.y = e.y",
        )

    def _iterate(self, target: str, step: str) -> None:
        """Add what `step` finds from `fresh` to `target`, and go on from that, until nothing is
        found.
        """
        while self.count("select count(*) from fresh"):
            self.connection.execute(f"create or replace temp table found as {step}")
            self.connection.execute(f"insert into {target} from found")
            self.connection.execute("create or replace temp table fresh as from found")
