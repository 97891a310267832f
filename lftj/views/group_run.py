# SPDX-License-Identifier: Apache-2.0
"""Group nodes on one pass: each is brought up to date once, for whoever reads it first: from what a
family or a finer group has found, by its join, or anew.
"""

from __future__ import annotations

from functools import partial

from lftj.errors import ValueRangeError
from lftj.join.strategy import Exhausted, stopped, within
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.tuning.aids import FINER_HEADS
from lftj.views.graph import Graph
from lftj.views.group_node import Group, GroupState
from lftj.views.join_node import NO_ASSIGNMENTS, Assignments
from lftj.views.run import GroupDone, Run
from lftj.views.way_choice import allowed_steps
from lftj.views.ways import DELTA_QUERIES


class GroupRun(Run):
    """One pass, as group nodes need it. `graph`: the nodes."""

    graph: Graph
    _dear: set[str]
    """Groups that were tried for a coarser one, and took too much."""

    def followed(self, group: Group, work: RuleWork) -> GroupDone:
        """See `Run`."""
        done = self.groups.get(group.key)
        if done is None:
            state = self.group_state(group)
            assert state is not None
            done = self._follow(group, state, self._finer_change(group, state, work), work)
        return done

    def evaluated(self, group: Group, work: RuleWork) -> GroupDone:
        """See `Run`. Followed where that was not given up, and may be cheaper."""
        done = self.groups.get(group.key)
        if done is not None:
            return done
        state = self.group_state(group)
        if state is not None and work.outcome in ("full", "added"):
            if self.versions.deltas.keys().isdisjoint(group.join.reads):
                return self._keep(group, GroupDone(state, None, NO_ASSIGNMENTS))
            allowed = allowed_steps(self.context, state.join.work)
            done = self._within(allowed, group, state, work)
        if done is None:
            done = self._keep(
                group,
                GroupDone(
                    group.full(
                        state,
                        self.versions,
                        self.context,
                        work,
                        traced=self.may_trace(group.key),
                    )
                ),
            )
        return done

    def _follow(
        self, group: Group, state: GroupState, known: Assignments | None, work: RuleWork
    ) -> GroupDone:
        if known is not None:
            own = self.may_trace(group.key)
            work.strategy = FINER_HEADS if own else DELTA_QUERIES.name
        after, moved, change = group.delta(
            state, self.versions, self.context, work, known, self.may_trace
        )
        return self._keep(group, GroupDone(after, moved, change))

    def _keep(self, group: Group, done: GroupDone) -> GroupDone:
        self.groups[group.key] = done
        if done.state is not self.group_state(group):
            self.changed[group.key] = done.state
        return done

    def _within(
        self, allowed: int, group: Group, state: GroupState, work: RuleWork
    ) -> GroupDone | None:
        """Follow a group; None, and nothing done, where that takes more than `allowed`, or meets a
        row that exists in no version.
        """
        follow = partial(self._follow, group, state, None, work)
        try:
            done = within(self.context.budget, allowed, follow, stopped)
        except ValueRangeError:
            return None
        return None if isinstance(done, Exhausted) else done

    def _finer_change(self, group: Group, state: GroupState, work: RuleWork) -> Assignments | None:
        """The change of a group's assignments as a group over the same body has it that groups more
        finely, if there is one.
        """
        known = self.in_family(group.key)
        if known is not None:
            return known
        if state.join.trace is not None or FINER_HEADS in self.context.tuning.without:
            return None
        key = self.graph.finer.get(group.key)
        if key is None:
            return None
        finer = self.graph.groups[key]
        before = self.group_state(finer)
        if finer.key not in self.groups and finer.key not in self._dear:
            if before is None:
                return None
            allowed = allowed_steps(self.context, before.join.work)
            if self._within(allowed, finer, before, work) is None:
                self._dear.add(finer.key)
        done = self.groups.get(finer.key)
        if done is None or done.change is None or done.state.join.trace is not None:
            return None
        columns, signed = done.change
        if not len(signed):
            return [], signed
        return [columns[finer.texts.index(text)] for text in group.texts], signed
