"""Plays histories: every commit in all ways, which end with the rows of evaluation anew."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import lftj
from bench.figure import require_equal
from bench.histories.facts import Subject
from bench.histories.kinds import KINDS, LOCKED, Step
from bench.histories.ways import ANEW, OURS, Player
from bench.recursion.changes import require_same_views, verify

FREE = 0.001
"""Seconds that any commit may take."""
LONG_ENOUGH = {"s": 0.0, "m": 0.05, "l": 0.05}
"""Seconds of an evaluation from which on its ratios count. Smaller ones tell of fixed costs."""
HOPELESS = 8.0
"""Times the least time of any way, and two seconds, after which a way takes no further changes."""
MEMORY = 4 << 30
"""Bytes that a commit may take. A way by itself may need all derivations of a relation at once."""


class Taken(NamedTuple):
    """One commit in one way: processor seconds, and those of an evaluation from nothing."""

    program: str
    seed: int
    history: str
    kind: str
    way: str
    seconds: float
    evaluation: float

    @property
    def ratio(self) -> float:
        """Evaluations in the time of the commit, but for what any commit may take."""
        return max(0.0, self.seconds - FREE) / self.evaluation


def play(subject: Subject, history: str, size: str, ways: Sequence[str]) -> Iterator[Taken]:
    """All commits of one history, in turns. Raises ResultsDiffer where a view is not what its rules
    derive in the end.
    """
    steps = list(KINDS[history](subject, size))
    if not steps:
        return
    players = [Player(subject, way, lock=history == LOCKED) for way in ways]
    evaluation = min(each.evaluated for each in players)
    if evaluation < LONG_ENOUGH[size]:
        return
    for number, step in enumerate(steps):
        first = number % len(players)  # no way is always first
        for taken in _taken(step, players[first:] + players[:first]):
            yield Taken(subject.name, subject.seed, history, step.kind, *taken, evaluation)
        players = _hopeful(players)
    _require_true(f"{subject.name}, {history}", players)


def _taken(step: Step, players: Sequence[Player]) -> Iterator[tuple[str, float]]:
    for player in players:
        try:
            with player.workspace.limits(memory=MEMORY):
                seconds = player.play(step.change)
        except lftj.LimitError:
            if player.way in (OURS, ANEW):
                raise
            player.seconds = math.inf  # it takes no further changes
            continue
        if step.kind:
            yield player.way, seconds


def _hopeful(players: Sequence[Player]) -> list[Player]:
    most = 2 + HOPELESS * min(each.seconds for each in players)
    return [each for each in players if each.way in (OURS, ANEW) or each.seconds < most]


def _require_true(what: str, players: Sequence[Player]) -> None:
    first, *others = players
    verify(what, first)
    for other in others:
        require_same_views(f"{what}, {other.way}", other, first)
    require_equal(f"{what}, rules", len({len(each.workspace.rules) for each in players}), 1)
