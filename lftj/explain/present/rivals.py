# SPDX-License-Identifier: Apache-2.0
"""Choices in proofs: the candidates that a row was chosen among."""

from __future__ import annotations

from collections.abc import Iterator

from lftj.explain.derivations.body_assignments import Conjunction, alternatives
from lftj.explain.derivations.conjunction_steps import tuples
from lftj.explain.derivations.derivations import Found, Goal, HeadSearch, Rules
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.program import CheckedAtom, CheckedChoice, Filter, Ref, RuleVariable, user_name
from lftj.proofs import Chosen
from lftj.storage import base_name
from lftj.syntax import tree


class Rivals:
    """Candidates of choices in one version; `shown` of those that were rejected are listed."""

    def __init__(self, version: Version, rules: Rules, shown: int):
        self._version, self._rules, self._shown = version, rules, shown

    def of_relation(self, goal: Goal) -> Iterator[Chosen]:
        """For each choice domain of the row's relation what could have been chosen."""
        schema = self._version.schema(goal.relation)
        values = self._version.values(*goal)
        for domain in schema.choice:
            found = set(self._candidates(goal, domain))
            bindings = tuple((schema.columns[place][0], values[place]) for place in domain)
            others = sorted(self._version.values(goal.relation, row) for row in found - {goal.row})
            yield Chosen(bindings, len(found), tuple(others[: self._shown]))

    def _candidates(self, goal: Goal, domain: tuple[int, ...]) -> Iterator[Codes]:
        yield from self._given(goal, domain)
        for head in self._rules.of(goal.relation):
            yield from head.alike(goal.row, domain)

    def _given(self, goal: Goal, domain: tuple[int, ...]) -> Iterator[Codes]:
        """Base facts that agree with a row on the domain."""
        name = base_name(goal.relation)
        if name not in self._version.relations:
            name = goal.relation
        variables = [RuleVariable("_", type) for _, type in self._version.schema(name).columns]
        atom = CheckedAtom(name, tuple(map(Ref, range(len(variables)))))
        way = Conjunction([atom], variables, domain)
        places = [way.bound.index(place) for place in range(len(variables))]
        for piece in way.run(
            self._version, matrix([tuple(goal.row[p] for p in domain)], len(domain))
        ):
            yield from tuples(piece[places])

    def of_choice(self, head: HeadSearch, literal: tree.Choice, found: Found) -> Chosen:
        """The candidates of a choice in a body, under an assignment of its rule."""
        checked = head.choice_of(literal)
        chosen = head.chosen
        assert chosen is not None
        refs = [arg for arg in chosen.args if isinstance(arg, Ref)]
        variables: list[RuleVariable] = head.variables
        given: list[int] = []
        equations: list[Filter] = []
        for ref in checked.determining:
            variables.append(RuleVariable("_", variables[ref.variable].type))
            given.append(len(variables) - 1)
            equations.append(Filter("=", Ref(given[-1]), ref))
        rest = [each for each in head.literals if not isinstance(each, CheckedChoice)]
        begin = matrix([tuple(found.env[ref.variable] for ref in checked.determining)], len(given))
        rows: set[Codes] = set()
        for branches, some in alternatives(rest):
            way = Conjunction((*some, *equations), variables, tuple(given), branches)
            places = [way.bound.index(ref.variable) for ref in refs]
            for piece in way.run(self._version, begin):
                rows |= set(tuples(piece[places]))
        taken = tuple(found.env[ref.variable] for ref in refs)
        types = [variables[ref.variable].type for ref in refs]

        def values(row: Codes) -> tuple[object, ...]:
            return tuple(
                self._version.decode(type, code) for type, code in zip(types, row, strict=True)
            )

        bindings = tuple(
            (
                user_name(variables[ref.variable].name),
                self._version.decode(variables[ref.variable].type, found.env[ref.variable]),
            )
            for ref in checked.determining
        )
        others = sorted(values(row) for row in rows - {taken})  # type: ignore[type-var]
        return Chosen(bindings, len(rows), tuple(others[: self._shown]))
