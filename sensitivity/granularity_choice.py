# SPDX-License-Identifier: Apache-2.0
"""Choice of a granularity for each position, under a memory budget.

An index is worth its memory, and the slower logging run that fills it, only where the delta query
it saves is expensive. So each position first gets the smallest index whose surgeries cost little:
at most `FACTOR` times what the best granularity would make of them, or a `SHARE` of a full
evaluation, or `FEW` steps. In a connected body that is mostly `NONE`: the pinned values lead into
every other atom. It is an index where a box is large, because the other atoms do not touch the
pinned variables or because the search below them stops at the first proof. Then, while the budget
is exceeded, the position that saves most bytes per step lost gets the next smaller index.

Neither step is optimal: the first looks at positions one by one though one index may do for two,
the second is the greedy of a multiple-choice knapsack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush

from lftj.scantree.frozen import frozen
from lftj.sensitivity.estimate import BodyEstimate, Option, PositionEstimate
from lftj.sensitivity.granularity import Granularity
from lftj.sensitivity.shape import PositionKey

FACTOR = 4.0
SHARE = 1 / 2000
FEW = 20_000.0


@frozen(slots=True)
class GranularityChoice:
    """The granularity of a position, its expected bytes and steps, and the reason."""

    granularity: Granularity
    bytes: float
    steps: float
    reason: str


def choose_granularities(body: BodyEstimate, budget: float) -> dict[PositionKey, GranularityChoice]:
    """A granularity for each position that an index can be kept for, all indices within `budget`
    bytes (as estimated).

    A budget that others have overdrawn leaves nothing.
    """
    budget = max(budget, 0.0)
    wanted = {
        estimate.position.key: _wanted(estimate, body.full_steps) for estimate in body.positions
    }
    options = {estimate.position.key: estimate.options for estimate in body.positions}
    chosen = _within(wanted, options, budget)
    return {key: _explained(options[key], chosen[key], wanted[key], budget) for key in chosen}


def _wanted(estimate: PositionEstimate, full_steps: float) -> int:
    """The number of the smallest option that is good enough."""
    best = min(option.steps for option in estimate.options)
    enough = max(FACTOR * best, SHARE * full_steps, FEW)
    good = [number for number, option in enumerate(estimate.options) if option.steps <= enough]
    return min(good, key=lambda number: estimate.options[number].bytes)


def _within(
    wanted: Mapping[PositionKey, int],
    options: Mapping[PositionKey, tuple[Option, ...]],
    budget: float,
) -> dict[PositionKey, int]:
    """Replace what is wanted at positions by smaller indices until all are within `budget`.
    O(positions · options² · log).
    """
    chosen = dict(wanted)
    taken = sum(options[key][number].bytes for key, number in chosen.items())
    places = list(chosen)
    steps = [
        step for place in range(len(places)) for step in _coarser(place, places, chosen, options)
    ]
    heapify(steps)
    while taken > budget and steps:
        _, place, number, instead_of = heappop(steps)
        key = places[place]
        if chosen[key] == instead_of:
            taken += options[key][number].bytes - options[key][instead_of].bytes
            chosen[key] = number
            for step in _coarser(place, places, chosen, options):
                heappush(steps, step)
    return chosen


def _coarser(
    place: int,
    places: Sequence[PositionKey],
    chosen: Mapping[PositionKey, int],
    options: Mapping[PositionKey, tuple[Option, ...]],
) -> list[tuple[float, int, int, int]]:
    """Every change of one position to an option of fewer bytes, the one that saves most a step
    lost least: (−saving, position, option, present option).
    """
    its, present = options[places[place]], chosen[places[place]]
    return [
        (-_saving(its, present, other), place, other, present)
        for other, option in enumerate(its)
        if option.bytes < its[present].bytes
    ]


def _saving(options: tuple[Option, ...], present: int, other: int) -> float:
    """Bytes saved per step lost."""
    lost = options[other].steps - options[present].steps
    return (options[present].bytes - options[other].bytes) / max(lost, 1e-9)


def _explained(
    options: tuple[Option, ...], chosen: int, wanted: int, budget: float
) -> GranularityChoice:
    option, first = options[chosen], options[wanted]
    if chosen != wanted:
        reason = (
            f"{first.granularity} would take {_bytes(first.bytes)}, the indices may take "
            f"{_bytes(budget)} together; "
            f"so a change costs about {_steps(option.steps)} instead of {_steps(first.steps)}"
        )
    elif not option.granularity.kept:
        reason = f"a change is looked up by a delta query of about {_steps(option.steps)}"
    else:
        without = options[0]
        reason = (
            f"a delta query would take about {_steps(without.steps)}; with "
            f"{_bytes(option.bytes)} of index it is {_steps(option.steps)}"
        )
    return GranularityChoice(option.granularity, option.bytes, option.steps, reason)


def _steps(steps: float) -> str:
    return f"{max(1, round(steps)):,} steps"


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
