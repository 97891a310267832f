# SPDX-License-Identifier: Apache-2.0
"""Shape of a star join: a body seen as one relation of facts whose rows find at most one row in
each other atom, and the order of the look-ups.

The facts are read as they lie. Every other atom is asked for the row that has the values of the
variables bound before: a dimension's attributes by its key. Where it has several such rows, nobody
may ask which; they are counted. So no step makes more rows than there are facts, and what it takes
is the facts times the number of atoms: the bound of Yannakakis's algorithm [1981], without sorting
anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lftj.join.access.atom_read import AtomRead, CodeTest
from lftj.join.access.computed_columns import Computed, computations, reads
from lftj.join.plan.cardinality import Statistics, seems_key
from lftj.program.normal_form import Assignment, Filter, NormalRule, Ref, Value
from lftj.scantree.frozen import frozen
from lftj.storage.relation import RelationVersion

_MADE = 2.0  # rows looked up in the time in which one is read and put into a table

Relations = Mapping[str, RelationVersion]
Key = tuple[str, frozenset[int]]
"""A relation and the columns by which one row of it is to be found."""
_STAR_PASSING = 0.5
"""Share of the rows of an atom that is taken to pass its own tests."""


class Lookup(NamedTuple):
    """A look-up of the row with the values of the variables `key`, to read those of `takes`; if
    these are none, only of its existence (`negated`: of its absence).
    """

    read: AtomRead
    key: tuple[int, ...]
    takes: tuple[int, ...]
    negated: bool = False

    @property
    def of(self) -> Key:
        """The relation and the columns of the key."""
        return self.read.relation, frozenset(self.read.place[variable] for variable in self.key)


@frozen
class Star:
    """`facts`, the look-ups for each of their rows, the comparisons between atoms that remain, and
    what is to be computed then. `keys`: what is computed of the facts before, to be looked up by.

    `cost`: what all of it takes, in rows; `guessed`: those in vain where a look-up that is not by a
    declared key finds several rows.
    """

    facts: AtomRead
    lookups: tuple[Lookup, ...]
    tests: tuple[CodeTest, ...]
    computed: tuple[Computed, ...]
    keys: tuple[Assignment, ...] = ()
    cost: float = 0.0
    guessed: float = 0.0

    @property
    def copies(self) -> bool:
        """True when each of the facts is found, as it is."""
        return not (self.facts.tests or self.lookups or self.tests or self.computed)

    @staticmethod
    def alone(rule: NormalRule) -> Star | None:
        """The only relation of a body, whose rows find nothing elsewhere; None where there is
        another.
        """
        if len(rule.atoms) != 1 or rule.negated or not rule.atoms[0].args:
            return None
        facts = AtomRead.of(rule, rule.atoms[0])
        _, computed = computations(rule, frozenset(facts.place))
        return Star(facts, (), (), tuple(computed))

    @staticmethod
    def of(
        rule: NormalRule,
        needed: Iterable[int],
        relations: Relations,
        statistics: Statistics,
    ) -> list[Star]:
        """Stars with each atom that has rows as the facts, the best first."""
        if any(not each.args for each in (*rule.atoms, *rule.negated)):
            return []
        if len(rule.atoms) + len(rule.negated) < 2:
            return []  # nothing to look up
        roots = [number for number, atom in enumerate(rule.atoms) if relations[atom.relation].count]
        search = _Search(rule, relations, statistics)
        if not roots or any(not read.place for read in search.reads):
            return []
        tests, computed = computations(
            rule, frozenset().union(*(read.place for read in search.reads[: len(rule.atoms)]))
        )
        asked = frozenset(needed).union(
            *map(reads, computed), (each.variable for each in rule.assignments)
        )
        between = [test for test in tests if not search.tested(test)]
        asked = asked.union(
            side for _, *sides in between for side in sides if isinstance(side, int)
        )
        found = [search.star(number, asked, tuple(between), tuple(computed)) for number in roots]
        return sorted(
            (star for star in found if star is not None), key=lambda star: star.cost + star.guessed
        )


class _Search:
    """Search for the stars of one rule: its atoms, the negated ones behind the others."""

    def __init__(self, rule: NormalRule, relations: Relations, about: Statistics):
        self._rule, self._relations, self._about = rule, relations, about
        self._single: dict[tuple[str, frozenset[int]], bool] = {}
        self.reads = [AtomRead.of(rule, atom) for atom in rule.atoms]
        self.reads += [AtomRead.absent(atom) for atom in rule.negated]

    def tested(self, test: CodeTest) -> bool:
        """Test for a comparison among an atom's own tests."""
        variables = {side for side in test[1:] if isinstance(side, int)}
        return any(variables <= read.place.keys() for read in self.reads[: len(self._rule.atoms)])

    def star(
        self,
        root: int,
        asked: frozenset[int],
        between: tuple[CodeTest, ...],
        computed: tuple[Computed, ...],
    ) -> Star | None:
        """The look-ups for the rows of an atom, those first that fewest are likely to pass; None
        where not all atoms can be looked up.
        """
        facts = self.reads[root]
        keys = self._keys(facts)
        bound, left = (
            {*facts.place, *(each.variable for each in keys)},
            [number for number in range(len(self.reads)) if number != root],
        )
        lookups: list[Lookup] = []
        waiting = Counter(variable for number in left for variable in self.reads[number].place)
        while left:
            ready = {
                number: lookup
                for number in left
                if (lookup := self._lookup(number, bound, waiting, asked)) is not None
            }
            if not ready:
                return None
            number = min(ready, key=lambda number: (*self._rank(facts, ready[number]), number))
            lookups.append(ready[number])
            left.remove(number)
            waiting.subtract(self.reads[number].place)
            bound.update(ready[number].takes)
        rows, others = self._count(facts), sum(self._count(lookup.read) for lookup in lookups)
        guessed = sum(
            self._count(lookup.read)
            for lookup in lookups
            if lookup.takes and not self._declared(lookup.read, lookup.key)
        )
        left_over = tuple([each for each in computed if not _is_made(each, keys)])
        cost = rows * (1.0 + len(lookups) + len(keys) + len(left_over)) + _MADE * others
        return Star(facts, tuple(lookups), between, left_over, keys, cost, _MADE * guessed)

    def _keys(self, facts: AtomRead) -> tuple[Assignment, ...]:
        """Computations of the facts alone, of variables that other atoms have."""
        sought = {variable for read in self.reads for variable in read.place} - facts.place.keys()
        made = [
            each
            for each in self._rule.assignments
            if each.variable in sought and reads(each) <= facts.place.keys()
        ]
        return tuple({each.variable: each for each in reversed(made)}.values())

    def _count(self, read: AtomRead) -> int:
        return self._relations[read.relation].count

    def _lookup(
        self, number: int, bound: set[int], waiting: Counter[int], asked: frozenset[int]
    ) -> Lookup | None:
        """The look-up in an atom when these variables are bound; None when it may find several rows
        to go on with, or any row at all. `waiting`: in how many atoms that are not looked up yet
        each variable stands.
        """
        read = self.reads[number]
        key = tuple(variable for variable in read.place if variable in bound)
        if number >= len(self._rule.atoms):
            return Lookup(read, key, (), negated=True) if len(key) == len(read.place) else None
        takes = tuple(
            variable
            for variable in read.place
            if variable not in bound and (variable in asked or waiting[variable] > 1)
        )
        if not key or (takes and not self._finds_one(read, key)):
            return None
        return Lookup(read, key, takes)

    def _finds_one(self, read: AtomRead, key: tuple[int, ...]) -> bool:
        """Tell whether no two rows seem to have the same key: a guess, the table tells."""
        relation = self._relations[read.relation]
        if not relation.count or self._declared(read, key):
            return True
        asked = read.relation, frozenset(_columns(read, key))
        if asked not in self._single:
            self._single[asked] = seems_key(relation, sorted(asked[1]), self._about.tuning)
        return self._single[asked]

    def _declared(self, read: AtomRead, key: tuple[int, ...]) -> bool:
        """True when a declared key keeps two rows from having the same values of `key`."""
        declared = self._relations[read.relation].schema.key
        return declared is not None and _columns(read, key).issuperset(declared)

    def _rank(self, facts: AtomRead, lookup: Lookup) -> tuple[float, int]:
        """Key that finds the look-up that fewest rows pass, of several the one in fewest rows."""
        return self._passing(facts, lookup), self._count(lookup.read)

    def _passing(self, facts: AtomRead, lookup: Lookup) -> float:
        """The share of the facts that find a row, as guessed."""
        share = _STAR_PASSING if lookup.read.tests else 1.0
        if lookup.negated:
            return share
        mine, theirs = (
            self._about.of(self._relations[read.relation]).distinct for read in (facts, lookup.read)
        )
        for variable in lookup.key:
            if variable in facts.place:
                share *= min(
                    1.0, theirs[lookup.read.place[variable]] / max(1.0, mine[facts.place[variable]])
                )
        return share


def _is_made(computed: Computed, keys: tuple[Assignment, ...]) -> bool:
    """Test for the computation of a key, or the comparison that it is where an atom has it too."""
    return any(
        computed in (each, Filter("=", Ref(each.variable), each.expression)) for each in keys
    )


def _columns(read: AtomRead, key: tuple[int, ...]) -> set[int]:
    """The columns that are known when these variables are: those of constants too."""
    constants = {
        left for operator, left, right in read.tests if operator == "=" and isinstance(right, Value)
    }
    return constants.union(read.place[variable] for variable in key)
