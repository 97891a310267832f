# SPDX-License-Identifier: Apache-2.0
"""Smallest proofs: rows and their derivations as a graph that is searched from the row asked about.

A proof of height h rests on rows at most h rules away. So the rows are expanded ring by ring, all
of one ring in one search for each rule, and heights flow back from base facts to whatever rests on
them. Once the row has a height, and every row that a smaller proof could rest on was expanded, that
height is the smallest. Heights fall from a row to its premises, so that no proof goes in a circle
[Zhao, Subotić and Scholz, Debugging Large-Scale Datalog, 2020].

Where rows have more derivations than the search may look at, it goes on depth first: from a row to
the premises of the derivation that lacks the fewest, and ends with the first proof.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import field
from typing import NamedTuple

from lftj.explain.derivations.derivations import Derivation, Goal, Rules
from lftj.explain.derivations.version import Version
from lftj.scantree import record

UNKNOWN = 1 << 60
"""The height of a row that has no proof so far."""

BOUND = 10_000
"""Derivations that are looked at for the smallest proof, beyond one for each row."""
_AT_ONCE = 2_000
"""Rows of a ring that are expanded by one search for each rule."""
_LOOK_UP = 16
"""Rows above a premise that are asked whether they have a proof already."""


@record(eq=False)
class Node:
    """A row. `best`: the derivation that gives its height; None for a base fact. `users`: the rows
    with a derivation that rests on it; not their nodes, since a graph without cycles goes at once
    when nobody holds it, while looking for garbage takes longer than most explanations.
    """

    goal: Goal
    height: int = UNKNOWN
    best: Derivation | None = None
    derivations: list[Derivation] | None = None
    users: list[tuple[Goal, Derivation]] = field(default_factory=list)


class _Wanted(NamedTuple):
    """A row that is to have a proof, for the sake of another one."""

    node: Node
    by: _Wanted | None

    @property
    def is_idle(self) -> bool:
        """True where it, or one of the nearest rows above it, has a proof."""
        wanted: _Wanted | None = self
        for _ in range(_LOOK_UP):
            if wanted is None:
                return False
            if wanted.node.height < UNKNOWN:
                return True
            wanted = wanted.by
        return False


class Heights:
    """The graph below rows of one version. `looked_at`: derivations found so far,
    beyond one for each row."""

    def __init__(
        self, version: Version, rules: Rules, bound: int = BOUND, without: Goal | None = None
    ):
        """`without`: a row that no proof may rest on."""
        self._version, self._rules, self._bound = version, rules, bound
        self._without = without
        self.nodes: dict[Goal, Node] = {}
        self.looked_at = 0
        self.smallest = True

    def prove(self, goal: Goal) -> Node:
        """The row with its smallest height. It stays UNKNOWN where one row is left out, or where a
        `min` or `max` in a cycle is supported by its own value alone.
        """
        (root,) = self._nodes([goal])
        ring, rings, most = [root], 0, self.looked_at + self._bound
        while ring and root.height > rings + 1:
            following: list[Node] = []
            for first in range(0, len(ring), _AT_ONCE):
                if self.looked_at > most:
                    self.smallest = False
                    self._prove_somehow(root)
                    return root
                following += self._expand(ring[first : first + _AT_ONCE])
            ring, rings = following, rings + 1
        return root

    def derivations(self, goal: Goal) -> list[Derivation]:
        """All derivations that a row has directly."""
        (node,) = self._nodes([goal])
        self._expand([node])
        return node.derivations or []

    def height_by(self, derivation: Derivation) -> int:
        """The height that a derivation gives its row."""
        return 1 + max((self.nodes[goal].height for goal in derivation.premises), default=0)

    def circular(self, root: Node) -> Goal:
        """A row that rests on itself, below one that has no proof but in a circle."""
        goal, seen = root.goal, set[Goal]()
        while goal not in seen:
            seen.add(goal)
            self._expand([self.nodes[goal]])
            goal = next((each.goal for each in self._lacking(self.nodes[goal])), goal)
        return goal

    # ── growing ───────────────────────────────────────────────────────────────────────────────────
    def _prove_somehow(self, root: Node) -> None:
        """Find some proof, depth first. A row whose premises were passed over, as the row that
        asked for them had a proof by then, may be needed by another one: so there are several
        passes, as long as they find something.
        """
        most = None if self._without is None else self.looked_at + self._bound
        before = -1
        while root.height == UNKNOWN and before != (before := self._known()):
            self._descend(root, most)

    def _known(self) -> int:
        """A measure of what is known: it grows with every row that is expanded or has a proof."""
        nodes = self.nodes.values()
        return sum((node.derivations is not None) + (node.height < UNKNOWN) for node in nodes)

    def _descend(self, root: Node, most: int | None) -> None:
        seen: set[Goal] = set()
        waiting: list[_Wanted] = [_Wanted(root, None)]
        while waiting and root.height == UNKNOWN:
            wanted = waiting.pop()
            node = wanted.node
            if node.goal in seen or wanted.is_idle:
                continue
            if most is not None and self.looked_at > most:
                return
            seen.add(node.goal)
            self._expand([node])
            if node.height == UNKNOWN:
                waiting += [_Wanted(each, wanted) for each in reversed(self._lacking(node))]

    def _lacking(self, node: Node) -> list[Node]:
        """The premises without a proof of a row's derivations, those first of the derivation that
        lacks the fewest.
        """
        lacking = [
            [premise for goal in each.premises if (premise := self.nodes[goal]).height == UNKNOWN]
            for each in node.derivations or ()
        ]
        return [premise for each in sorted(lacking, key=len) for premise in each]

    def _nodes(self, goals: Iterable[Goal]) -> list[Node]:
        """The nodes of rows, with height 0 for those that are base facts."""
        found = list(goals)
        new = [goal for goal in dict.fromkeys(found) if goal not in self.nodes]
        by_relation: dict[str, list[Goal]] = {}
        for goal in new:
            by_relation.setdefault(goal.relation, []).append(goal)
        for relation, some in by_relation.items():
            base = self._version.base(relation, [goal.row for goal in some])
            for goal, is_base in zip(some, base, strict=True):
                known = is_base and goal != self._without
                self.nodes[goal] = Node(goal, 0 if known else UNKNOWN)
        return [self.nodes[goal] for goal in found]

    def _expand(self, ring: Iterable[Node]) -> list[Node]:
        """Find the derivations of rows that have none yet; the rows that these lead to."""
        fresh = [node for node in ring if node.derivations is None and node.goal != self._without]
        by_relation: dict[str, list[Node]] = {}
        for node in fresh:
            node.derivations = []
            by_relation.setdefault(node.goal.relation, []).append(node)
        found: list[tuple[Node, Derivation]] = []
        for relation, nodes in by_relation.items():
            of_row = {node.goal.row: node for node in nodes}
            for head in self._rules.of(relation):
                for row, derivation in head.derivations(list(of_row)):
                    found.append((of_row[row], derivation))
        return self._connect(found)

    def _connect(self, found: list[tuple[Node, Derivation]]) -> list[Node]:
        self.looked_at += len(found) - len({node.goal for node, _ in found})
        goals = dict.fromkeys(goal for _, derivation in found for goal in derivation.premises)
        new = self._nodes([goal for goal in goals if goal not in self.nodes])
        rising: deque[Node] = deque()
        for node, derivation in found:
            assert node.derivations is not None
            node.derivations.append(derivation)
            for goal in set(derivation.premises):
                self.nodes[goal].users.append((node.goal, derivation))
            self._offer(node, derivation, rising)
        self._spread(rising)
        return [node for node in new if node.height == UNKNOWN]

    # ── heights ───────────────────────────────────────────────────────────────────────────────────
    def _offer(self, node: Node, derivation: Derivation, rising: deque[Node]) -> None:
        """Take a derivation if it gives a smaller height."""
        height = self.height_by(derivation)
        if height < node.height:
            node.height, node.best = height, derivation
            rising.append(node)

    def _spread(self, rising: deque[Node]) -> None:
        while rising:
            for user, derivation in rising.popleft().users:
                self._offer(self.nodes[user], derivation, rising)


def below(root: Node, nodes: dict[Goal, Node]) -> list[Node]:
    """The rows that the best proof of a row rests on, itself last: each after what it rests on."""
    order: list[Node] = []
    done: set[Goal] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, entered = waiting.pop()
        if entered:
            order.append(node)
        elif node.goal not in done:
            done.add(node.goal)
            waiting.append((node, True))
            premises = node.best.premises if node.best is not None else ()
            waiting += [(nodes[goal], False) for goal in reversed(premises)]
    return order
