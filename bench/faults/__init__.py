"""Faults of processes, disks and files, and all that a durable workspace has after each.

After each fault: every acknowledged commit is there, one that was under way is there whole or not
at all, or the damage is an error that names it; no wrong row is ever given.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path

from bench.faults.filling import fillings
from bench.faults.flipping import flips
from bench.faults.killing import kills, random_moments
from bench.faults.power import cuts
from bench.faults.refusing import refusals
from bench.figure import Report

NUMBERS = {
    "s": {"kills": 3, "power_cuts": 5, "flipped_bytes": 10, "refused_calls": 4, "full_disks": 1},
    "m": {
        "kills": 100,
        "power_cuts": 200,
        "flipped_bytes": 500,
        "refused_calls": 150,
        "full_disks": 20,
    },
    "l": {
        "kills": 1_000,
        "power_cuts": 2_000,
        "flipped_bytes": 5_000,
        "refused_calls": 10_000,
        "full_disks": 300,
    },
}
COMMITS = 13
FEW_COMMITS = 7
_SEED = 34


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `faults`."""
    numbers, chance = NUMBERS[report.size], random.Random(_SEED)
    runs: dict[str, Callable[[Path, int], Iterable[Hashable]]] = {
        "kills": lambda folder, number: (
            left.died for left in kills(folder, COMMITS, random_moments(COMMITS, number, chance))
        ),
        "power_cuts": lambda folder, number: cuts(folder, COMMITS, number, chance),
        "flipped_bytes": lambda folder, number: flips(folder, COMMITS, number, chance),
        "refused_calls": lambda folder, number: (
            f"{call.kind} of {'the log' if call.by_sqlite else 'pages'}"
            for call in refusals(folder, FEW_COMMITS, number, chance)
        ),
        "full_disks": lambda folder, number: (
            way for way, _ in fillings(folder, COMMITS, range(number))
        ),
    }
    failures = 0
    for name, run in runs.items():
        if not report.wants(name):
            continue
        outcomes: Counter[Hashable] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                for outcome in run(Path(folder), numbers[name]):
                    outcomes[outcome] += 1
            except Exception as reason:  # the fault is noted, and the other kinds go on
                failures += 1
                report.note(fault=name, after=sum(outcomes.values()), reason=repr(reason))
        report.add(name, sum(outcomes.values()))
        report.note(
            fault=name, **{str(key): count for key, count in sorted(outcomes.items(), key=str)}
        )
    report.add("failures", failures)
