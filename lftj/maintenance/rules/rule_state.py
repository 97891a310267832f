"""State of a rule between commits: plans, the work of its last full evaluation, and the states of
its head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import is_
from types import MappingProxyType
from typing import NamedTuple

from lftj.heads.aggregate_state import AggregateState
from lftj.heads.support_state import SupportState
from lftj.maintenance.rules.body import Body
from lftj.maintenance.rules.shared_head import SharedHead
from lftj.maintenance.trace.trace_state import TraceState
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.scantree.frozen import frozen


class RuleState(NamedTuple):
    """One version of what is kept of a rule. `work`: kernel steps of its last full evaluation;
    `own_sizes`: see `chosen_way`.

    An aggregated rule keeps all it does in `head`, together with others that have the same body and
    groups.
    """

    rule: NormalRule | FunctorRule
    body: Body | None
    work: int = 0
    own_trace: TraceState | None = None
    head: SharedHead | None = None
    own_sizes: Mapping[str, int] = MappingProxyType({})

    @staticmethod
    def sharing(rule: NormalRule, head: SharedHead) -> RuleState:
        """The state of an aggregated rule."""
        return RuleState(rule, head.shared.body, head.work, head=head)

    @property
    def trace(self) -> TraceState | None:
        """The sensitivity indices of a rule that is maintained by its trace."""
        return self.own_trace if self.head is None else self.head.trace

    @property
    def sizes(self) -> Mapping[str, int]:
        """The rows that each relation had when its way was chosen; empty where nobody knows."""
        return self.own_sizes if self.head is None else self.head.sizes

    @property
    def aggregate(self) -> AggregateState | None:
        """The groups of an aggregated head."""
        return self.head.aggregate if self.head is not None else None

    @property
    def bytes(self) -> int:
        """Bytes of the head's state and of the indices, without the pages' free room."""
        if self.head is not None:
            return self.head.bytes
        return self.own_trace.bytes if self.own_trace is not None else 0


@frozen(slots=True)
class RelationState:
    """One version of what is kept of a derived relation: a state per rule and, where rows may be
    derived in several ways, their support.
    """

    rules: tuple[RuleState, ...]
    support: SupportState | None

    @property
    def of_one_rule(self) -> bool:
        """Test for rows that one rule derives and nothing else."""
        return len(self.rules) == 1 and self.support is None

    def state_of(self, rule: NormalRule | FunctorRule) -> RuleState | None:
        """State of a rule, if it was here."""
        return next((state for state in self.rules if state.rule is rule), None)

    def followed_by(
        self, rules: Sequence[RuleState], support: SupportState | None
    ) -> RelationState:
        """The state with these rules and support: this one where both are its own, as at most
        commits. O(rules).
        """
        same = len(rules) == len(self.rules) and all(map(is_, rules, self.rules))
        if same and support is self.support:
            return self
        return RelationState(self.rules if same else tuple(rules), support)

    def with_head(self, rule: NormalRule, head: SharedHead) -> RelationState:
        """Replace the state that a rule shares; nothing changes where the rule is not here."""
        if self.state_of(rule) is None:
            return self
        rules = [
            RuleState.sharing(rule, head) if state.rule is rule else state for state in self.rules
        ]
        return replace(self, rules=tuple(rules))
