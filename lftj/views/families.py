# SPDX-License-Identifier: Apache-2.0
"""All families of a graph, and which strata wait for them. A value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

from lftj.maintenance.inputs.affected import Held
from lftj.program.stratification import Stratification
from lftj.views.family import FAMILY, Constants, Family, Pattern

Reader = tuple[Sequence[Pattern], str, str]
"""The patterns of a join, the join's key, and a relation that is derived by it."""
Arms = Sequence[tuple[str, Iterable[str]]]
"""The key of the join behind each arm of a relation, and what it reads."""
_Joints = dict[tuple[int, str], list[tuple[float, Family]]]


class Families:
    """Joins that have patterns, by these; those of which there are enough are families."""

    def __init__(self) -> None:
        """None at all."""
        self._patterns: dict[str, Pattern] = {}
        self._members: dict[str, dict[Constants, tuple[str, ...]]] = {}
        self._patterns_of: dict[str, tuple[str, ...]] = {}
        self._views: dict[str, tuple[str, ...]] = {}
        self._families: dict[str, Family] = {}
        self._held: tuple[Stratification, Held[Family] | None] | None = None

    @cached_property
    def some(self) -> bool:
        """Tell whether there is a family: found out once, as every commit asks."""
        return any(len(members) >= FAMILY for members in self._members.values())

    def get(self, join: str) -> Family | None:
        """The family of a join, if it is in one: that of its whole body before one that screens."""
        keys = self._patterns_of.get(join, ())
        key = next((key for key in keys if len(self._members[key]) >= FAMILY), None)
        if key is not None and key not in self._families:
            members = self._members[key]
            views = {each: self._views[each] for joins in members.values() for each in joins}
            self._families[key] = Family(self._patterns[key], members, views)
        return None if key is None else self._families[key]

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
        made._patterns_of, made._views = dict(self._patterns_of), dict(self._views)
        made._families = dict(self._families)
        for patterns, join, view in less:
            left = list(made._views.pop(join))
            left.remove(view)
            made._note(patterns, join, left)
        for patterns, join, view in more:
            made._note(patterns, join, [*made._views.get(join, ()), view])
        return made

    def _note(self, patterns: Sequence[Pattern], join: str, views: Sequence[str]) -> None:
        """Note which relations a join derives now."""
        self._patterns_of.pop(join, None)
        if views:
            self._patterns_of[join] = tuple(pattern.key for pattern in patterns)
            self._views[join] = tuple(views)
        for pattern in patterns:
            self._note_member(pattern, join, there=bool(views))

    def _note_member(self, pattern: Pattern, join: str, *, there: bool) -> None:
        key = pattern.key
        self._families.pop(key, None)
        members = dict(self._members.get(key, {}))
        alike = [each for each in members.pop(pattern.values, ()) if each != join]
        if there:
            self._patterns.setdefault(key, pattern)
            alike.append(join)
        if alike:
            members[pattern.values] = tuple(alike)
        self._members[key] = members
        if not members:
            del self._members[key], self._patterns[key]

    def held(self, order: Stratification, arms_of: Callable[[str], Arms]) -> Held[Family] | None:
        """See `Graph.held`. `arms_of` a relation. Nothing waits at the first commit of an order,
        which may only add a rule.
        """
        if self._held is None or self._held[0] is not order:
            self._held = order, None
            return None
        if self._held[1] is None:
            self._held = order, Held(order, self._find_held(order, arms_of))
        return self._held[1]

    def _find_held(self, order: Stratification, arms_of: Callable[[str], Arms]) -> _Joints:
        held: _Joints = {}
        taken: set[float] = set()
        firsts, names = dict[int, float](), set[str]()
        families = {id(family): family for join in self.joins if (family := self.get(join))}
        for family in families.values():
            views = {name for relations in family.views.values() for name in relations}
            places = [order.place[name] for name in views if name in order.place]
            if not places:
                continue
            first = min(places) - 0.5
            while first in taken:  # several families may begin with one stratum
                first += 2.0**-20
            taken.add(first)
            firsts[id(family)] = first
            names |= views
        for name in names & order.place.keys():
            place = order.place[name]
            if len(order.strata[place].relations) == 1:
                self._hold(place, arms_of(name), held, firsts)
        return held

    def _hold(self, place: int, arms: Arms, held: _Joints, firsts: Mapping[int, float]) -> None:
        """Note which relations the arms of a stratum only read where families follow them."""
        joint, alone = dict[str, dict[int, Family]](), set[str]()
        for key, reads in arms:
            family = self.get(key)
            for name in reads:
                if family is not None and name in family.reads and id(family) in firsts:
                    joint.setdefault(name, {})[id(family)] = family
                else:
                    alone.add(name)
        for name in joint.keys() - alone:
            held[place, name] = [(firsts[each], family) for each, family in joint[name].items()]
