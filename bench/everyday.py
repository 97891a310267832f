"""Programs that are run again: the same text, and a text with one other rule, among 1,000 rules and
among a tenth of them. Schemas that change: a column with a default. Changes in bulk: deletes by
keys, a relation that is made equal to a table, and a feed of changes. A function of the user's.
What stands in order, and columns that may hold NULL.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.figure import Report, require_equal
from bench.in_order import commit_share, measured
from bench.optional import compared
from lftj.types import arrow_compute as pc

RULES = {"s": 50, "m": 300, "l": 1_000}
SMALLER = 10
ORDERED_ROWS = {"s": 20_000, "m": 200_000, "l": 1_000_000}
GROUPS = {"s": (200, 1), "m": (2_000, 1), "l": (10_000, 1)}
TURNS = 30
ROWS = 1_000


def text_of(limits: Sequence[int]) -> str:
    """A program of a rule for each limit, each with a relation of its own."""
    rules = "".join(
        f".decl r{place}(x: number, y: number)\nr{place}(x, y) :- e(x, z), e(z, y), x > {limit}.\n"
        for place, limit in enumerate(limits)
    )
    return f".decl e(x: number, y: number)\n{rules}"


class Programs:
    """A workspace with a program of some rules."""

    def __init__(self, rules: int):
        self.limits = [ROWS] * rules
        self.workspace = lftj.connect()
        self.workspace.program(text_of(self.limits))
        self.workspace.load("e", [(x, x + 1) for x in range(ROWS)])

    def unchanged(self, _: int) -> Callable[[], object]:
        """The same text again, read anew as from a file."""
        text = text_of(self.limits)
        return lambda: self.workspace.program(text)

    def changed(self, turn: int) -> Callable[[], object]:
        """The text with another limit of one rule."""
        self.limits[turn] = ROWS - 3
        text = text_of(self.limits)
        return lambda: self.workspace.program(text)

    def check(self, turns: int) -> None:
        """Every rule is there once, and derives what its limit lets through."""
        require_equal("rules", len(self.workspace.rules), len(self.limits))
        rows = [len(self.workspace[f"r{place}"]) for place in range(len(self.limits))]
        require_equal("rows", rows, [1 if place < turns else 0 for place in range(len(rows))])


DURABLE_ROWS = {"s": 20_000, "m": 1_000_000, "l": 10_000_000}
SYNCED_ROWS = {"s": 5_000, "m": 100_000, "l": 500_000}
DIFFERENT = 20
FED_ROWS = {"s": 2_000, "m": 20_000, "l": 100_000}
KEYS = {"s": 640, "m": 6_400, "l": 6_400}
CALLS = {"s": 20_000, "m": 200_000, "l": 1_000_000}
COLUMNS = 3


def default_column_ms(rows: int) -> float:
    """Processor time of adding a column with a default to durable rows: the median of some."""
    with (
        tempfile.TemporaryDirectory() as folder,
        lftj.connect(Path(folder) / "w.lftj") as workspace,
    ):
        workspace.relation("item", {"id": int, "price": int}, key="id")
        numbers = np.arange(rows)
        workspace.load("item", pa.table({"id": numbers, "price": numbers % 1000}))

        def added(turn: int) -> Callable[[], object]:
            name = f"c{turn}"
            return lambda: workspace.alter("item", add={name: str}, default={name: "new"})

        took = _median_ms(added, COLUMNS)
        require_equal("rows", len(workspace["item"]), rows)
        require_equal("row", workspace["item"].fetchone(), (0, 0, *["new"] * COLUMNS))
    return took


def _orders(rows: int) -> pa.Table:
    numbers = np.arange(rows)
    names = pa.array([f"customer {number}" for number in range(5_000)])
    return pa.table(
        {"id": numbers, "price": numbers * 7 % 1000, "who": names.take(pa.array(numbers % 5_000))}
    )


def _loaded(workspace: lftj.Workspace, table: pa.Table) -> float:
    """The processor time of loading orders, which a view counts."""
    workspace.relation("item", {"id": int, "price": int, "who": str}, key="id")
    workspace.add_rules(".decl n(who: symbol, n: number) n(w, count()) :- item(_, _, w).")
    return processor_seconds(lambda: workspace.load("item", table))


def sync_vs_load(rows: int) -> float:
    """Time of making durable rows equal to a table with some other rows : of loading them."""
    table = _orders(rows)
    prices = table["price"].to_numpy().copy()
    changed = np.linspace(0, rows - 1, DIFFERENT).astype(np.int64)
    found: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        lftj.connect(Path(folder) / "w.lftj") as workspace,
    ):
        load = _loaded(workspace, table)
        for _ in range(COLUMNS):
            prices[changed] += 1
            other = table.set_column(1, "price", pa.array(prices))

            def synced(other: pa.Table = other) -> None:
                with workspace.transaction() as tx:
                    require_equal("changes", tx.sync("item", other), (0, DIFFERENT, 0))

            found.append(processor_seconds(synced))
    return statistics.median(found) / load


def feed_vs_upsert(rows: int) -> float:
    """Time of applying as many events, some of which delete : of an upsert of the same rows."""
    table = _orders(rows)
    after = table.set_column(1, "price", pa.array(table["price"].to_numpy() + 1)).to_pylist()
    events: list[dict[str, Any]] = [
        {"op": "u", "before": before, "after": row, "source": {"lsn": number}}
        for number, (before, row) in enumerate(zip(table.to_pylist(), after, strict=True))
    ]
    for each in events[::3]:
        each |= {"op": "d", "after": None}
    ratios: list[float] = []
    for _ in range(COLUMNS):
        with lftj.connect() as upserted, lftj.connect() as fed:
            for workspace in (upserted, fed):
                _loaded(workspace, table)

            def upsert(workspace: lftj.Workspace = upserted) -> None:
                with workspace.transaction() as tx:
                    tx.upsert("item", after)

            def feed(workspace: lftj.Workspace = fed) -> None:
                with workspace.transaction() as tx:
                    tx.apply_changes("item", events, feed="shop", position="source.lsn")

            ratios.append(processor_seconds(feed) / processor_seconds(upsert))
            require_equal("rows", len(fed["item"]), rows - len(events[::3]))
    return statistics.median(ratios)


def keyed_deletes_ratio(rows: int, keys: int) -> float:
    """Time of so many deletes by a key in one transaction : of one delete of as many rows."""
    table = _orders(rows)
    numbers = np.random.default_rng(7).permutation(rows)[:keys].tolist()
    ratios: list[float] = []
    for _ in range(COLUMNS):
        with lftj.connect() as at_once, lftj.connect() as singly:
            for workspace in (at_once, singly):
                _loaded(workspace, table)
            gone = table.take(numbers).to_pylist()

            def one(workspace: lftj.Workspace = at_once, gone: list[Any] = gone) -> None:
                with workspace.transaction() as tx:
                    tx.delete("item", gone)

            def many(workspace: lftj.Workspace = singly) -> None:
                with workspace.transaction() as tx:
                    for number in numbers:
                        tx.delete("item", keys=[number])

            ratios.append(processor_seconds(many) / processor_seconds(one))
            require_equal("rows", len(at_once["item"]), rows - keys)
            require_equal("rows", singly["n"].sort().fetchall(), at_once["n"].sort().fetchall())
    return statistics.median(ratios)


def _slugs(titles: pa.Array) -> pa.Array:
    """Titles in small letters, with a dash in the place of all else."""
    return pc.replace_substring_regex(pc.utf8_lower(titles), "[^a-z0-9]+", "-")


def calls_vs_array(rows: int) -> float:
    """Time of a view of so many distinct calls of a function of columns : of one call on the
    array.
    """
    titles = pa.array([f"Title No {number} of the List" for number in range(rows)])
    ratios: list[float] = []
    for _ in range(COLUMNS):
        with lftj.connect() as workspace:
            workspace.relation("page", {"title": str})
            workspace.load("page", pa.table({"title": titles}))
            workspace.function(
                name="slugs", argument_types=(str,), result_type=str, columns="arrow"
            )(_slugs)
            rule = ".decl at(title: symbol, slug: symbol) at(t, slugs(t)) :- page(t)."
            once = processor_seconds(lambda: _slugs(titles))
            ratios.append(processor_seconds(lambda: workspace.add_rules(rule)) / once)  # noqa: B023 — called at once
            require_equal("rows", len(workspace["at"]), rows)
    return statistics.median(ratios)


def _median_ms(run: Callable[[int], Callable[[], object]], turns: int) -> float:
    return statistics.median(processor_seconds(run(turn)) for turn in range(turns)) * 1e3


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `everyday`."""
    rules = RULES[report.size]
    large, small = Programs(rules), Programs(rules // SMALLER)
    turns = min(TURNS, rules // SMALLER)
    same_ms = _median_ms(large.unchanged, turns)
    small_ms, large_ms = (_median_ms(each.changed, turns) for each in (small, large))
    for each in (small, large):
        each.check(turns)
    report.add("program_unchanged_ms", same_ms)
    report.add("program_rule_growth", large_ms / small_ms)
    report.note(figure="program_unchanged_ms", rules=rules, ms=same_ms)
    size = report.size
    report.add("default_column_ms", default_column_ms(DURABLE_ROWS[size]))
    report.add("sync_vs_load", sync_vs_load(SYNCED_ROWS[size]))
    report.add("feed_vs_upsert", feed_vs_upsert(FED_ROWS[size]))
    report.add("keyed_deletes_ratio", keyed_deletes_ratio(SYNCED_ROWS[size], KEYS[size]))
    report.add("calls_vs_array", calls_vs_array(CALLS[size]))
    if report.wants("in_order_worst_vs_duckdb", "in_order_worst_steps", "in_order_commit"):
        found = [each for groups in GROUPS[size] for each in measured(ORDERED_ROWS[size], groups)]
        report.add("in_order_worst_vs_duckdb", max(each.vs_duckdb for each in found))
        report.add("in_order_worst_steps", max(each.commit_steps for each in found))
        report.add("in_order_commit", commit_share(found))
        for each in found:
            report.note(figure="in_order_worst_vs_duckdb", **each._asdict())
    if report.wants("optional_vs_plain"):
        beside = list(compared(ORDERED_ROWS[size], GROUPS[size][0]))
        report.add("optional_vs_plain", max(each.ratio for each in beside))
        for each in beside:
            report.note(figure="optional_vs_plain", **each._asdict())
    report.note(
        figure="program_rule_growth",
        rules=rules,
        small_rules=rules // SMALLER,
        ms=large_ms,
        small_ms=small_ms,
    )
