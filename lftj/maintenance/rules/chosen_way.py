"""Whether a rule goes on in the way in which it is maintained, or chooses anew between delta
queries and a trace.

What speaks for one of them is how the relations are, and not the size of a change: a rule that did
without a trace goes on without, however often it is evaluated in full. But a rule may be older than
its data, and has chosen between nothing and nothing then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.maintenance.rules.body import Body
from lftj.maintenance.trace.trace_planner import TraceChoice, choose_trace
from lftj.maintenance.trace.trace_state import TraceState

_OUTGROWN = 4
"""A relation with so many times the rows it had is another one, to choose a way by."""


class Chosen(Protocol):
    """What was chosen: an index or none, and the rows that each relation had then, empty where
    nobody knows.
    """

    @property
    def trace(self) -> TraceState | None: ...

    @property
    def sizes(self) -> Mapping[str, int]: ...


def choose_again(
    body: Body, before: Chosen | None, relations: Relations, context: Context
) -> tuple[TraceChoice | None, Mapping[str, int]]:
    """How to trace a body that is evaluated in full, None for delta queries, and the rows of what
    it reads when that was chosen.
    """
    sizes = {name: relations[name].count for name in body.rule.reads}
    if before is None or before.trace is not None or _outgrown(before.sizes, sizes):
        return choose_trace(body.rule, body.needed, relations, context), sizes
    return None, before.sizes


def _outgrown(before: Mapping[str, int], now: Mapping[str, int]) -> bool:
    return any(size > _OUTGROWN * before[name] for name, size in now.items() if name in before)
