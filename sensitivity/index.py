# SPDX-License-Identifier: Apache-2.0
"""The sensitivity index of a position: which contexts depend on whether an atom has a value there
[LFTJ-IVM 4.1, 4.2].

A scan tree of intervals keyed (α, low, high, γ) with a max-scan on `high`
(`scantree.IntervalTree`), so that the contexts that depend on (α, v) are found by one stab in
O((hits + 1) log n). Versions are immutable and share pages: a commit that fails leaves the one
before.

**Staying small.** New intervals are merged among themselves and put in beside the old ones. To
merge them with the old ones of their context at once, those would have to be found, in a tree that
has γ last; a second tree keyed (α, γ, low) could do that, for twice the memory. Instead the whole
index is merged again when it has doubled: O(log n) per added interval, amortised, and never more
than 2 n + `SLACK` intervals where n would do. That also is the moment to drop what died: intervals
of contexts that are not alive any more are never asked for truthfully, and a caller who can tell
(`liveness`) bounds the index by what a fresh run would log. `overgrown` and `forget` are for
callers who cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from lftj.scantree import Arena, IntervalTree, after_prefix
from lftj.scantree.rows import equal_runs, sort_rows
from lftj.sensitivity.coverage import Columns, Words, consolidated
from lftj.sensitivity.granularity import Granularity
from lftj.sensitivity.shape import Position

SLACK = 1024
"""Intervals more than twice the needed ones that an index may have before it is merged: half an
index this small is not worth the work.
"""

Live = Callable[[Mapping[int, Words]], np.ndarray]
"""Tells of contexts, given as columns by level, which may be alive. It may err on the
side of life.
"""


class SensitivityIndex:
    """One version of the index of one position. Make it with `build`, change it with `add`.

    Columns of intervals are (α…, low, high, γ…), α and γ in ascending order of level; γ is complete
    in what is added, and as the granularity keeps it in what comes out.
    """

    __slots__ = ("_merged", "gamma", "granularity", "intervals", "logged", "position")

    def __init__(
        self,
        position: Position,
        granularity: Granularity,
        intervals: IntervalTree,
        merged: int,
        logged: int,
    ) -> None:
        """Make an index of intervals that an index had: use `build` or `add` for others.

        `merged`: intervals after the last merge of all, `logged`: after the last full log.
        """
        self.position = position
        self.granularity = granularity
        self.gamma = granularity.kept_levels(position.gamma)
        self.intervals = intervals
        self.logged = logged
        self._merged = merged

    @classmethod
    def build(
        cls, arena: Arena, position: Position, granularity: Granularity, columns: Columns
    ) -> SensitivityIndex:
        """The index of a full run's log, in any order. O(n log n). ValueError for `NONE`, which
        keeps nothing to look up.
        """
        if not granularity.kept:
            raise ValueError("an index of granularity none is no index: leave it out")
        alpha = len(position.alpha)
        merged = consolidated(columns, alpha, granularity)
        intervals = IntervalTree.build(arena, alpha, merged)
        return cls(position, granularity, intervals, len(intervals), len(intervals))

    # ── changing ──────────────────────────────────────────────────────────────────────────────────
    def add(self, columns: Columns, live: Live | None = None) -> SensitivityIndex:
        """The version that also has these intervals. O(δ (page + log n)) amortised; `live` is asked
        when all is merged again.
        """
        if len(columns) == 0 or len(columns[0]) == 0:
            return self
        merged = consolidated(columns, self.intervals.prefix_width, self.granularity)
        added = self._with(self.intervals.apply(merged))
        return added.compacted(live) if len(added) > 2 * self._merged + SLACK else added

    def _with(self, intervals: IntervalTree) -> SensitivityIndex:
        return SensitivityIndex(
            self.position, self.granularity, intervals, self._merged, self.logged
        )

    def compacted(self, live: Live | None = None) -> SensitivityIndex:
        """The version with the intervals of each context merged, and without contexts that `live`
        says are dead. O(n log n).
        """
        columns = self.intervals.tree.columns()
        levels = (*self.position.alpha, *self.gamma)
        if live is not None and levels and len(self):
            at = len(self.position.alpha)
            alive = live(dict(zip(levels, [*columns[:at], *columns[at + 2 :]], strict=True)))
            columns = [column[alive] for column in columns]
        return self._rebuilt(self.granularity, columns, self.logged)

    def coarsened(self, granularity: Granularity) -> SensitivityIndex | None:
        """The same at a coarser granularity; None for `NONE`. O(n log n). ValueError where this
        index does not know enough for it.
        """
        if not granularity.kept:
            return None
        if not granularity.at_most(self.granularity):
            raise ValueError(
                f"an index kept {self.granularity} cannot become {granularity}: evaluate and log "
                f"again"
            )
        return self._rebuilt(granularity, self.intervals.tree.columns(), None)

    def _rebuilt(
        self, granularity: Granularity, columns: Columns, logged: int | None
    ) -> SensitivityIndex:
        index = SensitivityIndex.build(
            self.intervals.tree.arena, self.position, granularity, columns
        )
        if logged is not None:
            index.logged = logged
        return index

    def forget(self, branches: Columns) -> SensitivityIndex:
        """The version without the intervals whose first len(branches) levels of α are these.
        O(dropped (page + log n)).

        For branches that vanished from the atom's trie: no context below them is alive.
        """
        tree = self.intervals.tree
        gone = [
            tree.range(branch, after_prefix(branch))
            for branch in zip(*(column.tolist() for column in branches), strict=True)
        ]
        found = [piece for piece in gone if len(piece[0])]
        if not found:
            return self
        return self._with(
            self.intervals.apply(
                erases=sort_rows([np.concatenate(column) for column in zip(*found, strict=True)])
            )
        )

    def overgrown(self, factor: float = 4.0) -> bool:
        """Test for an index with `factor` times more intervals than after the last full log.
        Evaluating and logging anew pays then.
        """
        return len(self) > factor * self.logged + SLACK

    # ── asking ────────────────────────────────────────────────────────────────────────────────────
    def hits(self, alpha: Columns, values: Words) -> tuple[Words, list[Words]]:
        """The intervals with α that hold the value, for many: number of the probe, ascending, and
        all columns. O((hits + 1) log n) each.
        """
        return self.intervals.stab_many(alpha, values)

    def stab(self, alpha: Columns, values: Words) -> tuple[Words, list[Words]]:
        """The contexts that depend on whether the atom has (α, value), for many: number of the
        probe, ascending, and columns of γ.

        Each context once. O((hits + 1) log n) each.
        """
        probes, columns = self.hits(alpha, values)
        gamma = columns[len(self.position.alpha) + 2 :]
        if len(probes) < 2:
            return probes, gamma
        if not gamma:
            return probes.take(equal_runs([probes], 1)), []
        probes, *gamma = sort_rows([probes, *gamma])
        return probes, gamma

    @property
    def merged(self) -> int:
        """Intervals after the last merge of all."""
        return self._merged

    def __len__(self) -> int:
        return len(self.intervals)

    @property
    def bytes(self) -> int:
        """Bytes of the intervals themselves; pages are a tenth to a half larger."""
        return len(self) * self.intervals.tree.key_width * 8

    def columns(self) -> list[Words]:
        """All intervals, sorted by (α, low, high, γ). O(n)."""
        return self.intervals.tree.columns()

    def __repr__(self) -> str:
        return (
            f"<SensitivityIndex {self.granularity} of atom {self.position.atom}, column "
            f"{self.position.column}: {len(self)} intervals>"
        )
