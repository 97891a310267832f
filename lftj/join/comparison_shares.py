"""Which share of a level's values comparisons keep, and which share lies between the bounds that they set, as variable orders are priced.

Only what lies between the bounds is looked at (`comparison_bounds`); other comparisons reject values one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from lftj.join.comparison_bounds import ends, least
from lftj.join.variable_orders import bits, variables_of
from lftj.program.normal_form import Filter, NormalRule

_ONE = 0.5
"""Share of values that a comparison is taken to keep."""
_WINDOW = 0.05
"""The same of two that are the ends of one range, as `t <= u` and `u < t + 60`: most are narrow."""
_BELOW, _ABOVE = 1, 2


class Shares(NamedTuple):
    """`kept` of all values, after `looked_at`."""

    kept: float
    looked_at: float


class _Comparison(NamedTuple):
    """The variables of a comparison, and those whose levels it bounds from below and from above when the others come before; as bits."""

    variables: int
    below: int
    above: int

    def sides(self, variable: int) -> int:
        """From where it bounds the level of one of them."""
        return (self.below >> variable & 1) * _BELOW | (self.above >> variable & 1) * _ABOVE


class ComparisonShares:
    """The comparisons of one rule."""

    def __init__(self, rule: NormalRule):
        self._comparisons = [_comparison(condition, rule) for condition in rule.filters]

    def looks_at(self, variable: int) -> int:
        """The variables, as bits, of the comparisons that have this one."""
        looked_at = 0
        for comparison in self._comparisons:
            looked_at |= comparison.variables if comparison.variables >> variable & 1 else 0
        return looked_at

    def of(self, bound: int, variable: int) -> Shares:
        """What the comparisons that this variable completes do at its level, behind those bound."""
        kept = looked_at = 1.0
        sides: dict[int, int] = {}
        for comparison in self._comparisons:
            variables = comparison.variables
            if not variables >> variable & 1 or variables & ~(bound | 1 << variable):
                continue
            share, found, before = _ONE, comparison.sides(variable), sides.get(variables, 0)
            if found | before == _BELOW | _ABOVE and found and before and variables != 1 << variable:
                share = _WINDOW / _ONE
            sides[variables] = before | found
            kept *= share
            looked_at *= share if found else 1.0
        return Shares(kept, looked_at)


def _comparison(condition: Filter, rule: NormalRule) -> _Comparison:
    variables = variables_of(condition.left) | variables_of(condition.right)
    below = bits(v for v in variables if least(condition, v, rule) is not None)
    return _Comparison(bits(variables), below, bits(v for v in variables if ends(condition, v, rule)))
