"""`python -m bench histories [--size s|m|l] [--program NAME] [--kind NAME] [--way NAME]
[--data PATH] [--json FILE]`: what it costs to keep recursive views true, for each kind of change.

Rows and rules of seventeen programs go and come, from facts of three seeds, in each way: as the
engine comes, evaluated anew, and by ranks, counts, searches or affected partitions alone. A figure
is the processor time of a commit, less a millisecond, over that of an evaluation from nothing, of
at least 50 ms. There is no figure over all kinds: one would hide what is slow.

Each history begins with a workspace of its own; at its end all ways have the rows of an evaluation
from nothing, or there are no figures.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.figure import ResultsDiffer
from bench.histories.facts import NAMES, subject, subjects
from bench.histories.kinds import KINDS
from bench.histories.playing import FREE, LONG_ENOUGH, Taken, play
from bench.histories.ways import ANEW, OURS, WAYS

LEAST = 1e-3
"""Ratio that a smaller one counts as in a geometric mean."""


def measured(
    programs: Sequence[str],
    histories: Sequence[str],
    ways: Sequence[str],
    size: str,
    data: Path | None = None,
) -> Iterable[Taken]:
    """All commits of all histories. Raises ResultsDiffer."""
    for each in subjects(tuple(programs), size, data):
        if each.seed == 1:  # kernels and their loading
            small = subject(each.name, "s", 1) if size != "s" and each.bridge else each
            for _ in play(small, "single", "s", ways):
                pass
        for history in histories:
            yield from play(each, history, size, ways)


def table(found: Sequence[Taken]) -> Table:
    """Kinds of change by way: geometric mean, 95th percentile and worst."""
    shown = Table(title="evaluations in the time of a commit, by kind of change")
    for heading in ("kind", "way", "commits", "geometric mean", "p95", "worst", "of"):
        shown.add_column(heading, justify="left" if heading in ("kind", "way", "of") else "right")
    for kind in dict.fromkeys(each.kind for each in found):
        for way in dict.fromkeys(each.way for each in found):
            some = [each for each in found if (each.kind, each.way) == (kind, way)]
            if some:
                worst = max(some, key=lambda each: each.ratio)
                shown.add_row(
                    kind, way, str(len(some)), *map(_number, numbers(some)), worst.program
                )
        shown.add_section()
    return shown


def by_program(found: Sequence[Taken]) -> Table:
    """Programs by kind: the geometric mean of ours, and the way that is best beside it."""
    shown = Table(title="geometric mean of ours, and the best other way")
    for heading in ("program", "kind", "ours", "best", "way"):
        shown.add_column(heading, justify="right" if heading in ("ours", "best") else "left")
    for program, kind in dict.fromkeys((each.program, each.kind) for each in found):
        means = {
            way: numbers(some)[0]
            for way in WAYS
            if (some := [e for e in found if (e.program, e.kind, e.way) == (program, kind, way)])
        }
        others = [way for way in means if way != OURS]
        if OURS in means and others:
            best = min(others, key=lambda way: means[way])
            shown.add_row(program, kind, _number(means[OURS]), _number(means[best]), best)
    return shown


def numbers(some: Sequence[Taken]) -> tuple[float, float, float]:
    """Geometric mean, 95th percentile and worst of some ratios."""
    ratios = [each.ratio for each in some]
    mean = math.exp(statistics.fmean(math.log(max(LEAST, ratio)) for ratio in ratios))
    return mean, float(np.percentile(ratios, 95)), max(ratios)


def _number(ratio: float) -> str:
    return f"{ratio:.3f}"


def main(words: list[str]) -> int:
    """The exit code: 2 when views differ from what their rules derive."""
    arguments = _arguments(words)
    found: list[Taken] = []
    console = Console(width=None if sys.stdout.isatty() else 140)
    ways = list(dict.fromkeys([OURS, ANEW, *(arguments.way or WAYS)]))
    programs, histories = arguments.program or NAMES, arguments.kind or list(KINDS)
    try:
        for taken in measured(programs, histories, ways, arguments.size, arguments.data):
            if not found or found[-1][:3] != taken[:3]:
                print(f"{taken.program}, seed {taken.seed}, {taken.history}", file=sys.stderr)
            found.append(taken)
            if arguments.json is not None and len(found) % 100 == 0:
                _write(arguments.json, arguments.size, found)
    except ResultsDiffer as difference:
        print(f"bench histories: results differ: {difference}", file=sys.stderr)
        return 2
    if arguments.json is not None:
        _write(arguments.json, arguments.size, found)
    console.print(table(found))
    console.print(by_program(found))
    return 0


def _write(file: Path, size: str, found: Sequence[Taken]) -> None:
    rows = [each._asdict() | {"ratio": each.ratio} for each in found]
    beside = {"size": size, "free": FREE, "least evaluation": LONG_ENOUGH[size]}
    file.write_text(json.dumps({**beside, "commits": rows}, indent=1) + "\n", encoding="utf-8")


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench histories", description=__doc__)
    parser.add_argument("--size", choices=("s", "m", "l"), default="l", help="s: to see it run")
    for name, choices in (("program", NAMES), ("kind", KINDS), ("way", WAYS)):
        parser.add_argument(
            f"--{name}",
            action="append",
            choices=list(choices),
            metavar=name.upper(),
            help=f"this {name} only; may be repeated: {', '.join(choices)}",
        )
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder with published data sets")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all commits to FILE")
    return parser.parse_args(words)
