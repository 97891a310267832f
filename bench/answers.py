"""Right answers on real data: every program of `cases` that fits the size, its results counted and
held against the known numbers.
"""

from __future__ import annotations

from pathlib import Path

import lftj
from bench.cases import CASES, Case
from bench.clock import once
from bench.engine import program
from bench.figure import Bar, Report
from bench.files import DataPathNeeded

_ORDER = "sml"


def evaluate(case: Case, data: Path) -> lftj.Workspace:
    """A workspace with the program of `case` evaluated on its data: rules first, then one commit
    with all facts.
    """
    workspace = lftj.connect()
    workspace.add_rules(program(case.program))
    with workspace.transaction() as transaction:
        for relation, table in case.tables(data).items():
            transaction.insert(relation, table)
    return workspace


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `answers`: a figure for every count, and how many are wrong."""
    if data is None:
        raise DataPathNeeded(
            "`bench answers` needs --data PATH, the folder with the data sets of bench/README.md"
        )
    wrong = checked = 0
    for case in CASES:
        if _ORDER.index(case.size) > _ORDER.index(report.size):
            continue
        seconds, workspace = once(lambda case=case: evaluate(case, data))
        for relation, expected in case.expected.items():
            found = len(workspace[relation])
            checked += 1
            wrong += found != expected
            report.add(f"{case.name}.{relation}", found, Bar("exactly", expected, unit="tuples"))
            report.note(
                answer=f"{case.name}.{relation}",
                found=found,
                expected=expected,
                source=case.source,
                seconds=seconds,
            )
    report.add("wrong", wrong)
    report.add("checked", checked)
