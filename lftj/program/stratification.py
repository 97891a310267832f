# SPDX-License-Identifier: Apache-2.0
"""Strata in their order, with what is asked about them at every commit: where a relation stands,
and who reads it.

A value like the program that it belongs to. With other strata in some places it is another one, for
which dictionaries are copied but only those strata are looked at that come, go, or move.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from lftj.program.normal_form import Reading, RelationSchema, Stratum
from lftj.scantree.frozen import frozen
from lftj.types.sources import is_hidden

Piece = tuple[int, int, "Sequence[Stratum]"]
"""Strata to stand where those from one place to before another stood."""

T = TypeVar("T", bound=Hashable)


@frozen
class Stratification:
    """Strata in an order in which each reads only earlier ones and itself.

    `place`: the place of the stratum of each derived relation; `readers`: for each relation that is
    read, the strata that read it, each by the first of its relations. Many may read one relation,
    each for a constant of its own, as in `late(f) :- event("late", f).`; `row_readers`: those who
    read any of its rows, those who read only rows with some constant in a column, and with which.
    """

    strata: tuple[Stratum, ...] = ()
    place: Mapping[str, int] = field(default_factory=dict)
    readers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    row_readers: Mapping[Reading, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(strata: Sequence[Stratum]) -> Stratification:
        """Stratification of these strata. O(rules)."""
        return Stratification().replaced([(0, 0, strata)])

    def stratum_of(self, relation: str) -> Stratum | None:
        """The stratum that derives a relation; None for one that is given."""
        place = self.place.get(relation)
        return None if place is None else self.strata[place]

    def is_constant(self, relation: str) -> bool:
        """Test for a hidden relation that no commit changes, since its rules read nothing: `k = 1 ;
        k = 2`, say.
        """
        stratum = self.stratum_of(relation)
        return stratum is not None and is_hidden(relation) and not stratum.reads

    def strata_of(self, relations: Iterable[str]) -> list[Stratum]:
        """The strata that derive these relations, each once, in their order."""
        places = {self.place[name] for name in relations if name in self.place}
        return [self.strata[place] for place in sorted(places)]

    def reading(self, relation: str) -> Iterator[int]:
        """The places of the strata that read a relation."""
        return (self.place[name] for name in self.readers.get(relation, ()))

    def reading_rows(self, reading: Reading) -> Sequence[int]:
        """The places of the strata that read these rows of a relation."""
        return [self.place[name] for name in self.row_readers.get(reading, ())]

    def replaced(self, pieces: Sequence[Piece]) -> Stratification:
        """Replace strata in some places; the pieces ascend and do not overlap.

        O(strata in the pieces), and of all behind the first piece that is longer or shorter than
        what it replaces.
        """
        strata: list[Stratum] = []
        place, done = dict(self.place), 0
        for stratum in (each for start, end, _ in pieces for each in self.strata[start:end]):
            for name in stratum.relations:
                del place[name]
        for start, end, made in (*pieces, (len(self.strata), len(self.strata), ())):
            shifted = len(strata) != done
            _number(place, self.strata[done:start] if shifted else (), len(strata))
            strata += self.strata[done:start]
            _number(place, made, len(strata))
            strata += made
            done = end
        before = {id(each): each for start, end, _ in pieces for each in self.strata[start:end]}
        after = {id(each): each for _, _, made in pieces for each in made}
        gone = [each for number, each in before.items() if number not in after]
        come = [each for number, each in after.items() if number not in before]
        readers = _changed(
            self.readers,
            ((each, each.reads) for each in gone),
            ((each, each.reads) for each in come),
        )
        row_readers = _changed(
            self.row_readers,
            ((each, each.readings) for each in gone),
            ((each, each.readings) for each in come),
        )
        return Stratification(tuple(strata), place, readers, row_readers)


def _number(place: dict[str, int], strata: Iterable[Stratum], first: int) -> None:
    for at, stratum in enumerate(strata, first):
        for name in stratum.relations:
            place[name] = at


def _changed(
    readers: Mapping[T, frozenset[str]],
    gone: Iterable[tuple[Stratum, Iterable[T]]],
    come: Iterable[tuple[Stratum, Iterable[T]]],
) -> dict[T, frozenset[str]]:
    """Readers without strata that go, and with others, each with what it reads."""
    changed, less, more = dict(readers), _readers(gone), _readers(come)
    for what in less.keys() | more.keys():
        left = (changed.pop(what, frozenset()) - less.get(what, set())) | more.get(what, set())
        if left:
            changed[what] = left
    return changed


def _readers(reading: Iterable[tuple[Stratum, Iterable[T]]]) -> dict[T, set[str]]:
    """Map each thing read to the strata that read it."""
    found: dict[T, set[str]] = {}
    for stratum, read in reading:
        for what in read:
            found.setdefault(what, set()).add(stratum.relations[0])
    return found


@frozen(slots=True)
class StratifiedProgram:
    """Relations, hidden ones included, and the strata in an order in which each reads only earlier
    ones and itself.
    """

    relations: dict[str, RelationSchema]
    order: Stratification

    @property
    def strata(self) -> tuple[Stratum, ...]:
        """The strata in their order."""
        return self.order.strata
