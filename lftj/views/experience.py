# SPDX-License-Identifier: Apache-2.0
"""Experience of a join with its ways: what changes cost by its trace, and what delta queries
searched in vain. It outlives versions: costs are of the data, not of one version of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lftj.maintenance.cost.cost_model import SEEN_CHANGES, TRACED

UNASKED_CHANGES = 16
"""Changed rows that a view reads, up to which nobody asks whether an update pays."""
_STAB = 30  # a look-up in a sensitivity index, in kernel steps
_GIVEN_UP = 2
"""Updates by one way that were given up, or not tried, less those that went through, from which on
a body is evaluated for the other.
"""
_STEPS_OF_FEW = 256
"""Kernel steps of an evaluation for each changed row of a small change: one that should cost far
less.
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
        self._given_up = 0  # updates by traces, more often than not
        self._lost = 0  # the same of delta queries
        self._patience = _GIVEN_UP
        self.seeks_first_proofs = False
        """True once delta queries for a few changed rows have been given up again and again."""
        self._vain = 0
        self._price = 1  # evaluations that have to be in vain, doubled by each trace that went
        self._queries = 0.0
        """Kernel steps that a changed row took by delta queries lately; 0: not known."""
        self._dearer = 0  # changes that took more by the trace, less those that took less

    # ── delta queries ─────────────────────────────────────────────────────────────────────────────
    def queried(self, steps: int, changed: int, found: int | None) -> None:
        """Note what delta queries took for so many changed rows, and how many assignments these
        have part in; None where they were given up.
        """
        self._vain += max(0, steps - _USEFUL * (changed + (found or 0)))
        self._queries = max(self._queries / 2, steps / max(1, changed))
        if found is not None:
            self._lost = max(0, self._lost - 1)

    def seeks_trace(self, work: int) -> bool:
        """Test for delta queries that searched in vain for as long as an evaluation of so much
        `work` takes: then the trace of one is made, which tells where nothing is to be found.
        """
        if self._vain <= _VAIN_STEPS or self._vain < self._price * work:
            return False
        self._vain, self._price, self._dearer = 0, 2 * self._price, 0
        return True

    # ── the trace ─────────────────────────────────────────────────────────────────────────────────
    def traced(
        self, sizes: Mapping[str, int], steps: int, stabs: int, work: int, *, finished: bool
    ) -> None:
        """Note what a change took by the trace, by which relations changed; also one that was given
        up. `work`: kernel steps of an evaluation.
        """
        changed = self._reads.intersection(sizes)
        now, took = sum(sizes[name] for name in changed), steps + _STAB * stabs
        rows, cost = self._seen.get(changed, (0, 0.0))
        self._seen[changed] = rows + now, cost + took
        dear = took > _DEARER * max(_VAIN_STEPS, self._queries * now)
        self._dearer = max(0, self._dearer + (1 if dear else -1))
        if finished:
            self._given_up = max(-_PROVEN_TRACES, self._given_up - 1)
        else:
            self.missed(now, work)

    def missed(self, changed: int, work: int, *, traced: bool = True) -> None:
        """Note that the trace, or delta queries, spared no evaluation of so much `work` at a change
        of so many rows. Many rows tell nothing of few.
        """
        if changed > max(UNASKED_CHANGES, work // _STEPS_OF_FEW):
            return
        if traced:
            self._given_up += 1
            return
        self._lost += 1
        if self._lost >= self._patience:
            self._lost, self._given_up, self._patience = 0, 0, 2 * self._patience
            self.seeks_first_proofs = True

    @property
    def doubts_traces(self) -> bool:
        """True once updates by traces for a few changed rows have been given up again and again:
        twice as often each time that delta queries served no better.
        """
        return self._given_up >= self._patience

    def gave_up_traces(self, work: int, counted: float) -> bool:
        """Test for traced evaluations of so much `work` that have taken, after such updates, what
        an evaluation without indices takes, by which all proofs are counted: then that is made.
        """
        return self.doubts_traces and self._given_up * TRACED * work >= counted

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
