"""What is kept of a rule between commits: plans, the work of its last full evaluation, and the states of its head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lftj.heads.aggregate_shape import AggregateShape
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.support_state import SupportState
from lftj.join.evaluate import Columns
from lftj.maintain.delta_query import DeltaQuery, delta_queries
from lftj.maintain.extremes import Extremes, extremes_of
from lftj.maintain.trace_state import TraceState
from lftj.program.normal_form import AggregateTerm, FunctorRule, NormalRule, Ref


class Body:
    """A conjunctive rule as maintenance sees it: which variables come out, and the plans that were made for it so far.

    Plans are no part of any version: they are kept for speed, and every version of a rule's state shares them.
    """

    def __init__(self, rule: NormalRule):
        self.rule = rule
        self.group = tuple(term.variable for term in rule.head if isinstance(term, Ref))
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
    def extremes(self) -> Extremes | None:
        """How the head is read off a key order of the only relation of the body, if it is."""
        return extremes_of(self.rule)

    @cached_property
    def shape(self) -> AggregateShape:
        """How the head aggregates."""
        return AggregateShape.of(self.rule)


@dataclass(frozen=True)
class RuleState:
    """One version of what is kept of a rule. `work`: kernel steps of its last full evaluation."""

    rule: NormalRule | FunctorRule
    body: Body | None
    aggregate: AggregateState | None = None
    work: int = 0
    trace: TraceState | None = None
    """The sensitivity indices of a rule that is maintained by its trace."""

    @property
    def bytes(self) -> int:
        """Bytes of the head's state and of the indices, without the pages' free room."""
        head = sum(self.aggregate.memory.values()) if self.aggregate is not None else 0
        return head + (self.trace.bytes if self.trace is not None else 0)


@dataclass(frozen=True)
class RelationState:
    """One version of what is kept of a derived relation: a state per rule and, where rows may be derived in several ways, their support."""

    rules: tuple[RuleState, ...]
    support: SupportState | None

    def state_of(self, rule: NormalRule | FunctorRule) -> RuleState | None:
        """What is kept of a rule, if it was here."""
        return next((state for state in self.rules if state.rule is rule), None)

    @property
    def traced(self) -> int:
        """Bytes of the sensitivity indices."""
        return sum(state.trace.bytes for state in self.rules if state.trace is not None)
