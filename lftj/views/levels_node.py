# SPDX-License-Identifier: Apache-2.0
"""Sums through recursion: a stratum whose relations add up (`lftj.program.additive`), followed by
levels.

A group has a *level*: above that of every group that it adds up from. A commit changes some groups
by what lies outside of the stratum; from then on the changed groups of the least level are
finished, and what they change in others is kept until these have the least level. So each changed
group is summed up once, and its sum is exact whatever comes before it.

A level only rises: where an assignment is new, and then for all groups above. Groups that depend on
themselves would rise for ever. So once levels have risen far, the groups are looked through for a
cycle, after an evaluation from nothing, in which no row is left of what is no longer derived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import inf

import numpy as np

from lftj.errors import GroupCycleError
from lftj.frames.out import to_tuples
from lftj.heads.aggregate_state import AggregateState
from lftj.heads.changes import net_changes
from lftj.join.context import Context
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import sort_rows, union
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion
from lftj.types.dictionary import Dictionary
from lftj.views.contribution import Contribution
from lftj.views.group_cycles import Group, cycle_of, tuples_of
from lftj.views.join_node import Assignments, joined
from lftj.views.levels_state import LevelsState, no_levels, sum_shape

RISE = 64
"""Levels that groups may rise beyond the highest before a cycle is looked for."""
_RAISED_AGAIN = 2
"""Times that a group is raised in the mean before all levels are found at once: time lost on
raising against two evaluations without values.
"""
_FEW_RAISED = 1 << 10
"""Groups raised again up to which they are not."""


class Suspicion(Exception):
    """Levels have risen so far, or so often, that there may be a cycle."""


class DeepError(Exception):
    """Groups have been raised so often that their levels had better be found first."""


class Growing:
    """A relation after changes, which are put together and applied once someone reads it: most
    levels change relations that no rule reads before all is done.
    """

    __slots__ = ("_before", "_version")

    def __init__(
        self, version: RelationVersion | None, before: tuple[Growing, Delta] | None = None
    ):
        self._version, self._before = version, before

    def after(self, delta: Delta) -> Growing:
        """The relation after a further change. O(1)."""
        return Growing(None, (self, delta))

    @property
    def version(self) -> RelationVersion:
        """The rows."""
        if self._version is None:
            changes, at = list[Delta](), self
            while at._version is None:
                assert at._before is not None
                at, delta = at._before
                changes.append(delta)
            self._version, self._before = at._version.apply(_together(changes)), None
        return self._version


class Grown(Mapping[str, RelationVersion]):
    """The versions of growing relations, and of those `around`."""

    def __init__(self, around: Mapping[str, RelationVersion], relations: Mapping[str, Growing]):
        self._around, self._relations = around, relations

    def __getitem__(self, name: str) -> RelationVersion:
        growing = self._relations.get(name)
        return self._around[name] if growing is None else growing.version

    def __iter__(self) -> Iterator[str]:
        return iter({**self._around, **self._relations})

    def __len__(self) -> int:
        return len({**self._around, **self._relations})

    def __contains__(self, name: object) -> bool:
        return name in self._relations or name in self._around


class Levels:
    """One commit's way through a summed stratum. `now`: its relations as far as they are done."""

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        state: LevelsState,
        versions: Versions,
        context: Context,
        work: RuleWork,
    ):
        self._schemas, self._state, self._versions = schemas, state, versions
        self._context, self._work = copy(context), work
        self._columns = {name: each.column for name, each in state.additions.items()}
        resources, arena = context.resources, context.resources.arena
        self._shapes = {
            name: sum_shape(schemas[name], each) for name, each in state.additions.items()
        }
        dictionary, user = resources.dictionary, resources.user_aggregates
        self._sums = {
            name: state.sums.get(name) or AggregateState.empty(arena, shape, dictionary, user)
            for name, shape in self._shapes.items()
        }
        self._levels = {
            name: state.levels.get(name) or no_levels(schemas[name], arena)
            for name in self._columns
        }
        self._pending: dict[str, list[tuple[Columns, np.ndarray]]] = {
            name: [] for name in self._columns
        }
        self._deltas: dict[str, list[Delta]] = {name: [] for name in self._columns}
        reads = frozenset[str]().union(*(each.reads for each in state.contributions))
        self._around = {name: versions[name] for name in reads}
        self._highest = state.highest
        self._raised_again: float = 0
        self.now = {name: Growing(versions[name]) for name in self._columns}

    # ── the two ways ──────────────────────────────────────────────────────────────────────────────
    def followed(self) -> tuple[dict[str, Delta], LevelsState]:
        """The stratum after the changes of what it reads."""
        versions = self._versions
        outside = {
            name: delta for name, delta in versions.deltas.items() if name not in self._columns
        }
        self._limit = self._state.highest + RISE
        self._suspicious = True
        for each in self._state.contributions:
            if not each.reads.isdisjoint(outside):
                self._follow(each, versions)
        return self._finished()

    def from_nothing(self, *, deep: bool = False) -> tuple[dict[str, Delta], LevelsState]:
        """The stratum evaluated anew. Raises DeepError, unless it is known to be `deep`."""
        arena = self._context.resources.arena
        for name in self._columns:
            self.now[name] = Growing(RelationVersion.empty(self._schemas[name], arena))
        self._limit, self._suspicious = RISE + self._highest, False
        self._raised_again = -inf if deep else 0
        for each in self._state.contributions:
            if not each.sources:
                self._take(each, *each.full(self._versions, self._context))
        return self._finished()

    def _finished(self) -> tuple[dict[str, Delta], LevelsState]:
        started = self._context.budget.work
        while any(self._pending.values()):
            self._finish_level()
            self._context.budget.spend(1)
        changes = {
            name: _together(each) if each else Delta.empty(self._schemas[name].arity)
            for name, each in self._deltas.items()
        }
        deltas = {
            name: each if self._suspicious else self._versions[name].change_to(each.inserts)
            for name, each in changes.items()
        }
        work = self._context.budget.work - started
        state = replace(
            self._state, sums=self._sums, levels=self._levels, highest=self._highest, work=work
        )
        return deltas, state

    # ── one level ─────────────────────────────────────────────────────────────────────────────────
    def _finish_level(self) -> None:
        """Finish the pending groups of the least level, and pass their change on."""
        waiting = {name: joined(pieces) for name, pieces in self._pending.items() if pieces}
        ready = self._ready({name: self._key(name, rows) for name, (rows, _) in waiting.items()})
        before, deltas = dict(self.now), dict[str, Delta]()
        for name, (rows, signed) in waiting.items():
            here = ready[name]
            left = ~here
            self._pending[name] = (
                [([column[left] for column in rows], signed[left])] if left.any() else []
            )
            if here.any():
                some = [column[here] for column in rows]
                self._sums[name], moved = self._sums[name].advanced(some, signed[here])
                delta = None if moved is None else moved.of(self._shapes[name].columns)
                if delta is not None and len(delta):
                    deltas[name] = delta
                    self._deltas[name].append(delta)
                    self.now[name] = self.now[name].after(delta)
        if deltas:
            self._pass_on(before, deltas)

    def _ready(self, waiting: Mapping[str, Columns]) -> dict[str, np.ndarray]:
        """Mark the groups of the least level."""
        levels = {name: self._levels_of(name, keys) for name, keys in waiting.items()}
        least = min(int(each.min()) for each in levels.values())
        return {name: each == least for name, each in levels.items()}

    def _pass_on(self, before: Mapping[str, Growing], deltas: dict[str, Delta]) -> None:
        versions = self._step(before, self.now, deltas)
        for each in self._state.contributions:
            if not each.reads.isdisjoint(deltas):
                self._follow(each, versions)

    def _follow(self, each: Contribution, versions: Versions) -> None:
        """Keep what a change adds. Where only values change nothing rests on other groups, and no
        level rises.
        """
        changed, others = self._change(each, versions)
        self._keep(each, *changed)
        self._take(each, *others)

    def _step(
        self,
        before: Mapping[str, Growing],
        after: Mapping[str, Growing],
        deltas: dict[str, Delta],
    ) -> Versions:
        context = self._context
        old, new = (Grown(self._around, each) for each in (before, after))
        return Versions(old, new, deltas, context.resources.arena, context.tuning)

    def _change(self, each: Contribution, versions: Versions) -> tuple[Assignments, Assignments]:
        context = self._context
        context.upkeep = versions.upkeep(context.resources.kept_orders, lambda _: False)
        return each.change(versions, context, self._work)

    def _take(self, each: Contribution, rows: Columns, signed: np.ndarray) -> None:
        """Keep rows that come and go until their groups are finished, and raise the levels of the
        groups that come.
        """
        self._keep(each, rows, signed)
        won = signed > 0
        if won.any():
            self._raise(each, [column[won] for column in rows])

    def _keep(self, each: Contribution, rows: Columns, signed: np.ndarray) -> None:
        """Keep rows until their groups are finished."""
        if len(signed):
            self._work.assignments += len(signed)
            self._pending[each.relation].append((rows[: each.width + each.added], signed))

    # ── levels ────────────────────────────────────────────────────────────────────────────────────
    def _key(self, name: str, rows: Columns) -> Columns:
        """The group columns among the first columns of rows."""
        return rows[: len(self._schemas[name].columns) - 1] or [np.zeros(len(rows[0]), np.int64)]

    def _levels_of(self, name: str, key: Columns) -> np.ndarray:
        return self._levels[name].lookup(key)[1][0]

    def _raise(self, each: Contribution, rows: Columns) -> None:
        """Raise the levels of groups above those that these rows rest on, and then all above."""
        raised = self._raised(each, rows)
        while raised:
            self._context.budget.spend(1)
            self._raised_again += sum(len(keys[0]) for keys in raised.values())
            groups = sum(map(len, self._levels.values()))
            if self._raised_again > _RAISED_AGAIN * groups + _FEW_RAISED:
                raise Suspicion if self._suspicious else DeepError
            higher: dict[str, Columns] = {}
            for name, keys in raised.items():
                for other, more in self._above(name, keys).items():
                    known = higher.get(other)
                    higher[other] = more if known is None else union(known, more)
            raised = higher

    def _raised(self, each: Contribution, rows: Columns) -> dict[str, Columns]:
        """Raise the groups of these rows; those that have been there, and are higher now."""
        dictionary = self._context.resources.dictionary
        wanted = np.zeros(len(rows[0]), np.int64)
        for relation, key in each.groups(rows, dictionary):
            key = key or [np.zeros(len(rows[0]), np.int64)]
            wanted = np.maximum(wanted, self._levels_of(relation, key) + 1)
        name, levels = each.relation, self._levels[each.relation]
        *keys, highest = _highest(self._key(name, rows), wanted)
        there, (now,) = levels.lookup(keys)
        higher = ~there | (highest > now)
        if not higher.any():
            return {}
        self._highest = max(self._highest, int(highest.max()))
        if self._highest > self._limit:
            self._look_for_cycles()
        self._levels[name] = levels.apply([*(column[higher] for column in keys), highest[higher]])
        again = higher & there
        return {name: [column[again] for column in keys]} if again.any() else {}

    def _above(self, name: str, keys: Columns) -> dict[str, Columns]:
        """The groups that add up from these, and had to be raised for it."""
        relation, width = self.now[name].version, len(self._schemas[name].columns) - 1
        if not relation.count:
            return {}
        at = self._columns[name]
        order = (*(place for place in range(width + 1) if place != at), at)
        prefixes = keys[:width] or np.empty((0, len(keys[0])), np.int64)
        there, rows, _ = relation.tree(order).edge_rows(prefixes)
        by_place = dict(zip(order, (column[there] for column in rows), strict=True))
        some = sort_rows([by_place[place] for place in range(width + 1)])
        if not len(some[0]):
            return {}
        without = {**self.now, name: self.now[name].after(Delta.deletion(some))}
        versions = self._step(without, self.now, {name: Delta.insertion(some)})
        found: dict[str, Columns] = {}
        for each in self._state.contributions:
            if name in each.reads:
                _, (rows, signed) = self._change(each, versions)
                for other, more in (self._raised(each, rows) if len(signed) else {}).items():
                    known = found.get(other)
                    found[other] = more if known is None else union(known, more)
        return found

    # ── cycles ────────────────────────────────────────────────────────────────────────────────────
    def _look_for_cycles(self) -> None:
        """Raise GroupCycleError where groups depend on themselves; else levels may rise to twice as
        many before the next look: around a cycle they rise at most twice as far as it is long.
        """
        if self._suspicious:
            raise Suspicion
        cycle = cycle_of(self._edges())
        if cycle:
            raise self._error(cycle)
        self._limit *= 2

    def _edges(self) -> dict[Group, set[Group]]:
        """The groups that each group adds up from, as far as they are done."""
        edges: dict[Group, set[Group]] = {}
        dictionary = self._context.resources.dictionary
        versions = self._step(self.now, self.now, {})
        for each in self._state.contributions:
            if not each.sources:
                continue
            rows, _ = each.full(versions, self._context)
            targets = tuples_of(rows[: each.width], len(rows[0]))
            for relation, key in each.groups(rows, dictionary):
                for target, source in zip(targets, tuples_of(key, len(rows[0])), strict=True):
                    edges.setdefault((each.relation, target), set()).add((relation, source))
        return edges

    def _error(self, cycle: Sequence[Group]) -> GroupCycleError:
        """The error that names the groups of a cycle."""
        dictionary = self._context.resources.dictionary
        groups = [(name, self._values(name, key, dictionary)) for name, key in cycle]
        return GroupCycleError.of(groups)

    def _values(
        self, name: str, key: tuple[int, ...], dictionary: Dictionary
    ) -> tuple[object, ...]:
        columns = self._schemas[name].columns
        types = [type_ for at, (_, type_) in enumerate(columns) if at != self._columns[name]]
        codes = [np.array([code], np.int64) for code in key[: len(types)]]
        return to_tuples(types, codes, dictionary.texts(), rows=1)[0]


def _together(changes: Sequence[Delta]) -> Delta:
    """Changes, of one relation, as one."""
    if len(changes) == 1:
        return changes[0]
    rows, net = net_changes(*joined([each.signed() for each in changes]))
    come, gone = net > 0, net < 0
    return Delta([column[come] for column in rows], [column[gone] for column in rows])


def _highest(keys: Columns, levels: np.ndarray) -> Columns:
    """The distinct keys, sorted, each with its highest level."""
    rows = sort_rows([*keys, levels])
    last = np.ones(len(rows[0]), np.bool_)
    same = np.ones(len(rows[0]) - 1, np.bool_)
    for column in rows[:-1]:
        same &= column[1:] == column[:-1]
    last[:-1] = ~same
    return [column[last] for column in rows]
