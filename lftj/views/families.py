# SPDX-License-Identifier: Apache-2.0
"""All families of a graph, and which strata wait for them. A value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from lftj.program.stratification import Stratification
from lftj.views.family import FAMILY, Constants, Family, Pattern

Reader = tuple[Pattern, str, str]
"""The pattern of a join, the join's key, and a relation that is derived by it."""
_Held = dict[int, list[tuple[float, Family]]]


class Families:
    """Joins that have patterns, by these; those of which there are enough are families."""

    def __init__(self) -> None:
        """None at all."""
        self._patterns: dict[str, Pattern] = {}
        self._members: dict[str, dict[Constants, tuple[str, ...]]] = {}
        self._pattern_of: dict[str, str] = {}
        self._views: dict[str, tuple[str, ...]] = {}
        self._families: dict[str, Family] = {}
        self._held: tuple[Stratification, _Held | None] | None = None

    @cached_property
    def some(self) -> bool:
        """Tell whether there is a family: found out once, as every commit asks."""
        return any(len(members) >= FAMILY for members in self._members.values())

    def get(self, join: str) -> Family | None:
        """The family of a join, if it is in one."""
        key = self._pattern_of.get(join)
        if key is None or len(self._members[key]) < FAMILY:
            return None
        if key not in self._families:
            members = self._members[key]
            views = {each: self._views[each] for joins in members.values() for each in joins}
            self._families[key] = Family(self._patterns[key], members, views)
        return self._families[key]

    @property
    def joins(self) -> Iterable[str]:
        """The keys of all joins that are in families."""
        for members in self._members.values():
            if len(members) >= FAMILY:
                yield from chain.from_iterable(members.values())

    def joins_since(self, before: Families | None) -> Iterable[str]:
        """The keys of joins in families that had other members before. O(patterns and these)."""
        known = {} if before is None else before._members
        for key, members in self._members.items():
            if len(members) >= FAMILY and known.get(key) is not members:
                yield from chain.from_iterable(members.values())

    def changed(self, less: Sequence[Reader], more: Sequence[Reader]) -> Families:
        """The families without some readers, and with others. O(these, and members of patterns of
        theirs), and dictionaries are copied.
        """
        if not less and not more:
            return self
        made = Families()
        made._patterns, made._members = dict(self._patterns), dict(self._members)
        made._pattern_of, made._views = dict(self._pattern_of), dict(self._views)
        made._families = dict(self._families)
        for pattern, join, view in less:
            left = list(made._views.pop(join))
            left.remove(view)
            made._note(pattern, join, left)
        for pattern, join, view in more:
            made._note(pattern, join, [*made._views.get(join, ()), view])
        return made

    def _note(self, pattern: Pattern, join: str, views: Sequence[str]) -> None:
        """Note which relations a join derives now."""
        key = pattern.key
        self._families.pop(key, None)
        members = dict(self._members.get(key, {}))
        alike = [each for each in members.pop(pattern.values, ()) if each != join]
        self._pattern_of.pop(join, None)
        if views:
            self._patterns.setdefault(key, pattern)
            alike.append(join)
            self._pattern_of[join], self._views[join] = key, tuple(views)
        if alike:
            members[pattern.values] = tuple(alike)
        self._members[key] = members
        if not members:
            del self._members[key], self._patterns[key]

    def held(
        self, order: Stratification, joins_of: Callable[[str], Sequence[str] | None]
    ) -> Mapping[int, Sequence[tuple[float, Family]]]:
        """See `Graph.held`. `joins_of`: the keys of the joins behind a relation; None where some of
        its rows come from elsewhere. Nothing waits at the first commit of an order, which may only
        add a rule.
        """
        if self._held is None or self._held[0] is not order:
            self._held = order, None
            return {}
        if self._held[1] is None:
            self._held = order, self._find_held(order, joins_of)
        return self._held[1] or {}

    def _find_held(
        self, order: Stratification, joins_of: Callable[[str], Sequence[str] | None]
    ) -> _Held:
        held: _Held = {}
        taken: set[float] = set()
        families = {id(family): family for join in self.joins if (family := self.get(join))}
        for family in families.values():
            names = {name for relations in family.views.values() for name in relations}
            places = {order.place[name]: name for name in names if name in order.place}
            if not places:
                continue
            first = min(places) - 0.5
            while first in taken:  # several families may begin with one stratum
                first += 2.0**-20
            taken.add(first)
            for place, name in places.items():
                if len(order.strata[place].relations) == 1 and self._all_in(joins_of(name)):
                    held.setdefault(place, []).append((first, family))
        return held

    def _all_in(self, joins: Sequence[str] | None) -> bool:
        return joins is not None and all(self.get(join) is not None for join in joins)
