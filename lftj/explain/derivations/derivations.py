# SPDX-License-Identifier: Apache-2.0
"""The derivations that a row has directly: rules of the user's with values for their variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from lftj.explain.derivations.body_assignments import (
    Conjunction,
    alternatives,
    are_many,
    likely_alternatives,
    satisfiable,
)
from lftj.explain.derivations.computed_heads import computed_row, grouping
from lftj.explain.derivations.conjunction_search import Rows
from lftj.explain.derivations.conjunction_steps import group_of, tuples
from lftj.explain.derivations.groups import Gathered, gathered, most_of, weighed
from lftj.explain.derivations.values import plain_value
from lftj.explain.derivations.version import Codes, Goal, Version, matrix
from lftj.explain.derivations.ways import Way
from lftj.functions import AGGREGATES, EXTREMES
from lftj.program import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    CheckedRule,
    Filter,
    Ref,
    RuleVariable,
    Value,
    as_adding,
    direct_names,
    rename_apart,
)
from lftj.program.checks import check_rule
from lftj.program.rewrites import choice_columns
from lftj.proofs import UserFold, fold, kind_named, typed_rule
from lftj.syntax import tree


class Found(NamedTuple):
    """One assignment of a body: the conjunction that it satisfies, its values, and of each
    aggregate inside the group.
    """

    way: Way
    env: dict[int, int]
    groups: tuple[FoundGroup, ...] = ()


class FoundGroup(NamedTuple):
    """The group of an aggregate: its size and the assignments that matter most."""

    size: int
    shown: tuple[Found, ...]


@dataclass(frozen=True, eq=False)
class Derivation:
    """A rule with values: of a head without aggregates `found` is one assignment; otherwise, for
    each aggregate, those of the group that matter most, of `size` in all. `premises`: the rows that
    it rests on.
    """

    head: HeadSearch
    found: tuple[tuple[Found, ...], ...]
    size: int
    premises: tuple[Goal, ...]
    parts: tuple[Derivation, ...] = ()
    """Derivations by the rules that add up to the row, where there are several."""


class HeadSearch:
    """One head of one rule. `given` are the variables that stand for the columns that are looked
    for by.
    """

    def __init__(self, rule: CheckedRule, number: int, source: int, version: Version, shown: int):
        self.rule, self.number, self.source = rule, number, source
        self.head: CheckedHead = grouping(rule.heads[number])
        self.computed = rule.heads[number] if rule.heads[number].groups is not None else None
        self._version, self._shown = version, shown
        self.variables: list[RuleVariable] = list(rule.variables)
        self.literals = (*rule.body.literals, *self.head.literals)
        groups = self.head.args if self.head.groups is None else self.head.groups.args
        self.aggregates = [each for each in groups if isinstance(each, CheckedHeadAggregate)]
        self.beside: list[HeadSearch] = []
        """All heads of a relation that several rules add up, each as a sum."""
        self.sums: tuple[int, str] = (0, "sum")
        """The column in which they add up, and the aggregate."""
        self._made: dict[tuple[int, ...], list[Conjunction]] = {}
        single = len(self.aggregates) == 1 and self.aggregates[0].function in EXTREMES
        single = single and self.computed is None
        self.extreme = self.aggregates[0] if single else None
        self.columns = [
            place
            for place, arg in enumerate(self.head.args)
            if not isinstance(arg, CheckedHeadAggregate)
        ]

    @cached_property
    def own_variables(self) -> list[int]:
        """The variables of the rule's own body and heads, not those of inner bodies."""
        rule, catalog = self.rule.rule, self._version.state.program.catalog
        counting = self.computed is not None or catalog.adds_up(rule.heads)
        renamed = rename_apart(rule, counting=counting)
        names = direct_names((*renamed.body.literals, *renamed.heads))
        return [place for place, each in enumerate(self.rule.variables) if each.name in names]

    def _ways(self, columns: Sequence[int], rows: Rows) -> list[Conjunction]:
        """The conjunctions whose assignments derive rows with these values in some columns."""
        given, equations = self.equated_columns
        known = tuple(given[place] for place in columns)
        if known not in self._made:
            ties = [equations[place] for place in columns]
            holds = satisfiable(self.variables, known, ties, self._version, rows)
            ways = [
                Conjunction((*some, *ties), self.variables, known, branches)
                for branches, some in likely_alternatives(self.plain, holds)
            ]
            if are_many(self.plain):
                return ways
            self._made[known] = ways
        return self._made[known]

    @cached_property
    def equated_columns(self) -> tuple[list[int], list[CheckedLiteral]]:
        """A variable for each column of the head, and the equation of it."""
        given: list[int] = []
        equations: list[CheckedLiteral] = []
        types = self._version.schema(self.head.relation).columns
        for arg, (_, type) in zip(self.head.args, types, strict=True):
            term = arg.args[0] if isinstance(arg, CheckedHeadAggregate) and arg.args else arg
            self.variables.append(RuleVariable("_", type))
            given.append(len(self.variables) - 1)
            if not isinstance(term, CheckedHeadAggregate):
                equations.append(Filter("=", Ref(given[-1]), term))
            else:
                equations.append(CheckedNegation(Block((CheckedDisjunction(()),))))
        return given, equations

    def attempts(self, row: Codes) -> Iterator[list[CheckedLiteral]]:
        """The conjunctions that may derive a row, or show best why none does."""
        given, equations = self.equated_columns
        columns = range(len(row)) if self.extreme else self.columns
        known = tuple(given[place] for place in columns)
        begin = matrix([tuple(row[place] for place in columns)], len(known))
        ties = [equations[place] for place in columns]
        holds = satisfiable(self.variables, known, ties, self._version, begin)
        for _, literals in likely_alternatives(self.plain, holds, failing=True):
            yield literals

    def alike(self, row: Codes, domain: Sequence[int]) -> Iterator[Codes]:
        """The rows that this head derives, whether chosen or not, which agree with a row on some
        columns.
        """
        columns = range(len(row)) if not self.aggregates else self.columns
        begin = [place for place in domain if place in columns]
        found = self._derived(row, begin, columns)
        if not self.aggregates:
            yield from found
            return
        for key in dict.fromkeys(found):
            known = dict(zip(self.columns, key, strict=True))
            made = self._aggregated(tuple(known.get(place, 0) for place in range(len(row))))
            if all(made[place] == row[place] for place in domain):
                yield made

    def _derived(
        self, row: Codes, domain: Sequence[int], columns: Sequence[int]
    ) -> Iterator[Codes]:
        """The values of columns that are not aggregated, of all that agrees with a row on some."""
        given, equations = self.equated_columns
        known = tuple(given[place] for place in domain)
        begin = matrix([tuple(row[place] for place in domain)], len(domain))
        for branches, some in alternatives(self.plain):
            literals = (*some, *(equations[place] for place in columns))
            way = Conjunction(literals, self.variables, known, branches)
            places = [way.bound.index(given[place]) for place in columns]
            for piece in way.run(self._version, begin):
                yield from tuples(piece[places])

    def _aggregated(self, row: Codes) -> Codes:
        """A row of this head with the values of its group."""
        values, made = iter(self.values_of(row)), list(row)
        if self.computed is not None:
            return computed_row(self.computed, row, tuple(values), self.variables, self._version)
        for place, arg in enumerate(self.head.args):
            if isinstance(arg, CheckedHeadAggregate):
                made[place] = next(values)
        return tuple(made)

    def values_of(self, row: Codes) -> list[int]:
        """The values of the aggregates over the group of a row."""
        group = self.group(row)
        return [self._value(each, group) for each in self.aggregates]

    def _value(self, aggregate: CheckedHeadAggregate, group: Gathered) -> int:
        listed = [group.values(each, {}, self._version, self.variables) for each in aggregate.args]
        values = [list(map(plain_value, each)) for each in listed]
        rows = list(zip(*values, strict=True)) or [()] * group.size
        result = fold(aggregate.function, rows, self._users)
        return self._version.encode(aggregate.type, result)

    @property
    def _users(self) -> dict[str, UserFold]:
        return {
            name: lambda rows, each=each: each.result(each.fold(rows, [1] * len(rows)))
            for name, each in self._version.state.aggregates.items()
        }

    def choice_of(self, literal: tree.Choice) -> CheckedChoice:
        """The checked form of one of the rule's choices."""
        written = [each for each in self.rule.rule.body.literals if isinstance(each, tree.Choice)]
        checked = [each for each in self.literals if isinstance(each, CheckedChoice)]
        return checked[written.index(literal)]

    def _without_choice(self, literal: CheckedLiteral) -> CheckedLiteral | None:
        """The relation of a rule's choices in place of one of these."""
        return self.chosen if isinstance(literal, CheckedChoice) else literal

    @cached_property
    def plain(self) -> list[CheckedLiteral]:
        """The literals, with the relation of what was chosen in place of choices."""
        return [each for each in map(self._without_choice, self.literals) if each is not None]

    @cached_property
    def chosen(self) -> CheckedAtom | None:
        """The atom of the hidden relation that holds what the rule's choices chose."""
        choices = [each for each in self.literals if isinstance(each, CheckedChoice)]
        if not choices:
            return None
        hidden = self._version.state.program.sources[self.source].normal.hidden
        (name,) = [schema.name for schema in hidden if schema.choice]
        return CheckedAtom(name, choice_columns(self.rule.variables, choices))

    # ── derivations ───────────────────────────────────────────────────────────────────────────────
    def derivations(self, rows: Sequence[Codes]) -> Iterator[tuple[Codes, Derivation]]:
        """All derivations of some distinct rows by this head, with the row that each is of. One of
        several rules that add up is told of the first of them.
        """
        alone: list[Codes] = []
        for row in rows:
            parts = self._adding(row)
            if not parts:
                alone.append(row)
            elif (parts[0].head.source, parts[0].head.number) == (self.source, self.number):
                premises = dict.fromkeys(goal for each in parts for goal in each.premises)
                size = sum(each.size for each in parts)
                yield row, Derivation(self, (), size, tuple(premises), tuple(parts))
        yield from self._own(alone)

    def _own(self, rows: Sequence[Codes]) -> Iterator[tuple[Codes, Derivation]]:
        """The derivations of rows that no other rule adds to."""
        if self.aggregates and not self.extreme:
            for row in rows:
                if (found := self._of_group(row)) is not None:
                    yield row, found
            return
        begin = matrix(rows, len(self.head.args))
        columns = range(len(self.head.args)) if self.extreme else self.columns
        for way in self._ways(columns, begin):
            for piece in way.run(self._version, begin):
                for values in tuples(piece):
                    row = values[: len(way.given)]
                    found = self.found(way, values)
                    premises = tuple(premises_of(found, self._version))
                    yield row, Derivation(self, ((found,),), 1, premises)

    def _adding(self, row: Codes) -> list[Derivation]:
        """The parts of a row that rules add; none where the row is as one rule has it."""
        found = [each for other in self.beside if (each := other._of_group(row)) is not None]
        if len(found) == 1:
            column, function = self.sums
            term = found[0].head.rule.rule.heads[found[0].head.number].terms[column]
            alone = found[0].size == 1 and function in AGGREGATES
            if alone or isinstance(term, tree.HeadAggregate):
                return []
        return found

    def value(self, row: Codes, column: int) -> int:
        """The value in a column of a row that this head alone would give."""
        return self._aggregated(row)[column]

    def _of_group(self, row: Codes) -> Derivation | None:
        group = self.group(row)
        if not group.size or (self.computed is not None and self._aggregated(row) != row):
            return None
        shown = tuple(
            tuple(self.found(*group.at(place)) for place in self._most(aggregate, group))
            for aggregate in self.aggregates
        )
        premises = [
            goal for some in shown for each in some for goal in premises_of(each, self._version)
        ]
        return Derivation(self, shown, group.size, tuple(dict.fromkeys(premises)))

    def _most(self, aggregate: CheckedHeadAggregate, group: Gathered) -> list[int]:
        """The places of the assignments that matter most to an aggregate."""
        values: Any = ()
        if weighed(aggregate.function):
            values = group.values(aggregate.args[0], {}, self._version, self.variables)
        return most_of(aggregate.function, values, group.size, self._shown)

    def group(self, row: Codes) -> Gathered:
        """The assignments of the group of an aggregated row."""
        key = matrix([tuple(row[place] for place in self.columns)], len(self.columns))
        return gathered(self._ways(self.columns, key), self._version, lambda _: key)

    def size(self, row: Codes) -> int:
        """Number of assignments of the group of an aggregated row."""
        return self.group(row).size

    def found(self, way: Way, values: Codes) -> Found:
        """An assignment of this head with the groups of the aggregates in it."""
        return found_of(way, dict(zip(way.bound, values, strict=True)), self._version, self._shown)


