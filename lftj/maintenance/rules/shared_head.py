"""State that rules with one body and one grouping share: one state of groups, from which each rule
reads its own head [LFTJ-IVM 2.3.3].

Such rules are maintained as one rule with the aggregates of all of them: its body is evaluated once
a commit, and the state of each function, such as the ordered rows behind `min`, `max` and `concat`
of a column, exists once, whichever rules need it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from types import MappingProxyType
from typing import NamedTuple

from lftj.heads.aggregate_shape import HeadColumns
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.refitting import refitted
from lftj.heads.user import UserAggregate
from lftj.maintenance.rules.body import Body
from lftj.maintenance.trace.trace_state import TraceState
from lftj.program.canonical_head import (
    CanonicalCall,
    CanonicalHead,
    CanonicalTerm,
    canonical_head,
    combined_rule,
)
from lftj.program.normal_form import NormalRule
from lftj.scantree.frozen import frozen


@frozen
class Member:
    """A rule with its canonical form."""

    rule: NormalRule
    head: CanonicalHead

    @staticmethod
    def of(rule: NormalRule) -> Member:
        """A rule with aggregates."""
        return Member(rule, canonical_head(rule))


class SharedBody:
    """Rules with one core and grouping, as one rule: `body` is that of all their aggregates
    together.

    The group terms and calls of `before`, where they are still asked for, stay where they were, so
    that its states and plans go on serving.
    """

    def __init__(self, members: Sequence[Member], before: SharedBody | None = None):
        self.members = tuple(members)
        heads = [member.head for member in members]
        self.key, self.same_body = heads[0].key, heads[0].body
        self.group = before.group if before is not None else heads[0].group
        self.core = before.core if before is not None else heads[0].core
        asked = {call.text: call for head in heads for call in head.calls}
        kept = before.calls if before is not None else {}
        self.calls: dict[str, CanonicalCall] = {
            text: call for text, call in (kept | asked).items() if text in asked
        }
        rule = combined_rule(self.core, self.group, self.calls.values())
        self.body = (
            before.body if before is not None and before.body.rule == rule else Body(rule, None)
        )
        self._columns: dict[int, HeadColumns] = {}
        self.finer: tuple[object, str, str] | None = None
        """A head over the same body that determines this one: the strata under which that was
        found, its relation, its key.
        """

    def member(self, rule: NormalRule) -> Member | None:
        """A rule as one of these, if it is."""
        return next((member for member in self.members if member.rule is rule), None)

    def columns(self, member: Member) -> HeadColumns:
        """Sources of the columns of a member's head."""
        if id(member.rule) not in self._columns:
            groups = list(dict.fromkeys(term.text for term in self.group))
            calls = list(self.calls)
            places = [
                groups.index(column.text)
                if isinstance(column, CanonicalTerm)
                else len(groups) + calls.index(column.text)
                for column in member.head.columns
            ]
            self._columns[id(member.rule)] = HeadColumns(tuple(places), len(groups))
        return self._columns[id(member.rule)]

    def of(self, members: Sequence[Member]) -> SharedBody:
        """Replace the members by others that ask for no more; state they do not ask for stays."""
        other = copy(self)
        other.members, other._columns = tuple(members), {}
        return other

    def texts(self) -> list[str]:
        """Texts of the canonical terms in the columns of an assignment, in the order of
        `body.needed`.
        """
        terms = [*self.group, *(arg for call in self.calls.values() for arg in call.args)]
        return list(dict.fromkeys(term.text for term in terms))


class SharedHead(NamedTuple):
    """One version of what members keep together.

    `work`: kernel steps of the last full evaluation of the body; `sizes`: see `chosen_way`.
    """

    shared: SharedBody
    aggregate: AggregateState
    work: int = 0
    trace: TraceState | None = None
    sizes: Mapping[str, int] = MappingProxyType({})

    def refitted(
        self, shared: SharedBody, user: Mapping[str, UserAggregate] | None = None
    ) -> SharedHead | None:
        """Refit the state to other members; None where the body has to be evaluated for them.

        `user`: the users' aggregates, where members are new that may ask for some.
        """
        if shared.calls.keys() == self.shared.calls.keys():
            return self._replace(shared=shared)
        if self.trace is not None and shared.body.needed != self.shared.body.needed:
            return None  # its indices tell of other columns
        if self.trace is not None and self.trace.body.plan.least:
            return None  # it was given the least value of each group only
        before = {text: place for place, text in enumerate(self.shared.texts())}
        aggregate = refitted(
            self.aggregate, shared.body.shape, [before.get(text) for text in shared.texts()], user
        )
        return None if aggregate is None else self._replace(shared=shared, aggregate=aggregate)

    def without(self, present: Collection[int]) -> SharedHead:
        """Restrict the state to those members whose rules have these ids."""
        left = [member for member in self.shared.members if id(member.rule) in present]
        shared = SharedBody(left, self.shared)
        return self.refitted(shared) or self._replace(shared=self.shared.of(left))

    @property
    def bytes(self) -> int:
        """Bytes of the state and of the indices, without the pages' free room."""
        return sum(self.aggregate.memory.values()) + (
            self.trace.bytes if self.trace is not None else 0
        )

    @property
    def users(self) -> str:
        """The rules that share it, as reports call them."""
        numbers = ", ".join(
            f"#{number}"
            for number in dict.fromkeys(member.rule.source for member in self.shared.members)
        )
        return f"rules {numbers}" if "," in numbers else f"rule {numbers}"
