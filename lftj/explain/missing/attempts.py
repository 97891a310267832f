# SPDX-License-Identifier: Apache-2.0
"""Rules of a row that is missing: how far the body of each can be satisfied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lftj.explain.derivations.body_assignments import Conjunction
from lftj.explain.derivations.derivations import Goal, HeadSearch, Rules, goal_of
from lftj.explain.derivations.literals import (
    FAILURES,
    Texts,
    first_of,
    matches,
    nearest,
    partly,
    ready,
    rows_with,
)
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.program import CheckedAtom, CheckedLiteral, CheckedNegation, user_name
from lftj.proofs import Attempt, Bindings, Case, Row

Env = dict[int, int]


class Reached(NamedTuple):
    """The longest part of a conjunction that holds: its literals in order, some assignments, the
    literal that fails then and those left. `fails` is None where the whole conjunction holds.
    """

    held: list[CheckedLiteral]
    envs: list[Env]
    fails: CheckedLiteral | None


class Attempts:
    """Attempts at one row of one version; of each `rows` assignments and nearest rows are shown."""

    def __init__(self, version: Version, rules: Rules, rows: int):
        self._version, self._rules, self._rows = version, rules, rows

    def of(self, goal: Goal) -> Iterator[Attempt]:
        """One attempt for each rule, head and way through disjunctions."""
        for head in self._rules.of(goal.relation):
            for literals in head.attempts(goal.row):
                yield self._attempt(head, literals, goal)

    def _attempt(self, head: HeadSearch, literals: list[CheckedLiteral], goal: Goal) -> Attempt:
        given, equations = head.equated_columns
        known = [given[place] for place in head.columns]
        begin = dict(zip(known, (goal.row[place] for place in head.columns), strict=True))
        ties = [equations[place] for place in head.columns]
        texts = Texts(head.variables, self._version)
        reached = self.reach([*ties, *literals], head, begin)
        shown = tuple(texts.of(each, reached.envs[0]) for each in reached.held if each in literals)
        rule = str(head.rule.rule)
        if reached.fails is None:
            return self._whole(head, goal, rule, shown)
        relation, cases = self._cases(head, reached, texts)
        fails = texts.of(reached.fails, {})
        if reached.fails in ties:
            place = ties.index(reached.fails)
            fails = f"the head's column {head.columns[place] + 1}: {texts.of(reached.fails, begin)}"
        return Attempt(rule, head.number, shown, fails, relation, cases)

    def reach(self, literals: Sequence[CheckedLiteral], head: HeadSearch, begin: Env) -> Reached:
        """Literals taken in the order of the text, as far as they can be decided, until one does
        not hold with those before.
        """
        held: list[CheckedLiteral] = []
        left, envs, bound = list(literals), [begin], frozenset(begin)
        failing: list[CheckedLiteral] = []  # functors that fail for what other literals may exclude
        row = matrix([tuple(begin.values())], len(begin))
        while left:
            open_ones = [each for each in left if each not in failing] or left
            chosen = next((each for each in open_ones if ready(each, bound)), open_ones[0])
            way = Conjunction([*held, chosen], head.variables, tuple(begin))
            try:
                found = first_of(way, self._version, row, self._rows, range(len(way.bound)))
            except FAILURES:
                if len(failing) == len(left) or chosen in failing:
                    return Reached(held, envs, chosen)
                failing.append(chosen)
                continue
            if not found:
                return Reached(held, envs, chosen)
            failing.clear()
            held.append(chosen)
            left.remove(chosen)
            envs = [dict(zip(way.bound, each, strict=True)) for each in found]
            bound = frozenset(way.bound)
        return Reached(held, envs, None)

    def _cases(
        self, head: HeadSearch, reached: Reached, texts: Texts
    ) -> tuple[str | None, tuple[Case, ...]]:
        fails, cases, relation = reached.fails, [], None
        assert fails is not None
        distinct = {texts.of(fails, env): env for env in reversed(reached.envs)}
        for text, env in reversed(distinct.items()):
            rows: list[Codes] = []
            if isinstance(fails, CheckedAtom):
                relation = fails.relation
                rows = nearest(
                    self._version, relation, partly(fails, env, self._version), self._rows
                )
            elif isinstance(fails, CheckedNegation):
                relation, rows = self._matching(head, fails, env)
            values = [] if relation is None else [self._values(relation, row) for row in rows]
            bindings = self._bindings(head, env)
            cases.append(Case(bindings, text, tuple(values)))
        public = self._version.state.program.catalog.relations
        if relation is not None and relation not in public:
            return None, tuple(case._replace(nearest=()) for case in cases)
        return relation, tuple(cases)

    def _matching(
        self, head: HeadSearch, negation: CheckedNegation, env: Env
    ) -> tuple[str | None, list[Codes]]:
        """The rows of a negation's first atom that match."""
        found = matches(negation, env, self._version, head.variables, self._rows)
        goals = [goal_of(way.atoms[0], inside, self._version) for way, inside in found if way.atoms]
        return (goals[0].relation if goals else None), [goal.row for goal in goals]

    def _whole(self, head: HeadSearch, goal: Goal, rule: str, shown: tuple[str, ...]) -> Attempt:
        """The attempt whose body holds: another value was aggregated, or another row chosen."""
        places = head.columns if head.aggregates else self._domain(goal)
        rows = rows_with(
            self._version, goal.relation, {place: goal.row[place] for place in places}, self._rows
        )
        values = tuple(self._values(goal.relation, row) for row in rows)
        fails = "the value of the group" if head.aggregates else "the choice: another row was taken"
        return Attempt(rule, head.number, shown, fails, goal.relation, (Case((), fails, values),))

    def _domain(self, goal: Goal) -> Sequence[int]:
        """The columns of the first choice domain in which another row has the same values."""
        for domain in self._version.schema(goal.relation).choice:
            if rows_with(self._version, goal.relation, {p: goal.row[p] for p in domain}, 1):
                return domain
        return range(len(goal.row))

    def _bindings(self, head: HeadSearch, env: Env) -> Bindings:
        own = head.own_variables
        return tuple(
            (
                user_name(head.variables[each].name),
                self._version.decode(head.variables[each].type, env[each]),
            )
            for each in own
            if each in env and not head.variables[each].is_made
        )

    def _values(self, relation: str, row: Codes) -> Row:
        return self._version.values(relation, row)
