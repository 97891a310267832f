"""The benchmarks by name; a module is imported only when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.bars import BARS
from bench.figure import Report

NAMES = tuple(BARS)


class UnknownBenchmark(ValueError):
    """No benchmark has this name."""


class UnknownFigure(ValueError):
    """The benchmark has no such figure."""


def run(name: str, size: str = "l", data: Path | None = None, only: Iterable[str] = ()) -> Report:
    """Run the benchmark `name` at a size (`s` seconds, `m` a tenth, `l` the size of the bars) and
    return its report.

    `only` names the figures to take; benchmarks whose figures stand apart leave out the work for
    the others.
    """
    if name not in BARS:
        raise UnknownBenchmark(f"no benchmark {name!r}; there are {', '.join(NAMES)}")
    if unknown := sorted(set(only) - set(BARS[name])):
        raise UnknownFigure(
            f"`{name}` has no figure {unknown[0]!r}; there are {', '.join(BARS[name])}"
        )
    report = Report(name, size, BARS[name], only=frozenset(only))
    measure: Callable[[Report, Path | None], None] = importlib.import_module(
        f"bench.{name}"
    ).measure
    measure(report, data)
    return report
