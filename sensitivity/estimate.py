# SPDX-License-Identifier: Apache-2.0
"""Estimates of the size of an index and the cost of a surgery, at each granularity, from row and
distinct counts.

The model takes columns to be independent and values to be spread evenly, as variable orders are
chosen too. It is wrong on skewed data; a wrong guess costs time or memory, never an answer, and the
elastic switch bounds the time.

Under bound columns S an atom of n rows has b = min(distinct of the column, n / Π distinct of S)
values to offer. At a level of k such atoms the leapfrog makes about as many leaps as the least of
the b, and Π b / Dᵏ⁻¹ values match, D being the size of the level's domain.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from dataclasses import replace

from lftj.scantree.frozen import frozen
from lftj.sensitivity.cheapest_first import AHEAD, Found, Links, cheapest_first
from lftj.sensitivity.granularity import EXACT, NONE, Granularity, hull, projected
from lftj.sensitivity.level_stretches import NOTHING, Stretch, Stretches, first_missing
from lftj.sensitivity.shape import BodyShape, Position

_MayCome = Callable[[int, Set[int], int], bool]
"""Tests that a level may come next: `(level, bound, prefix)`; all before `prefix` are bound."""

PAGES = 1.3
"""Bytes of a tree's pages over those of its rows."""

_CUTS = 16
"""Number of the levels before a position up to which an index may keep a part."""
_LOOKED_AT = 512
"""Levels that are looked at for these options of one position: a long body has many positions, and
fewer options of each.
"""

CLEARLY = 4.0
"""Factor above a delta query in its own order from which a region is priced as that delta query."""


@frozen(slots=True)
class AtomStatistics:
    """Rows of an atom's relation, and for each of the atom's key columns how many distinct values
    it has.
    """

    rows: float
    distinct: tuple[float, ...]


@frozen(slots=True)
class Option:
    """A granularity for a position: the bytes of its index, and the kernel steps that one surgery
    leads to.
    """

    granularity: Granularity
    bytes: float
    steps: float


@frozen(slots=True)
class PositionEstimate:
    """The options of one position, from the smallest index to the largest."""

    position: Position
    options: tuple[Option, ...]


@frozen(slots=True)
class BodyEstimate:
    """Kernel steps of a full evaluation, and the options of each position that an index can be kept
    for.
    """

    full_steps: float
    positions: tuple[PositionEstimate, ...]


def estimate(
    body: BodyShape,
    statistics: Sequence[AtomStatistics],
    look: Callable[[int], None] = lambda _: None,
) -> BodyEstimate:
    """Estimates for a body; `statistics` one per atom. O(log levels) for each position, and for
    each atom up to `AHEAD` levels behind it.

    `look` is told of the levels that were gone through, and may raise.
    """
    model = _Model(body, statistics, look)
    positions = tuple(
        PositionEstimate(position, model.options(position)) for position in body.indexable
    )
    return BodyEstimate(model.steps(frozenset()), positions)


