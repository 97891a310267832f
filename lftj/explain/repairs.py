"""Smallest changes of base facts that bring a missing row.

The search goes from the row down: each rule is tried with up to so many of its literals left out,
and what the others bind says which rows are lacking and which are in the way. Those are looked for
in the same manner, until only base facts are left [Kakas, Kowalski and Toni, Abductive Logic
Programming, 1992]. What needs fewer changes goes first, then what needs fewer rules. Each set of
changes is tried out by a dry run, so the search may guess: a row in the way is removed with a base
fact of its proof, and of an aggregate any row of the group is tried.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import TYPE_CHECKING, NamedTuple

from lftj.engine.state import State
from lftj.explain.body_assignments import Conjunction, alternatives
from lftj.explain.derivations import Goal, HeadSearch, Rules, goal_of, premises_of
from lftj.explain.dry_run import Change, dry_run
from lftj.explain.guesses import Guesses
from lftj.explain.literals import first_of, matches, partly, ready, rows_with
from lftj.explain.proof_search import Heights, below
from lftj.explain.version import Version, matrix
from lftj.program.bindings import NONE, of_literal
from lftj.program.checked import (
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedLiteral,
    CheckedNegation,
)
from lftj.program.normal_form import Ref

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

STEPS, TRIES, FIXES, SEARCHES, OF_GOAL = 400, 60, 10, 1200, 300
"""Goals that are taken up, dry runs, sets of changes that are returned, and searches, at most; and
searches for what one goal needs.
"""
_ASSIGNMENTS, _FACTS, _GROUP = 12, 12, 24
"""Looked at: assignments of a part of a body, base facts of one proof, rows of one group."""

Env = dict[int, int]


class Needs(NamedTuple):
    """Rows that must come, and rows that must go, for one derivation of a goal."""

    come: frozenset[Goal]
    go: frozenset[Goal]


@dataclass(frozen=True)
class _Node:
    """Changes so far, with rows that are yet to come or to go. `taken` were taken up before."""

    changes: frozenset[Change]
    come: frozenset[Goal]
    go: frozenset[Goal]
    taken: frozenset[Goal]

    @property
    def size(self) -> int:
        """The changes that it is likely to take: one may bring several of the rows."""
        return len(self.changes) + len(self.come) + bool(self.go and not self.changes)

    @property
    def least(self) -> int:
        """A lower bound of the changes that it takes."""
        return len(self.changes) + bool(self.come)


class Repairs:
    """Searches in one version for what one row lacks. `complete` is False once one was given up."""

    def __init__(self, engine: Engine, state: State, version: Version, rules: Rules, most: int):
        self._engine, self._state, self._version, self._rules = engine, state, version, rules
        self._most, self.complete = most, True
        self._needs: dict[Goal, list[Needs]] = {}
        self._tries = self._searches = 0
        self._ways: dict[object, Conjunction] = {}

    def of(self, goal: Goal) -> list[frozenset[Change]]:
        """The smallest sets of changes that were found and tried out. The caller holds the writer
        lock.
        """
        order, found = count(), list[frozenset[Change]]()
        start = _Node(frozenset(), frozenset((goal,)), frozenset(), frozenset())
        waiting = [(start.size, 0, next(order), start)]
        seen, steps = {start}, 0
        while waiting:
            size, depth, _, node = heapq.heappop(waiting)
            if found and size > len(found[0]):
                break
            if steps >= STEPS or self._tries >= TRIES or len(found) >= FIXES:
                self.complete = False
                break
            steps += 1
            for after in self._after(node, goal, found):
                if after not in seen and after.least <= self._most:
                    seen.add(after)
                    heapq.heappush(waiting, (after.size, depth + 1, next(order), after))
        return found

    # ── one step of the search ────────────────────────────────────────────────────────────────────
    def _after(self, node: _Node, goal: Goal, found: list[frozenset[Change]]) -> Iterator[_Node]:
        if node.come:
            first = min(node.come)
            yield from self._coming(node, first)
            return
        tried = self._tried(node.changes)
        known = self._version if tried is None else tried  # a key may need what is to go
        gone = {(each.relation, each.row) for each in node.changes if tried is None}
        stays = [
            each
            for each in sorted(node.go)
            if each not in gone and known.has(each.relation, [each.row])[0]
        ]
        if stays:
            if len(node.changes) < self._most:
                for change in self._removals(known, stays[0]):
                    yield _Node(node.changes | {change}, node.come, node.go, node.taken)
        elif node.changes and tried is not None and tried.has(goal.relation, [goal.row])[0]:
            smallest = self._smallest(node.changes, goal)
            if not any(each <= smallest for each in found):
                found.append(smallest)
                found.sort(key=len)

    def _smallest(self, changes: frozenset[Change], goal: Goal) -> frozenset[Change]:
        """The changes without those that the goal does not need."""
        for each in sorted(changes) if len(changes) > 1 else ():
            tried = self._tried(changes - {each})
            if tried is not None and tried.has(goal.relation, [goal.row])[0]:
                return self._smallest(changes - {each}, goal)
        return changes

    def _coming(self, node: _Node, goal: Goal) -> Iterator[_Node]:
        rest = node.come - {goal}
        if self._takes_rows(goal.relation):
            here = self._version.is_base(goal)
            changes = node.changes if here else node.changes | {Change(1, *goal)}
            if not here:
                yield _Node(changes, rest, node.go, node.taken)
            if rivals := frozenset(self._others(goal)):
                yield _Node(changes, rest, node.go | rivals, node.taken)
        if goal in node.taken:
            return
        for needs in self._needs_of(goal):
            come = rest | {each for each in needs.come if Change(1, *each) not in node.changes}
            if come & node.taken:
                continue
            yield _Node(node.changes, come, node.go | needs.go, node.taken | {goal})

    def _tried(self, changes: frozenset[Change]) -> Version | None:
        if not changes:
            return self._version
        self._tries += 1
        state = dry_run(self._engine, self._state, sorted(changes))
        return None if state is None else Version(self._engine, state)

    def _takes_rows(self, relation: str) -> bool:
        """True where base facts are added: to relations that no rule derives, or that have some."""
        if relation in self._state.views:
            return False
        derived = relation in self._version.derived
        return not derived or bool(self._state.base(relation).count)

    def _removals(self, version: Version, goal: Goal) -> list[Change]:
        """Changes each of which breaks the smallest proof of a row, the nearest facts first."""
        rules = Rules(version, _FACTS)
        heights = Heights(version, rules)
        root = heights.prove(goal)
        found: dict[Change, None] = {}
        for node in reversed(below(root, heights.nodes)):
            if node.best is None:
                found[Change(-1, *node.goal)] = None
            else:
                found.update(dict.fromkeys(self._denied(version, node.best.head, node.best.found)))
            if len(found) >= _FACTS:
                break
        return list(found)

    def _denied(
        self, version: Version, head: HeadSearch, found: Sequence[Sequence[object]]
    ) -> Iterator[Change]:
        """Base facts that would make a plain negation of a derivation false."""
        for assignments in found:
            for each in assignments:
                env: Env = each.env  # type: ignore[attr-defined]
                for literal in head.literals:
                    if not isinstance(literal, CheckedNegation) or len(literal.block.literals) != 1:
                        continue
                    atom = literal.block.literals[0]
                    if isinstance(atom, CheckedAtom) and self._takes_rows(atom.relation):
                        known = partly(atom, env, version)
                        if len(known) == len(atom.args):
                            row = tuple(known[place] for place in range(len(known)))
                            yield Change(1, atom.relation, row)

    # ── what rules need ───────────────────────────────────────────────────────────────────────────
    def _needs_of(self, goal: Goal) -> list[Needs]:
        """Sets of rows that give the goal a derivation, fewer ones first."""
        if goal not in self._needs:
            found: dict[Needs, None] = {}
            for head in self._rules.of(goal.relation):
                for _, literals in alternatives(head.plain):
                    found.update(dict.fromkeys(self._of_rule(head, literals, goal)))
            self._needs[goal] = sorted(found, key=lambda needs: len(needs.come) + len(needs.go))
        return self._needs[goal]

    def _of_rule(
        self, head: HeadSearch, literals: list[CheckedLiteral], goal: Goal
    ) -> Iterator[Needs]:
        given, equations = head.equated_columns
        columns = range(len(goal.row)) if head.extreme else head.columns
        begin = {given[place]: goal.row[place] for place in columns}
        ties = [equations[place] for place in columns]
        rivals = frozenset(self._rivals(head, goal))
        plain = [each for each in literals if each != head.chosen]
        guesses = Guesses(self._version, head.variables, plain, goal)
        open_ones = [each for each in plain if self._may_lack(each)]
        end = min(SEARCHES, self._searches + OF_GOAL)
        for size in range(max(self._most, 2) + 1):
            for lacking in combinations(open_ones, size):
                held = [*ties, *(each for each in plain if each not in lacking)]
                for env in self._assignments(head, held, begin):
                    for needs, inside in self._of_lacking(head, guesses, lacking, env):
                        if self._searches > end:
                            self.complete = False
                            return
                        if goal in needs.come or not self._holds(head, held, env, inside):
                            continue
                        if needs.come or needs.go or rivals:
                            yield Needs(needs.come, needs.go | rivals)
                        elif head.chosen is not None:
                            yield from self._of_choice(head, plain, inside)
        if head.aggregates and not head.extreme:
            yield from self._of_group(head, goal)

    def _may_lack(self, literal: CheckedLiteral) -> bool:
        if isinstance(literal, CheckedAtom):
            return literal.relation in self._version.state.program.catalog.relations
        return isinstance(literal, CheckedNegation | CheckedAggregate)

    def _assignments(
        self, head: HeadSearch, literals: list[CheckedLiteral], begin: Env
    ) -> Iterator[Env]:
        """Some assignments of those literals that can be decided without the others."""
        way = self._decided(head, literals, tuple(begin))
        row = matrix([tuple(begin.values())], len(begin))
        for found in first_of(way, self._version, row, _ASSIGNMENTS, range(len(way.bound))):
            yield dict(zip(way.bound, found, strict=True))

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
        way = self._ways[key]
        self._searches += 1
        row = matrix([tuple(env[each] for each in given)], len(given))
        return bool(first_of(way, self._version, row, 1, range(len(way.bound))))

    def _of_lacking(
        self, head: HeadSearch, guesses: Guesses, lacking: Sequence[CheckedLiteral], env: Env
    ) -> Iterator[tuple[Needs, Env]]:
        """The rows that literals lack under an assignment, with guesses for what is not bound."""
        if not lacking:
            yield Needs(frozenset(), frozenset()), env
            return
        first, rest = lacking[0], lacking[1:]
        for come, go, inside in self._of_one(head, guesses, first, env):
            for needs, deepest in self._of_lacking(head, guesses, rest, inside):
                yield Needs(needs.come | come, needs.go | go), deepest

    def _of_one(
        self, head: HeadSearch, guesses: Guesses, literal: CheckedLiteral, env: Env
    ) -> Iterator[tuple[frozenset[Goal], frozenset[Goal], Env]]:
        nothing = frozenset[Goal]()
        if isinstance(literal, CheckedAtom):
            for inside in guesses.of(literal, env):
                goal = goal_of(literal, inside, self._version)
                if not self._version.has(goal.relation, [goal.row])[0]:
                    yield frozenset((goal,)), nothing, inside
            return
        assert isinstance(literal, CheckedNegation | CheckedAggregate)
        outer = of_literal(literal) - literal.block.local - {getattr(literal, "result", None)}
        if not outer <= env.keys():
            return
        negation = CheckedNegation(literal.block)
        most = self._most + 1 if isinstance(literal, CheckedNegation) else _GROUP
        found = matches(negation, env, self._version, head.variables, most)
        goals = {goal_of(way.atoms[0], inside, self._version) for way, inside in found if way.atoms}
        if isinstance(literal, CheckedNegation):
            if goals and len(goals) <= self._most:
                yield nothing, frozenset(goals), env
            return
        for goal in sorted(goals):  # of a group: one row less, or one more
            yield nothing, frozenset((goal,)), env
        for atom in literal.block.literals:
            if isinstance(atom, CheckedAtom):
                for come, _, _ in self._of_one(head, guesses, atom, env):
                    yield come, nothing, env

    # ── aggregates and choices ────────────────────────────────────────────────────────────────────
    def _rivals(self, head: HeadSearch, goal: Goal) -> Iterator[Goal]:
        """Rows in the way of the goal: a better value of its group, others of a choice domain."""
        relation = goal.relation
        if head.extreme is not None:
            for row in rows_with(self._version, relation, _known(goal, head.columns), 1):
                (place,) = set(range(len(row))) - set(head.columns)
                here, asked = self._version.values(relation, row), self._version.values(*goal)
                smaller = here[place] < asked[place]
                if smaller == (head.extreme.function == "min"):
                    yield Goal(relation, row)
        yield from self._others(goal)

    def _others(self, goal: Goal) -> Iterator[Goal]:
        """Rows that were chosen in the goal's place, or have its key."""
        schema = self._version.schema(goal.relation)
        for domain in (*schema.choice, *([] if schema.key is None else [schema.key])):
            for row in rows_with(self._version, goal.relation, _known(goal, domain), self._most):
                yield Goal(goal.relation, row)

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
                    yield Needs(frozenset(), frozenset((gone,)))

    def _of_group(self, head: HeadSearch, goal: Goal) -> Iterator[Needs]:
        """Rows of the goal's group, one to go at a time: what is left may have its value."""
        group = head.group(goal.row)
        for place in range(min(group.size, _GROUP)):
            for premise in premises_of(head.found(*group.at(place)), self._version):
                yield Needs(frozenset(), frozenset((premise,)))


def _known(goal: Goal, places: Sequence[int]) -> dict[int, int]:
    return {place: goal.row[place] for place in places}
