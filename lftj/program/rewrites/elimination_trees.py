# SPDX-License-Identifier: Apache-2.0
"""Trees of variable elimination: which parts of a body are derived by themselves, before the rest
is joined with what they leave.

A variable that nobody asks for is *eliminated* by joining the atoms that have it and keeping, of
the result, only the variables that other atoms have. Variables go one by one, and each leaves a
part in place of the atoms that had it, until what is asked for is left [Dechter 1999; Abo Khamis,
Ngo and Rudra 2016]. The order matters. It is found greedily, by the steps that a variable takes,
by the rows that it leaves or by how many more these are, whichever comes out cheapest; then each
part that is not worth its rows goes back into the one that reads it. So cycles and cliques stay one
join, or become one where something hangs at them.

Parts of one shape over the same relations are one relation, and counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import islice
from operator import or_
from typing import NamedTuple

from lftj.program.rewrites.join_estimates import Profile, estimate, numbers
from lftj.scantree.frozen import record

ROW = 3.0
"""Kernel steps of keeping one row of a part: sorted, counted, and in its key orders."""
SURPLUS_ROW, SURPLUS = 20.0, 4.0
"""The same of rows beyond so many times those that the body reads: they take memory for good."""
PART = 500.0
"""Kernel steps of beginning and ending one search more."""
VIEW = 20_000.0
"""Kernel steps that each part has to save: a tenth of a millisecond, as a commit that reaches it
takes longer.
"""
GAIN = 2.0
"""Times cheaper that parts have to make a body: estimates are no nearer."""
_SWEEPS = 2
"""Variables that stay from which a body is swept."""
_INDEPENDENCE = 0.5
"""`independence` of `estimate`."""


class Atom(NamedTuple):
    """An atom of a body. `label` tells atoms of other relations, or with other constants, from it;
    `apart`: it may be in a part. `columns`: its variables as they stand.
    """

    label: str
    columns: tuple[int, ...]
    profile: Profile
    apart: bool = True


class Total(NamedTuple):
    """The variables of a value that is aggregated, and whether rows may be counted elsewhere before
    it is, which it is multiplied by.
    """

    variables: int
    counted: bool


class Problem(NamedTuple):
    """A body. `tests`: the variables of each literal that binds nothing; `held`: those that are not
    to be eliminated.
    """

    atoms: Sequence[Atom]
    tests: Sequence[int]
    held: int
    totals: Sequence[Total] = ()


@record(eq=False)
class Part:
    """A join of atoms and tests, by number, and of parts, of which `columns` come out.

    `variables`: all of them, and `out`: those of the columns, as bits; `totals`: those that are
    taken in it or below, as bits. `steps`: of its join; `shape`: the number of its like, `below`:
    those of the parts in it.
    """

    atoms: tuple[int, ...]
    tests: tuple[int, ...]
    parts: tuple[Part, ...]
    columns: tuple[int, ...]
    variables: int
    out: int
    totals: int
    steps: float
    profile: Profile
    shape: int
    below: frozenset[int]


_Score = Callable[[int, Part, Sequence["_Item"]], tuple[float, ...]]


class _Item(NamedTuple):
    """An atom, by number, or a part, to be joined."""

    made: int | Part
    variables: int
    rows: float
    apart: bool


def steps_of(problem: Problem) -> float:
    """Kernel steps of a body as it is."""
    return _Trees(problem).whole().steps


def is_cheap(problem: Problem) -> bool:
    """Test for a body that takes no longer than one part has to save."""
    return steps_of(problem) < VIEW


def eliminated(problem: Problem) -> Part | None:
    """The cheapest tree found, by its root; None where the body takes about as long as it is.

    O(variables²) in bodies whose atoms share few variables each.
    """
    trees = _Trees(problem)
    every = reduce(or_, (each.profile.variables for each in problem.atoms), 0)
    several = (every & ~problem.held).bit_count() > 1  # else there is no order to choose
    scores = [_steps]
    if several:
        starts = islice(numbers(problem.held & every), _SWEEPS)
        scores += [_rows, _growth, *(_distance(problem, start) for start in starts)]
    found = [trees.without_small(trees.greedy(score)) for score in scores]
    best = min(found, key=trees.cost)
    return best if best.parts and trees.pays(best) else None


def _steps(variable: int, part: Part, items: Sequence[_Item]) -> tuple[float, ...]:
    return (part.steps + ROW * part.profile.rows,)


def _rows(variable: int, part: Part, items: Sequence[_Item]) -> tuple[float, ...]:
    return (part.profile.rows,)


def _growth(variable: int, part: Part, items: Sequence[_Item]) -> tuple[float, ...]:
    return (part.profile.rows - sum(item.rows for item in items),)


def _distance(problem: Problem, start: int) -> _Score:
    """The distance of a variable from one that stays, then rows: a sweep through the body, as along
    a chain.
    """
    distance = {start: 0}
    for near in (waiting := [start]):
        for atom in problem.atoms:
            if atom.profile.variables >> near & 1:
                further = [v for v in numbers(atom.profile.variables) if v not in distance]
                distance.update(dict.fromkeys(further, distance[near] + 1))
                waiting += further
    return lambda variable, part, items: (distance.get(variable, 0), part.profile.rows)


class _Trees:
    """The trees of one body. Parts that are the same are one object."""

    def __init__(self, problem: Problem):
        self._problem = problem
        self._known: dict[object, Part] = {}
        self._shapes: dict[object, int] = {}
        self._costs: list[float] = []
        read = {each.label: each.profile.rows for each in problem.atoms}
        self._usual = SURPLUS * sum(read.values())

    def cost(self, root: Part) -> float:
        """Steps of deriving a body by a tree."""
        return root.steps + sum(self._costs[shape] for shape in root.below)

    def pays(self, root: Part) -> bool:
        """Test for a tree that is worth its parts."""
        return GAIN * self.cost(root) + VIEW * len(root.below) <= self.whole().steps

    def _kept(self, rows: float) -> float:
        """Steps of keeping rows."""
        return ROW * rows + (SURPLUS_ROW - ROW) * max(0.0, rows - self._usual)

    def whole(self) -> Part:
        """The body as it is."""
        problem = self._problem
        atoms, tests = range(len(problem.atoms)), range(len(problem.tests))
        return self._part(atoms, tests, (), problem.held)

    # ── parts ─────────────────────────────────────────────────────────────────────────────────────
    def _part(
        self, atoms: Sequence[int], tests: Sequence[int], parts: Sequence[Part], out: int
    ) -> Part:
        """The part of these, atoms and parts in an order that depends on what they read."""
        problem = self._problem
        atoms = tuple(sorted(atoms, key=lambda each: (problem.atoms[each].label, each)))
        parts = tuple(sorted(parts, key=lambda each: each.shape))
        key = (atoms, tuple(sorted(tests)), tuple(map(id, parts)), out)
        if key not in self._known:
            self._known[key] = self._made(atoms, key[1], parts, out)
        return self._known[key]

    def _made(
        self, atoms: tuple[int, ...], tests: tuple[int, ...], parts: tuple[Part, ...], out: int
    ) -> Part:
        problem = self._problem
        read = [problem.atoms[each] for each in atoms]
        profiles = [*(each.profile for each in read), *(each.profile for each in parts)]
        variables = reduce(or_, (each.variables for each in profiles), 0)
        totals = reduce(or_, (each.totals for each in parts), 0)
        listed = reduce(or_, (problem.tests[each] for each in tests), out)
        for number, (value, _) in enumerate(problem.totals):
            if value and value & ~variables == 0 and value & ~out:
                listed |= 0 if totals >> number & 1 else value
                totals |= 1 << number
        about = estimate(profiles, listed, _INDEPENDENCE)
        profile = about.projected(out & variables)
        place: dict[int, int] = {}
        said: list[tuple[object, list[int]]] = []
        for label, columns in (
            *((each.label, each.columns) for each in read),
            *((each.shape, each.columns) for each in parts),
        ):
            said.append((label, [place.setdefault(each, len(place)) for each in columns]))
        tried = sorted([place.get(v, -1) for v in numbers(problem.tests[each])] for each in tests)
        columns = tuple(sorted(numbers(out & variables), key=lambda each: place[each]))
        shown = repr((said, tried, [place[each] for each in columns], totals))
        shape = self._shapes.setdefault(shown, len(self._shapes))
        if shape == len(self._costs):
            self._costs.append(about.steps + self._kept(profile.rows) + PART)
        below = frozenset[int]().union(*(each.below | {each.shape} for each in parts))
        return Part(
            atoms,
            tests,
            parts,
            columns,
            variables,
            out,
            totals,
            about.steps,
            profile,
            shape,
            below,
        )

    # ── elimination, variable by variable ─────────────────────────────────────────────────────────
    def greedy(self, score: _Score) -> Part:
        """The tree in which each variable in turn is the one of the least score."""
        problem = self._problem
        items = [
            _Item(number, each.profile.variables, each.profile.rows, each.apart)
            for number, each in enumerate(problem.atoms)
        ]
        tests = list(range(len(problem.tests)))
        known: dict[int, tuple[tuple[float, ...], Part, list[_Item]] | None] = {}
        while True:
            open_ = reduce(or_, (item.variables for item in items), 0) & ~problem.held
            for variable in numbers(open_):
                if variable not in known:
                    known[variable] = self._bucket(variable, items, tests, score)
            found = [(each[0], v) for v in numbers(open_) if (each := known[v]) is not None]
            if not found:
                break
            best = known[min(found)[1]]
            assert best is not None
            _, part, used = best
            items = [item for item in items if item not in used]
            items.append(_Item(part, part.out, part.profile.rows, True))
            tests = [each for each in tests if each not in part.tests]
            touched = reduce(or_, (item.variables for item in used), 0)
            for item in items:
                touched |= item.variables if item.variables & touched else 0
            known = {v: each for v, each in known.items() if not touched >> v & 1}
        atoms, parts = _sorted(items)
        return self._part(atoms, tests, parts, problem.held)

    def _bucket(
        self, variable: int, items: Sequence[_Item], tests: Sequence[int], score: _Score
    ) -> tuple[tuple[float, ...], Part, list[_Item]] | None:
        """The part that eliminates a variable, with what it joins, and its score; None where none
        does, or where it would be the whole body.
        """
        used = self._joined(variable, items, tests)
        if used is None or len(used) == len(items):
            return None
        problem = self._problem
        inside = reduce(or_, (item.variables for item in used), 0)
        used += [
            item
            for item in items
            if item not in used and item.apart and item.variables & ~inside == 0
        ]
        if len(used) == len(items):
            return None
        rest = reduce(or_, (item.variables for item in items if item not in used), problem.held)
        for binding in self._together(tests):
            rest |= binding if binding & ~inside else 0
        if rest >> variable & 1:
            return None
        taken = [each for each in tests if problem.tests[each] & ~inside == 0]
        atoms, parts = _sorted(used)
        part = self._part(atoms, taken, parts, inside & rest)
        if self._counts_too_early(part):
            return None
        return score(variable, part, used), part, used

    def _together(self, tests: Sequence[int]) -> Iterator[int]:
        """Variables that are to be bound in one place: of tests, and of values that are added
        up.
        """
        yield from (self._problem.tests[each] for each in tests)
        yield from (value for value, _ in self._problem.totals)

    def _joined(
        self, variable: int, items: Sequence[_Item], tests: Sequence[int]
    ) -> list[_Item] | None:
        """The items with a variable, and as few more as bind all that is tested with it."""
        used = [item for item in items if item.variables >> variable & 1]
        while True:
            if not all(item.apart for item in used):
                return None
            inside = reduce(or_, (item.variables for item in used), 0)
            missing = 0
            for binding in self._together(tests):
                if binding >> variable & 1:
                    missing |= binding & ~inside
            missing &= reduce(or_, (item.variables for item in items), 0)
            if not missing:
                return used
            binding = [item for item in items if item.variables & missing and item not in used]
            used.append(min(binding, key=lambda item: item.rows))

    def _counts_too_early(self, part: Part) -> bool:
        """Test for a part that counts what a value is to be multiplied by that can not be."""
        return any(
            not often and not part.totals >> number & 1
            for number, (_, often) in enumerate(self._problem.totals)
        )

    # ── parts that are not worth their rows ───────────────────────────────────────────────────────
    def without_small(self, root: Part) -> Part:
        """The tree with parts in the place of their reader wherever this is no dearer, from the
        leaves on. O(parts²).
        """
        readers: dict[int, set[int]] = {}
        waiting = [root]
        while waiting:
            part = waiting.pop()
            for each in part.parts:
                readers.setdefault(each.shape, set()).add(part.shape)
            waiting += part.parts
        only = {shape for shape, its in readers.items() if len(its) == 1}
        return self._reduced(root, only, {})

    def _reduced(self, part: Part, only: set[int], was: dict[int, int]) -> Part:
        """A part without small ones. `only`: the shapes that parts of one shape read; `was`: the
        shapes of parts before they were reduced themselves, by identity.
        """
        inner = [self._reduced(each, only, was) for each in part.parts]
        now = self._part(part.atoms, part.tests, inner, part.out)
        tried = set[int]()
        while left := [each for each in now.parts if each.shape not in tried]:
            shape = left[0].shape
            tried.add(shape)
            saved = was[id(left[0])] in only
            other = self._with_inner(now, shape)
            before = now.steps + self._kept(now.profile.rows) + saved * self._costs[shape]
            if other.steps + self._kept(other.profile.rows) <= before:
                now = other
        was[id(now)] = part.shape
        return now

    def _with_inner(self, part: Part, shape: int) -> Part:
        """A part that joins what those of a shape in it join."""
        taken = [each for each in part.parts if each.shape == shape]
        left = [each for each in part.parts if each.shape != shape]
        atoms, tests = [*part.atoms], [*part.tests]
        for each in taken:
            atoms += each.atoms
            tests += each.tests
            left += each.parts
        return self._part(atoms, tests, left, part.out)


def _sorted(items: Sequence[_Item]) -> tuple[list[int], list[Part]]:
    """The atoms and the parts among some items."""
    atoms = [item.made for item in items if isinstance(item.made, int)]
    return atoms, [item.made for item in items if isinstance(item.made, Part)]
