"""Processor seconds from an empty cache to the first answer on Spark: the wheel is installed in an
empty environment, where nothing has run before.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figure import Report
from bench.partition import first_answer
from bench.startup import Installed


def measure(report: Report, data: Path | None) -> None:
    """Fill in `first_answer_cpu_s`."""
    with TemporaryDirectory() as folder:
        installed = Installed(Path(folder), "spark")
        shutil.copy(first_answer.__file__, folder)
        rows, cold = installed.run("first_answer.py")[2].splitlines()[-1].split()
        _, warm = installed.run("first_answer.py")[2].splitlines()[-1].split()
    report.add("first_answer_cpu_s", float(cold))
    report.note(figure="first_answer_cpu_s", rows=int(rows), again=float(warm))
