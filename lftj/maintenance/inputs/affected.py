# SPDX-License-Identifier: Apache-2.0
"""Affected strata: the ones that read a change, found from the change and not from the strata."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Generic, TypeVar

from lftj.program.normal_form import (
    FunctorRule,
    NormalRule,
    Reading,
    RelationSchema,
    Stratum,
    Value,
)
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.storage.delta import Delta
from lftj.types import Interning, decode_scalar, lookup_scalar
from lftj.types.sources import Role, without_role

_ASKED_CHANGES = 10_000
"""Changed rows among which constants of rules are looked for; among more it takes longer than
asking views in vain.
"""

# Which values the rows of a commit have: a rule whose constants are not among them need not be
# looked at.
#
# Many views may read one relation, each for a constant of its own, as in `late(f) :- event("late",
# f).` Asking all of them for what changed took half a tenth of a millisecond each, whatever came of
# it, and comparing all their constants 8 µs each. So views are found by one of their constants
# first (`readers`), and those that were found are asked for all of them (`concern`).


class ChangedValues:
    """The values in the columns of changes that rules have constants for; each column is gone
    through once. `deltas` may grow.
    """

    def __init__(
        self,
        deltas: Mapping[str, Delta],
        schemas: Mapping[str, RelationSchema],
        dictionary: Interning,
    ):
        self._deltas = deltas
        self._schemas = schemas
        self._dictionary = dictionary
        self._values: dict[tuple[str, int], frozenset[int]] = {}

    def concern(self, rule: NormalRule | FunctorRule) -> bool:
        """Test for an atom of a rule, negated or not, that may match a row that came or went; of
        many rows some do. O(atoms).
        """
        if isinstance(rule, FunctorRule):
            return rule.domain in self._deltas
        for relation, constants in rule.rows_read:
            if relation in self._deltas and (not constants or self._match(relation, constants)):
                return True
        return False

    def _match(self, relation: str, constants: Sequence[tuple[int, Value]]) -> bool:
        if len(self._deltas[relation]) > _ASKED_CHANGES:
            return True
        for column, value in constants:
            code = lookup_scalar(value.type, value.value, self._dictionary)
            if code is None or code not in self._in(relation, column):
                return False
        return True

    def readings(self, order: Stratification, relation: str) -> Iterator[Reading]:
        """Readings of a relation that what changed in it may concern, as `order.row_readers` has
        them; those who read by them may do so with others.

        O(values that changed in columns for which there are constants), or O(columns) where more
        changed than strata read the column by.
        """
        readers = order.row_readers
        if relation not in order.readers:
            return
        if (relation,) in readers:
            yield (relation,)
            if len(readers[relation,]) == len(order.readers[relation]):
                return
        for column, (_, type) in enumerate(self._schemas[relation].columns):
            with_constants = len(readers.get((relation, column), ()))
            if not with_constants:
                continue
            values = (
                self._in(relation, column) if len(self._deltas[relation]) <= _ASKED_CHANGES else ()
            )
            if not values or len(values) > with_constants:
                yield relation, column
                continue
            texts = type.name == "str"
            for code in values:
                value = decode_scalar(type, code, self._dictionary) if texts else code
                if (relation, column, value) in readers:
                    yield relation, column, value

    def _in(self, relation: str, column: int) -> frozenset[int]:
        if (relation, column) not in self._values:
            delta = self._deltas[relation]
            self._values[relation, column] = frozenset(delta.inserts[column].tolist()).union(
                delta.erases[column].tolist()
            )
        return self._values[relation, column]


Joint = TypeVar("Joint")
Places = tuple[Sequence[int], Sequence[tuple[float, Joint]]]
"""Places of strata, and what is joint to others, with a place before all of these."""


class Held(Generic[Joint]):
    """Strata that are not looked at because a relation that they read changed, but once something
    joint to them tells so. A value.
    """

    def __init__(
        self,
        order: Stratification,
        joints: Mapping[tuple[int, str], Sequence[tuple[float, Joint]]],
    ):
        """`joints`: what tells so, for the place of a stratum and a relation that it reads, with
        a place before all of the strata that it is joint to.
        """
        self._order, self._joints = order, joints
        self._places: dict[Reading, Places[Joint]] = {}

    def places(self, reading: Reading) -> Places[Joint]:
        """The strata that read these rows and are not held for that, and what is joint to those
        that are. O(strata that read them) once, then O(1).
        """
        if reading not in self._places:
            alone, joint = list[int](), dict[float, Joint]()
            for place in self._order.reading_rows(reading):
                joints = self._joints.get((place, reading[0]))
                if joints is None:
                    alone.append(place)
                joint.update(joints or ())
            self._places[reading] = alone, tuple(joint.items())
        return self._places[reading]


class Affected(Generic[Joint]):
    """The strata to look at, in their order; while they are gone through, further relations may
    turn out to change.
    """

    def __init__(
        self,
        order: Stratification,
        values: ChangedValues,
        places: Collection[int] | None = None,
        held: Held[Joint] | None = None,
    ):
        """None yet; none outside these places, if they are given: nothing is `held` then."""
        self._order = order
        self._places = places
        self._values = values
        self._held = held
        self._joint: dict[float, Joint] = {}
        self._waiting: list[float] = []
        self._seen: set[float] = set()
        self._done = -1.0

    def rules_changed(self, relations: Iterable[str]) -> None:
        """Relations won or lost rules. O(relations · log strata)."""
        self.look_at(relations)

    def rows_changed(self, relations: Iterable[str]) -> None:
        """Rows of relations changed, or those that a relation has beside its rules.

        O(relations and strata that read them, but for those that read only rows with other
        constants and those that are held, · log strata).
        """
        place = self._order.place
        for name in relations:
            for reading in self._values.readings(self._order, name):
                if self._held is None:
                    self._look_at(self._order.reading_rows(reading))
                    continue
                alone, joints = self._held.places(reading)
                self._look_at(alone)
                for before, joint in joints:
                    self._joint[before] = joint
                    self._look_at((before,))
            own = without_role(name, Role.BASE)
            if own in place:
                self._look_at((place[own],))

    def look_at(self, relations: Iterable[str]) -> None:
        """Look at the strata of these relations, held or not."""
        place = self._order.place
        self._look_at([place[name] for name in relations if name in place])

    def __iter__(self) -> Iterator[Stratum | Joint]:
        """The strata, and what is joint to some, each once."""
        while self._waiting:
            self._done = heappop(self._waiting)
            joint = self._joint.get(self._done)
            yield self._order.strata[int(self._done)] if joint is None else joint

    def _look_at(self, places: Iterable[float]) -> None:
        for place in places:
            if self._places is not None and place not in self._places:
                continue
            if place > self._done and place not in self._seen:
                self._seen.add(place)
                heappush(self._waiting, place)


def choosing_elsewhere(
    program: StratifiedProgram, was: Stratification, changed_rules: Iterable[str]
) -> set[str]:
    """Relations with choice whose stratum has lost others, as rules of these came or went: they
    have to choose anew.

    What is chosen in a cycle depends on the iterations in which all its relations find their rows;
    other rows do not depend on strata. O(relations of the strata that these were in).
    """
    order = program.order
    return {
        name
        for stratum in was.strata_of(changed_rules)
        for name in stratum.relations
        if name in order.place and program.relations[name].choice
        if {*order.strata[order.place[name]].relations} != {*stratum.relations}
    }
