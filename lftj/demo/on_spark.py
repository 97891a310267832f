# SPDX-License-Identifier: Apache-2.0
"""The demo on Spark: the same rules and days, relations cut into parts, and at the end the same
rows as in one process.
"""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from rich.console import Console
from rich.table import Table

import lftj
from lftj.demo import feed
from lftj.demo.desk import RULES, VIEWS, Desk

PARTS = 4


@dataclass
class SparkDesk:
    """A distributed workspace being fed. `delays` are those of yesterday as first reported, which
    today's corrections replace.
    """

    workspace: lftj.Workspace
    delays: dict[int, int] = field(default_factory=dict)

    def load(self, last: datetime.date, folder: Path) -> None:
        """Everything known in the evening of `last`: as Parquet files, which the executors read,
        then the rules.
        """
        report = feed.past(last)
        tables: dict[str, Any] = {
            name: feed.table(file)
            for name, file in (
                ("plane", "planes"),
                ("airline", "airlines"),
                ("airport", "airports"),
            )
        }
        tables |= {"flight": report.flights, "tail": report.tails, "delay": report.delays}
        with self.workspace.transaction() as tx:
            tx.add_rules(RULES.read_text(encoding="utf-8"))
            for name, table in tables.items():
                pyarrow.parquet.write_table(pa.table(table), folder / f"{name}.parquet")
                tx.insert(name, folder / f"{name}.parquet")
        self._remember(report.delays)

    def commit(self, day: datetime.date) -> lftj.Transaction:
        """Commit the report of a day as one transaction; small tables go out from here."""
        report = feed.daily(day)
        corrected = report.corrections.to_pylist()
        with self.workspace.transaction() as tx:
            tx.insert("flight", report.flights)
            tx.insert("tail", report.tails)
            tx.insert("delay", report.delays)
            tx.delete("delay", [(row["id"], self.delays[row["id"]]) for row in corrected])
            tx.insert("delay", report.corrections)
            tx.delete("flight", report.withdrawn)
            tx.delete("tail", report.withdrawn_tails)
        self._remember(report.delays)
        return tx

    def _remember(self, delays: pa.Table) -> None:
        self.delays = dict(zip(delays["id"].to_pylist(), delays["value"].to_pylist(), strict=True))


def run(console: Console, days: int, parts: int = PARTS) -> None:
    """Load, commit `days` days on Spark, print what each cost, and compare with a workspace of this
    process.
    """
    with console.status("Starting Spark …"):
        spark = lftj.local_spark(2)
    with TemporaryDirectory() as folder:
        executor = lftj.SparkExecutor(spark, parts, path=Path(folder) / "flights")
        with lftj.connect(executor=executor) as workspace:
            desk = SparkDesk(workspace)
            started = time.perf_counter()
            with console.status(
                f"Loading January to August into {parts} parts and deriving all views …"
            ):
                desk.load(feed.FIRST_DAY - feed.ONE_DAY, Path(folder))
            console.print(
                f"Loaded {len(workspace['flight']):,} flights and derived all views on Spark in "
                f"{time.perf_counter() - started:.1f} s."
            )
            changes = [
                _changed(desk.commit(feed.FIRST_DAY + feed.ONE_DAY * offset))
                for offset in range(days)
            ]
            console.print(_costs(workspace, days, changes))
            with console.status("Comparing with a workspace of one process …"):
                differing = _differing(workspace, days)
            console.print(
                "All views have the same rows as in one process."
                if not differing
                else f"[red]Different: {', '.join(differing)}"
            )


def _changed(tx: lftj.Transaction) -> int:
    return sum(len(tx.changes(view)) for view in VIEWS)


def _costs(workspace: lftj.Workspace, days: int, changes: list[int]) -> Table:
    """A row per day: rows of views that changed, and what the commit cost."""
    table = Table(
        "day", "changes", "parts", "tasks", "rows sent", "bytes", "kernel steps", "seconds"
    )
    for offset, report in enumerate(workspace.profile(last=days).result().to_dicts()):
        day = feed.FIRST_DAY + feed.ONE_DAY * offset
        cells = (
            changes[offset],
            report["parts"],
            report["tasks"],
            report["rows"],
            report["bytes"],
            report["steps"],
        )
        table.add_row(day.isoformat(), *(f"{cell:,}" for cell in cells), f"{report['seconds']:.1f}")
    return table


def _differing(workspace: lftj.Workspace, days: int) -> list[str]:
    """The views that are not as a desk in this process has them."""
    local = Desk()
    local.load(feed.FIRST_DAY - feed.ONE_DAY)
    for offset in range(days):
        local.commit(feed.FIRST_DAY + feed.ONE_DAY * offset)
    return [view for view in VIEWS if sorted(workspace[view].fetchall()) != local.rows(view)]
