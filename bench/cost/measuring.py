"""Measurement of the bodies that a commit evaluates: each is run on copies of its relations, whose
key orders go with them, before the commit evaluates it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from bench.cost.forecast import Work, expected
from lftj.join.run import chunks
from lftj.join.run.body_query import BodyQuery, Found
from lftj.join.run.ladder import Search, asked_first, satisfying
from lftj.maintenance.rules import full_evaluation
from lftj.views import join_node

_ASKED = satisfying.__name__
_TURNS = 2
_LONG = 0.1
"""Seconds from which on an evaluation is measured once."""


@dataclass(frozen=True)
class Measured:
    """One body: what was expected, the cost by which its order was chosen, what it took in
    processor seconds, of which `making` those of key orders, and in kernel steps.
    """

    way: str
    expected: Work
    cost: float
    seconds: float
    making: float
    steps: int

    @property
    def searched(self) -> bool:
        """True for a leapfrog triejoin, whose steps are counted."""
        return self.way == Search.name


@contextmanager
def measuring(found: list[Measured]) -> Iterator[None]:
    """Measure meanwhile each body that is asked for all its assignments."""

    def observed(query: BodyQuery) -> Found:
        found.append(_measured(query))
        return satisfying(query)

    asking = (full_evaluation, join_node)
    for module in asking:
        setattr(module, _ASKED, observed)
    try:
        yield
    finally:
        for module in asking:
            setattr(module, _ASKED, satisfying)


def _measured(query: BodyQuery) -> Measured:
    copies = {
        name: query.relations[name].renamed(query.relations[name].schema)
        for name in query.rule.reads
    }
    query = replace(query, relations={**query.relations, **copies}, make=None)
    plan, reads = query.planned
    way = asked_first(query)
    work, budget = expected(query, way), query.context.budget
    started = time.process_time()
    if way.name == Search.name:
        for name, order in plan.key_orders():
            reads[name].tree(order)
    making = time.process_time() - started
    seconds, steps = float("inf"), 0
    for _ in range(_TURNS):
        before, started = budget.work, time.process_time()
        if way.name == Search.name:
            for _piece in chunks(plan, reads, query.context):
                pass
        else:
            for _piece in satisfying(query).each():
                pass
        seconds = min(seconds, time.process_time() - started)
        steps = budget.work - before
        if seconds > _LONG:
            break
    return Measured(way.name, work, plan.choice.cost, seconds + making, making, steps)
