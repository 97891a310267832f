"""The ways to follow a history: the engine as it comes, evaluation anew, and each way by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.histories.facts import Subject
from bench.histories.programs import locked
from bench.recursion.changes import Change, Following
from lftj.maintenance.ladder import STRATA

OURS, ANEW = "ours", "anew"
_ALWAYS = 1e12
"""A share of an evaluation that no update ever takes."""
_OPTIONAL = frozenset(each.name for each in STRATA if not each.needed)
_COUNTS = {"counting", "counting from nothing"}
_BEST = {"counting best values", "improvement"}


def _alone(*names: str, elastic: float = _ALWAYS) -> dict[str, Any]:
    return {"elastic": elastic, "tuning": lftj.Tuning(without=_OPTIONAL - {*names})}


WAYS: Mapping[str, dict[str, Any]] = {
    OURS: {},
    ANEW: {"elastic": 0.0},
    "rows": _alone("rederivation", *_BEST),
    "ranks": _alone(*_COUNTS, *_BEST, elastic=math.inf),
    "search": _alone("reachability", *_BEST),
    "partitions": _alone("affected partitions", *_BEST),
}
"""Options of a workspace by the name of the way. Best values, of which there is one way each, are
followed by all but evaluation anew.
"""


class Player(Following):
    """A workspace that takes the changes of a history, rules among them, in one way. With `lock`
    the rules begin with the fact `on(1)`.
    """

    def __init__(self, subject: Subject, way: str, lock: bool = False):
        rules = locked(subject.rules) if lock else subject.rules
        facts = {**subject.facts, "on": pa.table({"k": [1]})} if lock else subject.facts
        super().__init__("\n".join([subject.declarations, *rules]), facts, **WAYS[way])
        self.way = way
        self.seconds = 0.0
        """Processor seconds of all changes so far."""
        self._rules = rules
        self._handles = self.workspace.rules

    def play(self, change: Change | int) -> float:
        """The processor seconds of one commit. A number: this rule goes, or comes back if it is
        gone.
        """
        taken = self.commit([change]) if isinstance(change, Change) else self._toggle(change)
        self.seconds += taken
        return taken

    def _toggle(self, number: int) -> float:
        handle = self._handles[number]
        if handle in self.workspace.rules:
            return processor_seconds(lambda: self.workspace.remove_rule(handle))

        def come() -> None:
            (self._handles[number],) = self.workspace.add_rules(self._rules[number])

        return processor_seconds(come)

    def rows_changed(self) -> int:
        """Rows of views that the last commit changed."""
        return int(sum(self.workspace.profile(last=1)["head_changes"]))
