"""Memory for following changes with counted proofs, over that of plain materialisation."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.cases import CASES
from bench.engine import CLOSURE, program
from bench.figure import Report
from bench.graphs import random_forest, random_graph
from bench.recursion.changes import UPDATE, Change, Following, verify

RAND = {"s": (100, 0.03), "m": (300, 0.02), "l": (1_000, 0.01)}
FOREST = {"s": (1_000, 100, 3), "m": (10_000, 1_000, 3), "l": (100_000, 4_000, 3)}
PUBLISHED = {"s": ("cspa_1k",), "m": ("cspa_1k",), "l": ("cspa_10k", "rdfs_lubm")}
EDITS = 5  # facts that go and come back, each in a commit of its own, before the bytes are taken


def _programs(size: str, data: Path | None) -> Iterator[tuple[str, str, dict[str, pa.Table]]]:
    """Name, rules and facts."""
    for name, edges in (
        ("RAND1K", random_graph(*RAND[size])),
        ("forest", random_forest(*FOREST[size])),
    ):
        yield name, CLOSURE, {"edge": pa.table({"x": edges[0], "y": edges[1]})}
    for case in CASES:
        if data is not None and case.name in PUBLISHED[size]:
            yield case.name, program(case.program), case.tables(data)


def _bytes(following: Following) -> int:
    """Of all pages in use: facts, views, states, in all their key orders."""
    gc.collect()
    columns = following.workspace.memory().arrow().to_pydict()
    return dict(zip(columns["relation"], columns["bytes"], strict=True))["(pages)"]


def _edits(facts: dict[str, pa.Table]) -> Iterator[Change]:
    relation, table = next(iter(facts.items()))
    for place in np.random.default_rng(1).choice(table.num_rows, EDITS, replace=False).tolist():
        row = np.array([[column[place].as_py() for column in table.columns]], object)
        yield Change(relation, row[:0], row)
        yield Change(relation, row, row[:0])


def measure(report: Report, data: Path | None) -> None:
    """Record the largest ratio of the programs, taken when some changes were followed, after which
    the facts are what they were.
    """
    ratios = [0.0]
    for name, rules, facts in _programs(report.size, data):
        following = Following(rules, facts, elastic=UPDATE)
        plain = _bytes(following)
        for change in _edits(facts):
            following.commit([change])
        kept = _bytes(following)
        verify(name, following)
        ratios.append(kept / plain)
        report.note(
            figure="state_ratio",
            program=name,
            ratio=kept / plain,
            plain_mb=plain / 1e6,
            followed_mb=kept / 1e6,
        )
        del following
    report.add("state_ratio", max(ratios))
