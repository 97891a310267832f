"""The classification of galen: time and peak memory of a process of its own, and single facts that
go and come back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from bench.figure import Report

CASES_OF_SIZES = {"s": "cspa_1k", "m": "cspa_10k", "l": "galen"}
EDITS = 10
ROOT = Path(__file__).resolve().parents[2]


def measure(report: Report, data: Path | None) -> None:
    """Record the three figures. Edits that are answered by a bootstrap are told apart; the first
    one makes the engine count proofs.
    """
    command = [
        sys.executable,
        "-m",
        "bench.recursion.galen_process",
        CASES_OF_SIZES[report.size],
        str(data),
        str(EDITS),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}"
        )
    found = json.loads(done.stdout.splitlines()[-1])
    followed = [edit["processor"] for edit in found["edits"] if edit["outcome"] == "update"]
    switched = [edit for edit in found["edits"] if edit["outcome"] != "update"]
    report.add("galen_s", found["seconds"])
    report.add("galen_gib", found["peak_gib"])
    report.add("galen_edit_ratio", max(followed, default=0.0) / found["processor"])
    report.note(
        figure="galen",
        seconds=found["seconds"],
        processor_s=found["processor"],
        bootstrap_peak_gib=found["bootstrap_peak_gib"],
        peak_gib=found["peak_gib"],
        first_changes=str(
            [(edit["outcome"], round(edit["seconds"], 3)) for edit in found["first"]]
        ),
        edits_s=str([round(seconds, 4) for seconds in followed]),
        slowest=str(max(found["edits"], key=lambda edit: edit["processor"])),
        switched=str([(edit["outcome"], round(edit["seconds"], 3)) for edit in switched]),
    )
