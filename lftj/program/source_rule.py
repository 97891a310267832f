# SPDX-License-Identifier: Apache-2.0
"""Rules of the user with what they became, and how they become that."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from lftj.program.bindings import relations_of
from lftj.program.checked import CheckedProgram
from lftj.program.hidden import source_of
from lftj.program.rewrites.pipeline import NormalizedRule, normalize
from lftj.program.statistics_hints import Answers, Asking, Known, Sizes
from lftj.program.stratification import Stratification
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.syntax.attention import look

_RULE = 16
"""Steps of reading that bringing a rule to normal form takes about."""


@frozen(slots=True)
class SourceRule:
    """A rule of the user and what it became.

    `plain`: the same under the names that hidden relations have at first; `answers`, `cycle` and
    `taken`: what it was made with; `names`: of its hidden relations that are another rule's too.
    """

    rule: tree.Rule
    normal: NormalizedRule
    plain: NormalizedRule
    answers: Answers
    cycle: frozenset[str]
    taken: frozenset[str]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def unsure(self) -> frozenset[str]:
        """The relations whose rows were too few to tell what suits."""
        return self.answers.unsure

    def of(self, normal: NormalizedRule, names: Mapping[str, str]) -> SourceRule:
        """The rule with hidden relations that are other rules' too."""
        if normal == self.normal and names == self.names:
            return self
        return replace(self, normal=normal, names=names)

    def written(self, number: int) -> WrittenRule:
        """All that the rule is made of."""
        return WrittenRule(number, self.rule, self.answers, self.cycle, self.taken, self.names)


class WrittenRule(NamedTuple):
    """A rule of the user and what its normal form was made with; see `SourceRule`."""

    number: int
    rule: tree.Rule
    answers: Answers
    cycle: frozenset[str]
    taken: frozenset[str]
    names: Mapping[str, str] = MappingProxyType({})


@frozen
class Normalizer:
    """Normalises rules that are checked, of ids from `first` on, beside those of an `order`; hidden
    relations get none of the names that are `taken`.
    """

    checked: CheckedProgram
    sizes: Sizes
    order: Stratification
    first: int
    taken: Collection[str] = ()

    def of(self, number: int, cycle: Collection[str] = ()) -> SourceRule:
        """The rule of this id; `cycle`: see `normalize`. Raises DeclarationError."""
        look(_RULE)
        rule, asking = self.checked.rules[number - self.first], Asking(self.sizes, self._recursive)
        catalog = self.checked.catalog
        adding = {
            head.relation: sums
            for head in rule.heads
            if (sums := catalog.derivations[head.relation].sums) is not None
        }
        known = Known(catalog.relations, asking, asking.depends, adding)
        plain = normalize(rule, number, known, cycle)
        normal = normalize(rule, number, known, cycle, self.taken) if self.taken else plain
        return SourceRule(
            rule.rule,
            normal,
            plain,
            asking.answers,
            frozenset(cycle),
            frozenset(name for name in self.taken if source_of(name) == number),
        )

    def _recursive(self, relation: str, others: Collection[str]) -> bool:
        """See `Recursive`; as before, where the rule was made before. O(rules) at most."""
        if isinstance(self.sizes, Answers):
            return self.sizes.depends(relation, others)
        found, waiting = set(others), [*others]
        while waiting and relation not in found:
            name = waiting.pop()
            places = self.order.reading(name)
            heads = {each for place in places for each in self.order.strata[place].relations}
            heads |= self._heads.get(name, set())
            waiting += heads - found
            found |= heads
        return relation in found

    @cached_property
    def _heads(self) -> Mapping[str, set[str]]:
        """The heads of the rules that are normalised, by the relations that they read."""
        found: dict[str, set[str]] = {}
        for rule in self.checked.rules:
            for name in relations_of(rule.body.literals):
                found.setdefault(name, set()).update(head.relation for head in rule.heads)
        return found
