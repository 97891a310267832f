"""Strata in their order, with what is asked about them at every commit: where a relation stands, and who reads it.

A value like the program that it belongs to. With other strata in some places it is another one, for which dictionaries are copied but
only those strata are looked at that come, go, or move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lftj.program.normal_form import Stratum

Piece = tuple[int, int, "Sequence[Stratum]"]
"""Strata to stand where those from one place to before another stood."""


@dataclass(frozen=True)
class Stratification:
    """Strata in an order in which each reads only earlier ones and itself.

    `place`: the place of the stratum of each derived relation; `readers`: for each relation that is read, the strata that read it, each by
    the first of its relations.
    """

    strata: tuple[Stratum, ...] = ()
    place: Mapping[str, int] = field(default_factory=dict)
    readers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(strata: Sequence[Stratum]) -> Stratification:
        """These strata. O(rules)."""
        return Stratification().replaced([(0, 0, strata)])

    def stratum_of(self, relation: str) -> Stratum | None:
        """The stratum that derives a relation; None for one that is given."""
        place = self.place.get(relation)
        return None if place is None else self.strata[place]

    def is_constant(self, relation: str) -> bool:
        """Whether no commit changes a hidden relation, since its rules read nothing: `k = 1 ; k = 2`, say."""
        stratum = self.stratum_of(relation)
        return stratum is not None and "#" in relation and not stratum.reads

    def strata_of(self, relations: Iterable[str]) -> list[Stratum]:
        """The strata that derive these relations, each once, in their order."""
        places = {self.place[name] for name in relations if name in self.place}
        return [self.strata[place] for place in sorted(places)]

    def reading(self, relation: str) -> Iterator[int]:
        """The places of the strata that read a relation."""
        return (self.place[name] for name in self.readers.get(relation, ()))

    def replaced(self, pieces: Sequence[Piece]) -> Stratification:
        """With other strata in some places; the pieces ascend and do not overlap.

        O(strata in the pieces), and of all behind the first piece that is longer or shorter than what it replaces.
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
        return Stratification(tuple(strata), place, self._readers_with(pieces))

    def _readers_with(self, pieces: Iterable[Piece]) -> dict[str, frozenset[str]]:
        gone = {id(each): each for start, end, _ in pieces for each in self.strata[start:end]}
        come = {id(each): each for _, _, made in pieces for each in made}
        less = _reads(each for number, each in gone.items() if number not in come)
        more = _reads(each for number, each in come.items() if number not in gone)
        readers = dict(self.readers)
        for name in less.keys() | more.keys():
            left = (readers.pop(name, frozenset()) - less.get(name, set())) | more.get(name, set())
            if left:
                readers[name] = left
        return readers


def _number(place: dict[str, int], strata: Iterable[Stratum], first: int) -> None:
    for at, stratum in enumerate(strata, first):
        for name in stratum.relations:
            place[name] = at


def _reads(strata: Iterable[Stratum]) -> dict[str, set[str]]:
    """Which of these strata read a relation, by the relation."""
    found: dict[str, set[str]] = {}
    for stratum in strata:
        for name in stratum.reads:
            found.setdefault(name, set()).add(stratum.relations[0])
    return found
