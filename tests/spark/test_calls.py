"""Calls beside commits of a workspace on real Spark: rows that are replaced and deleted where they
are, limits, subscribers.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import lftj
from tests.spark.graph import open_path
from tests.spark.tasks import sleep


def test_rows_are_replaced_deleted_and_asked_for_where_they_are(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path, tuning=lftj.Tuning(gathered_rows=5)) as workspace:
        workspace.relation("acct", {"id": int, "owner": str, "balance": float}, key="id")
        workspace.add_rules(
            ".decl held(o: symbol, n: number, b: float) held(o, count(), sum(b)) :- acct(_, o, b)."
        )
        workspace.load("acct", [(i, f"o{i % 3}", 0.5) for i in range(30)])
        heard: list[Any] = []
        with (
            workspace.subscribe("held", lambda changes: heard.append(sorted(changes.fetchall()))),
            workspace.transaction() as tx,
        ):
            tx.upsert(
                "acct",
                spark.createDataFrame(
                    [(1, "you", 2.0), (100, "you", 1.0)], "id long, owner string, balance double"
                ),
            )
            assert tx.delete_where("acct", owner="o2") == 10
            assert tx.delete_where("acct", id=100) == 1
            tx.upsert("acct", [(2, "new", 0.25)])
            with pytest.raises(lftj.MissingRowError, match=r"\(3, 'o0', 0.5\) is already there"):
                tx.insert("acct", [(3, "o0", 0.5)], existing="error")
        held = {("o0", 10, 5.0), ("o1", 9, 4.5), ("you", 1, 2.0), ("new", 1, 0.25)}
        assert set(workspace["held"].fetchall()) == held
        assert {row[:3] for row in heard[0] if row[3] > 0} == held - {("o0", 10, 5.0)}
        assert workspace.query("acct(1, who, b)").fetchall() == [("you", 2.0)]
        assert workspace.query("n = count : { acct(_, _, _) }").fetchall() == [(21,)]
        assert sorted(workspace.query("acct(x, o, _), acct(y, o, _), x < y, y < 5").fetchall()) == [
            (0, "o0", 3)
        ]
        assert {row[0] for row in workspace.query("acct(x, _, _)").to_spark().collect()} == {
            row[0] for row in workspace["acct"].fetchall()
        }
        told = {(name, held): rows for name, held, _, rows, _ in workspace.memory().fetchall()}
        assert (told["acct", "sliced by id"], told["acct#base", "on disk"]) == (21, 21)
        assert workspace.verify() == []


def test_the_rows_of_a_hub_lie_in_all_parts(spark: Any, tmp_path: Path) -> None:
    rows = [("hub", f"n{n}") for n in range(200)] + [
        (f"n{n}", f"n{n * n % 200}") for n in range(100)
    ]
    rules = ".decl tri(x: symbol, n: number) tri(x, count()) :- e(x, y), e(y, z), e(x, z)."
    with (
        open_path(spark, tmp_path, tuning=lftj.Tuning(hub_rows=100)) as many,
        lftj.connect() as one,
    ):
        for workspace in (many, one):
            workspace.relation("e", {"x": str, "y": str})
            workspace.load("e", rows)
            workspace.add_rules(rules)
            with workspace.transaction() as tx:
                assert tx.delete_where("e", x="hub", y="n4") == 1
                tx.insert("e", [("n7", "hub"), ("hub", "n300")])
        assert ("e#base", "sliced by x, hubs by y") in {
            row[2:4] for row in many.plan().places().fetchall()
        }
        assert sorted(many["tri"].fetchall()) == sorted(one["tri"].fetchall())
        sizes = [sum(1 for _ in part) for part in many["e"].to_spark().rdd.glom().collect()]
        assert max(sizes) < 200
        assert (sum(sizes), len(many.query('e("hub", y)'))) == (301, 200)


@pytest.mark.usefixtures("heeding_interrupts")
def test_what_goes_on_for_too_long_is_cancelled(spark: Any, tmp_path: Path) -> None:
    with open_path(spark, tmp_path) as workspace:
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(x, y) for x in range(60) for y in range(60)])
        version = workspace.version
        with workspace.limits(seconds=0.5), pytest.raises(lftj.LimitError) as caught:
            workspace.add_rules(
                ".decl p(n: number) p(count()) :- e(a, b), e(b, c), e(c, d), e(d, f), e(f, a), "
                "e(a, c), e(a, d), e(b, d), e(b, f), e(c, f)."
            )
        assert (caught.value.code, workspace.version) == ("E331", version)
        interrupt = Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            workspace.query("e(a, b), e(b, c), e(c, d), e(d, f), e(f, a)")
        assert workspace.version == version
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            workspace._backend.executor.map(sleep, [20.0], seconds=0.5)
        assert time.monotonic() - started < 15
        assert workspace.load("e", [(60, 0), (0, 0)]) == 1
