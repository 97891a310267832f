"""Recursion with `min` in rounds on real Spark: what is deleted is followed, by the executors that
have to do with it.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lftj
from tests.spark.graph import open_path

RULES = """
.decl d(x: number, v: number)
d(0, min(0)) :- e(0, _, _).
d(y, min(v + w)) :- d(x, v), e(x, y, w).
.decl near(v: number, n: number)
near(v, count()) :- d(_, v), v < 6.
"""


def test_shortest_paths_follow_deletions(spark: Any, tmp_path: Path) -> None:
    draw = random.Random(3)
    ring = {(n, n + 1, 0) for n in range(50, 60)} | {
        (60, 50, 0)
    }  # holds itself up, once it is cut off
    edges = sorted(
        {(draw.randrange(40), draw.randrange(40), draw.randint(0, 4)) for _ in range(110)}
        | ring
        | {(3, 50, 1)}
    )
    one = lftj.connect()
    with open_path(spark, tmp_path / "path") as many:
        for workspace in (one, many):
            workspace.relation("e", {"x": int, "y": int, "w": int})
            workspace.load("e", edges)
            workspace.add_rules(RULES)
        for gone, came in (([(3, 50, 1)], []), (draw.sample(edges, 4), [(1, 55, 2)])):
            changes: list[Any] = []
            for workspace in (one, many):
                with workspace.transaction() as tx:
                    tx.delete("e", gone)
                    tx.insert("e", came)
                changes.append(
                    [
                        sorted(row[:3] for row in tx.changes(name).fetchall())
                        for name in ("d", "near")
                    ]
                )
            assert changes[0] == changes[1]
            assert sorted(many["d"].fetchall()) == sorted(one["d"].fetchall())
        report = many.profile(last=2)
        assert report["overdeleted"].iloc[0] >= 11
        assert report["anew"].sum() == 0
        assert many.verify() == []