def found_of(way: Way, env: dict[int, int], version: Version, shown: int) -> Found:
    """An assignment with the groups of the aggregates in it."""
    groups = tuple(
        _inner_group(aggregate, way, env, version, shown) for aggregate in way.aggregates
    )
    return Found(way, env, groups)


def _inner_group(
    aggregate: CheckedAggregate, way: Way, env: dict[int, int], version: Version, shown: int
) -> FoundGroup:
    group = group_of(way.of_aggregate(aggregate), env, version)
    values: Any = ()
    if weighed(aggregate.function):
        values = group.values(aggregate.target, env, version, way.variables)
    kept = [group.at(place) for place in most_of(aggregate.function, values, group.size, shown)]
    return FoundGroup(
        group.size,
        tuple(
            found_of(inner, {**env, **dict(zip(inner.bound, row, strict=True))}, version, shown)
            for inner, row in kept
        ),
    )


def premises_of(found: Found, version: Version) -> Iterator[Goal]:
    """The rows that an assignment rests on, in the order of the text."""
    for atom in found.way.atoms:
        if atom.relation in version.state.program.catalog.relations:
            yield goal_of(atom, found.env, version)
    for group in found.groups:
        for each in group.shown:
            yield from premises_of(each, version)


def goal_of(atom: CheckedAtom, env: Mapping[int, int], version: Version) -> Goal:
    """The row that an atom is under an assignment."""
    row = [
        env[arg.variable] if isinstance(arg, Ref) else version.encode(arg.type, arg.value)
        for arg in atom.args
        if isinstance(arg, Ref | Value)
    ]
    return Goal(atom.relation, tuple(row))


