# SPDX-License-Identifier: Apache-2.0
"""Keys of the counts that a search keeps (`counted_levels`), as variable orders are priced.

Sets of variables are bits of an integer here, as in `order_costs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import inf
from operator import or_

from lftj.join.plan.variable_orders import bits, numbers, variables_of
from lftj.program.normal_form import NormalRule, Ref

MOST_COUNTED = 62
"""Levels and variables of a plan whose counts are kept, at most: which ones are is found by looking
at all pairs.
"""
LONGEST_KEY = 6
"""Variables in the key of a kept count, at most."""
FIRST_COUNTED = 2
"""Variables before the first level whose counts are kept: a run is divided by the first two, and
what depends on neither is not the same in all parts.
"""


class KeptKeys:
    """The keys of one rule. `atoms`: the variables of each positive atom; `leading`: those that
    come out.
    """

    def __init__(self, rule: NormalRule, atoms: Sequence[int], leading: int):
        self._together = [
            *atoms,
            *(bits(a.variable for a in atom.args if isinstance(a, Ref)) for atom in rule.negated),
            *(bits(variables_of(each.left) | variables_of(each.right)) for each in rule.filters),
            *(bits({a.variable, *variables_of(a.expression)}) for a in rule.assignments),
        ]
        self._leading = leading
        self._known: dict[int, float] = {}

    def different(self, bound: int, level: int, kept: Callable[[int, int], float]) -> float:
        """Number of bindings of these variables that differ for the levels from this one on; ∞
        where no counts are kept there. `kept`: the values of a variable for each binding of others.
        """
        if self._leading & ~bound or level < FIRST_COUNTED:
            return inf
        if (found := self._known.get(bound)) is None:
            found = self._known[bound] = self._different(bound, kept)
        return found

    def _different(self, bound: int, kept: Callable[[int, int], float]) -> float:
        left = [group for group in self._together if group & ~bound]
        key = bound & reduce(or_, left, 0)
        # the rows of one atom are counted at once
        if len(left) <= 1 or key == bound or key.bit_count() > LONGEST_KEY:
            return inf
        found, known = 1.0, 0
        for variable in numbers(key):
            found *= kept(known, variable)
            known |= 1 << variable
        return found
