"""Which strata a commit has to look at: those that read what changed, found from what changed and not from the strata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from lftj.maintain.changed_values import ChangedValues
from lftj.program.normal_form import StratifiedProgram, Stratum
from lftj.program.stratification import Stratification
from lftj.storage.database import BASE_SUFFIX


class Affected:
    """The strata to look at, in their order; while they are gone through, further relations may turn out to change."""

    def __init__(self, order: Stratification, values: ChangedValues):
        """None yet."""
        self._order = order
        self._values = values
        self._waiting: list[int] = []
        self._seen: set[int] = set()
        self._done = -1

    def rules_changed(self, relations: Iterable[str]) -> None:
        """Relations won or lost rules. O(relations · log strata)."""
        place = self._order.place
        self._look_at(place[name] for name in relations if name in place)

    def rows_changed(self, relations: Iterable[str]) -> None:
        """Rows of relations changed, or those that a relation has beside its rules.

        O(relations and strata that read them, but for those that read only rows with other constants, · log strata).
        """
        place = self._order.place
        for name in relations:
            self._look_at(self._values.readers(self._order, name))
            own = name.removesuffix(BASE_SUFFIX)
            if own in place:
                self._look_at((place[own],))

    def __iter__(self) -> Iterator[Stratum]:
        """The strata, each once."""
        while self._waiting:
            self._done = heappop(self._waiting)
            yield self._order.strata[self._done]

    def _look_at(self, places: Iterable[int]) -> None:
        for place in places:
            if place > self._done and place not in self._seen:
                self._seen.add(place)
                heappush(self._waiting, place)


def choosing_elsewhere(program: StratifiedProgram, was: Stratification, changed_rules: Iterable[str]) -> set[str]:
    """Relations with choice whose stratum has lost others, as rules of these came or went: they have to choose anew.

    What is chosen in a cycle depends on the iterations in which all its relations find their rows; other rows do not depend on strata.
    O(relations of the strata that these were in).
    """
    order = program.order
    return {
        name
        for stratum in was.strata_of(changed_rules)
        for name in stratum.relations
        if name in order.place and program.relations[name].choice
        if {*order.strata[order.place[name]].relations} != {*stratum.relations}
    }
