# SPDX-License-Identifier: Apache-2.0
"""Smallest changes of base facts that bring a missing row.

The search goes from the row down: what its rules lack is looked for in the same manner, until only
base facts are left [Kakas, Kowalski and Toni, Abductive Logic Programming, 1992]. What needs fewer
changes goes first, then what needs fewer rules. A row that takes the place of another one of its
key is one change, as `tx.upsert` makes it. Each set of changes is tried out by a dry run, so the
search may guess: a row in the way is removed with a base fact of its proof, and of an aggregate any
row of the group is tried. `Gaps` notes what was not tried: without any, no smaller set does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from lftj.engine.versions import State
from lftj.explain.derivations.derivations import Derivation, Goal, Rules
from lftj.explain.derivations.literals import partly
from lftj.explain.derivations.version import Version
from lftj.explain.missing.dry_run import Change, dry_run
from lftj.explain.missing.guesses import Constants, constants_of
from lftj.explain.missing.needs import BOUND, FURTHER, IN_THE_WAY, Gaps, RuleNeeds
from lftj.explain.present.explain import relations_below
from lftj.explain.present.proof_search import UNKNOWN, Heights, below
from lftj.program import (
    CheckedAtom,
    CheckedLiteral,
    CheckedNegation,
    Filter,
    FunctorCall,
)
from lftj.syntax import tree

if TYPE_CHECKING:
    from lftj.engine.live import Engine

STEPS, TRIES, FIXES = 400, 60, 10
"""Goals that are taken up, dry runs, and sets of changes that are returned, at most."""
_FACTS = 12
"""Base facts of one proof that are looked at."""

Env = dict[int, int]


@dataclass(frozen=True)
class _Node:
    """Changes so far, with rows that are yet to come or to go. `taken` were taken up before."""

    changes: frozenset[Change]
    come: frozenset[Goal]
    go: frozenset[Goal]
    taken: frozenset[Goal]


class Repairs:
    """Searches in one version for what one row lacks."""

    def __init__(self, engine: Engine, state: State, version: Version, rules: Rules, most: int):
        self._engine, self._state, self._version = engine, state, version
        self._most, self.gaps, self._grows = most, Gaps(), False
        self._needs = RuleNeeds(version, rules, most, self.gaps)
        self._tried: dict[frozenset[Change], Version | None] = {frozenset(): version}

    def of(self, goal: Goal) -> list[frozenset[Change]]:
        """The smallest sets of changes that were found and tried out. The caller holds the writer
        lock.
        """
        self._grows = _only_grows(self._version, goal.relation)
        order, found = count(), list[frozenset[Change]]()
        start = _Node(frozenset(), frozenset((goal,)), frozenset(), frozenset())
        waiting = [(self._likely(start), 0, next(order), start)]
        seen, steps = {start}, 0
        while waiting:
            size, depth, _, node = heapq.heappop(waiting)
            if found and self._least(node) >= self.size(found[0]) < size:
                continue
            if steps >= STEPS or len(self._tried) > TRIES or len(found) >= FIXES:
                self.gaps.note(BOUND)
                break
            steps += 1
            for after in self._after(node, goal, found):
                if after not in seen and self._least(after) <= self._most:
                    seen.add(after)
                    heapq.heappush(waiting, (self._likely(after), depth + 1, next(order), after))
        return found

    # ── how much a set of changes is ──────────────────────────────────────────────────────────────
    def size(self, changes: frozenset[Change]) -> int:
        """The number of changes, of which a row and the one whose key it takes are one."""
        return len(changes) - _replacements(self._version, changes)

    def _likely(self, node: _Node) -> int:
        """The changes that a node is likely to take: one may bring several of the rows."""
        return self.size(node.changes) + len(node.come) + bool(node.go and not node.changes)

    def _least(self, node: _Node) -> int:
        """A lower bound of the changes that a node takes: those that it has may bring all."""
        return max(1, self.size(node.changes))

    # ── one step of the search ────────────────────────────────────────────────────────────────────
    def _after(self, node: _Node, goal: Goal, found: list[frozenset[Change]]) -> Iterator[_Node]:
        tried = self._try(node.changes) if node.changes or not node.come else self._version
        if node.come:
            known = tried or self._version
            left = frozenset(
                each for each in node.come if not known.has(each.relation, [each.row])[0]
            )
            if left:
                yield from self._coming(node, left, goal)
            else:
                yield _Node(node.changes, left, node.go, node.taken)
            return
        known = self._version if tried is None else tried  # a key may need what is to go
        gone = {(each.relation, each.row) for each in node.changes if tried is None}
        stays = [
            each
            for each in sorted(node.go)
            if each not in gone and known.has(each.relation, [each.row])[0]
        ]
        size = self.size(node.changes)
        if stays:
            if size < self._most:
                for change in self._removals(known, stays[0], size + 1):
                    yield _Node(node.changes | {change}, node.come, node.go, node.taken)
        elif node.changes and tried is not None and tried.has(goal.relation, [goal.row])[0]:
            smallest = self._smallest(node.changes, goal)
            if not any(each <= smallest for each in found):
                found.append(smallest)
                found.sort(key=self.size)
        elif node.changes and not self._grows:
            self.gaps.note(FURTHER, size + 1)

    def _smallest(self, changes: frozenset[Change], goal: Goal) -> frozenset[Change]:
        """The changes without those that the goal does not need."""
        for each in sorted(changes) if len(changes) > 1 else ():
            tried = self._try(changes - {each})
            if tried is not None and tried.has(goal.relation, [goal.row])[0]:
                return self._smallest(changes - {each}, goal)
        return changes

    def _coming(self, node: _Node, come: frozenset[Goal], top: Goal) -> Iterator[_Node]:
        """Take up one of the rows that are yet to come."""
        goal = min(come)
        rest = come - {goal}
        if self._takes_rows(goal.relation):
            here = self._version.is_base(goal)
            changes = node.changes if here else node.changes | {Change(1, *goal)}
            rivals = frozenset(self._needs.others(goal))
            if self._version.schema(goal.relation).key is not None:  # refused beside them
                gone = frozenset(each for each in rivals if self._version.is_base(each))
                changes |= {Change(-1, *each) for each in gone}
                yield _Node(changes, rest, node.go | (rivals - gone), node.taken)
            else:
                if not here:
                    yield _Node(changes, rest, node.go, node.taken)
                if rivals:
                    yield _Node(changes, rest, node.go | rivals, node.taken)
        if goal in node.taken:
            return
        for needs in self._needs.of(goal, self._constants(node, top)):
            more = (
                needs.come
                - node.taken
                - {Goal(*each[1:]) for each in node.changes if each.sign > 0}
            )
            yield _Node(node.changes, rest | more, node.go | needs.go, node.taken | {goal})

    def _constants(self, node: _Node, top: Goal) -> Constants:
        """Values of all that is to come, and of changes so far: one fact may serve several."""
        goals = [top, *node.come, *(Goal(each.relation, each.row) for each in node.changes)]
        return constants_of(self._version, goals)

    def _try(self, changes: frozenset[Change]) -> Version | None:
        """The version after some changes; None where they would be refused."""
        if changes not in self._tried:
            state = dry_run(self._engine, self._state, sorted(changes))
            self._tried[changes] = None if state is None else Version(self._engine, state)
        return self._tried[changes]

    def _takes_rows(self, relation: str) -> bool:
        """True where base facts are added: to relations that no rule derives, or that have some."""
        if relation in self._state.views:
            return False
        derived = relation in self._version.derived
        return not derived or bool(self._state.base(relation).count)

    # ── rows in the way ───────────────────────────────────────────────────────────────────────────
    def _removals(self, version: Version, goal: Goal, size: int) -> list[Change]:
        """Changes each of which breaks the smallest proof of a row, the nearest facts first."""
        rules = Rules(version, _FACTS)
        heights = Heights(version, rules)
        root = heights.prove(goal)
        if root.height == UNKNOWN:  # it rests on itself
            self.gaps.note(IN_THE_WAY, size)
            facts = [node.goal for node in heights.nodes.values() if not node.height]
            return [Change(-1, *each) for each in facts[:_FACTS]]
        found: dict[Change, None] = {}
        for node in reversed(below(root, heights.nodes)):
            if len(found) >= _FACTS:
                self.gaps.note(IN_THE_WAY, size)
                break
            if node.best is None:
                found[Change(-1, *node.goal)] = None
                if version.schema(node.goal.relation).choice:
                    self.gaps.note(IN_THE_WAY, size)
            else:
                found.update(dict.fromkeys(self._denied(version, node.best, size)))
        return list(found)

    def _denied(self, version: Version, derivation: Derivation, size: int) -> Iterator[Change]:
        """Base facts that would make a plain negation of a derivation false."""
        for part in derivation.parts:
            yield from self._denied(version, part, size)
        head = derivation.head
        if derivation.parts:
            return
        if head.aggregates or version.schema(head.head.relation).choice:
            self.gaps.note(IN_THE_WAY, size)
        for literal in head.literals:
            if isinstance(literal, CheckedAtom | Filter | FunctorCall):
                continue
            change = self._denial(version, literal, derivation.found[0][0].env)
            if change is not None:
                yield change
            if change is None or change.relation in version.derived:
                self.gaps.note(IN_THE_WAY, size)

    def _denial(self, version: Version, literal: CheckedLiteral, env: Env) -> Change | None:
        """The base fact that makes a negation of one atom false, where it is a single one."""
        if not isinstance(literal, CheckedNegation) or len(literal.block.literals) != 1:
            return None
        atom = literal.block.literals[0]
        if not isinstance(atom, CheckedAtom) or not self._takes_rows(atom.relation):
            return None
        known = partly(atom, env, version)
        if len(known) < len(atom.args):
            return None
        return Change(1, atom.relation, tuple(known[place] for place in range(len(known))))


def _replacements(version: Version, changes: Iterable[Change]) -> int:
    """The number of rows that come and have the key of one that goes."""
    keyed: dict[int, set[tuple[object, ...]]] = {1: set(), -1: set()}
    for change in changes:
        if (key := version.schema(change.relation).key) is not None:
            keyed[change.sign].add((change.relation, *(change.row[column] for column in key)))
    return len(keyed[1] & keyed[-1])


def _only_grows(version: Version, relation: str) -> bool:
    """True where more base facts take no row of a relation away: then what its derivation needs is
    enough.
    """
    program = version.state.program
    rules = [source.rule for source in program.sources.values()]
    names = relations_below(rules, [relation])
    if any(each.key or each.choice for each in map(version.schema, names)):
        return False
    waiting: list[object] = [
        rule for rule in rules if any(head.relation in names for head in rule.heads)
    ]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.Negation | tree.Aggregate | tree.HeadAggregate | tree.Choice):
            return False
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, tree.Node):
            waiting += vars(node).values()
    return True
