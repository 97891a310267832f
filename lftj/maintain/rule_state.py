"""What is kept of a rule between commits: plans, the work of its last full evaluation, and the states of its head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lftj.heads.aggregate_state import AggregateState
from lftj.heads.support_state import SupportState
from lftj.maintain.body import Body
from lftj.maintain.shared_head import SharedHead
from lftj.maintain.trace_state import TraceState
from lftj.program.normal_form import FunctorRule, NormalRule


@dataclass(frozen=True)
class RuleState:
    """One version of what is kept of a rule. `work`: kernel steps of its last full evaluation.

    An aggregated rule keeps all it does in `head`, together with others that have the same body and groups.
    """

    rule: NormalRule | FunctorRule
    body: Body | None
    work: int = 0
    own_trace: TraceState | None = None
    head: SharedHead | None = None

    @staticmethod
    def sharing(rule: NormalRule, head: SharedHead) -> RuleState:
        """The state of an aggregated rule."""
        return RuleState(rule, head.shared.body, head.work, head=head)

    @property
    def trace(self) -> TraceState | None:
        """The sensitivity indices of a rule that is maintained by its trace."""
        return self.own_trace if self.head is None else self.head.trace

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


@dataclass(frozen=True)
class RelationState:
    """One version of what is kept of a derived relation: a state per rule and, where rows may be derived in several ways, their support."""

    rules: tuple[RuleState, ...]
    support: SupportState | None

    def state_of(self, rule: NormalRule | FunctorRule) -> RuleState | None:
        """What is kept of a rule, if it was here."""
        return next((state for state in self.rules if state.rule is rule), None)

    def with_head(self, rule: NormalRule, head: SharedHead) -> RelationState:
        """This with another version of what a rule shares; nothing changes where the rule is not here."""
        if self.state_of(rule) is None:
            return self
        rules = [RuleState.sharing(rule, head) if state.rule is rule else state for state in self.rules]
        return replace(self, rules=tuple(rules))


def traced_bytes(states: Iterable[object]) -> int:
    """Bytes of all sensitivity indices of these states, each counted once."""
    rules = [rule for state in states if isinstance(state, RelationState) for rule in state.rules]
    return sum({id(rule.trace): rule.trace.bytes for rule in rules if rule.trace is not None}.values())


def without_strangers(states: Mapping[str, RelationState]) -> dict[str, RelationState]:
    """Those of the states whose heads have members that are not among their rules, with these gone from them."""
    sharing = {id(rule.rule): rule for state in states.values() for rule in state.rules if rule.head is not None}
    heads = {id(rule.head): rule.head for rule in sharing.values() if rule.head is not None}
    changed: dict[str, RelationState] = {}
    for head in heads.values():
        if all(id(member.rule) in sharing for member in head.shared.members):
            continue
        left = head.without(sharing.keys())
        for member in left.shared.members:
            name = member.rule.relation
            changed[name] = changed.get(name, states[name]).with_head(member.rule, left)
    return changed
