# SPDX-License-Identifier: Apache-2.0
"""Proofs made from derivations in codes: steps in the user's own rules, names and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lftj.explain.derivations.derivations import (
    Derivation,
    Found,
    FoundGroup,
    Goal,
    HeadSearch,
    goal_of,
)
from lftj.explain.derivations.version import Version
from lftj.explain.present.proof_search import Node
from lftj.explain.present.rivals import Rivals
from lftj.program import CheckedAggregate, user_name
from lftj.proofs import (
    Absent,
    Assignment,
    Bindings,
    Branch,
    Follows,
    Group,
    Holds,
    Part,
    Premise,
    Step,
    aggregates_of,
    direct,
    instance,
    own_names,
    sides,
    with_values,
)
from lftj.syntax import aggregates_of_head, has_aggregates, tree


class Narrator:
    """Makes steps of one version. `numbers`: those of the steps made before, by their rows."""

    def __init__(self, version: Version, rivals: Rivals):
        self._version, self._rivals = version, rivals
        self.numbers: dict[Goal, int] = {}
        self._texts: dict[int, str] = {}
        self._aggregates: dict[int, list[tree.Aggregate]] = {}

    def step(self, node: Node) -> Step:
        """A row, whose premises have steps already, as a step."""
        goal, derivation = node.goal, node.best
        values = self._version.values(*goal)
        chosen = tuple(self._rivals.of_relation(goal))
        if derivation is None:
            return Step(goal.relation, values, premises=chosen)
        head = derivation.head
        rule = head.rule.rule
        if derivation.parts:
            bindings = ()
            premises = tuple(self._part(each, goal) for each in derivation.parts)
        elif head.aggregates:
            bindings, premises = self._aggregated(derivation, goal, values)
        else:
            ((found,),) = derivation.found
            telling = _Telling(self, head, found)
            outer = telling.bindings(head.own_variables)
            premises = (*telling.body(rule.body, dict(outer)), *telling.head(dict(outer)))
            bindings = outer
        text = self.text(rule)
        premises = (*premises, *chosen)
        return Step(goal.relation, values, node.height, text, head.number, bindings, premises)

    def _part(self, derivation: Derivation, goal: Goal) -> Part:
        """The part of a row that one of several rules adds."""
        head, (shown,) = derivation.head, derivation.found
        (column,) = {*range(len(goal.row))}.difference(head.columns)
        rule = head.rule.rule
        terms = [each for at, each in enumerate(rule.heads[head.number].terms) if at != column]
        outer = self._of_group(head, shown[0], terms)
        type_ = self._version.schema(goal.relation).columns[column][1]
        value = self._version.decode(type_, head.value(goal.row, column))
        listed = tuple(self._shown(head, each, outer) for each in shown)
        return Part(self.text(rule), head.number, outer, value, derivation.size, listed)

    def _aggregated(
        self, derivation: Derivation, goal: Goal, values: tuple[Any, ...]
    ) -> tuple[Bindings, tuple[Premise, ...]]:
        """The variables of the group with their values, and a premise for each aggregate."""
        head, first = derivation.head, derivation.found[0][0]
        outer = self._of_group(head, first, _plain_terms(head))
        size = head.size(goal.row) if head.extreme else derivation.size
        written = head.rule.rule.heads[head.number]
        if head.computed is None:
            found = [
                value
                for term, value in zip(written.terms, values, strict=True)
                if isinstance(term, tree.HeadAggregate)
            ]
        else:
            codes = zip(head.aggregates, head.values_of(goal.row), strict=True)
            found = [self._version.decode(each.type, code) for each, code in codes]
        return outer, tuple(
            Group(
                self.text(term),
                value,
                size,
                tuple(self._shown(head, each, outer) for each in shown),
            )
            for term, value, shown in zip(
                aggregates_of_head(written), found, derivation.found, strict=True
            )
        )

    def _of_group(self, head: HeadSearch, found: Found, terms: Sequence[tree.Term]) -> Bindings:
        """The variables that are terms of a group, which have one value in all its assignments; a
        computed term may have its value by others in each.
        """
        names = {term.name for term in terms if isinstance(term, tree.Variable)}
        telling = _Telling(self, head, found)
        return tuple(pair for pair in telling.bindings(head.own_variables) if pair[0] in names)

    def _shown(self, head: HeadSearch, found: Found, outer: Bindings) -> Assignment:
        telling = _Telling(self, head, found)
        own = tuple(pair for pair in telling.bindings(head.own_variables) if pair not in outer)
        return Assignment(
            own, tuple(telling.body(head.rule.rule.body, {**dict(outer), **dict(own)}))
        )

    def text(self, node: tree.Node) -> str:
        """The text of a node of a rule, printed once."""
        if id(node) not in self._texts:
            self._texts[id(node)] = str(node)
        return self._texts[id(node)]

    def aggregates(self, node: object) -> list[tree.Aggregate]:
        """The aggregates of a node of a rule, looked for once."""
        if id(node) not in self._aggregates:
            self._aggregates[id(node)] = aggregates_of(node)
        return self._aggregates[id(node)]

    @property
    def version(self) -> Version:
        """The version that the steps are of."""
        return self._version

    @property
    def rivals(self) -> Rivals:
        """The candidates of choices."""
        return self._rivals


class _Telling:
    """One assignment of a body, whose atoms, groups and branches come in the order of the text."""

    def __init__(self, narrator: Narrator, head: HeadSearch, found: Found):
        self._narrator, self._version, self._head = narrator, narrator.version, head
        self._found = found
        known = self._version.state.program.catalog.relations
        self._atoms = iter([atom for atom in found.way.atoms if atom.relation in known])
        self._groups: Iterator[tuple[CheckedAggregate, FoundGroup]] = iter(
            zip(found.way.aggregates, found.groups, strict=True)
        )
        self._branches = iter(found.way.branches)

    def bindings(self, variables: Sequence[int]) -> Bindings:
        """The user's variables among these, with their values."""
        listed = self._head.variables
        return tuple(
            (user_name(listed[each].name), self._version.decode(listed[each].type, code))
            for each in variables
            if not listed[each].is_made and (code := self._found.env.get(each)) is not None
        )

    def body(self, body: tree.Body, env: Mapping[str, Any]) -> Iterator[Premise]:
        """The premises for the literals of a body."""
        for literal in body.literals:
            yield from self._literal(literal, env)

    def head(self, env: Mapping[str, Any]) -> Iterator[Premise]:
        """The premises for aggregates in the head's own terms."""
        groups, _ = self._gathered(self._head.rule.rule.heads[self._head.number].terms, env)
        yield from groups

    def _literal(self, literal: tree.Literal, env: Mapping[str, Any]) -> Iterator[Premise]:
        groups, values = self._gathered(literal, env)
        yield from groups
        text = self._narrator.text(literal)
        match literal:
            case tree.Atom():
                goal = goal_of(next(self._atoms), self._found.env, self._version)
                yield Follows(text, self._narrator.numbers[goal])
            case tree.Negation():
                yield Absent(text, str(instance(literal, env)))
            case tree.Disjunction(branches=branches):
                number = next(self._branches)
                yield Branch(text, number, self._branch(branches[number], env))
            case tree.Choice():
                yield self._narrator.rivals.of_choice(self._head, literal, self._found)
            case _:
                plain = with_values(literal, values)
                yield Holds(text, str(instance(literal, env)), sides(plain, env))

    def _branch(self, branch: tree.Body, env: Mapping[str, Any]) -> Assignment:
        own = direct(branch.literals) - env.keys()
        numbers = [each for each in self._found.env if self._name(each) in own]
        bindings = self.bindings(numbers)
        return Assignment(bindings, tuple(self.body(branch, {**env, **dict(bindings)})))

    def _name(self, variable: int) -> str:
        return user_name(self._head.variables[variable].name)

    def _gathered(self, node: object, env: Mapping[str, Any]) -> tuple[list[Group], list[Any]]:
        """The groups of the aggregates in a literal or term, and their values."""
        groups: list[Group] = []
        for aggregate in self._narrator.aggregates(node):
            checked, group = next(self._groups)
            value = self._version.decode(checked.type, self._found.env[checked.result])
            shown = tuple(self._inside(aggregate, each, checked, env) for each in group.shown)
            groups.append(Group(str(instance(aggregate, env)), value, group.size, shown))
        return groups, [group.value for group in groups]

    def _inside(
        self,
        aggregate: tree.Aggregate,
        found: Found,
        checked: CheckedAggregate,
        env: Mapping[str, Any],
    ) -> Assignment:
        telling = _Telling(self._narrator, self._head, found)
        local = [each for each in found.env if each in checked.block.local]
        bindings = telling.bindings(local)
        own = own_names(aggregate)
        outer = {name: value for name, value in env.items() if name not in own}
        inside = {**outer, **dict(bindings)}
        return Assignment(bindings, tuple(telling.body(aggregate.body, inside)))


def _plain_terms(head: HeadSearch) -> list[tree.Term]:
    terms = head.rule.rule.heads[head.number].terms
    return [term for term in terms if not has_aggregates(term)]