class RuleKinds:
    """Rules of a version with the kinds of constants, functors and aggregates in their trees."""

    def __init__(self, version: Version):
        catalog, self._functions = version.state.program.catalog, version.functions
        self._columns = {
            name: [kind_named(str(type)) for _, type in schema.columns]
            for name, schema in catalog.relations.items()
        }
        self._names = {name: kind_named(str(type)) for name, type in catalog.aliases.items()}

    def typed(self, rule: tree.Rule) -> tree.Rule:
        """The rule with kinds, which prints as before."""
        return typed_rule(rule, self._columns, self._names, self._functions)


class Rules:
    """The heads of all rules, by relation, each made when it is first asked for."""

    def __init__(self, version: Version, shown: int):
        self._version, self._shown = version, shown
        self._sources: dict[str, list[tuple[int, int]]] = {}
        for number, source in version.state.program.sources.items():
            for place, head in enumerate(source.rule.heads):
                self._sources.setdefault(head.relation, []).append((number, place))
        self._made: dict[str, list[HeadSearch]] = {}
        self._kinds = RuleKinds(version)

    def of(self, relation: str) -> list[HeadSearch]:
        """The heads that derive a relation, in the order in which rules were added."""
        if relation not in self._made:
            sources = self._sources.get(relation, ())
            made = [self._head(*each) for each in sources]
            known = self._version.state.program.catalog.derivations.get(relation)
            if known is not None and known.sums is not None and len(made) > 1:
                beside = [self._head(*each, added=known.sums) for each in sources]
                for each in made:
                    each.beside, each.sums = beside, known.sums
            self._made[relation] = made
        return self._made[relation]

    def _head(self, source: int, number: int, added: tuple[int, str] | None = None) -> HeadSearch:
        program = self._version.state.program
        rule = self._kinds.typed(program.rule(source))
        checked, _ = check_rule(rule, program.catalog)
        assert checked is not None, "it was checked when it was added"
        if added is not None:
            checked = _as_sum(checked, number, *added)
        return HeadSearch(checked, number, source, self._version, self._shown)


def _as_sum(rule: CheckedRule, number: int, column: int, function: str) -> CheckedRule:
    """A rule whose head adds what it has in a column, by `sum` or by an aggregate of the user's."""
    heads = list(rule.heads)
    heads[number] = as_adding(heads[number], column, function, rule.variables)
    return replace(rule, heads=tuple(heads))
