# SPDX-License-Identifier: Apache-2.0
"""Experience of a join with its ways: what changes cost by its trace, and what delta queries
searched in vain. It outlives versions: costs are of the data, not of one version of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lftj.maintenance.cost.cost_model import SEEN_CHANGES

UNASKED_CHANGES = 16
"""Changed rows that a view reads, up to which nobody asks whether an update pays."""
_STAB = 30  # a look-up in a sensitivity index, in kernel steps
_VAIN_TRACES = 2
"""Updates by a trace that were given up, less those that went through, from which on a body is
evaluated without one: of up to `UNASKED_CHANGES` rows.
"""
_PROVEN_TRACES = 8
"""Updates that went through which count against those that are given up, at most."""
_USEFUL = 16
"""Kernel steps for each row that changes or is found, which no other way saves."""
_VAIN_STEPS = 1000
"""Kernel steps in vain below which another way is not worth looking for."""
_DEARER = 2
"""Times as much as by delta queries that a change may take by the trace."""
_DEARER_CHANGES = 3
"""Changes that took more, less those that did not, after which the trace goes."""


class Experience:
    """Costs that one join has seen. `reads`: the relations of its body."""

    def __init__(self, reads: Collection[str]):
        self._reads = frozenset(reads)
        self._seen: dict[frozenset[str], tuple[int, float]] = {}
        self._given_up = 0  # more often than not
        self._vain = 0
        self._price = 1  # evaluations that have to be in vain, doubled by each trace that went
        self._queries = 0.0
        """Kernel steps that a changed row took by delta queries lately; 0: not known."""
        self._dearer = 0  # changes that took more by the trace, less those that took less

    # ── delta queries ─────────────────────────────────────────────────────────────────────────────
    def queried(self, steps: int, changed: int, found: int) -> None:
        """Note what delta queries took for so many changed rows, and how many assignments these
        have part in.
        """
        self._vain += max(0, steps - _USEFUL * (changed + found))
        self._queries = max(self._queries / 2, steps / max(1, changed))

    def seeks_trace(self, work: int) -> bool:
        """Test for delta queries that searched in vain for as long as an evaluation of so much
        `work` takes: then the trace of one is made, which tells where nothing is to be found.
        """
        if self._vain <= _VAIN_STEPS or self._vain < self._price * work:
            return False
        self._vain, self._price, self._dearer = 0, 2 * self._price, 0
        return True

    # ── the trace ─────────────────────────────────────────────────────────────────────────────────
    def traced(self, sizes: Mapping[str, int], steps: int, stabs: int, *, finished: bool) -> None:
        """Note what a change took by the trace, by which relations changed; also one that was given
        up. That many rows cost too much tells nothing of few.
        """
        changed = self._reads.intersection(sizes)
        now, took = sum(sizes[name] for name in changed), steps + _STAB * stabs
        rows, cost = self._seen.get(changed, (0, 0.0))
        self._seen[changed] = rows + now, cost + took
        dear = took > _DEARER * max(_VAIN_STEPS, self._queries * now)
        self._dearer = max(0, self._dearer + (1 if dear else -1))
        if finished:
            self._given_up = max(-_PROVEN_TRACES, self._given_up - 1)
        elif now <= UNASKED_CHANGES:
            self._given_up += 1

    @property
    def gave_up_traces(self) -> bool:
        """True once updates by traces for a few changed rows have been given up again and again:
        the body is then evaluated without indices.
        """
        return self._given_up >= _VAIN_TRACES

    @property
    def prefers_queries(self) -> bool:
        """True once the trace has taken more than delta queries did, again and again."""
        return self._queries > 0 and self._dearer >= _DEARER_CHANGES

    def expected(self, sizes: Mapping[str, int], looked_up: Collection[str]) -> float:
        """Kernel steps that a change is expected to take by the trace: as much a row as before, or
        until that is known a look-up for each row of an atom with an index. `looked_up`: the
        relations of these atoms.
        """
        changed = self._reads.intersection(sizes)
        rows, cost = self._seen.get(changed, (0, 0.0))
        if rows >= SEEN_CHANGES:
            return cost / rows * sum(sizes[name] for name in changed)
        return float(_STAB * sum(sizes.get(name, 0) for name in looked_up))
