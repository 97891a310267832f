"""`python -m bench ablation [--size s|m|l] [--only NAME]`: each strategy and aid switched off in
turn, and what its gate loses.

A gate is a workload of `bench.workloads`, or a part of a benchmark. It runs as it is and without
the name, in turns and in one process. Kernel steps do not depend on the machine; of the seconds of
the processor the least of each side counts, and bytes are those that are kept in the end. A name
that a benchmark asks for by itself ("needs it") cannot be switched off there.
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
from bench.figure import Report, ResultsDiffer, require_equal
from bench.workloads import WORKLOADS
from bench.workloads.workload import Cost, outcome_of
from lftj.engine.engine import Engine
from lftj.maintenance.ladder import GATES as GATE_OF
from lftj.tuning import Tuning

PARTS = ("recursion.chain", "recursion.chosen")
"""Parts of benchmarks that are gates; they need no data and no peer."""
GATES = (*WORKLOADS, *PARTS)
"""All gates by name."""
TURNS = 2
"""Runs of each side; the first run of a gate only compiles."""


class Loss(NamedTuple):
    """A gate without a name: ratios to the gate as it is, or the reason why there are none."""

    name: str
    gate: str
    steps: float = 1.0
    seconds: float = 1.0
    kept: float = 1.0
    refused: str = ""


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


def cost_of(gate: str, size: str, names: frozenset[str] = frozenset()) -> Cost:
    """The cost of one part of a benchmark without some names. Raises ResultsDiffer."""
    steps = 0

    def note(more: int) -> None:
        nonlocal steps
        steps += more

    figures = gate.split(".")[0]
    measure = importlib.import_module(f"bench.{gate}").measure
    with _without(names, note):
        started = time.process_time()
        measure(Report(figures, size, BARS[figures]), None)
        return Cost(steps, time.process_time() - started)


def _both(gate: str, name: str, size: str) -> tuple[Cost, Cost]:
    """The costs of a gate as it is, and without a name. Raises ResultsDiffer."""
    if gate not in WORKLOADS:
        return cost_of(gate, size), cost_of(gate, size, frozenset({name}))
    workload = WORKLOADS[gate]
    whole, less = outcome_of(workload), outcome_of(workload, frozenset({name}))
    require_equal(f"rows of `{gate}` without `{name}`", less.rows, whole.rows)
    return whole.cost, less.cost


def loss_of(name: str, size: str = "s", turns: int = TURNS) -> Loss:
    """The loss of the gate of a strategy or an aid."""
    gate = GATE_OF[name]
    try:
        _both(gate, name, size)
        pairs = [_both(gate, name, size) for _ in range(turns)]
    except ResultsDiffer as difference:
        return Loss(name, gate, refused=str(difference))
    (whole, less), *_ = pairs
    seconds = [min(each.seconds for each in side) for side in zip(*pairs, strict=True)]
    return Loss(
        name,
        gate,
        less.steps / max(1, whole.steps),
        seconds[1] / max(seconds[0], 1e-9),
        less.kept / max(1, whole.kept) if whole.kept else 1.0,
    )


def table(found: Sequence[Loss]) -> Table:
    """The losses, name by name."""
    shown = Table(title="what the gate of each strategy and aid loses without it")
    for heading in ("without", "gate", "kernel steps", "processor time", "bytes kept"):
        shown.add_column(heading, justify="left" if heading in ("without", "gate") else "right")
    for loss in found:
        numbers = [f"{ratio:.2f}×" for ratio in (loss.steps, loss.seconds, loss.kept)]
        shown.add_row(loss.name, loss.gate, *(["needs it", "", ""] if loss.refused else numbers))
    return shown


def run(size: str, console: Console, file: Path | None = None, only: Sequence[str] = ()) -> None:
    """Switch off one name after the other, or `only` some; print the table, and write it to a
    file.
    """
    found: list[Loss] = []
    for name in GATE_OF:
        if not only or name in only:
            found.append(loss_of(name, size))
            if file is not None:
                rows = [each._asdict() for each in found]
                file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    console.print(table(found))
