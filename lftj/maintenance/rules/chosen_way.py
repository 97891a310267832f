"""A body that changes or is evaluated, as its strategies see it.

A rule goes on in the way in which it is maintained, or chooses anew between delta queries and a
trace. What speaks for one of them is how the relations are, and not the size of a change: a rule
that did without a trace goes on without, however often it is evaluated in full. But a rule may be
older than its data, and has chosen between nothing and nothing then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from lftj.heads.kept import GroupTotals
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.body import Body
from lftj.maintenance.trace.trace_state import TraceState
from lftj.scantree.frozen import frozen

_OUTGROWN = 4
"""Growth of a relation after which a rule chooses anew between delta queries and a trace."""


class Chosen(Protocol):
    """A choice made before: an index or none, and the rows that each relation had then, empty where
    nobody knows.
    """

    @property
    def trace(self) -> TraceState | None: ...

    @property
    def sizes(self) -> Mapping[str, int]: ...


@frozen(slots=True)
class BodyChange:
    """A body at a commit."""

    body: Body
    versions: Versions
    context: Context
    work: RuleWork


Assignments = tuple[Columns, np.ndarray, TraceState | None]
"""The change of the needed values of a body's satisfying assignments, with signed counts, and its
indices after it.
"""


@frozen
class BodyEvaluation:
    """A body that is to be evaluated from nothing: for the rows of its head, or in pieces of whole
    `groups`.

    `before`: what was chosen for it before; `traced`: whether it may be traced; `unordered`: its
    groups may be totalled where they have extremes, whose rows wait to be put in order.
    """

    body: Body
    relations: Relations
    context: Context
    before: Chosen | None
    groups: bool = False
    traced: bool = True
    unordered: bool = False

    @cached_property
    def chosen_again(self) -> bool:
        """Tell whether a way is chosen, and not the one of before kept."""
        before = self.before
        if not self.traced:
            return False
        return (
            before is None
            or before.trace is not None
            or _outgrown(before.sizes, self._now, _OUTGROWN)
        )

    @property
    def _now(self) -> Mapping[str, int]:
        return {name: self.relations[name].count for name in self.body.rule.reads}

    @property
    def sizes(self) -> Mapping[str, int]:
        """The rows of what it reads when its way was chosen; empty where nobody knows."""
        if not self.traced:
            return {}
        if self.before is None or self.chosen_again:
            return self._now
        return self.before.sizes


class Evaluated(NamedTuple):
    """Findings of an evaluation: pieces of needed values, or of `heads` already, each with its
    counts; or the `totals` of groups; and the indices if it was traced.
    """

    pieces: Iterable[tuple[Columns, np.ndarray]]
    heads: bool = False
    trace: TraceState | None = None
    totals: GroupTotals | None = None


class Ways(NamedTuple):
    """The ladders for bodies, which their users get as an argument.

    `follow`: how assignments change; `evaluate`: all of them from nothing.
    """

    follow: Callable[[BodyChange, TraceState | None], Assignments]
    evaluate: Callable[[BodyEvaluation], Evaluated]


def _outgrown(before: Mapping[str, int], now: Mapping[str, int], times: int) -> bool:
    """Test for a relation with so many times the rows it had: then the choice is made anew."""
    return any(size > times * before[name] for name, size in now.items() if name in before)
