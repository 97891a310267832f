# SPDX-License-Identifier: Apache-2.0
"""Estimates of joins before there is a plan: how many assignments a few atoms have, by how many
rows and values each has [Selinger 1979].

They tell which parts of a body to derive by themselves (`elimination_trees`). A plan is chosen
later, by the key orders that exist (`lftj.join.plan`). Sets of variables are bits of an integer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import expm1, inf, prod
from typing import NamedTuple

from lftj.program.statistics_hints import Size

_MOST = 1e200  # where estimates stop: ∞ · 0 has no value
_STARTS = 8  # variables that an order is begun with, at most


def bits(variables: Iterable[int]) -> int:
    """A set of variables, as the bits of a number."""
    return sum(1 << variable for variable in set(variables))


def numbers(variables: int) -> Iterator[int]:
    """Yield the variables that are the bits of a number, ascending."""
    while variables:
        lowest = variables & -variables
        yield lowest.bit_length() - 1
        variables ^= lowest


class Profile(NamedTuple):
    """Estimates of rows over `variables`: how many there are, how many values each variable has,
    and in how many groups of the size that a row drawn at random is in they would lie by it.
    """

    variables: int
    rows: float
    values: Mapping[int, float]
    groups: Mapping[int, float]

    @staticmethod
    def of(columns: Sequence[int | None], size: Size) -> Profile:
        """The rows of an atom with these variables, and None for constants."""
        rows, seen = float(max(size.rows, 1)), set[int]()
        for column, variable in enumerate(columns):
            if variable is None or variable in seen:
                rows /= max(1.0, size.distinct[column])
            elif variable is not None:
                seen.add(variable)
        rows = max(rows, 1.0)
        first = {v: columns.index(v) for v in seen}
        values = {v: max(1.0, min(size.distinct[at], rows)) for v, at in first.items()}
        groups = {
            v: max(1.0, min(values[v], size.rows / max(size.crowds[at], 1.0)))
            for v, at in first.items()
        }
        return Profile(bits(seen), rows, values, groups)

    def keyed(self, variables: Iterable[int]) -> Profile:
        """The same where each of these variables has another value in each row."""
        each = dict.fromkeys(variables, self.rows)
        values, groups = {**self.values, **each}, {**self.groups, **each}
        return self._replace(values=values, groups=groups) if each else self

    @staticmethod
    def constant(variable: int) -> Profile:
        """One value of a variable."""
        one = {variable: 1.0}
        return Profile(1 << variable, 1.0, one, one)

    def repeated(self, searched: int) -> float:
        """Rows for each combination of the values of variables that are searched."""
        if not self.variables & ~searched:
            return 1.0
        combinations = prod(self.values[v] for v in numbers(self.variables & searched))
        return max(1.0, self.rows / combinations)


class Estimate(NamedTuple):
    """Steps of a search for the assignments of a join, their number, and the values of variables.

    Variables that are in one atom and that nobody asks for are left out: the rows of the last atom
    are counted at once. Those of others are searched.
    """

    steps: float
    assignments: float
    values: Mapping[int, float]

    def projected(self, variables: int) -> Profile:
        """The different values of some of the variables."""
        domain = prod(self.values[v] for v in numbers(variables))
        if not domain < _MOST:
            rows = self.assignments
        else:
            rows = min(self.assignments, -domain * expm1(-self.assignments / domain))
        rows = max(1.0, rows)
        values = {v: min(self.values[v], rows) for v in numbers(variables)}
        return Profile(variables, rows, values, values)


def estimate(profiles: Sequence[Profile], wanted: int, independence: float = 1.0) -> Estimate:
    """The join of atoms, in the cheapest of some variable orders. `wanted`: variables that come
    out, or that something else reads. `independence`: how far a value that an atom leaves is taken
    to be found in another one by chance only: 1 for chance, 0 for certainty. In a grid over one
    relation it is certain for each walk, so a body of many cycles has far more assignments than
    chance would have it.
    """
    once, several = 0, 0
    for profile in profiles:
        several |= once & profile.variables
        once |= profile.variables
    searched = (once & wanted) | several
    values = dict.fromkeys(numbers(once), inf)
    for profile in profiles:
        for v, number in profile.values.items():
            values[v] = min(values[v], number)
    counted = sorted(profile.repeated(searched) for profile in profiles)
    if not searched:
        return Estimate(min(_MOST, prod(counted[:-1])), 1.0, values)
    starts = sorted(numbers(searched), key=lambda v: values[v])[:_STARTS]
    steps, assignments = min(_order(profiles, searched, start, independence) for start in starts)
    return Estimate(min(_MOST, steps * prod(counted[:-1])), assignments, values)


class _Reached:
    """One atom in an order: combinations of its variables bound so far, and the number of its rows'
    groups by them.
    """

    __slots__ = ("bound", "combinations", "groups", "profile")

    def __init__(self, profile: Profile):
        self.profile, self.bound = profile, 0
        self.combinations = self.groups = 1.0

    def fanout(self, variable: int) -> float:
        """Values of a variable for each binding of those bound."""
        profile = self.profile
        after = min(profile.rows, self.combinations * profile.values[variable])
        return max(min(after / self.groups, profile.values[variable]), min(1.0, after))

    def bind(self, variable: int, first: bool) -> None:
        """Bind a variable. Values that come from rows of other atoms are those that many rows
        have, those that come `first` have each once.
        """
        profile = self.profile
        from_elsewhere = self.combinations == 1.0 and not first
        self.combinations = min(profile.rows, self.combinations * profile.values[variable])
        self.groups = profile.groups[variable] if from_elsewhere else self.combinations
        self.bound |= 1 << variable

    def spread(self, variable: int) -> None:
        """Have rows of another atom been bound for each value of a variable: values that many rows
        have are repeated more often.
        """
        if self.bound == 1 << variable:
            self.groups = self.profile.groups[variable]


def _order(
    profiles: Sequence[Profile], searched: int, start: int, independence: float
) -> tuple[float, float]:
    """Steps and assignments of a search that begins with a variable and goes on with whichever
    leaves the fewest bindings.
    """
    atoms = [_Reached(profile) for profile in profiles]
    at: dict[int, list[_Reached]] = {v: [] for v in numbers(searched)}
    for atom in atoms:
        for v in numbers(atom.profile.variables & searched):
            at[v].append(atom)
    steps, bindings, left, near, variable = 0.0, 1.0, searched, 0, start
    kept, fewest = _level(at[start], start, independence)
    while True:
        steps = min(_MOST, steps + bindings * fewest * len(at[variable]))
        first = left == searched
        bindings = min(_MOST, bindings * kept)
        left &= ~(1 << variable)
        for atom in at[variable]:
            for other in numbers(atom.bound):
                for each in at[other]:
                    each.spread(other)
            atom.bind(variable, first)
            near |= atom.profile.variables
        if not left:
            return steps, bindings
        kept, fewest, variable = min(
            (*_level(at[v], v, independence), v) for v in numbers(left & near or left)
        )


def _level(atoms: Sequence[_Reached], variable: int, independence: float) -> tuple[float, float]:
    """Bindings that a variable leaves of each before, and values that are tried for each."""
    fanouts = [atom.fanout(variable) for atom in atoms]
    if len(fanouts) == 1:
        return fanouts[0], fanouts[0]
    most = max(atom.profile.values[variable] for atom in atoms)
    fewest = min(fanouts)
    shares = prod(min(1.0, fanout / most) for fanout in fanouts) / min(1.0, fewest / most)
    return fewest * shares**independence, fewest
