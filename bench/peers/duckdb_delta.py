"""DuckDB keeping the triangle views up to date with delta queries written by hand.

An inserted edge is put into the table first, a deleted one taken out last, so that both see the
graph that holds it. A triangle is touched when the changed edge is its first, second or closing
one; `union` counts it once when several of its edges changed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from bench.peers.duckdb import Peer

_SETUP = """
create table per_vertex as
    select e.x, count(*) n from edge e, edge f, edge g where e.y = f.x and g.x = e.x
        and g.y = f.y group by e.x;
create table total as select coalesce(sum(n), 0)::bigint n from per_vertex;
create table change(x bigint, y bigint);
create table delta(x bigint, n bigint)
"""
# Constants go to the scans, where the tables' zone maps skip what cannot match: about three times
# as fast as a join with the change.
_ONE = """insert into delta select x, {sign} * count(*) from (
    select {a} x from edge f, edge g where f.x = {b} and g.x = {a} and f.y = g.y
    union all select e.x from edge e, edge g where e.y = {a} and g.y = {b} and e.x = g.x
    union all select {a} from edge e, edge f where e.x = {a} and f.y = {b} and e.y = f.x)
        group by x"""
_MANY = """insert into delta select x, {sign} * count(*) from (
    select c.x, c.y, f.y z from change c, edge f, edge g where f.x = c.y and g.x = c.x and f.y = g.y
    union select e.x, c.x, c.y from change c, edge e, edge g where e.y = c.x and g.y = c.y
        and e.x = g.x
    union select c.x, e.y, c.y from change c, edge e, edge f where e.x = c.x and f.y = c.y
        and e.y = f.x) group by x"""
_VIEWS = (
    "update per_vertex set n = per_vertex.n + delta.n from delta where per_vertex.x = delta.x",
    "insert into per_vertex select x, n from delta where x not in (select x from per_vertex)",
    "delete from per_vertex where n = 0",
    "update total set n = n + coalesce((select sum(n) from delta), 0)",
)


class DeltaPeer(Peer):
    """The edges and both views as tables, the views brought up to date by `commit`."""

    def __init__(self, edges: Sequence[np.ndarray]):
        super().__init__(edges)
        self.connection.execute(_SETUP)

    def commit(self, inserted: np.ndarray, deleted: np.ndarray) -> None:
        """Delete and insert edges and bring both views up to date, in one transaction."""
        self.connection.execute("begin")
        if len(deleted):
            self._change(deleted, -1)
        if len(inserted):
            self._change(inserted, 1)
        self.connection.execute("commit")

    def _change(self, edges: np.ndarray, sign: int) -> None:
        run = self.connection.execute
        one = len(edges) == 1
        a, b = (int(end) for end in edges[0])
        if not one:
            self.connection.register("changed_rows", pa.table({"x": edges[:, 0], "y": edges[:, 1]}))
            run("insert into change select * from changed_rows")
        if sign > 0:
            run(f"insert into edge values ({a}, {b})" if one else "insert into edge from change")
        run((_ONE if one else _MANY).format(sign=sign, a=a, b=b))
        if sign < 0:
            run(
                f"delete from edge where x = {a} and y = {b}"
                if one
                else "delete from edge where (x, y) in (from change)"
            )
        for statement in _VIEWS:
            run(statement)
        run("delete from delta")
        if not one:
            run("delete from change")

    def views(self) -> dict[str, list[tuple[int, ...]]]:
        """The rows of both views, sorted."""
        return {
            name: self.connection.execute(f"select * from {name} order by all").fetchall()
            for name in ("per_vertex", "total")
        }
