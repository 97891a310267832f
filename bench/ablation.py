"""`python -m bench ablation [--size s|m|l] [--only PART]`: each strategy and aid switched
off in turn, and what the figures lose.

Every part of a benchmark runs as it is, then without one name after the other, in one process. Two
numbers are compared with the runs as it is: kernel steps, which do not depend on the machine, and
seconds of the processor, paired with the nearer of the runs before and after. A name that a figure
asks for by itself ("needs it") cannot be switched off there.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from bench.bars import BARS
from bench.figure import Report, ResultsDiffer
from lftj.engine.engine import Engine
from lftj.maintenance.ladder import OPTIONAL
from lftj.tuning import Tuning
from lftj.tuning.aids import AIDS

PARTS = (
    "bench.maintenance.edits",
    "bench.maintenance.state",
    "bench.maintenance.bulk",
    "bench.maintenance.aggregates",
    "bench.maintenance.flights",
    "bench.recursion.edits",
    "bench.recursion.chain",
    "bench.recursion.chosen",
    "bench.recursion.shortest",
    "bench.recursion.rules",
    "bench.recursion.elastic",
)
"""Modules of benchmarks that need no data and no peer."""
LOSS = 1.05
"""Ratio of kernel steps from which on a figure has lost."""
SLOWER = 1.3
"""Ratio of times from which on it has; what is below may be noise at small sizes."""


class Cost(NamedTuple):
    """Kernel steps of all rules at all commits, and seconds of the processor."""

    steps: int
    seconds: float


class Loss(NamedTuple):
    """A part without a name: ratios to the part as it is, or the reason why there are none."""

    name: str
    part: str
    steps: float = 1.0
    seconds: float = 1.0
    refused: str = ""

    @property
    def tells(self) -> bool:
        """Tell whether the part lost anything."""
        return bool(self.refused) or self.steps >= LOSS or self.seconds >= SLOWER


@contextmanager
def _without(names: frozenset[str], note: Callable[[int], None]) -> Iterator[None]:
    """Meanwhile every workspace is without these, and `note` hears the steps of each commit."""
    begin = Engine.__init__

    def beginning(engine: Engine, *args: Any, **options: Any) -> None:
        begin(engine, *args, **options)
        engine.statistics.tuning = Tuning(without=names)
        kept = type(engine.history)

        class Heard(kept):  # type: ignore[misc, valid-type]
            def append(self, commit: Any, /) -> None:
                note(sum(work.steps for work in commit[1]))
                super().append(commit)

        engine.history = Heard(maxlen=engine.history.maxlen)

    with patch.object(Engine, "__init__", beginning):
        yield


def cost_of(part: str, size: str, names: frozenset[str] = frozenset()) -> Cost:
    """The cost of one part without some names. Raises ResultsDiffer."""
    steps = 0

    def note(more: int) -> None:
        nonlocal steps
        steps += more

    figures = part.split(".")[1]
    measure = importlib.import_module(part).measure
    with _without(names, note):
        started = time.process_time()
        measure(Report(figures, size, BARS[figures]), None)
        return Cost(steps, time.process_time() - started)


def losses(parts: Sequence[str], names: Sequence[str], size: str) -> Iterator[Loss]:
    """The losses of each part, one name after the other."""
    for part in parts:
        cost_of(part, size)  # compiles
        short = part.removeprefix("bench.")
        before = cost_of(part, size)
        for name in names:
            try:
                cost = cost_of(part, size, frozenset({name}))
            except ResultsDiffer as difference:
                yield Loss(name, short, refused=str(difference))
                continue
            after = before
            if cost.seconds >= SLOWER * before.seconds:  # the machine may have become slower
                after = cost_of(part, size)
            seconds = cost.seconds / max(before.seconds, after.seconds, 1e-9)
            yield Loss(name, short, cost.steps / max(1, before.steps), seconds)
            before = after


def table(found: Sequence[Loss]) -> Table:
    """The losses, name by name; of what loses nothing one line."""
    shown = Table(title="what each part of a benchmark loses without a strategy or an aid")
    for heading in ("without", "part", "steps", "time"):
        shown.add_column(heading, justify="right" if heading in ("steps", "time") else "left")
    for name in dict.fromkeys(loss.name for loss in found):
        lost = [loss for loss in found if loss.name == name and loss.tells]
        for loss in lost:
            numbers = (f"{loss.steps:.2f}×", f"{loss.seconds:.2f}×")
            shown.add_row(name, loss.part, *(("needs it", "") if loss.refused else numbers))
        if not lost:
            shown.add_row(name, "–", "", "")
    return shown


def run(size: str, console: Console, file: Path | None = None, only: Sequence[str] = ()) -> None:
    """Switch off one name after the other, in `only` some parts if any are named; print the table,
    and write it to a file.
    """
    found: list[Loss] = []
    parts = [part for part in PARTS if not only or part.removeprefix("bench.") in only]
    for loss in losses(parts, (*OPTIONAL, *AIDS), size):
        found.append(loss)
        if file is not None:
            rows = [each._asdict() for each in found]
            file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    console.print(table(found))
