"""`python -m bench NAME [--size s|m|l] [--only FIGURE] [--json FILE] [--data PATH]`: run one
benchmark, print and write its figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.figure import Report, ResultsDiffer
from bench.plot import draw
from bench.registry import NAMES, UnknownFigure, run

WIDTH = 140  # characters of a line that goes to a file


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench", description="Figures of the engine, each a ratio taken in one run."
    )
    parser.add_argument("name", choices=NAMES)
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
    """The exit code: 0, 1 for a missed gate under --strict, 2 when results differ or a figure does
    not exist.
    """
    arguments = _arguments(words)
    try:
        report = run(arguments.name, arguments.size, arguments.data, arguments.only)
    except UnknownFigure as unknown:
        print(f"bench: {unknown}", file=sys.stderr)
        return 2
    except ResultsDiffer as difference:
        print(f"bench {arguments.name}: results differ: {difference}", file=sys.stderr)
        return 2
    show(report, Console(width=None if sys.stdout.isatty() else WIDTH))
    if arguments.json:
        arguments.json.write_text(report.as_json() + "\n", encoding="utf-8")
    if arguments.plot:
        draw(report, arguments.plot)
    return 1 if arguments.strict and report.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
