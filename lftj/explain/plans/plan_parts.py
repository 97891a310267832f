# SPDX-License-Identifier: Apache-2.0
"""Division of large evaluations of a rule: by which variables, into parts of which sizes, and
what the parts share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lftj.engine.versions import State
from lftj.join.plan import RulePlan
from lftj.join.run import Assembly, Division, leading_levels, may_divide

if TYPE_CHECKING:
    from lftj.engine.live import Engine

KeyOrder = Callable[[str, tuple[int, ...]], str]


def part_lines(engine: Engine, state: State, plan: RulePlan, key_order: KeyOrder) -> Iterator[str]:
    """The lines about one plan in `ws.plan()`; sizes are estimates, and looked at only where all
    key orders exist. O(rows).
    """
    threads = engine.threads
    levels = leading_levels(plan)
    if threads is None or threads.workers == 1:
        return
    if levels is None or not may_divide(plan):
        yield "    always in one part"
        return
    leading = plan.levels[levels[0]].name
    yield (
        f"    in parts by {leading} on {threads.workers} threads, once it takes "
        f"{threads.patience:,} steps"
    )
    sliced = [
        key_order(atom.relation, atom.order) for atom in plan.atoms if levels[0] in atom.levels
    ]
    shared = [
        key_order(atom.relation, atom.order)
        for atom in (*plan.atoms, *plan.probes)
        if not _sliced(atom, levels[0])
    ]
    yield f"      sliced: {', '.join(sliced)}; shared: {', '.join(shared) or 'nothing'}"
    if all(order in state.database[relation].orders() for relation, order in plan.key_orders()):
        yield f"      {_sizes(engine, state, plan, threads.parts, levels)}"


def _sliced(atom: object, level: int) -> bool:
    return level in getattr(atom, "levels", ())


def _sizes(
    engine: Engine, state: State, plan: RulePlan, parts: int, levels: tuple[int, int | None]
) -> str:
    assembly = Assembly(plan, state.database, engine.dictionary)
    ranges = Division(assembly, parts, *levels).ranges()
    weights = [part.weight for part in ranges]
    total = sum(weights)
    if not total:
        return "no rows yet"
    heavy = len({part.low for part in ranges if part.divides_key})
    cut = (
        f", {heavy} heavy key{'s' if heavy != 1 else ''} cut by {plan.levels[levels[1] or 0].name}"
        if heavy
        else ""
    )
    return (
        f"{len(ranges)} parts, the largest about {max(weights) * len(ranges) / total:.2f} "
        f"times the average{cut}"
    )
