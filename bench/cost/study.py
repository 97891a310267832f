"""`python -m bench cost [--size s|m|l] [--only SOURCE] [--plot FILE] [--json FILE]`: what bodies
are expected to take beside what they take, in processor time.

1,000 random bodies at size `l` over random relations of 20,000 to 1,000,000 rows, from a seed, and
the queries of `triejoin`, `analytics` and `cliffs`. A body is measured from its atoms to its rows,
on copies of its relations, with the key orders that it makes; heads, and the rewrites and planning
before it, are not part of it. Bodies of less than a millisecond are left out: what a search begins
with is half of that. Everyday's queries are of heads and of commits, not of bodies.

`forecast` is what is expected before a body runs, over what it takes; `counted` the same with the
kernel steps that it took in place of those expected, so that it has the error of prices alone;
`steps` is expected steps over counted ones, the error of cardinalities alone. `flat` is the cost by
which the order was chosen, five nanoseconds a step. `--calibrate` measures prices instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.cost.calibration import calibrate
from bench.cost.cases import Case, Cases

LEAST = 0.001
"""Seconds below which a body is left out."""
_FLAT = 5e-9
_FEW = 1_000
"""Steps, expected and counted, below which their ratio tells nothing."""
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_WORST = 12


class Ratios(NamedTuple):
    """Ratios of one kind: expected over taken."""

    name: str
    values: Sequence[float]

    @property
    def within(self) -> float:
        """Share within a factor of two."""
        return float(np.mean([0.5 <= value <= 2.0 for value in self.values]))

    def cells(self) -> list[str]:
        """The row of a table."""
        quantiles = np.quantile(self.values, _QUANTILES)
        shown = [f"{value:.2f}" for value in quantiles]
        return [self.name, str(len(self.values)), f"{self.within:.0%}", *shown]


def forecast(case: Case) -> float:
    """Expected over measured seconds."""
    return case.measured.expected.seconds() / case.measured.seconds


def ratios(cases: Iterable[Case]) -> list[Ratios]:
    """Ratios of each kind that some case has."""
    cases = list(cases)
    searched = [each.measured for each in cases if each.measured.searched]
    counted = [each for each in searched if each.steps >= _FEW]
    found = [
        Ratios("forecast", [forecast(case) for case in cases]),
        Ratios("forecast of searches", [m.expected.seconds() / m.seconds for m in searched]),
        Ratios("counted", [m.expected.seconds(m.steps) / m.seconds for m in counted]),
        Ratios("steps", [m.expected.counted / m.steps for m in counted]),
        Ratios("flat", [_FLAT * m.cost / m.seconds for m in searched]),
    ]
    return [each for each in found if each.values]


def table(title: str, cases: Iterable[Case]) -> Table:
    """Shares and quantiles of all ratios."""
    shown = Table(title=title)
    for heading in ("ratio", "bodies", "within 2", *(f"{q:.0%}" for q in _QUANTILES)):
        shown.add_column(heading, justify="left" if heading == "ratio" else "right")
    for each in ratios(cases):
        shown.add_row(*each.cells())
    return shown


def draw(cases: Iterable[Case], path: Path) -> None:
    """Expected against measured seconds, by source, into a file whose suffix says its format."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panel = figure.add_subplot()
    cases = list(cases)
    for source in dict.fromkeys(case.source for case in cases):
        own = [case.measured for case in cases if case.source == source]
        expected = [each.expected.seconds() for each in own]
        panel.scatter([each.seconds for each in own], expected, s=8, label=source)
    ends = np.array([LEAST, max(each.measured.seconds for each in cases)])
    for factor, style in ((1.0, "-"), (2.0, ":"), (0.5, ":")):
        panel.plot(ends, factor * ends, style, color="grey", linewidth=1)
    panel.set(xscale="log", yscale="log", xlabel="measured seconds", ylabel="expected seconds")
    panel.legend()
    figure.savefig(path, dpi=110)


def _shown(found: Sequence[Case], console: Console) -> None:
    for source in dict.fromkeys(case.source for case in found):
        console.print(table(source, [case for case in found if case.source == source]))
    console.print(table("all", found))
    worst = sorted(found, key=lambda case: -abs(np.log(forecast(case))))[:_WORST]
    for case in worst:
        each = case.measured
        console.print(
            f"{forecast(case):.3g}: {each.seconds * 1e3:.1f} ms, {each.steps:,} steps, expected "
            f"{each.expected.counted:,.0f}; {case.source} {case.text}",
            soft_wrap=True,
            markup=False,
        )


def main(words: list[str]) -> int:
    """The exit code, 0."""
    parser = argparse.ArgumentParser(prog="bench cost", description=__doc__)
    parser.add_argument("--size", choices=("s", "m", "l"), default="l")
    parser.add_argument("--only", choices=("random", "graphs", "analytics"), metavar="SOURCE")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw into a .png or .svg")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all bodies to FILE")
    parser.add_argument("--calibrate", action="store_true", help="measure prices")
    arguments = parser.parse_args(words)
    console = Console(width=None if sys.stdout.isatty() else 140)
    if arguments.calibrate:
        calibrate(console)
        return 0
    cases = Cases(arguments.size)
    every = list(getattr(cases, arguments.only or "all")())
    found = [case for case in every if case.measured.seconds >= LEAST]
    short, stopped = len(every) - len(found), cases.stopped
    console.print(f"{short} bodies took less than {LEAST * 1e3:g} ms, {stopped} reached limits")
    if found:
        _shown(found, console)
        if arguments.plot:
            draw(found, arguments.plot)
    if arguments.json:
        rows = [
            {**case.measured.__dict__, "expected": case.measured.expected._asdict()}
            | {"source": case.source, "text": case.text}
            for case in every
        ]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0
