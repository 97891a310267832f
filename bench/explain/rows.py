"""Explanations of rows, there or missing, and what they leave to commits. Times are those of the
processor.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

import lftj
from bench.cases import CASES
from bench.clock import processor_seconds
from bench.engine import connect, program
from bench.figure import Report, require_equal

Result = TypeVar("Result")

CASE = {"s": "cspa_1k", "m": "cspa_10k", "l": "galen"}
ROWS_EXPLAINED = {"s": 20, "m": 200, "l": 500}
CHAIN = {"s": 500, "m": 3_000, "l": 10_000}
CLOSURE_ROWS = {"s": 10_000, "m": 1_000_000, "l": 10_000_000}
GROUP = {"s": 10_000, "m": 100_000, "l": 1_000_000}
PEOPLE = {"s": 300, "m": 3_000, "l": 30_000}
COMMITS = {"s": 20, "m": 200, "l": 1_000}
_RNG = 7

AGGREGATES = {
    "total": "total(g, sum(v)) :- f(g, _, v).",
    "many": "many(g, count()) :- f(g, _, _).",
    "least": "least(g, min(v)) :- f(g, _, v).",
    "most": "most(g, max(v)) :- f(g, _, v).",
    "middle": "middle(g, mean(v)) :- f(g, _, v).",
    "inner": "inner(g, v) :- f(g, 0, _), v = sum w : { f(g, _, w) }.",
}
RIGHTS = """
.decl member(who: number, group: number)
.decl grant(group: number, object: number)
.decl deny(who: number, object: number)
.decl in(who: number, group: number)
.decl may(who: number, object: number)
in(u, g) :- member(u, g).
in(u, h) :- in(u, g), member(g, h).
may(u, o) :- in(u, g), grant(g, o), !deny(u, o).
"""


def measure_analysis(report: Report, data: Path) -> None:
    """Record the time of random rows of a published analysis, and its share of an evaluation."""
    case = next(case for case in CASES if case.name == CASE[report.size])
    ws = connect()
    for name, table in case.tables(data).items():
        ws.relation(name, dict.fromkeys(table.column_names, int))
        ws.load(name, table)
    began = time.process_time()
    ws.add_rules(program(case.program))
    evaluation = time.process_time() - began
    require_equal("rows", {name: len(ws[name]) for name in case.expected}, case.expected)
    rng, taken, steps = np.random.default_rng(_RNG), [], []
    for name in case.expected:
        rows = ws[name].arrow()
        for place in rng.integers(0, rows.num_rows, ROWS_EXPLAINED[report.size]).tolist():
            row = tuple(column[place].as_py() for column in rows.columns)
            began = time.process_time()
            proof = ws.explain(name, row)
            taken.append(time.process_time() - began)
            steps.append(len(proof))
    taken.sort()
    median, worst = statistics.median(taken), taken[int(0.99 * (len(taken) - 1))]
    report.add("explain_ms", median * 1e3)
    report.add("explain_p99_ms", worst * 1e3)
    report.add("explain_share", median / evaluation)
    report.note(
        figure="explain_ms",
        case=case.name,
        evaluation_s=evaluation,
        rows=len(taken),
        steps_median=statistics.median(steps),
        steps_most=max(steps),
    )


def _best_of(times: int, run: Callable[[], Result]) -> tuple[float, Result]:
    """The least processor seconds of so many runs, with the last result."""
    taken = []
    for _ in range(times):
        gc.collect()
        began = time.process_time()
        result = run()
        taken.append(time.process_time() - began)
    return min(taken), result


def measure_chain(report: Report) -> None:
    """Record the time of the row at the end of a chain, beside a large closure."""
    depth, most = CHAIN[report.size], CLOSURE_ROWS[report.size]
    ws = connect()
    ws.add_rules(
        ".decl e(x: number, y: number) .decl from(x: number) .decl t(x: number, y: number)\n"
        "t(x, y) :- from(x), e(x, y).\nt(x, z) :- t(x, y), e(y, z)."
    )
    ws.load("e", pa.table({"x": np.arange(depth), "y": np.arange(1, depth + 1)}))
    sources = max(1, 2 * most // depth)  # each has half a chain before it, on average
    ws.load("from", pa.table({"x": np.arange(0, depth, max(1, depth // sources))}))
    seconds, proof = _best_of(3, lambda: ws.explain("t", (0, depth)))
    require_equal("steps of a chain", proof.height, depth)
    report.add("explain_chain_s", seconds)
    report.note(figure="explain_chain_s", depth=depth, closure_rows=len(ws["t"]), steps=len(proof))


def measure_aggregates(report: Report) -> None:
    """Record the time of an aggregate over one large group: that of the slowest function."""
    rows = GROUP[report.size]
    ws = connect()
    kinds = {"middle": "float"}
    ws.add_rules(
        ".decl f(g: number, k: number, v: number)\n"
        + "\n".join(
            f".decl {name}(g: number, v: {kinds.get(name, 'number')})\n{rule}"
            for name, rule in AGGREGATES.items()
        )
    )
    values = np.random.default_rng(_RNG).integers(0, 1_000, rows)
    ws.load("f", pa.table({"g": np.zeros(rows, np.int64), "k": np.arange(rows), "v": values}))
    require_equal("the sum", ws["total"].fetchone(), (0, int(values.sum())))
    found: dict[str, float] = {}
    for name in AGGREGATES:
        row = ws[name].fetchone()
        seconds, proof = _best_of(3, lambda name=name, row=row: ws.explain(name, row))
        require_equal(name, proof.row, row)
        found[name] = seconds * 1e3
    report.add("explain_aggregate_ms", max(found.values()))
    report.note(figure="explain_aggregate_ms", rows=rows, **found)


def entitlements(people: int) -> lftj.Workspace:
    """Rights of people through nested groups."""
    rng, groups = np.random.default_rng(_RNG), max(10, people // 30)
    ws = connect()
    ws.add_rules(RIGHTS)
    inner = np.arange(1, groups)
    ws.load("member", pa.table({"who": inner, "group": inner // 3}))
    who = np.arange(groups, groups + people)
    ws.load("member", pa.table({"who": who, "group": rng.integers(0, groups, people)}))
    ws.load("grant", pa.table({"group": np.arange(groups), "object": np.arange(groups) % 50}))
    ws.load("deny", pa.table({"who": who[::50], "object": rng.integers(0, 50, len(who[::50]))}))
    return ws


def measure_missing(report: Report) -> None:
    """Record the median time of `why_not` with one change for random rows that are missing."""
    ws = entitlements(PEOPLE[report.size])
    rng, taken = np.random.default_rng(_RNG), []
    there = set(ws["may"].fetchall())
    names = sorted({who for who, _ in there})
    while len(taken) < 20:
        row = names[int(rng.integers(0, len(names)))], int(rng.integers(0, 50))
        if row in there:
            continue
        began = time.process_time()
        found = ws.why_not("may", row, changes=1)
        taken.append(time.process_time() - began)
        require_equal("attempts", len(found.attempts), 1)
    report.add("why_not_s", statistics.median(taken))
    report.note(figure="why_not_s", rows=len(there), slowest=max(taken))


def measure_commits(report: Report) -> None:
    """Record the time of commits of a workspace that is asked between them over that of one that
    nobody asks. Both have the same commits, in turns.
    """
    asked, alone = (entitlements(PEOPLE[report.size]) for _ in range(2))
    row = asked["may"].fetchone()
    ratios, steps = [], []
    for number in range(COMMITS[report.size]):
        asked.explain("may", row)
        asked.explain_plan(asked.rules[2])
        change = [(10_000_000 + number, number % 10)]

        def commit(ws: lftj.Workspace, change: list[tuple[int, int]] = change) -> None:
            ws.load("member", change)

        pair = (asked, alone) if number % 2 else (alone, asked)
        took = {id(ws): processor_seconds(lambda ws=ws: commit(ws)) for ws in pair}
        ratios.append(took[id(asked)] / took[id(alone)])
        works = [ws._backend.history[-1][1] for ws in (asked, alone)]
        steps.append([sum(work.steps for work in each) for each in works])
    require_equal("kernel steps", [each[0] for each in steps], [each[1] for each in steps])
    report.add("commit_overhead", statistics.median(ratios))
    report.note(figure="commit_overhead", commits=len(ratios), steps=sum(each[0] for each in steps))
