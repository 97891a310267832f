"""Values that many rows have, in two atoms of a body at once.

Where a few users wrote most posts and have most friends, a post has far more friends of its author
beside it than users have on average: a value that comes from a row is one that many rows have. What
the mean says is right of values that are bound by themselves, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from lftj.join.plan.atom_statistics import AtomStatistics
from lftj.join.plan.variable_orders import bits

_CROWDED = 2.0  # times the mean: fewer rows more for a value may be chance

Skew = Mapping[tuple[int, int], Sequence[tuple[int, float]]]
"""By the numbers of an atom and a variable, as a bit: for other atoms, their other variables as
bits, and how many rows of the atom have a value of the variable that rows of the other have, where
these are more than the mean. Once one of those variables is bound too, it is such rows that
bindings come from.
"""
NO_SKEW: Skew = MappingProxyType({})


def skew_of(atoms: Sequence[AtomStatistics], at: Sequence[Sequence[int]]) -> Skew:
    """What is known of a body's atoms. `at`: by variable, the numbers of the atoms that have it.
    O(atoms² · frequent values).
    """
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for variable, numbers in enumerate(at):
        for number in numbers if len(numbers) > 1 else ():
            about = atoms[number].statistics
            mine = atoms[number].frequent(variable)
            even = about.rows / max(1.0, atoms[number].values(variable))
            for other in numbers if mine else ():
                others = bits(atoms[other].columns) & ~(1 << variable)
                theirs = atoms[other].frequent(variable)
                rows = about.rows * sum(
                    [mine[value] * theirs[value] for value in mine.keys() & theirs.keys()]
                )
                if other != number and others and rows > _CROWDED * even:
                    found.setdefault((number, 1 << variable), []).append((others, rows))
    return found or NO_SKEW
