"""Sets of strategies and aids left out together, over all gates.

What one strategy does another one may do as well, so leaving out one at a time tells little of two
that stand in for each other. A gate runs as it is and without the set, in turns; the median of the
ratios counts, of kernel steps, processor seconds, bytes kept, and the peak of resident memory.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rich.table import Table

from bench.ablation.gates import GATES, both
from bench.figure import ResultsDiffer
from bench.workloads.workload import Cost
from lftj.maintenance.ladder import CLOSURES, STRATA
from lftj.tuning.aids import AIDS
from lftj.views.switchable import OPTIONAL

_RECURSION = frozenset(
    each.name for each in (*STRATA, *CLOSURES) if each.name in OPTIONAL and not each.needed
)
_RANKS = frozenset({"counting", "counting from nothing"})
_ROWS = frozenset({"rederivation"})
_SEARCH = frozenset({"reachability"})
_BEST = frozenset({"counting best values", "improvement"})

SETS: Mapping[str, frozenset[str]] = {
    "ranks": _RANKS,
    "rows": _ROWS,
    "search": _SEARCH,
    "ranks and rows": _RANKS | _ROWS,
    "search and rows": _SEARCH | _ROWS,
    "all but ranks": _RECURSION - _RANKS - _BEST,
    "all but rows": _RECURSION - _ROWS - _BEST,
    "best values": _BEST,
    "searches of bodies": frozenset({"least values", "row scan", "star join"}),
    "updates of bodies": frozenset({"trace"}),
    "totals": frozenset({"running totals", "kept counts", "extremes", "finer heads"}),
    "orders": frozenset({"columnar load", "semi-join reduction", "index advisor"}),
    "aids": frozenset(AIDS),
    "recursion": _RECURSION,
}
"""The sets by name: ideas that stand or go together. What is all but one way leaves recursion that
way, beside evaluation anew.
"""
MATTERS = 1.3
"""Ratio of time or memory from which on a gate is felt."""
_NEVER = 1e9
_FEW_STEPS, _SHORT, _SMALL = 1_000, 1e-3, 1 << 20
"""Steps, seconds and bytes below which no gate is told from another."""
_HEADINGS = ("kernel steps", "processor time", "kept", "peak")


class SetLoss(NamedTuple):
    """A gate without a set: medians of ratios to the gate as it is, or why there are none."""

    without: str
    gate: str
    steps: float = 1.0
    seconds: float = 1.0
    kept: float = 1.0
    peak: float = 1.0
    refused: str = ""

    @property
    def most(self) -> float:
        """The larger of time and memory; without bound where the gate needs something of it."""
        return _NEVER if self.refused else max(self.seconds, self.kept)


def named(words: Sequence[str]) -> dict[str, frozenset[str]]:
    """Sets by name, or given as `one, another`; all that have a name where none is given."""
    return {
        word: SETS.get(word) or frozenset(each.strip() for each in word.split(","))
        for word in words or SETS
    }


def losses(
    sets: Mapping[str, frozenset[str]], size: str, turns: int, gates: Sequence[str] = GATES
) -> Iterator[SetLoss]:
    """The losses of all gates without each of the sets."""
    for gate in gates:
        for name, names in sets.items():
            try:
                both(gate, names, size)
                pairs = [both(gate, names, size) for _ in range(turns)]
            except ResultsDiffer as difference:
                yield SetLoss(name, gate, refused=str(difference))
            else:
                yield _loss(name, gate, pairs)


def _loss(name: str, gate: str, pairs: Sequence[tuple[Cost, Cost]]) -> SetLoss:
    sides = [_numbers(whole) for whole, _ in pairs], [_numbers(less) for _, less in pairs]
    steps, seconds, kept, peak = (
        statistics.median(less[place] / whole[place] for whole, less in zip(*sides, strict=True))
        for place in range(4)
    )
    return SetLoss(name, gate, steps, seconds, kept, peak)


def _numbers(cost: Cost) -> tuple[float, ...]:
    """Steps, seconds, bytes kept and peak, so that ratios of nearly nothing stay near 1."""
    return (
        max(_FEW_STEPS, cost.steps),
        max(_SHORT, cost.seconds),
        max(_SMALL, cost.kept),
        max(_SMALL, cost.peak),
    )


def tables(found: Sequence[SetLoss]) -> Iterator[Table]:
    """Tables of losses: all gates together without each set, then each gate that feels a set."""
    shown = Table(title="what gates lose without sets of strategies and aids, geometric means")
    for heading in (
        "without",
        "kernel steps",
        "processor time",
        "kept",
        "peak",
        "felt by",
        "needed",
    ):
        shown.add_column(heading, justify="left" if heading == "without" else "right")
    for name in dict.fromkeys(each.without for each in found):
        of_set = [each for each in found if each.without == name]
        some = [each for each in of_set if not each.refused]
        means = [_mean([getattr(each, field) for each in some]) for field in SetLoss._fields[2:6]]
        felt = sum(each.most >= MATTERS for each in some)
        shown.add_row(name, *means, f"{felt} of {len(of_set)}", str(len(of_set) - len(some)))
    yield shown
    felt_by = Table(title=f"gates that take {MATTERS} times the time or memory")
    for heading in ("without", "gate", *_HEADINGS):
        felt_by.add_column(heading, justify="left" if heading in ("without", "gate") else "right")
    for loss in sorted(found, key=lambda each: (each.without, -each.most)):
        if loss.most >= MATTERS:
            ratios = [f"{ratio:.2f}×" for ratio in loss[2:6]]
            felt_by.add_row(
                loss.without, loss.gate, *(["needs it", "", "", ""] if loss.refused else ratios)
            )
    yield felt_by


def _mean(ratios: Sequence[float]) -> str:
    if not ratios:
        return "–"
    return f"{math.exp(statistics.fmean(map(math.log, ratios))):.2f}×"
