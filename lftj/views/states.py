# SPDX-License-Identifier: Apache-2.0
"""States of all nodes, as one value, with the graph that they are states of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from lftj.program.stratification import StratifiedProgram
from lftj.types.sources import Role, Source
from lftj.views.families import Families
from lftj.views.graph import NO_VIEWS, Graph
from lftj.views.group_node import Group, GroupState
from lftj.views.join_node import JoinState
from lftj.views.run import NodeState

if TYPE_CHECKING:
    from lftj.heads.user import UserAggregate


def stratum_key(relations: Iterable[str]) -> str:
    """The name under which a stratum's state is kept among those of relations."""
    return Source("", Role.STRATUM, " ".join(sorted(relations)))


def shown_key(key: str) -> str:
    """The relations of a stratum by its key; a relation by its own."""
    return str(key.column) if isinstance(key, Source) and key.role is Role.STRATUM else key


class ViewStates(Mapping[str, NodeState]):
    """States by relation for unions, by `stratum_key` for recursive strata, by the key of the node
    for groups and joins. A value.
    """

    def __init__(
        self,
        graph: Graph = NO_VIEWS,
        states: Mapping[str, NodeState] | None = None,
        traced: int | None = None,
        families: Families | None = None,
    ):
        """`traced`: as the attribute, where the caller knows it. `families`: no join that is in one
        of these has a trace.
        """
        self._families = families
        self.graph = graph
        self._states: Mapping[str, NodeState] = {} if states is None else states
        self.traced = sum(map(_traced, self._states.values())) if traced is None else traced
        """Bytes of all sensitivity indices."""

    def __getitem__(self, key: str) -> NodeState:
        return self._states[key]

    def __contains__(self, key: object) -> bool:
        return key in self._states

    def get(self, key: str, default: NodeState | None = None) -> NodeState | None:  # type: ignore[override]
        """The state of a node, if there is one."""
        return self._states.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def replaced(self, changed: Mapping[str, NodeState]) -> ViewStates:
        """Replace these states. The dictionary is copied."""
        if not changed:
            return self
        traced = self.traced
        for key, state in changed.items():
            traced += _traced(state) - _traced(self._states.get(key))
        return ViewStates(self.graph, {**self._states, **changed}, traced, self._families)

    def of_families(self) -> ViewStates:
        """The states without traces of joins that are followed in families: families find all
        proofs, and tell of no region. Where a trace counts first proofs alone, the state of the
        join goes, so that its views are evaluated anew when they change. O(members of families that
        have others than before).
        """
        families = self.graph.families
        if self._families is families:
            return self
        changed, gone = dict[str, NodeState](), list[str]()
        for key in families.joins_since(self._families):
            state = self._states.get(key)
            join = state.join if isinstance(state, GroupState) else state
            if not isinstance(join, JoinState) or join.trace is None:
                continue
            if not join.trace.body.plan.count:
                gone.append(key)
            elif isinstance(state, GroupState):
                changed[key] = state._replace(join=join._replace(trace=None))
            else:
                changed[key] = join._replace(trace=None)
        if not changed and not gone:
            return ViewStates(self.graph, self._states, self.traced, families)
        left = {**self._states, **changed}
        for key in gone:
            del left[key]
        return ViewStates(self.graph, left, families=families)

    def under(self, graph: Graph, user: Mapping[str, UserAggregate] | None = None) -> ViewStates:
        """The states that serve under another graph: those of nodes of equal keys. Groups that have
        other members are refitted; where their join has to be evaluated for that, they are
        forgotten, or stay as they are if their members ask for no more. What no relation reads any
        more is dropped. O(nodes that differ), and dictionaries are
        copied.
        """
        if graph is self.graph:
            return self
        states, traced, kept = dict(self._states), self.traced, dict[str, Group]()
        for key in graph.gone_since(self.graph):
            traced -= _traced(states.pop(key, None))
        for key, group in graph.groups_since(self.graph):
            state = states.get(key)
            if not isinstance(state, GroupState):
                continue
            refitted = state.refitted(group, user)
            if refitted is None and group.calls.keys() <= state.group.calls.keys():
                kept[key] = state.group.of(group.members)
                refitted = state._replace(group=kept[key])
            if refitted is None:
                traced -= _traced(states.pop(key))
            else:
                states[key] = refitted
        graph = graph.with_groups(kept) if kept else graph
        return ViewStates(graph, states, traced, self._families)

    def without(self, views: Collection[str]) -> ViewStates:
        """Without the states of these relations and strata, and of what they alone read."""
        if not views:
            return self
        found = self.under(self.graph.without(views))
        left = dict(found._states)
        for key in views:
            left.pop(key, None)
        return ViewStates(found.graph, left, found.traced, found._families)

    def of(self, views: Collection[str]) -> ViewStates:
        """The states of these relations and strata, and of the nodes below them."""
        keys = {*views, *(key for name in views for key in self.graph.below(name))}
        return ViewStates(self.graph, {key: self[key] for key in keys if key in self._states})

    def beside(self, other: ViewStates, views: Collection[str]) -> ViewStates:
        """The states with those of `other` in place of their own for these relations and strata."""
        mine = {*views, *(key for name in views for key in self.graph.below(name))}
        left = {key: state for key, state in self._states.items() if key not in mine}
        return ViewStates(other.graph, {**left, **other._states})


def still_serving(
    states: ViewStates, before: StratifiedProgram, after: StratifiedProgram, changed: Iterable[str]
) -> ViewStates:
    """The states that are of use under a new program, in which the rules of some relations changed.

    These, and others that were in a cycle with them or are now, may have become base relations, or
    part of another cycle. O(their number).
    """
    strata = (*before.order.strata_of(changed), *after.order.strata_of(changed))
    names = dict.fromkeys(name for stratum in strata for name in stratum.relations)
    now = {name: after.order.stratum_of(name) for name in names}
    gone = [
        name for name, found in now.items() if name in states and (found is None or found.recursive)
    ]
    serving = {
        stratum_key(found.relations)
        for found in now.values()
        if found is not None and found.recursive
    }
    for stratum in before.order.strata_of(names):
        key = stratum_key(stratum.relations)
        if key in states and key not in serving:
            gone.append(key)
    return states.without(gone)


def _traced(state: NodeState | None) -> int:
    """Bytes of the sensitivity indices of one node."""
    if isinstance(state, GroupState):
        return state.join.bytes
    return state.bytes if isinstance(state, JoinState) else 0


NO_STATES = ViewStates()
"""States of no views."""
