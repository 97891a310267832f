"""`python -m bench NAME [--size s|m|l] [--only FIGURE] [--json FILE] [--data PATH]`: run one
benchmark, or `all`, print and write the figures; with `--paired OLD` beside those of another
checkout. `python -m bench STUDY …`: one of the commands in `STUDIES`, each with options of its own.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.bars import BARS
from bench.figure import Report, ResultsDiffer
from bench.paired import NOISE, RunFailed, checkout, compare
from bench.plot import draw
from bench.registry import NAMES, run

STUDIES = {
    "campaign": "commits on Spark while everything goes wrong",
    "ablation": "what gates lose without strategies",
    "cost": "what bodies take beside what was expected",
    "code_lines": "how large each room is",
    "histories": "what kinds of change cost",
    "journey": "how far small work goes",
}
"""Commands without bars; the module of each has a `main`."""
_NAME_HELP = "a benchmark, or all of them"
WIDTH = 140  # characters of a line that goes to a file


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench",
        description="Figures of the engine, each a ratio taken in one run.",
        epilog="Further commands: "
        + "; ".join(f"`bench {name} --help`, {what}" for name, what in STUDIES.items()),
    )
    parser.add_argument("name", choices=(*NAMES, "all"), help=_NAME_HELP)
    parser.add_argument(
        "--size",
        choices=("s", "m", "l"),
        default="l",
        help="s: seconds, m: a tenth, l: what the bars are for (default)",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="FIGURE",
        help="take this figure only; may be repeated",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write name, figures and detail to FILE"
    )
    parser.add_argument(
        "--data", type=Path, metavar="PATH", help="folder with the data sets of bench/README.md"
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw what was measured step by step into FILE (.png, .svg)",
    )
    parser.add_argument(
        "--paired",
        metavar="OLD",
        help="run each benchmark in turns here and in another checkout (a folder or a revision), "
        "and print the ratio of each figure, new over old",
    )
    parser.add_argument(
        "--turns", type=int, default=3, help="turns of each benchmark with --paired (default: 3)"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a gate is missed")
    return parser.parse_args(words)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3g}"


def show(report: Report, console: Console) -> None:
    """Print figures, bars and marks, then how each came about."""
    table = Table(title=f"{report.name}, size {report.size}")
    for heading in ("figure", "value", "unit", "bar", "mark", "verdict"):
        table.add_column(heading, justify="right" if heading in ("value", "bar") else "left")
    for figure in report.figures:
        bar = figure.bar
        table.add_row(
            figure.name,
            _number(figure.value),
            bar.unit,
            str(bar),
            bar.kind,
            figure.verdict(report.full_size),
        )
    console.print(table)
    for entry in report.detail:
        console.print(
            "  "
            + ", ".join(
                f"{key} {_number(value) if isinstance(value, float) else value}"
                for key, value in entry.items()
            ),
            soft_wrap=True,
        )


def main(words: list[str] | None = None) -> int:
    """The exit code: 0, 1 for a missed gate under --strict, 2 when results differ, when a figure
    does not exist, or when a benchmark fails in one of two checkouts.
    """
    words = sys.argv[1:] if words is None else words
    if words and words[0] in STUDIES:
        return int(importlib.import_module(f"bench.{words[0]}").main(words[1:]))
    arguments = _arguments(words)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    names = NAMES if arguments.name == "all" else (arguments.name,)
    here = {figure for name in names for figure in BARS[name]}
    if unknown := sorted(set(arguments.only) - here):
        of = f"`{arguments.name}` has" if len(names) == 1 else "There is"
        print(
            f"bench: {of} no figure {unknown[0]!r}; there are {', '.join(sorted(here))}",
            file=sys.stderr,
        )
        return 2
    wanted = {name: [each for each in arguments.only if each in BARS[name]] for name in names}
    names = tuple(name for name in names if wanted[name] or not arguments.only)
    if arguments.paired is not None:
        return _compare(names, wanted, arguments, console)
    return max(_measure(name, wanted[name], arguments, console) for name in names)


def _measure(name: str, only: list[str], arguments: argparse.Namespace, console: Console) -> int:
    try:
        report = run(name, arguments.size, arguments.data, only)
    except ResultsDiffer as difference:
        print(f"bench {name}: results differ: {difference}", file=sys.stderr)
        return 2
    show(report, console)
    if arguments.json:
        _file(arguments.json, name, arguments).write_text(report.as_json() + "\n", encoding="utf-8")
    if arguments.plot:
        draw(report, _file(arguments.plot, name, arguments))
    return 1 if arguments.strict and report.missed() else 0


def _file(path: Path, name: str, arguments: argparse.Namespace) -> Path:
    """The file for one of several benchmarks: `all.json` becomes `all-load.json`."""
    return path.with_stem(f"{path.stem}-{name}") if arguments.name == "all" else path


def _compare(
    names: tuple[str, ...],
    wanted: dict[str, list[str]],
    arguments: argparse.Namespace,
    console: Console,
) -> int:
    shared = ["--size", arguments.size]
    if arguments.data is not None:
        shared += ["--data", str(arguments.data.resolve())]
    options = {
        name: [*shared, *(word for figure in wanted[name] for word in ("--only", figure))]
        for name in names
    }
    new = Path(__file__).resolve().parents[1]
    try:
        with checkout(arguments.paired) as old:
            ratios = compare(old, new, names, options, arguments.turns, console)
    except RunFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 2
    worse = [ratio for ratio in ratios if ratio.verdict() in ("worse", "differs")]
    console.print(f"{len(ratios)} figures, {len(worse)} worse by more than {NOISE:.0%}")
    if arguments.json:
        rows = [asdict(ratio) | {"bar": str(ratio.bar)} for ratio in ratios]
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return 1 if arguments.strict and worse else 0


if __name__ == "__main__":
    sys.exit(main())
