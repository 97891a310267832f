# SPDX-License-Identifier: Apache-2.0
"""One pass over the graph at a commit, as nodes see it: the versions that they read, what they kept
before, and what the pass has found so far. `Run` is the base of `GroupRun`, which is the base of
the runner's `_Runner`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from lftj.heads.aggregate_state import GroupsMoved
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.views.families import Families
from lftj.views.group_node import Group, GroupState
from lftj.views.join_node import NO_ASSIGNMENTS, Assignments, Join, JoinState
from lftj.views.ways import DELTA_QUERIES


class OtherState(Protocol):
    """State of a union or of a recursive stratum."""


NodeState = GroupState | JoinState | OtherState
States = Mapping[str, NodeState]


class GroupDone(NamedTuple):
    """A group node after this commit: its state; how its groups moved, None where they did not; the
    change of its assignments, None where all were evaluated anew.
    """

    state: GroupState
    moved: GroupsMoved | None = None
    change: Assignments | None = None

    @property
    def anew(self) -> bool:
        """Tell whether all assignments were evaluated."""
        return self.change is None


class Run(ABC):
    """One pass. `nodes`: the groups; `family_of`: the family of each join that is
    in one; `was`: all states as they were before the commit; `before`:
    those of them that nodes of the present graph begin from; `changed`: the states that are new;
    `groups`: the group nodes that are done.
    """

    def __init__(
        self,
        nodes: Mapping[str, Group],
        family_of: Families,
        was: States,
        before: States,
        versions: Versions,
        context: Context,
    ):
        self.nodes, self.family_of = nodes, family_of
        self.was = was
        self.before = before
        self.versions = versions
        self.context = context
        self.changed: dict[str, NodeState] = {}
        self.groups: dict[str, GroupDone] = {}
        self.families: dict[int, dict[str, Assignments]] = {}
        """Changes that families have found, by the identity of each."""
        self._joins: dict[str, Assignments] = {}

    def join(self, join: Join, state: JoinState, work: RuleWork) -> Assignments:
        """The change of a join's assignments, found once for all who read the join."""
        known = self._joins.get(join.key)
        if known is None:
            known = self.in_family(join.key)
            if known is not None:
                work.strategy = DELTA_QUERIES.name
        if known is None:
            columns, signed, after = join.delta(
                state, self.versions, self.context, work, self.may_trace
            )
            if after is not state:
                self.changed[join.key] = after
            known = self._joins[join.key] = columns, signed
            work.assignments = len(signed)
        return known

    def in_family(self, key: str) -> Assignments | None:
        """The change of a join's assignments as its family has found it; None where it has not."""
        if not self.families:
            return None
        family = self.family_of.get(key)
        found = None if family is None else self.families.get(id(family))
        return None if found is None else found.get(key, NO_ASSIGNMENTS)

    def may_trace(self, key: str) -> bool:
        """Test for a join that may keep a trace: nothing brings one up to date for changes that a
        family finds.
        """
        return self.family_of.get(key) is None

    def join_state(self, join: Join) -> JoinState | None:
        """State of a join before; None where it is new."""
        found = self.before.get(join.key)
        assert found is None or isinstance(found, JoinState)
        return found

    def group_state(self, group: Group) -> GroupState | None:
        """State of a group node before; None where it is new."""
        found = self.before.get(group.key)
        assert found is None or isinstance(found, GroupState)
        return found

    @abstractmethod
    def followed(self, group: Group, work: RuleWork) -> GroupDone:
        """A group node that was there before, after the change of its assignments. The caller
        bounds what it may take.
        """

    @abstractmethod
    def evaluated(self, group: Group, work: RuleWork) -> GroupDone:
        """A group node for a reader that needs all its rows."""
