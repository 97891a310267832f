"""The kept state of a user's aggregate with an inverse: a total per group, any Python object [LFTJ-IVM 2.3].

A tree holds for each group the number of a slot, and the slots, a list that is only ever added to, hold the totals. So versions share the
list, and what a failed commit added is never seen. When most slots are of the past, the next change starts a new list: O(1) a change on
average.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lftj.dictionary import Dictionary
from lftj.frames.out import to_values
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.kept import Advance, GroupChange
from lftj.heads.slots import Slots
from lftj.heads.user import UserAggregate
from lftj.types import encode_scalar
from scantree import Arena, Tree

_FEW_SLOTS = 1024


@dataclass(frozen=True, slots=True)
class UserTotals:
    """Totals of one call of `aggregate`: a tree from group to slot."""

    call: CallShape
    aggregate: UserAggregate
    dictionary: Dictionary
    tree: Tree
    slots: Slots = field(default_factory=Slots)

    @staticmethod
    def empty(arena: Arena, call: CallShape, aggregate: UserAggregate, dictionary: Dictionary, width: int) -> UserTotals:
        """No groups; `width` is the number of group columns, at least 1."""
        return UserTotals(call, aggregate, dictionary, Tree.empty(arena, width, 1))

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes of the groups and slots; what the totals themselves take is the user's to know."""
        return {f"totals of {self.aggregate.name}": 8 * len(self.tree) * (self.tree.key_width + 1) + 8 * len(self.slots)}

    def advanced(self, change: GroupChange) -> Advance:
        """Combines each group's total with the inverse of what went and with what came."""
        state = self._compacted() if len(self.slots) > max(_FEW_SLOTS, 2 * len(self.tree)) else self
        found, (places,) = state.tree.lookup(change.groups)
        slots, aggregate = state.slots, self.aggregate
        known = iter(slots.take(places[found]))
        totals = [next(known) if there else aggregate.zero for there in found.tolist()]
        self._combine(totals, change)
        alive = change.sizes > 0
        fresh = np.arange(len(slots), len(slots) + len(totals))
        slots.extend(totals)
        change.work.count(state.tree, 2 * len(totals))
        tree = state.tree.apply([*change.groups[:, alive], fresh[alive]], change.groups[:, ~alive])
        advanced = UserTotals(self.call, aggregate, self.dictionary, tree, slots)
        return Advance(advanced, [], lambda call: self._published(totals, change))

    def _combine(self, totals: list[Any], change: GroupChange) -> None:
        """Brings totals forward, in each group erases first."""
        args = [to_values(type, change.rows[arg], self.dictionary) for arg, type in zip(self.call.args, self.call.types, strict=True)]
        rows = list(zip(*args, strict=True)) if args else [()] * len(change.net)
        groups = np.searchsorted(change.starts, np.arange(len(rows)), side="right") - 1
        aggregate = self.aggregate
        for row in np.lexsort((change.net > 0, groups)).tolist():
            group = int(groups[row])
            try:
                moved = aggregate.repeated(aggregate.lift(*rows[row]), int(change.net[row]))
                totals[group] = aggregate.combine(totals[group], moved)
            except Exception as problem:
                raise aggregate.told(problem, change.name(group))  # noqa: B904 — it knows its cause

    def _published(self, totals: list[Any], change: GroupChange) -> np.ndarray:
        codes = np.zeros(len(totals), np.int64)
        for group in np.flatnonzero(change.sizes).tolist():
            try:
                codes[group] = encode_scalar(self.call.result, self.aggregate.result(totals[group]), self.dictionary)
            except Exception as problem:
                raise self.aggregate.told(problem, change.name(group))  # noqa: B904 — it knows its cause
        return codes

    def _compacted(self) -> UserTotals:
        """The same totals in a new list without those of the past. O(groups)."""
        *groups, places = self.tree.columns()
        slots = Slots()
        slots.extend(self.slots.take(places))
        tree = Tree.build(self.tree.arena, groups, [np.arange(len(slots))]) if len(slots) else self.tree
        return UserTotals(self.call, self.aggregate, self.dictionary, tree, slots)
