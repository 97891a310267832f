# SPDX-License-Identifier: Apache-2.0
"""Relations that add up what several rules find: each head counts or sums in the same column, or
has a value there, which is one of those that are added.

In a cycle of such relations a group's value is made of other groups' values. That is well-founded
where no group depends on itself: then there is an order of the groups, by levels, in which each is
finished before it is used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from lftj.program.normal_form import AggregateTerm, FunctorRule, NormalRule
from lftj.types.sources import is_hidden

ADDITIVE = ("sum", "count")


def sum_columns(rules: Iterable[NormalRule | FunctorRule]) -> dict[str, int]:
    """The column that is summed or counted, of relations of these rules that add up. O(rules)."""
    calls: dict[str, set[tuple[tuple[int, str], ...]]] = {}
    for rule in rules:
        calls.setdefault(rule.relation, set()).add(_calls(rule))
    found: dict[str, int] = {}
    for name, kinds in calls.items():
        aggregated = kinds - {()}
        if len(aggregated) == 1 and not is_hidden(name):
            (only,) = aggregated
            if len(only) == 1 and only[0][1] in ADDITIVE:
                found[name] = only[0][0]
    return found


def _calls(rule: NormalRule | FunctorRule) -> tuple[tuple[int, str], ...]:
    if isinstance(rule, FunctorRule):
        return ((-1, "functor"),)
    return tuple(
        (column, term.function)
        for column, term in enumerate(rule.head)
        if isinstance(term, AggregateTerm)
    )


def adds_up(
    rules: Sequence[NormalRule | FunctorRule], members: Collection[str], *, cycle: bool
) -> bool:
    """Test for a stratum that is followed by levels: all of its relations add up, and read one
    another in positive atoms alone.
    """
    columns = sum_columns(rules)
    if not all(name in columns for name in members) or (not cycle and len(rules) < 2):
        return False
    return not any(
        atom.relation in members
        for rule in rules
        if isinstance(rule, NormalRule)
        for atom in rule.negated
    )
