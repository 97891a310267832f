# SPDX-License-Identifier: Apache-2.0
"""A program and facts, by which each step of a proof is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from lftj.proofs.aggregates import UserFold
from lftj.proofs.choice import HIDDEN, choice_domains, with_relations_for_choices
from lftj.proofs.inference import NO_FUNCTIONS, typed
from lftj.proofs.kinds import OfUsers
from lftj.proofs.program import HeadRule, evaluate
from lftj.proofs.steps import Chosen, Premise, Row
from lftj.proofs.sums import Sum, sums_of
from lftj.proofs.terms import value_of
from lftj.syntax import tree
from lftj.syntax.parser import parse

Facts = Mapping[str, Iterable[Sequence[object]]]
"""Base facts by relation."""


class Wrong(Exception):
    """A step that does not follow; its argument says why."""


class World:
    """The program and the facts, with the relations that these come to once somebody asks."""

    def __init__(
        self,
        program: str,
        facts: Facts,
        users: Mapping[str, UserFold],
        functions: OfUsers = NO_FUNCTIONS,
    ):
        self.users, self.functions = users, functions
        self.clauses: tuple[tree.Clause, ...] = (
            typed(parse(program).clauses, functions) if program.strip() else ()
        )
        rules = [each for each in self.clauses if isinstance(each, tree.Rule)]
        self.rules = {str(rule): rule for rule in rules}
        given = {name: {tuple(row): tuple(row) for row in rows} for name, rows in facts.items()}
        for rule in rules:
            for head in rule.heads if rule.is_fact else ():
                row = tuple(value_of(term, {}) for term in head.terms)
                given.setdefault(head.relation, {})[row] = row
        self.facts: Mapping[str, Mapping[Row, Row]] = given
        self._declared = {
            each.name: each for each in self.clauses if isinstance(each, tree.Declaration)
        }
        self.domains = choice_domains(self._declared.values())

    @cached_property
    def relations(self) -> Mapping[str, set[Row]]:
        """All relations, those of choices in bodies included."""
        return evaluate(
            self.clauses, self.facts, users=self.users, functions=self.functions, hidden=True
        )

    @cached_property
    def plain(self) -> dict[str, tuple[tree.Rule, str]]:
        """The rules, by their text, as they are with relations for choices, and the names of
        these.
        """
        found: dict[str, tuple[tree.Rule, str]] = {}
        for number, clause in enumerate(self.clauses):
            if isinstance(clause, tree.Rule):
                *_, rule = with_relations_for_choices(self.clauses[: number + 1])
                assert isinstance(rule, tree.Rule)
                found[str(clause)] = rule, f"{HIDDEN}{number}"
        return found

    @cached_property
    def sums(self) -> dict[str, Sum]:
        """The relations that several rules add up, each with its sum."""
        heads = Counter(head.relation for rule in self.rules.values() for head in rule.heads)
        found = sums_of(self.rules.values())
        return {name: each for name, each in found.items() if heads[name] > 1}

    def columns(self, relation: str) -> list[str]:
        """The names of a declared relation's columns."""
        return [column.name for column in self._declared[relation].columns]

    def head(self, rule: tree.Rule, number: int) -> HeadRule:
        """A head of a rule over all relations."""
        plain, _ = self.plain[str(rule)]
        return HeadRule(plain.heads[number], plain, self.relations, self.users)

    def candidates(self, relation: str) -> set[Row]:
        """The rows of a relation with choice domains that could have been taken."""
        found = set(self.facts.get(relation, ()))
        for text, (plain, _) in self.plain.items():
            for number, head in enumerate(plain.heads):
                if head.relation == relation:
                    found |= self.head(self.rules[text], number).rows()
        return found


def check_chosen(
    premise: Premise,
    domain: Iterable[tuple[str, object]],
    candidates: set[Row],
    chosen: Row,
) -> None:
    """Check what a choice says of its candidates. Raises Wrong."""
    if not isinstance(premise, Chosen) or premise.domain != tuple(domain):
        raise Wrong("a choice has another domain")
    rejected = set(premise.rejected)
    if chosen not in candidates or premise.size != len(candidates):
        raise Wrong(f"there are {len(candidates)} candidates, not {premise.size}")
    if not rejected <= candidates - {chosen} or len(rejected) != len(premise.rejected):
        raise Wrong("a rejected row was no candidate")
