"""`python -m bench journey [--only NAME] [--rooms] [--json FILE] [--write [--rises]]`: how far the
engine goes for a small piece of work, in functions, files, crossings from one file into another,
frames of greatest depth, calls and bytecodes of Python.

These do not depend on machine, load, hash seeds or order: each run counts in a process of its own.
Bytecodes are those of one version of Python. `figures.json` holds what was counted last. A test
compares: a figure may not rise, and one that fell is written down at once, or the next change could
use up the gain unseen. `--write` renews the record; it refuses one that rose, unless `--rises` says
that it is wanted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.journey.counting import FIGURES, ROOT, Counts, Room
from bench.journey.record import FILE, VERSION, differences, record_of, recorded, text_of

_CHANGING = ("PYTHONOPTIMIZE", "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")
"""Variables of the environment that would change what is run."""
RENEW = "`python -m bench journey --write` renews the record"


def measured() -> dict[str, Counts]:
    """The counts of all journeys, by name."""
    environment = {name: value for name, value in os.environ.items() if name not in _CHANGING}
    ran = subprocess.run(
        [sys.executable, "-m", "bench.journey"],
        cwd=ROOT,
        env=environment | {"PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return record_of(ran.stdout)[0]


def table(found: dict[str, Counts]) -> Table:
    """All figures, journey by journey."""
    shown = Table(title=f"what a small piece of work runs (bytecodes: Python {VERSION})")
    shown.add_column("journey")
    for figure in FIGURES:
        shown.add_column(figure, justify="right")
    for name, counts in found.items():
        shown.add_row(name, *(f"{counts.figures[figure]:,}" for figure in FIGURES))
    return shown


def rooms(name: str, counts: Counts) -> Table:
    """A journey room by room, the most bytecodes first."""
    shown = Table(title=f"{name}, by room")
    shown.add_column("room")
    for heading in Room._fields:
        shown.add_column(heading, justify="right")
    for room in sorted(counts.rooms, key=lambda room: -counts.rooms[room].bytecodes):
        shown.add_row(room, *(f"{number:,}" for number in counts.rooms[room]))
    return shown


def changed(found: dict[str, Counts]) -> tuple[list[str], list[str]]:
    """The figures that rose since they were recorded, and all others that changed, a line each."""
    was, python = recorded()
    listed = list(differences(was, found, python == VERSION))
    return [str(each) for each in listed if each.rose], [str(e) for e in listed if not e.rose]


def main(words: list[str]) -> int:
    """The exit code: 1 for a figure that rose, unless it is wanted."""
    arguments = _arguments(words)
    found = measured()
    console = Console(width=None if sys.stdout.isatty() else 140)
    shown = {name: found[name] for name in arguments.only or found}
    console.print(table(shown))
    if arguments.rooms:
        for name, counts in shown.items():
            console.print(rooms(name, counts))
    if arguments.json is not None:
        arguments.json.write_text(text_of(shown), "utf-8")
    rose, others = changed(found)
    print("\n".join([*rose, *others] or ["all as recorded"]))
    if rose and not arguments.rises:
        return 1
    if arguments.write:
        FILE.write_text(text_of(found), "utf-8")
    return 0


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench journey", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        choices=recorded()[0],
        metavar="NAME",
        help="print this journey only; may be repeated",
    )
    parser.add_argument("--rooms", action="store_true", help="print each room, a package of code")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    parser.add_argument("--write", action="store_true", help="renew the record")
    parser.add_argument("--rises", action="store_true", help="figures that rose are wanted")
    return parser.parse_args(words)
