"""The benchmarks by name; a module is imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from bench.bars import BARS
from bench.figure import Report

NAMES = tuple(BARS)


class UnknownBenchmark(ValueError):
    """No benchmark has this name."""


def run(name: str, size: str = "l", data: Path | None = None) -> Report:
    """Run the benchmark `name` at a size (`s` seconds, `m` a tenth, `l` the size of the bars) and return its report."""
    if name not in BARS:
        raise UnknownBenchmark(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
    report = Report(name, size, BARS[name])
    measure: Callable[[Report, Path | None], None] = importlib.import_module(f"bench.{name}").measure
    measure(report, data)
    return report
