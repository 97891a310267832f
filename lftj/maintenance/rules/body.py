"""A rule's body as maintenance sees it: what comes out of it, and the plans that find
its changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.join.run.evaluate import Columns
from lftj.maintenance.rules.delta_query import DeltaQuery, delta_queries
from lftj.maintenance.rules.extremes import Extremes
from lftj.maintenance.trace.trace_state import TraceState
from lftj.program.normal_form import AggregateTerm, NormalRule

# What changes cost a rule that is maintained by its trace: known from those before, guessed where
# there were none.

_STAB = 30  # a look-up in a sensitivity index, in kernel steps
_VAIN_TRACES = 2
"""Updates by a trace that were given up, less those that went through, from which on a body is
evaluated without one: of up to `UNASKED_CHANGES` rows.
"""
_PROVEN_TRACES = 8
"""Updates that went through which count against those that are given up, at most."""
UNASKED_CHANGES = 16
"""Changed rows that a view reads, up to which nobody asks whether an update pays."""


class TraceCosts:
    """The costs of one body, in kernel steps, by which of its relations changed; look-ups in
    indices are no steps but take time too.
    """

    def __init__(self, rule: NormalRule):
        self._reads = frozenset(rule.reads)
        self._seen: dict[frozenset[str], tuple[int, float]] = {}
        self._given_up = 0  # more often than not

    def in_vain(self) -> bool:
        """True once updates for a few changed rows have been given up again and again: the body is
        then evaluated without indices.
        """
        return self._given_up >= _VAIN_TRACES

    def note(self, sizes: Mapping[str, int], steps: int, stabs: int, *, finished: bool) -> None:
        """Remember what a change took, also one that was given up. `sizes`: the changed rows of
        each relation. That many of them cost too much tells nothing of few.
        """
        changed = self._reads.intersection(sizes)
        now = sum(sizes[name] for name in changed)
        rows, cost = self._seen.get(changed, (0, 0.0))
        self._seen[changed] = rows + now, cost + steps + _STAB * stabs
        if finished:
            self._given_up = max(-_PROVEN_TRACES, self._given_up - 1)
        elif now <= UNASKED_CHANGES:
            self._given_up += 1

    def expected(self, trace: TraceState, sizes: Mapping[str, int], seen: int) -> float:
        """Expected cost of a change: as much a row as before, or until that is known a look-up for
        each row of an atom with an index.
        """
        changed = self._reads.intersection(sizes)
        rows, cost = self._seen.get(changed, (0, 0.0))
        if rows >= seen:
            return cost / rows * sum(sizes[name] for name in changed)
        atoms = (*trace.body.plan.atoms, *trace.body.plan.probes)
        looked_up = {number for number, _ in trace.indices}
        return float(_STAB * sum(sizes.get(atoms[number].relation, 0) for number in looked_up))


class Body:
    """A conjunctive rule as maintenance sees it: which variables come out, and the plans that were
    made for it so far.

    Plans are no part of any version: they are kept for speed, and every version of a rule's state
    shares them.
    """

    def __init__(self, rule: NormalRule, extremes: Extremes | None):
        """`extremes`: how the head is read off a key order of the only relation of the body, if it
        is.
        """
        self.rule = rule
        self.extremes = extremes
        self.group = rule.group
        self.calls = tuple(term for term in rule.head if isinstance(term, AggregateTerm))
        arguments = [argument.variable for term in self.calls for argument in term.args]
        self.needed = tuple(dict.fromkeys([*self.group, *arguments]))
        self.picks = tuple(self.needed.index(variable) for variable in self.group)

    @property
    def projects(self) -> bool:
        """Test for a head row with several satisfying assignments, so that their number has to be
        kept.
        """
        return len(self.needed) < len(self.rule.variables)

    def head_rows(self, columns: Columns, rows: int) -> Columns:
        """Head rows of so many rows of needed values; of a nullary head a column of zeros."""
        return [columns[pick] for pick in self.picks] or [np.zeros(rows, np.int64)]

    @cached_property
    def queries(self) -> list[DeltaQuery]:
        """The delta queries, one per atom."""
        return delta_queries(self.rule, self.needed)

    @cached_property
    def trace_costs(self) -> TraceCosts:
        """Costs of changes while the rule was maintained by its trace."""
        return TraceCosts(self.rule)

    @cached_property
    def shape(self) -> AggregateShape:
        """Shape of the head's aggregates."""
        return AggregateShape.of(self.rule)