class _Model:
    def __init__(
        self, body: BodyShape, statistics: Sequence[AtomStatistics], look: Callable[[int], None]
    ) -> None:
        self._body, self._look = body, look
        self._offers: list[list[tuple[int, int]]] = [
            [] for _ in range(body.levels)
        ]  # (atom, column) by level
        self._statistics = statistics
        for number, atom in enumerate(body.atoms):
            for column, level in enumerate(atom.columns):
                if not atom.negated and isinstance(level, int):
                    self._offers[level].append((number, column))
        beside = [
            {level for atom, _ in offers for level in body.atoms[atom].columns}
            for offers in self._offers
        ]
        self._beside = [
            frozenset(level for level in levels if isinstance(level, int)) for levels in beside
        ]  # by level, those of its atoms
        from_all = sorted([level for level, source in body.computed.items() if source is None])
        self._links = Links(self._followed_by(), from_all)
        self._levels: dict[tuple[int, frozenset[int], float], tuple[float, float]] = {}
        self._domains = [self._domain(level) for level in range(body.levels)]
        self._of_atoms: dict[int, tuple[float, float]] = {}
        self._steps: dict[frozenset[int], float] = {}
        self._cuts = max(1, min(_CUTS, _LOOKED_AT // max(body.levels, 1)))
        look(body.levels)
        self._before = [
            frozenset([other for other in beside if other < level])
            for level, beside in enumerate(self._beside)
        ]
        self._in_order = [self._stretch(level, before) for level, before in enumerate(self._before)]
        self._resting = sorted(
            [
                (self._level(level, frozenset())[1], level)
                for level in range(body.levels)
                if self._ready(level, frozenset(), 0)
            ]
        )
        self._stretches = Stretches(self._in_order)
        self._alive = self._contexts()

    def _followed_by(self) -> list[list[int]]:
        """Levels, by level, that may become another choice when it is bound: of its atoms, and
        those computed from it.
        """
        found = [set(beside) for beside in self._beside]
        for level, source in self._body.computed.items():
            if isinstance(source, int) and source >= 0:
                found[source].add(level)
        return [sorted(others - {level}) for level, others in enumerate(found)]

    def _branching(self, atom: int, column: int, bound: Collection[object], least: float) -> float:
        """Estimate the number of values that an atom offers in a column when the levels `bound`
        have values; at least `least` in a relation with rows.
        """
        about = self._statistics[atom]
        rows = about.rows
        for other, level in enumerate(self._body.atoms[atom].columns):
            if other != column and level in bound:
                rows /= max(about.distinct[other], 1.0)
        return min(about.distinct[column], max(rows, least)) if about.rows else 0.0

    def _domain(self, level: int) -> float:
        """Distinct values that a level can take."""
        sizes = [self._statistics[atom].distinct[column] for atom, column in self._offers[level]]
        return max(1.0, min(sizes)) if sizes and level not in self._body.computed else 1.0

    def _level(self, level: int, bound: Set[int], least: float = 0.0) -> tuple[float, float]:
        """(leaps, matches) per context of a level under bound ones, of which each atom offers
        `least` values.
        """
        key = (level, self._beside[level] & bound, least)
        if key not in self._levels:  # a long body asks for the same ones again and again
            self._levels[key] = self._level_under(*key)
        return self._levels[key]

    def _level_under(self, level: int, bound: frozenset[int], least: float) -> tuple[float, float]:
        offers = [
            self._branching(atom, column, bound, least) for atom, column in self._offers[level]
        ]
        if not offers:
            return 1.0, 1.0
        domain = max(
            1.0,
            max(self._statistics[atom].distinct[column] for atom, column in self._offers[level]),
        )
        matches = domain
        for offered in offers:
            matches *= min(1.0, offered / domain)
        if level in self._body.computed:
            return float(len(offers)), min(1.0, matches)
        return 1.0 + min(offers), matches

    def _stretch(self, level: int, bound: frozenset[int]) -> Stretch:
        """A level by itself, under bound ones."""
        leaps, matches = self._level(level, bound)
        return Stretch(leaps * max(1, len(self._offers[level])), matches)

    def _contexts(self) -> list[float]:
        """The contexts alive before each level of a full evaluation, and at the end.

        In the existential block the search under each context before it ends at the first of its
        proofs.
        """
        block, so_far, alive = self._body.exists_from, NOTHING, [1.0]
        for level in self._in_order:
            so_far = so_far.then(level)
            alive.append(so_far.matches)
        proofs = max(1.0, alive[-1] / max(alive[block], 1e-9))
        return [count / proofs if level >= block else count for level, count in enumerate(alive)]

    def steps(self, pinned: frozenset[int]) -> float:
        """Kernel steps to evaluate one region: an evaluation whose pinned levels lead the key
        order.
        """
        if pinned not in self._steps:
            block = self._body.exists_from
            before = self._through(0, block, pinned)
            behind = self._through(block, self._body.levels, pinned)
            ends = before.then(behind).matches
            proofs = max(1.0, ends / max(before.matches, 1e-9))
            self._steps[pinned] = (
                1.0 + len(pinned) + before.steps + before.matches * behind.steps / proofs
            )
        return self._steps[pinned]

    def _through(self, begin: int, end: int, pinned: frozenset[int]) -> Stretch:
        """The levels from `begin` on that are before `end`, where some are pinned.

        That makes a difference to these, and to those before them that have an atom in common with
        one.
        """
        begin = first_missing(sorted(pinned), begin)
        others = {level for level in pinned if begin <= level < end}
        for level in pinned:
            if level >= begin:
                to = min(level, end)
                others.update([other for other in self._beside[level] if begin <= other < to])
        self._look(1 + len(others))
        return self._stretches.replaced(
            begin, end, [(level, self._beside_pinned(level, pinned)) for level in sorted(others)]
        )

    def _beside_pinned(self, level: int, pinned: frozenset[int]) -> Stretch:
        """A level where some are pinned."""
        if level in pinned:
            return NOTHING
        return self._stretch(level, self._before[level] | self._beside[level] & pinned)

    def options(self, position: Position) -> tuple[Option, ...]:
        """Options from the smallest index to the largest."""
        alive = max(self._alive[position.level], 1.0)
        alphas = self._combinations(position.alpha, alive)
        found = [Option(NONE, 0.0, self._without_index(position))]
        for cut in range(min(len(position.gamma), self._cuts)):
            kept = position.gamma[:cut]
            contexts = self._combinations((*position.alpha, *kept), alive)
            found.append(self._option(position, projected(cut), kept, contexts, contexts / alphas))
        found.append(self._option(position, hull(), position.gamma, alive, alive / alphas))
        leaps, covered = self._leaps(position)
        found.append(
            self._option(position, EXACT, position.gamma, alive * leaps, alive / alphas * covered)
        )
        _, least = self._of_atom(position.atom)
        return tuple(replace(option, steps=max(option.steps, least)) for option in found)

    def _without_index(self, position: Position) -> float:
        """Kernel steps of a surgery for which there is no index.

        Where no position has one, a changed row pins its atom's variables, and the others follow in
        whatever order is best for it. Where the search stops at a first proof some position will
        have one.
        """
        region = self._region(position, ())
        if self._body.exists_from < self._body.levels:
            return region
        query, _ = self._of_atom(position.atom)
        return query if query * CLEARLY < region else region

    def _of_atom(self, atom: int) -> tuple[float, float]:
        """Costs that all positions of an atom share: its delta query, and its proofs."""
        if atom not in self._of_atoms:
            self._of_atoms[atom] = self._delta_query(atom), self._proofs(atom)
        return self._of_atoms[atom]

    def _delta_query(self, atom: int) -> float:
        """Kernel steps to join one row of an atom with the others: each time the level that has
        fewest matches comes next.
        """
        bound = self._levels_of(atom)
        steps, alive = 1.0 + len(bound), 1.0
        for level, (leaps, matches) in cheapest_first(
            bound, self._resting, self._links, self._found(self._ready, 0.0)
        ):
            steps += alive * leaps * max(1, len(self._offers[level]))
            alive *= matches
        return steps + alive * (self._body.levels - len(bound))

    def _levels_of(self, atom: int) -> set[int]:
        return {level for level in self._body.atoms[atom].columns if isinstance(level, int)}

    def _proofs(self, atom: int) -> float:
        """Kernel steps that no index saves: where every proof counts, those to go through all that
        one row of an atom has part in.

        Levels that nothing joins with the row are not counted, since comparisons, of which nothing
        is known here, may leave few values of them. An atom's columns offer at least one value
        each: those before were found in one of its rows.
        """
        if self._body.exists_from < self._body.levels:
            return 0.0
        bound, proofs, deep = self._levels_of(atom), 1.0, 0
        for _, (_, matches) in cheapest_first(
            bound, (), self._links, self._found(self._joined, 1.0)
        ):
            proofs, deep = proofs * matches, deep + 1
        return proofs * deep

    def _found(
        self, may_come: _MayCome, least: float
    ) -> Callable[[int, Set[int], int], Found | None]:
        def find(level: int, bound: Set[int], prefix: int) -> Found | None:
            return self._level(level, bound, least) if may_come(level, bound, prefix) else None

        self._look(min(self._body.levels, AHEAD))
        return find

    def _joined(self, level: int, bound: Set[int], prefix: int) -> bool:
        """Test for an atom that takes part both at this level and at a bound one."""
        return not self._beside[level].isdisjoint(bound)

    def _ready(self, level: int, bound: Set[int], prefix: int) -> bool:
        """Test for a level whose operands are bound. Where these are not known, all earlier levels
        must be.
        """
        source = self._body.computed.get(level, -1)
        if source is None:
            return prefix >= level
        return not isinstance(source, int) or source < 0 or source in bound

    def _combinations(self, levels: Iterable[int], at_most: float) -> float:
        product = 1.0
        for level in levels:
            product *= self._domains[level]
            if product >= at_most:
                break
        return max(1.0, min(product, at_most))

    def _leaps(self, position: Position) -> tuple[float, float]:
        """(intervals per context, share of the domain they cover): each leap covers one gap between
        values that the atom offers.
        """
        bound = range(position.level)
        leaps, matches = self._level(position.level, self._before[position.level])
        if position.negated:
            return max(1.0, matches), min(1.0, matches / self._domains[position.level])
        offered = self._branching(position.atom, position.column, bound, 0.0)
        return leaps, min(1.0, leaps / max(offered, 1.0))

    def _option(
        self,
        position: Position,
        granularity: Granularity,
        kept: Sequence[int],
        intervals: float,
        hits: float,
    ) -> Option:
        width = 8 * (len(position.alpha) + 2 + len(kept))
        regions = min(
            hits, self._combinations(self._pinned(position, kept) - set(position.pinned), hits)
        )
        return Option(
            granularity,
            max(1.0, intervals) * width * PAGES,
            1.0 + regions * self._region(position, kept),
        )

    def _region(self, position: Position, kept: Sequence[int]) -> float:
        return self.steps(self._pinned(position, kept))

    def _pinned(self, position: Position, kept: Sequence[int]) -> frozenset[int]:
        pinned = frozenset((*position.pinned, *kept))
        if position.level < self._body.exists_from:
            return pinned
        return frozenset(level for level in pinned if level < self._body.exists_from)
