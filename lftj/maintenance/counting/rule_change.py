# SPDX-License-Identifier: Apache-2.0
"""Rules that came to a recursive stratum or went from it, found by comparison with the strata
before the commit: also where these were others.

The existing rows of its relations follow from the rules that derived them until now, whichever
strata these were in. So when a rule joins two strata into one cycle, or splits one, the change is
only one of rules, and the existing rows are updated like after any other change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import replace

from lftj.program.normal_form import FunctorRule, NormalRule, Stratum
from lftj.program.stratification import Stratification
from lftj.scantree.frozen import frozen


@frozen
class RuleChange:
    """Rules that derive rows of a stratum and did not before, and rules that did."""

    came: tuple[NormalRule, ...] = ()
    went: tuple[NormalRule, ...] = ()

    @staticmethod
    def since(
        stratum: Stratum, before: Stratification | None, old: Container[str]
    ) -> RuleChange | None:
        """Find the change of a stratum's rules since its rows were found; None where some rule is
        or was more than a join, no rule derived the rows before, or that is not known: without the
        strata `before`, or where they read or derived a relation that is not among the `old` ones:
        another may have the name now.

        O(rules of the strata that its relations were in).
        """
        strata = () if before is None else before.strata_of(stratum.relations)
        if not all(name in old for each in strata for name in (*each.relations, *each.reads)):
            return None
        were = [
            rule for each in strata for rule in each.rules if rule.relation in stratum.relations
        ]
        known = set(map(id, were)) & set(map(id, stratum.rules))
        came, went = _new(stratum.rules, known), _new(were, known)
        if not were or any(isinstance(rule, FunctorRule) or rule.aggregates for rule in went):
            return None
        joins, before_joins = [
            [rule for rule in rules if isinstance(rule, NormalRule)] for rules in (came, went)
        ]
        return RuleChange(_without(joins, before_joins), _without(before_joins, joins))

    def before(self, rules: Iterable[NormalRule]) -> list[NormalRule]:
        """The rules that were there, of the stratum's rules after the change."""
        return [*_without(rules, self.came), *self.went]

    def __bool__(self) -> bool:
        return bool(self.came or self.went)


NO_CHANGE = RuleChange()


def _new(
    rules: Iterable[NormalRule | FunctorRule], known: set[int]
) -> list[NormalRule | FunctorRule]:
    return [rule for rule in rules if id(rule) not in known]


def _without(rules: Iterable[NormalRule], others: Iterable[NormalRule]) -> tuple[NormalRule, ...]:
    """The rules without others, whoever wrote them; each goes once for each other one like it."""
    left, found = Counter([replace(rule, source=-1) for rule in others]), list[NormalRule]()
    for rule in rules:
        plain = replace(rule, source=-1)
        if left[plain] > 0:
            left[plain] -= 1
        else:
            found.append(rule)
    return tuple(found)
