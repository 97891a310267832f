"""Gates, and what one loses without a strategy or an aid.

A gate is a workload of `bench.workloads`, or a part of a benchmark. It runs as it is and without
the name, in turns and in one process.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from bench.bars import BARS
from bench.figure import Report, ResultsDiffer, require_equal
from bench.resident import forget_freed, peak_bytes, resident_bytes
from bench.workloads import WORKLOADS
from bench.workloads.workload import Cost, outcome_of
from lftj.engine.live.engine import Engine
from lftj.tuning import Tuning
from lftj.views.switchable import GATES as GATE_OF

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
    forget_freed()
    before = resident_bytes()

    def note(more: int) -> None:
        nonlocal steps
        steps += more

    figures = gate.split(".")[0]
    measure = importlib.import_module(f"bench.{gate}").measure
    with _without(names, note):
        started = time.process_time()
        measure(Report(figures, size, BARS[figures]), None)
        seconds = time.process_time() - started
    return Cost(steps, seconds, peak=peak_bytes() - before)


def both(gate: str, names: frozenset[str], size: str) -> tuple[Cost, Cost]:
    """The costs of a gate as it is, and without some names. Raises ResultsDiffer."""
    if gate not in WORKLOADS:
        return cost_of(gate, size), cost_of(gate, size, names)
    workload = WORKLOADS[gate]
    whole, less = outcome_of(workload), outcome_of(workload, names)
    require_equal(f"rows of `{gate}` without {sorted(names)}", less.rows, whole.rows)
    return whole.cost, less.cost


def loss_of(name: str, size: str = "s", turns: int = TURNS) -> Loss:
    """The loss of the gate of a strategy or an aid."""
    gate = GATE_OF[name]
    try:
        both(gate, frozenset({name}), size)
        pairs = [both(gate, frozenset({name}), size) for _ in range(turns)]
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
