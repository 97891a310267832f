# SPDX-License-Identifier: Apache-2.0
"""Rows that one derivation of a missing row needs: those that must come, and those that must go.

Each rule is tried with any of its literals left out, and what the others bind says which rows are
lacking and which are in the way. Values that a rule leaves open are guessed. `Gaps` notes where
others may do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from lftj.explain.derivations.body_assignments import Conjunction
from lftj.explain.derivations.derivations import Goal, HeadSearch, Rules, goal_of, premises_of
from lftj.explain.derivations.literals import FAILURES, first_of, matches, partly, ready, rows_with
from lftj.explain.derivations.version import Version, matrix
from lftj.explain.derivations.ways import Way
from lftj.explain.missing.guesses import WHOLE, Constants, Guesses, solution
from lftj.functions import GREATEST
from lftj.program import (
    NONE,
    Apply,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedLiteral,
    CheckedNegation,
    Filter,
    Ref,
    Value,
    of_literal,
)

SEARCHES, OF_GOAL = 1200, 300
"""Searches in all, and for what one goal needs, at most."""
_ASSIGNMENTS, _GROUP = 12, 24
"""Looked at: assignments of a part of a body, rows of one group."""

Env = dict[int, int]
NOTHING = frozenset[Goal]()


class Needs(NamedTuple):
    """Rows that must come, and rows that must go, for one derivation of a goal."""

    come: frozenset[Goal]
    go: frozenset[Goal]


@dataclass
class Gaps:
    """Reasons why a search has not tried everything, each with the least number of changes that it
    may have missed.
    """

    found: dict[str, int] = field(default_factory=dict)

    def note(self, reason: str, size: int = 1) -> None:
        """Add one of the reasons below."""
        self.found[reason] = min(size, self.found.get(reason, size))

    def below(self, size: int) -> tuple[str, ...]:
        """The reasons why fewer changes than these may do."""
        return tuple(reason for reason, least in self.found.items() if least < size)


BOUND = "the search ended after as many steps and dry runs as it may take"
VALUES = "values that a rule leaves open were guessed"
MANY = "of many rows that match the first ones were looked at"
COMPUTED = "values of aggregates and choices were tried, not worked out"
IN_THE_WAY = "rows in the way were removed by way of one proof of each"
FURTHER = "what a set of changes lacks after its dry run was not looked for again"


class RuleNeeds:
    """Searches in one version for what rows need."""

    def __init__(self, version: Version, rules: Rules, most: int, gaps: Gaps):
        self._version, self._rules, self._most, self._gaps = version, rules, most, gaps
        self._needs: dict[tuple[Goal, Constants], list[Needs]] = {}
        self._searches = 0
        self._ways: dict[object, Conjunction] = {}

    def of(self, goal: Goal, constants: Constants) -> list[Needs]:
        """Sets of rows that give the goal a derivation, fewer ones first. `constants`: values to
        guess from.
        """
        key = goal, constants
        if key not in self._needs:
            found: dict[Needs, None] = {}
            for head in self._rules.of(goal.relation):
                for literals in head.attempts(goal.row):
                    some = self._of_rule(head, literals, goal, constants)
                    found.update(dict.fromkeys(some))
            self._needs[key] = sorted(found, key=lambda needs: len(needs.come) + len(needs.go))
        return self._needs[key]

    def others(self, goal: Goal) -> Iterator[Goal]:
        """Rows that were chosen in the goal's place, or have its key."""
        schema = self._version.schema(goal.relation)
        if schema.choice:
            self._gaps.note(COMPUTED)
        for domain in (*schema.choice, *([] if schema.key is None else [schema.key])):
            for row in rows_with(self._version, goal.relation, _known(goal, domain), self._most):
                yield Goal(goal.relation, row)

    # ── one rule ──────────────────────────────────────────────────────────────────────────────────
    def _of_rule(
        self, head: HeadSearch, literals: list[CheckedLiteral], goal: Goal, constants: Constants
    ) -> Iterator[Needs]:
        given, equations = head.equated_columns
        columns = range(len(goal.row)) if head.extreme else head.columns
        begin = {given[place]: goal.row[place] for place in columns}
        ties = [equations[place] for place in columns]
        rivals = frozenset(self._rivals(head, goal))
        plain = [each for each in literals if each != head.chosen]
        guesses = Guesses(self._version, head.variables, [*plain, *ties], goal, constants)
        end = min(SEARCHES, self._searches + OF_GOAL)
        for lacking in self._parts(head, plain):
            held = [*ties, *(each for each in plain if each not in lacking)]
            for env in self._assignments(head, held, begin):
                self._note_open(head, lacking, held, env)
                for needs, inside in self._of_lacking(head, guesses, lacking, env):
                    if self._searches > end:
                        self._gaps.note(BOUND)
                        return
                    if goal in needs.come or not self._holds(head, held, env, inside):
                        continue
                    if needs.come or needs.go or rivals:
                        yield Needs(needs.come, needs.go | rivals)
                    elif head.chosen is not None:
                        yield from self._of_choice(head, plain, inside)
        if head.aggregates and not head.extreme:
            yield from self._of_group(head, goal)

    def _parts(
        self, head: HeadSearch, literals: Sequence[CheckedLiteral]
    ) -> Iterator[tuple[CheckedLiteral, ...]]:
        """Sets of literals that may be lacking, fewer ones first; of each atoms before what needs
        the values of these.
        """
        public = self._version.state.program.catalog.relations
        atoms = [
            each for each in literals if isinstance(each, CheckedAtom) and each.relation in public
        ]
        others = [each for each in literals if isinstance(each, CheckedNegation | CheckedAggregate)]
        aggregated = any(isinstance(each, CheckedAggregate) for each in (*others, *head.literals))
        if aggregated or head.chosen is not None or (head.aggregates and not head.extreme):
            self._gaps.note(COMPUTED)
        for size in range(len(atoms) + len(others) + 1):
            yield from combinations([*atoms, *others], size)

    def _note_open(
        self,
        head: HeadSearch,
        lacking: Sequence[CheckedLiteral],
        held: Sequence[CheckedLiteral],
        env: Env,
    ) -> None:
        """Note a gap where a variable is guessed of which more is said than guesses account for.
        Of what only atoms that are to come speak any value is as good as another, and for
        comparisons with known whole numbers those next to these stand for all.
        """
        atoms = [each for each in lacking if isinstance(each, CheckedAtom)]
        unbound = NONE.union(*map(of_literal, atoms)) - env.keys()
        tests = [*held, *(each for each in lacking if each not in atoms)]
        computed = any(isinstance(arg, Apply) for atom in atoms for arg in atom.args)
        if computed or any(
            not self._is_bound(each, each_open, head, env)
            for each in tests
            if (each_open := of_literal(each) & unbound)
        ):
            self._gaps.note(VALUES)

    @staticmethod
    def _is_bound(
        test: CheckedLiteral, unbound: frozenset[int], head: HeadSearch, env: Env
    ) -> bool:
        """True for a comparison of one open variable with a known value, and for an equation that
        gives its value.
        """
        if not isinstance(test, Filter) or len(unbound) > 1:
            return False
        (variable,) = unbound
        if solution(test, variable, env, head.variables) is not None:
            return True
        whole = head.variables[variable].type in WHOLE
        return whole and all(isinstance(side, Ref | Value) for side in (test.left, test.right))

    def _assignments(
        self, head: HeadSearch, literals: list[CheckedLiteral], begin: Env
    ) -> Iterator[Env]:
        """Some assignments of those literals that can be decided without the others."""
        way = self._decided(head, literals, tuple(begin))
        row = matrix([tuple(begin.values())], len(begin))
        self._searches += 1
        found = self._first(way, row, _ASSIGNMENTS + 1)
        if len(found) > _ASSIGNMENTS:
            self._gaps.note(MANY)
        for each in found[:_ASSIGNMENTS]:
            yield dict(zip(way.bound, each, strict=True))

    def _first(self, way: Conjunction, row: object, most: int) -> list[tuple[int, ...]]:
        """The first assignments, none where a functor fails for what literals left out exclude."""
        try:
            return first_of(way, self._version, row, most, range(len(way.bound)))
        except FAILURES:
            self._gaps.note(VALUES)
            return []

    def _decided(
        self, head: HeadSearch, literals: list[CheckedLiteral], given: tuple[int, ...]
    ) -> Conjunction:
        """The conjunction of those literals that can be decided without the others."""
        key = (head, tuple(literals), given)
        if key in self._ways:
            return self._ways[key]
        held: list[CheckedLiteral] = []
        bound, left = frozenset(given), literals
        while some := [each for each in left if ready(each, bound)]:
            held += some
            left = [each for each in left if each not in some]
            bound = frozenset(Conjunction(held, head.variables, given).bound)
        way = self._ways[key] = Conjunction(held, head.variables, given)
        return way

    def _holds(
        self, head: HeadSearch, held: Sequence[CheckedLiteral], before: Env, env: Env
    ) -> bool:
        """False where guessed values contradict a literal that is not lacking."""
        guessed = env.keys() - before.keys()
        left = [each for each in held if of_literal(each) & guessed]
        known = frozenset(env)
        decided = [each for each in left if ready(each, known)]
        if not decided:
            return True
        given = tuple(sorted(NONE.union(*map(of_literal, decided)) & known))
        key = (head, tuple(decided), given)
        if key not in self._ways:
            self._ways[key] = Conjunction(decided, head.variables, given)
        self._searches += 1
        row = matrix([tuple(env[each] for each in given)], len(given))
        return bool(self._first(self._ways[key], row, 1))

    # ── literals that are lacking ─────────────────────────────────────────────────────────────────
    def _of_lacking(
        self, head: HeadSearch, guesses: Guesses, lacking: Sequence[CheckedLiteral], env: Env
    ) -> Iterator[tuple[Needs, Env]]:
        """The rows that literals lack under an assignment, with guesses for what is not bound."""
        if not lacking:
            yield Needs(NOTHING, NOTHING), env
            return
        first, rest = lacking[0], lacking[1:]
        if isinstance(first, CheckedAtom):
            some = self._of_atom(guesses, first, env)
        elif isinstance(first, CheckedNegation):
            some = ((needs, env) for needs in self._of_negation(head, guesses, first, env))
        else:
            assert isinstance(first, CheckedAggregate)
            some = ((needs, env) for needs in self._of_aggregate(head, guesses, first, env))
        for one, inside in some:
            also = guesses.beside(one.come)
            for needs, deepest in self._of_lacking(head, also, rest, inside):
                yield Needs(needs.come | one.come, needs.go | one.go), deepest

    def _of_atom(
        self, guesses: Guesses, atom: CheckedAtom, env: Env
    ) -> Iterator[tuple[Needs, Env]]:
        for inside in guesses.of(atom, env):
            goal = goal_of(atom, inside, self._version)
            if not self._version.has(goal.relation, [goal.row])[0]:
                yield Needs(frozenset((goal,)), NOTHING), inside
        if guesses.cut_short:
            self._gaps.note(VALUES)

    def _of_negation(
        self, head: HeadSearch, guesses: Guesses, negation: CheckedNegation, env: Env
    ) -> Iterator[Needs]:
        """Ways to break all matches of a negated body, of which each has to lose one literal."""
        if not of_literal(negation) - negation.block.local <= env.keys():
            self._gaps.note(VALUES)
            return
        found = self._matches(negation, env, head)
        if len(found) > _ASSIGNMENTS:
            self._gaps.note(MANY)
            return
        options = [list(self._breaks(way, negation, inside)) for way, inside in found]
        for count, chosen in enumerate(product(*options) if found else ()):
            if count > _GROUP:
                self._gaps.note(MANY)
                return
            come = NOTHING.union(*(each.come for each in chosen))
            yield Needs(come, NOTHING.union(*(each.go for each in chosen)))

    def _matches(
        self, negation: CheckedNegation, env: Env, head: HeadSearch
    ) -> list[tuple[Conjunction, Env]]:
        try:
            return matches(negation, env, self._version, head.variables, _ASSIGNMENTS + 1)
        except FAILURES:
            self._gaps.note(VALUES)
            return []

    def _breaks(self, way: Way, negation: CheckedNegation, env: Env) -> Iterator[Needs]:
        """Ways to break one match: an atom less, or a row that a negation inside looks for."""
        for goal in dict.fromkeys(goal_of(atom, env, self._version) for atom in way.atoms):
            yield Needs(NOTHING, frozenset((goal,)))
        for literal in negation.block.literals:
            if isinstance(literal, CheckedAtom | Filter):
                continue
            inner = literal.block.literals if isinstance(literal, CheckedNegation) else ()
            if len(inner) == 1 and isinstance(inner[0], CheckedAtom):
                known = partly(inner[0], env, self._version)
                if len(known) == len(inner[0].args):
                    goal = Goal(inner[0].relation, tuple(known[each] for each in sorted(known)))
                    yield Needs(frozenset((goal,)), NOTHING)
                    continue
            self._gaps.note(IN_THE_WAY)

    def _of_aggregate(
        self, head: HeadSearch, guesses: Guesses, aggregate: CheckedAggregate, env: Env
    ) -> Iterator[Needs]:
        """Changes of a group that may give it another value: one row less, or one more."""
        if not of_literal(aggregate) - aggregate.block.local - {aggregate.result} <= env.keys():
            return
        body = CheckedNegation(aggregate.block)
        found = self._matches(body, env, head)
        goals = {goal_of(way.atoms[0], inside, self._version) for way, inside in found if way.atoms}
        for goal in sorted(goals)[:_GROUP]:
            yield Needs(NOTHING, frozenset((goal,)))
        for atom in aggregate.block.literals:
            if isinstance(atom, CheckedAtom):
                for needs, _ in self._of_atom(guesses, atom, env):
                    yield needs

    # ── aggregates and choices ────────────────────────────────────────────────────────────────────
    def _rivals(self, head: HeadSearch, goal: Goal) -> Iterator[Goal]:
        """Rows in the way of the goal: a better value of its group, others of a choice domain."""
        relation = goal.relation
        if head.extreme is not None:
            for row in rows_with(self._version, relation, _known(goal, head.columns), 1):
                (place,) = set(range(len(row))) - set(head.columns)
                here, asked = self._version.values(relation, row), self._version.values(*goal)
                smaller = here[place] < asked[place]
                if smaller == (head.extreme.function not in GREATEST):
                    yield Goal(relation, row)
        yield from self.others(goal)

    def _of_choice(
        self, head: HeadSearch, literals: Sequence[CheckedLiteral], env: Env
    ) -> Iterator[Needs]:
        """Rows of the assignment that a choice in the body took instead, one to go at a time."""
        chosen = head.chosen
        assert chosen is not None
        determining = {
            ref.variable
            for each in head.literals
            if isinstance(each, CheckedChoice)
            for ref in each.determining
        }
        known = {variable: env[variable] for variable in determining & env.keys()}
        columns = partly(chosen, known, self._version)
        for row in rows_with(self._version, chosen.relation, columns, 1):
            taken = {
                arg.variable: row[place]
                for place, arg in enumerate(chosen.args)
                if isinstance(arg, Ref)
            }
            for atom in (each for each in literals if isinstance(each, CheckedAtom)):
                if len(partly(atom, taken, self._version)) == len(atom.args):
                    gone = goal_of(atom, taken, self._version)
                    yield Needs(NOTHING, frozenset((gone,)))

    def _of_group(self, head: HeadSearch, goal: Goal) -> Iterator[Needs]:
        """Rows of the goal's group, one to go at a time: what is left may have its value."""
        group = head.group(goal.row)
        for place in range(min(group.size, _GROUP)):
            for premise in premises_of(head.found(*group.at(place)), self._version):
                yield Needs(NOTHING, frozenset((premise,)))


def _known(goal: Goal, places: Sequence[int]) -> dict[int, int]:
    return {place: goal.row[place] for place in places}
