"""One change in a group of many rows, beside the same change in a group of ten; both relations have
the same number of rows.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal

# Rows of a large group, and of the whole relation.
SIZES = {"s": (1_000, 5_000), "m": (10_000, 100_000), "l": (100_000, 500_000)}
SMALL_GROUP = 10
COMMITS = 300
WARM = 20
BODY = "sample(g, _, v)"
# A comparison makes the rows of a group others than those of the relation, so that they are kept in
# order for the head.
KEPT = f"{BODY}, v > 0"
Head = tuple[str, str, str]
"""The aggregate, the type of its result, and the body."""
HEADS: dict[str, Head] = {
    "sum": ("sum(v)", "number", BODY),
    "count": ("count()", "number", BODY),
    "mean": ("mean(v)", "float", BODY),
}
EXTREMES: dict[str, Head] = {
    "min": ("min(v)", "number", BODY),
    "max": ("max(v)", "number", BODY),
    "min_kept": ("min(v)", "number", KEPT),
    "max_kept": ("max(v)", "number", KEPT),
}


class Groups:
    """A workspace with the relation `sample(g, k, v)`, v different in every row, and one aggregated
    view of its groups.
    """

    def __init__(self, rows: int, group: int, head: Head):
        self._rows, self._group = rows, group
        self.values = np.random.default_rng(7).permutation(rows) + rows
        self.workspace = connect()
        self.workspace.relation("sample", {"g": int, "k": int, "v": int})
        numbers = np.arange(rows)
        self.workspace.load(
            "sample", pa.table({"g": numbers // group, "k": numbers, "v": self.values})
        )
        function, type_, body = head
        self.workspace.add_rules(
            f".decl view(g: number, a: {type_})  view(g, {function}) :- {body}."
        )
        self.workspace.prepare()  # rows behind extremes are put in order

    @property
    def steps(self) -> int:
        """Tree pages that the last commit opened in the state of the view's head."""
        engine: Any = self.workspace._backend
        states = engine.state.view_states
        kept = [states[key] for key in states.graph.below("view")]  # none for rows in key order
        return sum(each.aggregate.steps for each in kept)

    def change(self, number: int) -> None:
        """Delete a row and, in the next call, put it back."""
        row = (number // 2 * 7919) % self._rows
        rows = [(row // self._group, row, int(self.values[row]))]
        with self.workspace.transaction() as transaction:
            (transaction.insert if number % 2 else transaction.delete)("sample", rows)

    def change_extreme(self, number: int, least: bool) -> int:
        """Delete the present minimum or maximum of a group and, in the next call, put it back;
        returns the kernel's steps.
        """
        start = number // 2 % (self._rows // self._group) * self._group
        values = self.values[start : start + self._group]
        row = start + int(values.argmin() if least else values.argmax())
        with self.workspace.transaction() as transaction:
            change = transaction.insert if number % 2 else transaction.delete
            change("sample", [(row // self._group, row, int(self.values[row]))])
        return transaction.work

    def check(self) -> None:
        """The view is what its rule derives. Call after an even number of changes. Raises
        ResultsDiffer.
        """
        require_equal("rows", len(self.workspace["sample"]), self._rows)
        require_equal("views that differ", self.workspace.verify(), [])


def _over_fixed_cost(head: Head, rows: int, group: int) -> float:
    """Median seconds of a change in a large group less that in a small one; the two take turns, so
    that both see the same machine.
    """
    large, small = Groups(rows, group, head), Groups(rows, SMALL_GROUP, head)
    taken = []
    for number in range(COMMITS + WARM):
        sides = (large, small) if number % 4 < 2 else (small, large)
        seconds = {
            side: processor_seconds(lambda side=side, number=number: side.change(number))
            for side in sides
        }
        taken.append((seconds[large], seconds[small]))
    large.check()
    small.check()
    medians = np.median(taken[WARM:], axis=0)
    return float(medians[0] - medians[1])


def _steps(head: Head, rows: int, group: int, least: bool) -> int:
    """The most steps, of the kernel and in trees, of a commit that takes a group's extreme value
    away or puts it back.
    """
    groups = Groups(rows, group, head)
    steps = []
    for number in range(40):
        steps.append(groups.change_extreme(number, least) + groups.steps)
    groups.check()
    return max(steps)


def measure(report: Report, data: Path | None) -> None:
    """Both figures take the worst of their aggregates."""
    group, rows = SIZES[report.size]
    if report.wants("aggregate_sum_us"):
        extra = {name: _over_fixed_cost(head, rows, group) * 1e6 for name, head in HEADS.items()}
        report.add("aggregate_sum_us", max(extra.values()))
        report.note(
            figure="aggregate_sum_us",
            rows=group,
            **{f"{name}_us": each for name, each in extra.items()},
        )
    if report.wants("aggregate_minmax_steps"):
        steps = {
            name: _steps(head, rows, group, name.startswith("min"))
            for name, head in EXTREMES.items()
        }
        report.add("aggregate_minmax_steps", max(steps.values()) / math.log2(group))
        report.note(
            figure="aggregate_minmax_steps",
            rows=group,
            **{f"{name}_steps": each for name, each in steps.items()},
        )
