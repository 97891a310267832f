"""Two checkouts, measured in turns: for each figure the ratio of the new one to the old.

Machines change their speed from one minute to the next. So each turn runs a benchmark in the old
checkout and right after it in the new one, in an order that alternates, and the ratio of a figure
is the median of the ratios of the turns.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from bench.bars import BARS
from bench.figure import Bar

NOISE = 0.05
"""Share by which a ratio may miss 1 before the table marks it."""


class RunFailed(RuntimeError):
    """A benchmark ended with an error in one of the checkouts."""


class UnknownBenchmark(RunFailed):
    """A checkout has no benchmark of this name."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A figure in both checkouts: medians of its values, and the median of new over old."""

    benchmark: str
    figure: str
    bar: Bar
    old: float
    new: float
    ratio: float

    def verdict(self) -> str:
        """`better` or `worse` where the ratio lies outside of the noise, else nothing."""
        if abs(self.ratio - 1) <= NOISE:
            return ""
        if self.bar.sense == "exactly":
            return "differs"
        return "better" if (self.ratio > 1) == (self.bar.sense == "at least") else "worse"


@contextmanager
def checkout(old: str) -> Iterator[Path]:
    """A folder with the checkout `old`: a folder itself, or a revision of this repository, which
    is then laid out in a temporary folder.

    Raises RunFailed where it is neither.
    """
    if Path(old).is_dir():
        yield Path(old)
        return
    root = Path(__file__).resolve().parents[1]
    archive = subprocess.run(["git", "archive", "--format=tar", old], cwd=root, capture_output=True)
    if archive.returncode:
        raise RunFailed(f"{old!r} is no folder, and no revision: {archive.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def figures_of(root: Path, name: str, options: Sequence[str]) -> dict[str, float]:
    """The figures of benchmark `name` in the checkout at `root`, measured by its own code.

    It runs by the checkout's environment where there is one, else by this one. Raises RunFailed,
    and UnknownBenchmark where it is of another time than the checkout.
    """
    own = root / ".venv" / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        words = [str(own) if own.exists() else sys.executable, "-m", "bench", name]
        ended = subprocess.run(
            [*words, *options, "--json", str(report)], cwd=root, capture_output=True, text=True
        )
        if f"invalid choice: '{name}'" in ended.stderr:
            raise UnknownBenchmark(f"{root} has no benchmark {name!r}")
        if ended.returncode or not report.exists():
            raise RunFailed(f"{name} in {root}: {(ended.stderr or ended.stdout).strip()[-2000:]}")
        return json.loads(report.read_text(encoding="utf-8"))["figures"]


def compare(
    old: Path,
    new: Path,
    names: Iterable[str],
    options: Mapping[str, Sequence[str]],
    turns: int,
    console: Console,
) -> list[Ratio]:
    """Ratios of every figure that both checkouts have, over so many turns of each benchmark.

    `options` gives the words of a benchmark's command line by its name. Prints each ratio as soon
    as it is known, and which benchmarks one of them lacks. Raises RunFailed.
    """
    found = []
    for name in names:
        try:
            pairs = [_turn(old, new, name, options.get(name, ()), turn) for turn in range(turns)]
        except UnknownBenchmark as unknown:
            console.print(f"{name}: not compared, {unknown}")
            continue
        ratios = [
            _ratio(name, figure, [(before[figure], after[figure]) for before, after in pairs])
            for figure in pairs[0][0]
            if all(figure in side for pair in pairs for side in pair)
        ]
        found += ratios
        console.print(_table(name, ratios))
    return found


def _turn(
    old: Path, new: Path, name: str, options: Sequence[str], turn: int
) -> tuple[dict[str, float], dict[str, float]]:
    if turn % 2:
        after = figures_of(new, name, options)
        return figures_of(old, name, options), after
    return figures_of(old, name, options), figures_of(new, name, options)


def _ratio(name: str, figure: str, values: Sequence[tuple[float, float]]) -> Ratio:
    olds, news = zip(*values, strict=True)
    ratios = [new / old if old else (1.0 if new == old else float("inf")) for old, new in values]
    bar = BARS.get(name, {}).get(figure) or Bar("at most", None, "inform")
    return Ratio(name, figure, bar, median(olds), median(news), median(ratios))


def _table(name: str, ratios: Iterable[Ratio]) -> Table:
    table = Table(title=f"{name}: new over old")
    for heading in ("figure", "old", "new", "unit", "ratio", "beyond noise"):
        table.add_column(heading, justify="right" if heading in ("old", "new", "ratio") else "left")
    for each in ratios:
        table.add_row(
            each.figure,
            f"{each.old:,.4g}",
            f"{each.new:,.4g}",
            each.bar.unit,
            f"{each.ratio:.3f}",
            each.verdict(),
        )
    return table
