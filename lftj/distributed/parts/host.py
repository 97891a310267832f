# SPDX-License-Identifier: Apache-2.0
"""State that the parts of one process share."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.partitioning.part_plan import Feed
from lftj.program import RelationSchema
from lftj.scantree import WIDE, Arena
from lftj.storage import Delta, Load, RelationVersion
from lftj.storage.durable import StoredStrings
from lftj.types import Dictionary

_OPENED = 64  # relations of stored states that are remembered
# whose whole relations are remembered: a part may be brought forward by one commit and changed by
# the next
_COMMITS = 4

Rows = Callable[[Feed], Delta]
"""Reads what came for a feed."""
Share = Callable[[Feed, Rows], RelationVersion | None]
"""The relation of the rows of a feed, where other processes of the machine have its pages, too:
rows are read only by the first of them.
"""


@dataclass
class Host:
    """State that the parts of one process share: memory, the dictionary of strings, plans, and the
    relations that each of them has whole.

    `whole` holds, for the last commits, the new version and the change of each such relation; so
    parts go on sharing its pages.
    """

    arena: Arena = field(default_factory=lambda: Arena(WIDE))
    dictionary: Dictionary = field(default_factory=Dictionary)
    whole: OrderedDict[
        str, dict[tuple[str, int], tuple[RelationVersion, RelationVersion, Delta]]
    ] = field(default_factory=OrderedDict)
    share: Share | None = None
    strings: dict[str, StoredStrings] = field(default_factory=dict)
    """Strings of the dictionary on disk, by path."""
    _empty: dict[RelationSchema, RelationVersion] = field(default_factory=dict)
    _opened: OrderedDict[object, RelationVersion] = field(default_factory=OrderedDict)
    _at: OrderedDict[Hashable, dict[str, RelationVersion]] = field(default_factory=OrderedDict)
    _plans: dict[Hashable, dict[Any, tuple[list[int], Any]]] = field(default_factory=dict)

    def empty(self, schema: RelationSchema) -> RelationVersion:
        """A relation without rows, the same one each time."""
        if schema not in self._empty:
            self._empty[schema] = RelationVersion.empty(schema, self.arena)
        return self._empty[schema]

    def opened(self, key: object, make: Callable[[], RelationVersion]) -> RelationVersion:
        """A relation of a stored state that several parts have: for the same key the same one."""
        relation = self._opened.pop(key, None)
        self._opened[key] = relation = make() if relation is None else relation
        while len(self._opened) > _OPENED:
            self._opened.popitem(last=False)
        return relation

    def one_for_all(
        self, commit: Hashable, relations: dict[str, RelationVersion]
    ) -> dict[str, RelationVersion]:
        """The relations that all parts have whole after a commit, those of the part that came
        first: parts that were opened, or brought forward, one by one have copies.
        """
        found = self._at.setdefault(commit, relations)
        self._at.move_to_end(commit)
        while len(self._at) > _COMMITS:
            self._at.popitem(last=False)
        return found

    def forget(self) -> None:
        """Give back relations that parts share but for those that they have: they share the next
        versions again.
        """
        for shared in (self.whole, self._opened, self._at):
            shared.clear()

    def plans(self, settings: Hashable) -> dict[Any, tuple[list[int], Any]]:
        """Plans made before under these settings, as `Resources` has them: parts have the same
        rules, and shares of about the same size. Without them each step of each part would make its
        own, which takes longer than most steps do.
        """
        return self._plans.setdefault(settings, {})

    def strings_below(self, path: str) -> StoredStrings:
        """Strings of the dictionary on disk below a path."""
        if path not in self.strings:
            self.strings[path] = StoredStrings(self.dictionary, self.arena.watch)
        return self.strings[path]

    def moved(
        self, feed: Feed, old: RelationVersion, commit: str, rows: Rows
    ) -> tuple[RelationVersion, Delta]:
        """A relation after a commit, and its net change; of one that all parts have whole, once for
        all parts.
        """
        key = (feed.schema.name, id(old))
        known = self.whole.get(commit, {}).get(key) if feed.cut == ALL else None
        if known is not None:
            return known[1:]
        version = self._shared(feed, old, rows)
        if version is not None:
            delta: Delta = Load(version.identity)
        else:
            delta = old.net(rows(feed))
            version = old.apply(delta)
        if feed.cut == ALL:
            self.whole.setdefault(commit, {})[key] = (old, version, delta)
            self.whole.move_to_end(commit)
            while len(self.whole) > _COMMITS:
                self.whole.popitem(last=False)
        return version, delta

    def _shared(self, feed: Feed, old: RelationVersion, rows: Rows) -> RelationVersion | None:
        """A relation that all parts have whole, and that is new, where it can be shared."""
        if feed.cut != ALL or old.count or self.share is None:
            return None
        return self.share(feed, rows)
