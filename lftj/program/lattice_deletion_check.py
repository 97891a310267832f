# SPDX-License-Identifier: Apache-2.0
"""Check that best values rest on best values: the condition on a stratum with `min` or `max` in its
cycle under which its rows alone show their dependencies.

A value on the way to the best may matter for ever:

best(x, min(w)) :- own(x, w).
best(x, min(max(b - 1, 0))) :- best(y, b), near(x, y).

A 5 of its own brings a node that is near itself down to 0, which then is derived from itself. Best
values alone do not show the loss when the 5 goes. Two kinds of rules exclude that, whatever the
data:

- *strict* ones, whose value gets better with each value that they read: had one of these been
bettered, the derived value would have been too. So the derivation that first found a best
value has best values in all places. Shortest paths over integers, of any sign.
- *rising* ones, whose value is no better than any that they read: put rows in the order of their
values, the better first, and among equals in that in which they were found; then each has a
derivation from earlier ones. Least labels, widest paths, paths of weights >= 0.

All rules of a stratum must be of one kind: by turns the two make the example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from lftj.program.monotone import Lattice, lattices
from lftj.program.normal_form import (
    AggregateTerm,
    Apply,
    Expression,
    FunctorRule,
    NormalRule,
    Ref,
    Value,
)

_EXACT = ("int", "decimal")
_NONE = frozenset[int]()


def optimal_support(rules: Iterable[NormalRule | FunctorRule]) -> bool:
    """Check that each row of a recursive stratum with these rules has a derivation without circles,
    from best values where values are the best.

    False where the rules do not show it; True without `min` and `max`. O(rules).
    """
    rules = list(rules)
    known = lattices(rules)
    each = [
        _Offered(rule, known)
        for rule in rules
        if isinstance(rule, NormalRule) and rule.relation in known
    ]
    if len(each) < len(rules):
        return not known
    functions = {lattice.function for lattice in known.values()}
    return all(rule.strict for rule in each) or (
        len(functions) == 1 and all(rule.rising for rule in each)
    )


class _Offered:
    """The value that one rule offers, and the best values in its body."""

    def __init__(self, rule: NormalRule, known: Mapping[str, Lattice]):
        self._filters = rule.filters
        self._better = known[rule.relation].function
        self._worse = "max" if self._better == "min" else "min"
        values = [
            atom.args[known[atom.relation].column] for atom in rule.atoms if atom.relation in known
        ]
        self._moving = frozenset(value.variable for value in values if isinstance(value, Ref))
        bound = {
            term.variable for atom in rule.atoms for term in atom.args if isinstance(term, Ref)
        }
        self._assigned = {
            each.variable: each.expression
            for each in rule.assignments
            if each.variable not in bound
        }
        self._offer = next(term.args[0] for term in rule.head if isinstance(term, AggregateTerm))

    @property
    def strict(self) -> bool:
        """True when the value gets better with each of them."""
        return self._moving <= self._strict(self._offer)

    @property
    def rising(self) -> bool:
        """True when the value is no better than any of them."""
        return self._moving <= self._rising(self._offer)

    def _strict(self, expression: Expression) -> frozenset[int]:
        """Best values with which an expression gets better. That it gets worse with none of them
        was checked before.
        """
        match expression:
            case Ref(variable=variable):
                return self._of(variable, self._strict)
            case Apply(operator="+" | "-" | "neg", args=args) if expression.type.name in _EXACT:
                return _NONE.union(*map(self._strict, args))
        return _NONE

    def _rising(self, expression: Expression) -> frozenset[int]:
        """Than which of them an expression is no better."""
        match expression:
            case Ref(variable=variable):
                return self._of(variable, self._rising)
            case Apply(operator=operator, args=args) if operator in (self._better, self._worse):
                found = list(map(self._rising, args))
                return (
                    _NONE.union(*found)
                    if operator == self._worse
                    else found[0].intersection(*found[1:])
                )
            case Apply(operator="+", args=(left, right)):
                return (self._rising(left) if self._adds(right) else _NONE) | (
                    self._rising(right) if self._adds(left) else _NONE
                )
        return _NONE

    def _of(self, variable: int, kind: Callable[[Expression], frozenset[int]]) -> frozenset[int]:
        if variable in self._moving:
            return frozenset((variable,))
        return kind(self._assigned[variable]) if variable in self._assigned else _NONE

    def _adds(self, term: Expression) -> bool:
        """Check that adding this term makes nothing better: a constant, or a term that a comparison
        of the rule bounds.
        """
        if isinstance(term, Value):
            return self._no_better(term)
        above, below = ("<", "<="), (">", ">=")
        after, before = (above, below) if self._better == "min" else (below, above)
        return any(
            (test.operator in before and test.left == term and self._no_better(test.right))
            or (test.operator in after and test.right == term and self._no_better(test.left))
            for test in self._filters
        )

    def _no_better(self, term: Expression) -> bool:
        number = term.value if isinstance(term, Value) else None
        if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
            return False
        return number >= 0 if self._better == "min" else number <= 0
