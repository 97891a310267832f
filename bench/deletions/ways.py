"""The ways to follow a change that are compared: the ladder as it is, evaluation anew, and every
strategy for recursive strata by itself.
"""

from __future__ import annotations

import gc
import math
from dataclasses import dataclass

import lftj
from bench.deletions.workloads import Workload
from bench.recursion.changes import Change, Following
from lftj.maintenance.ladder import STRATA

OURS, ANEW = "ours", "anew"
_FREE = 1e12
"""A share of an evaluation that no update ever takes."""
_OPTIONAL = frozenset(each.name for each in STRATA if not each.needed)
_ROOM = 2 << 30
"""Bytes of pages from which on strategies are not taken alone: each way has its own workspace."""
_ALONE = {
    name: (name,)
    for name in ("rederivation", "affected partitions", "reachability")
    if name in _OPTIONAL
}
"""The strategies that are taken alone, and what they need. Counting is: `elastic` says so."""


@dataclass
class Way:
    """A workspace that takes changes in one way, and the processor seconds it took so far."""

    name: str
    following: Following
    seconds: float = 0.0

    def commit(self, change: Change) -> float:
        """The processor seconds of one commit."""
        seconds = self.following.commit([change])
        self.seconds += seconds
        return seconds


def ways(workload: Workload) -> list[Way]:
    """All ways, each with its own workspace; ours is first, evaluation anew second. Of a workload
    of gigabytes these two alone.
    """
    found = [Way(OURS, _following(workload)), Way(ANEW, _following(workload, elastic=0.0))]
    if pages(found[0].following) > _ROOM:
        return found
    for name, needed in _ALONE.items():
        tuning = lftj.Tuning(without=_OPTIONAL - set(needed))
        found.append(Way(name, _following(workload, elastic=_FREE, tuning=tuning)))
    alone = lftj.Tuning(without=_OPTIONAL & {"reachability"})
    return [*found, Way("counting", _following(workload, elastic=math.inf, tuning=alone))]


def pages(following: Following) -> int:
    """Bytes of pages in use."""
    gc.collect()
    columns = following.workspace.memory().arrow().to_pydict()
    return dict(zip(columns["relation"], columns["bytes"], strict=True))["(pages)"]


def _following(workload: Workload, **options: object) -> Following:
    return Following(workload.rules, workload.facts, **options)  # type: ignore[arg-type]
