"""Aggregates of columns that may hold NULL, and do in a tenth of their rows, beside the same
aggregates of the same columns without: what missing values cost a first evaluation.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.figure import require_equal

TURNS = 7
CALLS = {
    "count(x)": "number",
    "sum(x)": "number",
    "sum(y)": "float",
    "mean(y)": "float",
    "stddev(x)": "float",
    "min(x)": "number",
    "max(x)": "number",
    "arg_max(t, x)": "number",
    "last(x, t)": "number",
    "median(x)": "float",
    "quantile(x, 0.95)": "float",
    "count_distinct(x)": "number",
    "mode(x)": "number",
}
"""Calls over rows s(g, t, x, y), with the types of their results."""


class Compared(NamedTuple):
    """A call: the median time over optional columns : over plain ones, and both times."""

    call: str
    ratio: float
    optional_ms: float
    plain_ms: float


def compared(rows: int, groups: int) -> Iterator[Compared]:
    """All calls over so many rows in so many groups, evaluated in turns."""
    draw = np.random.default_rng(1)
    given = {"g": draw.integers(0, groups, rows), "t": draw.permutation(rows)}
    values = {"x": draw.integers(0, 100_000, rows), "y": draw.integers(0, 100_000, rows) / 100}
    missing = draw.random(rows) < 0.1
    plain = pa.table(given | values)
    optional = pa.table(
        given | {name: pa.array(each, mask=missing) for name, each in values.items()}
    )
    for call, type in CALLS.items():
        seconds: dict[str, list[float]] = {"": [], "?": []}
        for _ in range(TURNS):
            for mark, table in (("", plain), ("?", optional)):
                seconds[mark].append(_evaluated(call, type, mark, table, groups))
        times = {mark: statistics.median(each) * 1e3 for mark, each in seconds.items()}
        yield Compared(call, times["?"] / times[""], times["?"], times[""])


def _evaluated(call: str, type: str, mark: str, table: pa.Table, groups: int) -> float:
    """The processor time of a first evaluation. `mark`: behind the types of columns that may hold
    NULL.
    """
    with lftj.connect() as workspace:
        workspace.add_rules(f".decl s(g: number, t: number, x: number{mark}, y: float{mark})")
        workspace.load("s", table)
        result = type if call.startswith("count") else f"{type}{mark}"
        rule = f".decl v(g: number, z: {result}) v(g, {call}) :- s(g, t, x, y)."
        took = processor_seconds(partial(workspace.add_rules, rule))
        require_equal(call, len(workspace["v"]), groups)
    return took
