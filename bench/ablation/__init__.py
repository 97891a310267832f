"""`python -m bench ablation [--size s|m|l] [--only NAME] [--json FILE]`: each strategy and aid
switched off in turn, and what its gate loses.

`python -m bench ablation --sets [--only SET] [--gate NAME] [--turns N]` leaves out sets of them,
and runs all gates; a set that has no name is written `--only "walks, reachability"`.

Kernel steps do not depend on the machine; of the seconds of the processor the least of each side
counts, with `--sets` the median of the ratios; bytes are those that are kept in the end. A name
that a benchmark asks for by itself ("needs it") cannot be switched off there.

`python -m bench ablation --rewrites` leaves out each rewrite of rules that a normal form could do
without, for a rule that it is for.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.ablation.gates import GATE_OF, GATES, TURNS, Loss, cost_of, loss_of
from bench.ablation.rewrites import table as of_rewrites
from bench.ablation.sets import losses, named, tables

__all__ = ["GATES", "GATE_OF", "Loss", "cost_of", "loss_of", "main"]


def table(found: Sequence[Loss]) -> Table:
    """The losses, name by name."""
    shown = Table(title="what the gate of each strategy and aid loses without it")
    for heading in ("without", "gate", "kernel steps", "processor time", "bytes kept"):
        shown.add_column(heading, justify="left" if heading in ("without", "gate") else "right")
    for loss in found:
        numbers = [f"{ratio:.2f}×" for ratio in (loss.steps, loss.seconds, loss.kept)]
        shown.add_row(loss.name, loss.gate, *(["needs it", "", ""] if loss.refused else numbers))
    return shown


def _kept(found: Iterator[Any], file: Path | None) -> list[Any]:
    """All that is found, written to a file as it comes."""
    listed: list[Any] = []
    for each in found:
        listed.append(each)
        if file is not None:
            rows = [each._asdict() for each in listed]
            file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return listed


def main(words: list[str]) -> int:
    """The exit code, 0."""
    arguments = _arguments(words)
    console = Console(width=None if sys.stdout.isatty() else 140)
    if arguments.rewrites:
        console.print(of_rewrites())
        return 0
    if not arguments.sets:
        names = [name for name in GATE_OF if not arguments.only or name in arguments.only]
        found = (loss_of(name, arguments.size, arguments.turns) for name in names)
        console.print(table(_kept(found, arguments.json)))
        return 0
    of_sets = losses(
        named(arguments.only), arguments.size, arguments.turns, arguments.gate or GATES
    )
    for each in tables(_kept(of_sets, arguments.json)):
        console.print(each)
    return 0


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench ablation", description=__doc__)
    parser.add_argument(
        "--size", choices=("s", "m", "l"), default="l", help="of the parts of benchmarks"
    )
    parser.add_argument("--sets", action="store_true", help="leave out sets, and run all gates")
    parser.add_argument("--rewrites", action="store_true", help="leave out each rewrite of rules")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="a strategy, an aid, or a set"
    )
    parser.add_argument(
        "--gate", action="append", choices=GATES, metavar="NAME", help="with --sets: this gate only"
    )
    parser.add_argument("--turns", type=int, default=TURNS, help=f"runs of each side ({TURNS})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all ratios to FILE")
    return parser.parse_args(words)
