"""The cost of materialisation: the same rules by several evaluators and ways of maintenance, over
several index structures, with and without interning, on one thread and two, beside a plain program
[Alves de Lima and Apinis, A Back-to-basics Empirical Study of Datalog Materialization; McSherry,
Isard and Murray, Scalability! But at what COST?, 2015].

`python -m bench study --data PATH` prints the tables of `docs/study.md`.
"""

from __future__ import annotations

from pathlib import Path

from bench.figure import Report
from bench.study.indexes import INDEXES, indexed
from bench.study.one import apart
from bench.study.workloads import SHARES, WORKLOADS, Workload

BY_HAND = "plain program"


def measure(report: Report, data: Path | None) -> None:
    """Run every workload by every evaluator, each in a process of its own, and compare the rows."""
    assert data is not None
    for workload in WORKLOADS:
        if not workload.runs_at(report.size):
            continue
        for share in SHARES:
            _workload(report, workload, share, data)
    for name in INDEXES:
        rows = {"s": 20_000, "m": 200_000}.get(report.size, 10**6)
        report.note(table="indexes", **indexed(name, rows))
    found = {
        (entry["workload"], entry["share"], entry["by"]): entry
        for entry in report.detail
        if entry.get("table") == "evaluators"
    }
    ratios = [
        entry["update_s"] / found[workload, share, "recompute"]["update_s"]
        for (workload, share, by), entry in found.items()
        if by == "engine" and found[workload, share, "recompute"].get("update_s")
    ]
    report.add("update_vs_recompute_worst", max(ratios))
    against = [
        entry["load_s"] / found[workload, share, BY_HAND]["load_s"]
        for (workload, share, by), entry in found.items()
        if by == "engine" and (workload, share, BY_HAND) in found
    ]
    report.add("load_vs_plain_worst", max(against))


def _workload(report: Report, workload: Workload, share: int, data: Path) -> None:
    rows: dict[str, int] | None = None
    for by in workload.evaluators(report.size):
        entry = apart(workload.name, share, by, report.size, data)
        counts = entry.pop("rows", None)
        if counts is not None:
            rows = rows or counts
            if counts != rows:
                raise AssertionError(f"{workload.name} by {by}: {counts} instead of {rows}")
        report.note(table="evaluators", workload=workload.name, share=share, by=by, **entry)
