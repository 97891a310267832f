"""`python -m bench.recursion.galen_process CASE DATA EDITS`: a process that evaluates and edits a
case, and prints what it took as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import lftj
from bench.cases import CASES, Case
from bench.engine import program, warm_up
from bench.figure import require_equal
from bench.resident import peak_bytes


def _timed(
    change: str, workspace: lftj.Workspace, relation: str, row: tuple[int, ...]
) -> dict[str, object]:
    """One fact deleted or inserted: elapsed and processor seconds, strategy, kernel steps and rows
    changed.
    """
    start, begin = time.perf_counter(), time.process_time()
    with workspace.transaction() as transaction:
        getattr(transaction, change)(relation, [row])
    found = {
        "change": change,
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - begin,
    }
    work = workspace.profile(last=1)
    counters = {name: int(work[name].sum()) for name in ("steps", "head_changes")}
    return {
        **found,
        "outcome": str(work["outcome"].iloc[0]),
        "fact": f"{relation}{row}",
        **counters,
    }


def _peak_gib() -> float:
    return peak_bytes() / (1 << 30)


def run(case: Case, data: Path, edits: int) -> dict[str, object]:
    """Bootstrap, then `edits` random base facts deleted and inserted again. Raises
    ResultsDiffer.
    """
    tables = case.tables(data)
    workspace = lftj.connect()
    for name, table in tables.items():
        workspace.relation(name, dict.fromkeys(table.column_names, int))
        workspace.load(name, table)
    start, begin = time.perf_counter(), time.process_time()
    workspace.add_rules(program(case.program))
    seconds, processor = time.perf_counter() - start, time.process_time() - begin
    require_equal("rows", {name: len(workspace[name]) for name in case.expected}, case.expected)
    peak = _peak_gib()
    names = sorted(tables)
    sizes = np.array([tables[name].num_rows for name in names])
    places = np.random.default_rng(1).choice(int(sizes.sum()), edits + 1, replace=False)
    done: list[dict[str, object]] = []
    for place in places.tolist():
        which = int(np.searchsorted(np.cumsum(sizes), place, side="right"))
        at = place - int(sizes[:which].sum())
        row = tuple(column[at].as_py() for column in tables[names[which]].columns)
        done += [_timed(change, workspace, names[which], row) for change in ("delete", "insert")]
    require_equal(
        "rows after the edits",
        {name: len(workspace[name]) for name in case.expected},
        case.expected,
    )
    return {
        "seconds": seconds,
        "processor": processor,
        "bootstrap_peak_gib": peak,
        "peak_gib": _peak_gib(),
        "first": done[:2],
        "edits": done[2:],
    }


if __name__ == "__main__":
    warm_up()
    print(
        json.dumps(
            run(
                next(case for case in CASES if case.name == sys.argv[1]),
                Path(sys.argv[2]),
                int(sys.argv[3]),
            )
        )
    )
