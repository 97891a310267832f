"""One-row commits, differences between versions and bytes a row, on a relation of n rows and on one
of n / 100.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import median_ms
from bench.figure import Report, require_equal
from lftj.scantree.tree import Arena, Tree

ROWS = {"s": 50_000, "m": 1_000_000, "l": 10_000_000}
SMALLER = 100
COMMITS = 200
CHANGES = 10  # rows between the two versions that are compared
DIFFS = 100

Changes = tuple[
    list[np.ndarray], list[np.ndarray]
]  # columns of the inserted and of the erased rows


def _rows(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct rows in random order; odd values of y stay free for inserts."""
    random = np.random.default_rng(rows)
    return random.integers(0, rows, rows), random.permutation(rows) * 2


def _packed(columns: list[np.ndarray]) -> np.ndarray:
    """Rows of small values as sortable codes."""
    return np.sort(columns[0] << 32 | columns[1])


class Commits:
    """A workspace whose relation `pair` takes one-row commits, inserts and deletes in turn."""

    def __init__(self, rows: int):
        self.x, self.y = _rows(rows)
        self.workspace = lftj.connect()
        self.pair = self.workspace.relation("pair", {"x": int, "y": int})
        self.workspace.load(self.pair, pa.table({"x": self.x, "y": self.y}))

    def _insert(self, number: int) -> None:
        with self.workspace.transaction() as transaction:
            transaction.insert(self.pair, [(int(self.x[number]), int(self.y[number]) + 1)])

    def _delete(self, number: int) -> None:
        with self.workspace.transaction() as transaction:
            transaction.delete(self.pair, [(int(self.x[number]), int(self.y[number]))])

    def runs(self, first: int, count: int) -> list[Callable[[], object]]:
        """Commits number `first` and on, to rows that lie anywhere in the key order."""
        return [
            lambda number=number: (self._delete if number % 2 else self._insert)(number)
            for number in range(first, first + count)
        ]

    def check(self, commits: int) -> None:
        """Every row is there that should be, and no other."""
        numbers = np.arange(commits)
        inserted, deleted = numbers[numbers % 2 == 0], numbers[numbers % 2 == 1]
        keep = np.ones(len(self.x), bool)
        keep[deleted] = False
        expected = _packed(
            [
                np.append(self.x[keep], self.x[inserted]),
                np.append(self.y[keep], self.y[inserted] + 1),
            ]
        )
        table = self.workspace["pair"].arrow()
        found = _packed([np.asarray(table.column(place)) for place in range(2)])
        require_equal("rows after the commits", np.array_equal(found, expected), True)


def _commits(report: Report, rows: int) -> None:
    large, small = Commits(rows), Commits(rows // SMALLER)
    for side in (small, large):
        median_ms(side.runs(0, 10))
    small_ms = median_ms(small.runs(10, COMMITS))
    large_ms = median_ms(large.runs(10, COMMITS))
    for side in (small, large):
        side.check(10 + COMMITS)
    report.add("commit_growth", large_ms / small_ms)
    report.add("commit_ms_10m", large_ms)
    report.note(
        figure="commit_growth",
        rows=rows,
        small_rows=rows // SMALLER,
        commits=COMMITS,
        ms=large_ms,
        small_ms=small_ms,
    )


def _sorted_rows(rows: int) -> list[np.ndarray]:
    packed = _packed(list(_rows(rows)))
    return [packed >> 32, packed & 0xFFFFFFFF]


def _versions(rows: int) -> tuple[Tree, list[tuple[Tree, Changes]], float]:
    """A bulk-loaded tree, versions that are CHANGES rows away from it, with those rows, and the
    bytes that a row of the first one takes.
    """
    arena = Arena()
    before = arena.bytes_in_use
    columns = _sorted_rows(rows)
    base = Tree.build(arena, columns)
    bytes_per_row = (arena.bytes_in_use - before) / rows
    random = np.random.default_rng(2)
    versions = []
    for _ in range(DIFFS):
        picked = np.sort(random.choice(rows, CHANGES, replace=False))
        half = CHANGES // 2
        gone = [column[picked[:half]] for column in columns]
        new = [columns[0][picked[half:]], columns[1][picked[half:]] + 1]
        versions.append((base.apply(new, gone), (new, gone)))
    return base, versions, bytes_per_row


def _differences(report: Report, rows: int) -> None:
    taken = []
    for size in (rows // SMALLER, rows):
        base, versions, bytes_per_row = _versions(size)
        for version, changes in versions:
            found = [column.tolist() for side in version.diff(base) for column in side]
            require_equal(
                "rows of the difference",
                found,
                [column.tolist() for side in changes for column in side],
            )
        taken.append(
            median_ms(
                [lambda base=base, version=version: version.diff(base) for version, _ in versions]
            )
        )
    report.add("diff_growth", taken[1] / taken[0])
    report.note(figure="diff_growth", rows=rows, changes=CHANGES, ms=taken[1], small_ms=taken[0])
    report.add("bytes_per_row", bytes_per_row)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `storage`."""
    _commits(report, ROWS[report.size])
    _differences(report, ROWS[report.size])
