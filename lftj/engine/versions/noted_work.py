# SPDX-License-Identifier: Apache-2.0
"""Work of rules that is noted with commits, for those who look at a workspace in files later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lftj.maintenance.inputs import RuleWork

NOTED_STEPS, _MOST = 10_000, 8
"""Kernel steps, about a millisecond, and number of the works that the record of a commit has. Not
seconds: what a commit writes does not depend on the machine.
"""


class Noted(NamedTuple):
    """The work of one rule for some `commits`, the strategy that of the last; see `RuleWork`."""

    relation: str
    rule: str
    strategy: str
    outcome: str
    moved: str
    seconds: float
    steps: int
    commits: int = 1


def noted(works: Iterable[RuleWork]) -> tuple[Noted, ...]:
    """The works that took longest, of those that took many steps; mostly none."""
    found = [each for each in works if each.steps >= NOTED_STEPS and each.relation]
    if not found:
        return ()
    found.sort(key=lambda each: -each.seconds)
    return tuple(
        Noted(
            each.relation, each.rule, each.strategy, each.outcome, each.moved,
            round(each.seconds, 6), each.steps,
        )
        for each in found[:_MOST]
    )  # fmt: skip


class Spent:
    """The noted works of all commits: those of earlier processes, up to a version, and those of
    this one.
    """

    def __init__(self, before: Iterable[Iterable[Any]] = (), until: int = -1):
        """`before`: as `data` gives it."""
        self.before = [Noted(*each) for each in before]
        self.until = until
        self._totals = {each[:2]: each for each in self.before}

    def add(self, works: Iterable[Noted]) -> None:
        """Add the works of a commit."""
        for work in works:
            total = self._totals.get(work[:2])
            if total is not None:
                work = work._replace(
                    seconds=round(total.seconds + work.seconds, 6),
                    steps=total.steps + work.steps,
                    commits=total.commits + 1,
                )
            self._totals[work[:2]] = work

    def data(self) -> list[list[Any]]:
        """All of it as plain data. Any thread may ask."""
        return [list(each) for each in list(self._totals.values())]
