# SPDX-License-Identifier: Apache-2.0
"""Work of a commit for one rule: the rows of `ws.profile()`."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lftj.join.budget import Divided
from lftj.scantree.frozen import record
from lftj.scantree.jit import compile_seconds

MOVES = ("may gain", "may lose", "may gain and lose")
"""All that changes of inputs can do to a stratum: rows that come where atoms read them, or go where
they are negated, can only give it rows.
"""


class Moment(NamedTuple):
    """A moment: the clock, the time that processors have spent on this process, and the seconds of
    compilation so far.
    """

    time: float
    cpu: float
    compiled: float


def moment() -> Moment:
    """Take the time."""
    return Moment(time.perf_counter(), time.process_time(), compile_seconds())


@record(slots=True)
class RuleWork:
    """Counters of one rule at one commit.

    `strategy`: the name of the strategy that did the work, as docs/strategies.md lists them.
    `outcome`: `update` (only what the change can affect was evaluated), `full` (the first
    evaluation, or one after a change of rules), `fallback` (a full evaluation after an update that
    cost more than allowed was given up), `forecast` (a full evaluation in place of an update that
    was not started), `added` and `removed` (a rule that came or went), `bootstrap` (a recursive
    stratum from nothing), `parts` (the affected parts of a recursive stratum), `supersteps` (a
    recursive stratum that parts of a distributed workspace derive together), `choice` (a new choice
    in a relation or stratum with several choice domains). `steps` are kernel steps, including the
    steps of an update that was given up. `assignments` counts rows of satisfying assignments found,
    `head_changes` the changes of the rule's head rows. `parts` are the parts into which large
    evaluations were divided, 0 when none was, and `largest_part` the kernel steps of the largest of
    them. `compile_seconds` are those of kernels that were compiled meanwhile, or read from the
    cache; `seconds`, that passed, and `cpu_seconds`, that processors spent on this process, on all
    of its threads, are without them. The row of the strategy `compiled`, without relation and rule,
    has those of what a program needs, which is compiled when its rules are added. `rows`: those
    that the relation has after the commit. `moved`: what the commit did to the inputs of a
    recursive stratum: one of MOVES, where any changed.
    """

    relation: str
    rule: str
    strategy: str
    surgeries: int = 0
    stabs: int = 0
    regions: int = 0
    steps: int = 0
    assignments: int = 0
    head_changes: int = 0
    bytes: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    parts: int = 0
    largest_part: int = 0
    compile_seconds: float = 0.0
    outcome: str = ""
    rows: int = 0
    moved: str = ""

    def since(self, started: Moment) -> None:
        """Note the time that has passed since then, compilation apart."""
        now = moment()
        self.compile_seconds = now.compiled - started.compiled
        self.seconds = now.time - started.time - self.compile_seconds
        self.cpu_seconds = max(0.0, now.cpu - started.cpu - self.compile_seconds)

    def divided(self, divisions: Iterable[Divided]) -> None:
        """Note what was divided."""
        for division in divisions:
            self.parts += len(division.steps)
            self.largest_part = max(self.largest_part, *division.steps)


_TEXTS = ("relation", "rule", "strategy", "outcome", "moved")
_NUMBERS = {
    field.name: type(field.default) for field in fields(RuleWork) if field.name not in _TEXTS
}
_texts_behind_name, _numbers = attrgetter(*_TEXTS[1:]), attrgetter(*_NUMBERS)
_Kept: TypeAlias = tuple[int, np.ndarray, *tuple[str, ...]]


class WorkHistory:
    """Work of the last commits, the oldest first: pairs of a version and its `RuleWork`s. The name
    of a relation is kept as a plain string where it is a `Source`.

    A commit is kept as one tuple of plain strings and an array of numbers, which Python's collector
    lets go of when it first sees it: a thousand commits below a hundred views have a hundred
    thousand works, and going through so many objects stops a process for a tenth of a second.
    """

    def __init__(self, maxlen: int | None):
        """`maxlen`: the number of commits that are kept; None: all."""
        self.maxlen = maxlen
        self._kept: deque[_Kept] = deque(maxlen=maxlen)

    def append(self, commit: tuple[int, Iterable[RuleWork]], /) -> None:
        """Keep a commit. O(works)."""
        version, works = commit
        works = [*works]
        texts = [(str.__str__(work.relation), *_texts_behind_name(work)) for work in works]
        numbers = np.fromiter(chain.from_iterable(map(_numbers, works)), np.float64)
        self._kept.append((version, numbers, *chain.from_iterable(texts)))

    def __iter__(self) -> Iterator[tuple[int, tuple[RuleWork, ...]]]:
        return map(_unpacked, list(self._kept))

    def __getitem__(self, place: int) -> tuple[int, tuple[RuleWork, ...]]:
        return _unpacked(self._kept[place])

    def __len__(self) -> int:
        return len(self._kept)


def _unpacked(kept: _Kept) -> tuple[int, tuple[RuleWork, ...]]:
    version, numbers, *texts = kept
    remaining_texts, remaining_numbers = iter(texts), iter(numbers.tolist())
    works: list[RuleWork] = []
    for _ in range(len(texts) // len(_TEXTS)):
        named = {name: next(remaining_texts) for name in _TEXTS}
        counted: dict[str, Any] = {
            name: kind(next(remaining_numbers)) for name, kind in _NUMBERS.items()
        }
        works.append(RuleWork(**named, **counted))
    return version, tuple(works)
