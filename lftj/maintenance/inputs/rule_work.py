"""Work of a commit for one rule: the rows of `ws.profile()`."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lftj.join.budget import Divided
from scantree.jit import compile_seconds


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


@dataclass(slots=True)
class RuleWork:
    """Counters of one rule at one commit.

    `strategy`: the name of the strategy that did it, as docs/strategies.md lists them. `outcome`:
    `update` (only what the change touches was evaluated), `full` (the first time, or
    after a change of rules), `fallback` (an update that cost more than allowed was given up for a
    full evaluation), `forecast` (it was expected to, and not started), `added` and `removed` (a
    rule that came or went), `bootstrap` (a recursive stratum from nothing), `parts` (only the parts
    of one that the change touches), `iterations` (a recursive stratum that parts of a distributed
    workspace derive together), `choice` (a relation or stratum with several choice domains, chosen
    anew). `steps` are kernel steps, those of an abandoned update included. `assignments` counts
    rows of satisfying assignments found, `head_changes` the changes of the rule's head rows.
    `parts` are the parts into which large evaluations were divided, 0 when none was, and
    `largest_part` the kernel steps of the largest of them. `compile_seconds` are those of kernels
    that were compiled meanwhile, or read from the cache; `seconds`, that passed, and `cpu_seconds`,
    that processors spent on this process, on all of its threads, are without them. The row of the
    strategy `compiled`, without relation and rule, has those of what a program needs, which is
    compiled when its rules are added. `rows`: those that the relation has after the commit.
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
