"""The kinds of change: what goes and comes in each history."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from bench.histories.facts import Subject
from bench.histories.ways import OURS, Player
from bench.recursion.changes import Change

TIMES = {"s": 1, "m": 3, "l": 5}
"""Times that something goes and comes back, by size; of a thousand rows, rules, and all that one
fact locks, once at size m and twice at l.
"""
FEW = {"s": 1, "m": 1, "l": 2}
TRIED = {"s": 4, "m": 30, "l": 30}
"""Rows that are deleted to find some whose deletion changes no view."""
WINDOW = 100
"""Part of the rows that a window moves by in one commit, and of those outside at first."""


class Step(NamedTuple):
    """One commit: what it does, in the words of the tables, and the change; a number is a rule that
    goes or comes.
    """

    kind: str
    change: Change | int


def _out_and_back(kind: str, relation: str, rows: np.ndarray) -> Iterator[Step]:
    yield Step(f"{kind}, out", Change(relation, rows[:0], rows))
    yield Step(f"{kind}, back", Change(relation, rows, rows[:0]))


def _many(number: int, name: str) -> Kind:
    def steps(subject: Subject, size: str) -> Iterator[Step]:
        random, rows = np.random.default_rng(subject.seed), subject.rows()
        times = TIMES[size] if number < 1_000 else FEW[size]
        for _ in range(times if 2 * number <= len(rows) else 0):
            some = rows[random.choice(len(rows), number, replace=False)]
            yield from _out_and_back(name, subject.relation, some)

    return steps


def _bridge(subject: Subject, size: str) -> Iterator[Step]:
    if subject.bridge is not None:
        for _ in range(TIMES[size]):
            yield from _out_and_back("bridge", subject.relation, np.array([subject.bridge]))


def _hub(subject: Subject, size: str) -> Iterator[Step]:
    """Rows of the value that most rows have."""
    rows = subject.rows()
    counted = [np.unique(rows[:, place], return_counts=True) for place in range(2)]
    place = int(counted[1][1].max() > counted[0][1].max())
    values, times = counted[place]
    hub = rows[rows[:, place] == values[times.argmax()]]
    for number in range(TIMES[size]):
        yield from _out_and_back("hub", subject.relation, hub[[number % len(hub)]])


def _window(subject: Subject, size: str) -> Iterator[Step]:
    """The oldest rows go, and as many that were there before come."""
    rows = np.random.default_rng(subject.seed).permutation(subject.rows())
    many = max(1, len(rows) // WINDOW)
    none, times = rows[:0], TIMES[size]
    yield Step("", Change(subject.relation, none, rows[: times * many]))
    for number in range(times):
        out = rows[(times + number) * many : (times + number + 1) * many]
        back = rows[number * many : (number + 1) * many]
        yield Step("sliding window", Change(subject.relation, back, out))


def _no_effect(subject: Subject, size: str) -> Iterator[Step]:
    """Rows without which all views stay as they are, found by trying."""
    random, rows = np.random.default_rng(subject.seed), subject.rows()
    player, found = Player(subject, OURS), 0
    for place in random.permutation(len(rows))[: TRIED[size]].tolist():
        row = rows[[place]]
        player.play(Change(subject.relation, row[:0], row))
        changed = player.rows_changed()
        player.play(Change(subject.relation, row, row[:0]))
        if not changed:
            found += 1
            yield from _out_and_back("no effect", subject.relation, row)
        if found == TIMES[size]:
            return


def _unlocking(subject: Subject, size: str) -> Iterator[Step]:
    """The fact that all rules begin with."""
    one = np.array([[1]])
    for _ in range(FEW[size]):
        yield Step("locking", Change("on", one[:0], one))
        yield Step("unlocking", Change("on", one, one[:0]))


def _rules(subject: Subject, size: str) -> Iterator[Step]:
    """The last rules, of which most are recursive; at size l each of them."""
    rules = range(len(subject.rules))
    for number in [*reversed(rules)][: None if size == "l" else 2 * FEW[size]]:
        yield Step("rule out", number)
        yield Step("rule in", number)


Kind = Callable[[Subject, str], Iterator[Step]]

KINDS: Mapping[str, Kind] = {
    "single": _many(1, "single"),
    "ten": _many(10, "ten"),
    "hundred": _many(100, "hundred"),
    "thousand": _many(1_000, "thousand"),
    "bridge": _bridge,
    "hub": _hub,
    "sliding window": _window,
    "no effect": _no_effect,
    "unlocking": _unlocking,
    "rules": _rules,
}
"""The steps of a history by kind. None where the facts are too few; a step without a name is not
measured.
"""
LOCKED = "unlocking"
"""The kind that needs rules with a lock."""
