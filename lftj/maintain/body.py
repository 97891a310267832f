"""A rule's body as maintenance sees it: what comes out of it, and the plans that find its changes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.join.evaluate import Columns
from lftj.maintain.delta_query import DeltaQuery, delta_queries
from lftj.maintain.extremes import Extremes, extremes_of
from lftj.maintain.trace_costs import TraceCosts
from lftj.maintain.whole_parts import Guards
from lftj.program.normal_form import AggregateTerm, NormalRule


class Body:
    """A conjunctive rule as maintenance sees it: which variables come out, and the plans that were made for it so far.

    Plans are no part of any version: they are kept for speed, and every version of a rule's state shares them.
    """

    def __init__(self, rule: NormalRule, *, reads_order: bool = True):
        self.rule = rule
        self._reads_order = reads_order
        self.group = rule.group
        self.calls = tuple(term for term in rule.head if isinstance(term, AggregateTerm))
        arguments = [argument.variable for term in self.calls for argument in term.args]
        self.needed = tuple(dict.fromkeys([*self.group, *arguments]))
        self.picks = tuple(self.needed.index(variable) for variable in self.group)

    @property
    def projects(self) -> bool:
        """Whether several satisfying assignments may give one head row, so that their number has to be kept."""
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
        """What changes cost while the rule was maintained by its trace."""
        return TraceCosts(self.rule)

    @cached_property
    def guards(self) -> Guards:
        """The atoms by whose parts the head's rows may come and go as a whole."""
        return Guards(self.rule, self.needed)

    @cached_property
    def extremes(self) -> Extremes | None:
        """How the head is read off a key order of the only relation of the body, if it is."""
        return extremes_of(self.rule) if self._reads_order else None

    @cached_property
    def shape(self) -> AggregateShape:
        """How the head aggregates."""
        return AggregateShape.of(self.rule)
