"""Loads of Arrow tables: processor seconds, and the peak of memory over what stays."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from bench.clock import processor_seconds
from bench.engine import connect
from bench.figure import Report, require_equal
from bench.resident import forget_freed, peak_bytes, resident_bytes

ROWS = {"s": 2_000, "m": 500_000, "l": 5_000_000}
TURNS = 3
_PROCESS = """
import sys
from bench.analytics.loads import peak_over_rest
print(peak_over_rest(*sys.argv[1:]))
"""


def tables(size: str) -> Mapping[str, pa.Table]:
    by, rows = np.random.default_rng(6), ROWS[size]
    pairs = {"x": by.integers(0, rows, 2 * rows), "y": by.permutation(2 * rows)}
    wide = {"n": by.permutation(rows)} | {
        f"c{number}": by.integers(0, 10 ** (1 + number), rows) for number in range(4)
    }
    wide |= {f"f{number}": by.random(rows) for number in range(4)}
    texts = [f"user{number * 7919 % 10**9}@example.org" for number in by.permutation(rows // 2)]
    return {
        "pairs": pa.table(pairs),
        "nine columns": pa.table(wide),
        "strings": pa.table({"t": texts, "n": np.arange(rows // 2)}),
    }


_TYPES = {pa.int64(): int, pa.float64(): float, pa.string(): str}


class Ours:
    """A workspace that loads one table."""

    def __init__(self, table: pa.Table, threads: int = 1):
        self.workspace = connect(threads)
        self.table = table
        columns = {field.name: _TYPES[field.type] for field in table.schema}
        self.relation = self.workspace.relation("given", columns)

    def load(self) -> None:
        """Load the table, which is what the clock measures."""
        self.workspace.load(self.relation, self.table)


def _theirs(table: pa.Table) -> float:
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        connection.register("source", table)
        return processor_seconds(
            lambda: connection.execute("create table given as select * from source")
        )


def peak_over_rest(size: str, name: str) -> float:
    """The most memory that a load takes, over what it leaves, in a process that loaded nothing
    before but a few rows.
    """
    table = tables(size)[name]
    Ours(table.slice(0, 100)).load()
    ours = Ours(table)
    gc.collect()
    forget_freed()
    before = resident_bytes()
    ours.load()
    peak = peak_bytes()
    gc.collect()
    forget_freed()
    return (peak - before) / max(1, resident_bytes() - before)


def _in_a_process(size: str, name: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, size, name], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def measure_loads(report: Report) -> None:
    """Add `load_worst` and `load_peak`."""
    worst = most = 0.0
    for name, table in tables(report.size).items():
        Ours(table.slice(0, 100)).load()
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(TURNS):
            gc.collect()
            loading = Ours(table)
            ours.append(processor_seconds(loading.load))
            require_equal(f"rows of {name}", len(loading.workspace["given"]), len(table))
            del loading
            theirs.append(_theirs(table))
        peak = _in_a_process(report.size, name)
        our_s, duckdb_s = min(ours), min(theirs)  # of some turns memory comes slowly
        report.note(load=name, our_s=our_s, duckdb_s=duckdb_s, ratio=our_s / duckdb_s, peak=peak)
        worst, most = max(worst, our_s / duckdb_s), max(most, peak)
    report.add("load_worst", worst)
    report.add("load_peak", most)
