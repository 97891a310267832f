# SPDX-License-Identifier: Apache-2.0
"""Origins of base facts: the version and time at which each came last, as far as the past is kept.

Versions in memory share their pages, so a fact is looked up in each version before a commit that
brought rows of its relation. What only files have is read from the log, the last commit first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from lftj.engine.live import Timeline, rows_then
from lftj.engine.versions import Entry, State, base_rows
from lftj.explain.derivations.version import Codes, Goal, matrix
from lftj.program import dropped_since
from lftj.proofs import Origin
from lftj.scantree import contains
from lftj.storage import RelationVersion, base_name

if TYPE_CHECKING:
    from lftj.engine.live import Engine


def origins(engine: Engine, state: State, facts: Iterable[Goal]) -> dict[Goal, Origin]:
    """The origins of base facts of a version; those that came before the oldest version that is
    kept are left out. O(commits that brought rows of their relations · facts · log n).

    Raises DurableError. Use while the dictionary is `in_use`.
    """
    search = _Search(engine, state, facts)
    search.run()
    return search.found


class _Search:
    """Base facts that wait for their origins."""

    def __init__(self, engine: Engine, state: State, facts: Iterable[Goal]):
        self._engine, self._state = engine, state
        self._waiting: dict[str, list[Codes]] = {}
        for relation, row in sorted(set(facts)):
            self._waiting.setdefault(relation, []).append(row)
        self.found: dict[Goal, Origin] = {}

    def run(self) -> None:
        """Go back from commit to commit until nothing waits, or nothing is kept."""
        timeline = Timeline(self._engine)
        if not self._waiting or timeline.oldest >= self._state.version:
            return
        entries = {entry.version: entry for entry in timeline.entries()}
        reached = self._state.version + 1
        for version in sorted(entries, reverse=True):
            if not self._waiting or not timeline.oldest < version < reached:
                continue
            entry = entries[version]
            names = [name for name in self._waiting if self._may_have_come(entry, name)]
            before = timeline.held(version - 1) if names else None
            if names and before is None:
                break
            for name in names:
                assert before is not None
                catalogs = before.program.catalog, self._state.program.catalog
                rows = self._waiting[name]
                there = np.zeros(len(rows), np.bool_)
                if name not in dropped_since(*catalogs):
                    there = self._there(before, name, rows)
                self._came(entry, name, ~there)
            reached = version
        for version, changes in self._logged(reached - 1):
            if version in entries:
                self._came_by(entries[version], changes)

    def _may_have_come(self, entry: Entry, name: str) -> bool:
        """Test for a commit that brought rows. Those of a view of its own may be derived as
        well.
        """
        first = self._state.program.catalog.dropped.get(name, 0)
        came = self._name_at(name, entry.version) in entry.won or (
            base_name(name) in self._state.database
        )
        return came and entry.version >= first

    def _name_at(self, name: str, version: int) -> str:
        """The name that a relation had when a version was committed."""
        for each in reversed(self._state.program.catalog.alterations):
            if each.version > version and each.name == name:
                name = each.relation
        return name

    def _there(self, before: State, name: str, rows: list[Codes]) -> np.ndarray:
        """Mark those of ascending rows that a version has as base facts, in the columns of now."""
        catalog = self._state.program.catalog
        if before.program.catalog.alterations == catalog.alterations:
            return _rows_of(before, name, rows)
        found = rows_then(self._engine, base_rows(before), catalog.relation(name), catalog)
        if found is None or not found.count:
            return np.zeros(len(rows), np.bool_)
        return found.contains(list(_columns(rows, self._state, name)))

    def _logged(self, version: int) -> Iterator[tuple[int, Mapping[str, list[np.ndarray]]]]:
        durable = self._engine.durable
        if durable is None:
            return
        past = durable.past_of(self._engine)
        for made, changes in past.logged(version, self._state.program.catalog):
            if not self._waiting:
                return
            yield made, {name: delta.inserts for name, delta in changes.items()}

    def _came_by(self, entry: Entry, changes: Mapping[str, list[np.ndarray]]) -> None:
        for name in self._waiting.keys() & changes.keys():
            rows = self._waiting[name]
            here = contains(list(_columns(rows, self._state, name)), changes[name])
            self._came(entry, name, here)

    def _came(self, entry: Entry, name: str, here: np.ndarray) -> None:
        """Note which of the rows that wait came with a commit."""
        origin = Origin.of(entry.version, entry.time, entry.message)
        rows = self._waiting.pop(name)
        left = [row for row, came in zip(rows, here.tolist(), strict=True) if not came]
        self.found |= dict.fromkeys((Goal(name, row) for row in set(rows) - set(left)), origin)
        if left:
            self._waiting[name] = left


def _columns(rows: list[Codes], state: State, name: str) -> np.ndarray:
    """Ascending rows as columns, of which even one without values has one."""
    arity = state.program.catalog.relation(name).arity
    return matrix(rows, arity) if arity else np.zeros((1, len(rows)), np.int64)


def _rows_of(state: State, name: str, rows: list[Codes]) -> np.ndarray:
    """Mark those of ascending rows that a version has as base facts."""
    found: RelationVersion | None = state.database.get(base_name(name)) or state.database.get(name)
    if found is None or not found.count:
        return np.zeros(len(rows), np.bool_)
    if not found.schema.arity:
        return np.ones(len(rows), np.bool_)
    return found.contains(list(_columns(rows, state, name)))
