# SPDX-License-Identifier: Apache-2.0
"""The kept state of a projecting head: every row with its support count, in a scan tree [LFTJ-IVM
2.2].

A state never changes: `update` makes the next one and leaves this one as it is, so a commit that
fails has nothing to undo.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lftj.heads.changes import net_changes
from lftj.heads.support import too_many
from lftj.scantree import Arena, Tree
from lftj.scantree.columns import Lines
from lftj.scantree.counts import Recounted, add_counts
from lftj.scantree.frozen import frozen
from lftj.scantree.weights import weight_kept
from lftj.storage.delta import Columns, Delta


@frozen(slots=True)
class SupportState:
    """Rows and how many assignments support each. `tree` is keyed by the row and holds the count; a
    nullary head has one column of zeros.
    """

    tree: Tree

    @staticmethod
    def build(arena: Arena, columns: Sequence[np.ndarray], counts: np.ndarray) -> SupportState:
        """The state of sorted distinct rows with counts > 0, as `support_counts` gives them (not
        checked). O(n).

        `columns` are those of the head, one of zeros for a nullary one.
        """
        if not len(counts):
            return SupportState.empty(arena, len(columns))
        return SupportState(
            Tree.build(arena, columns or [np.zeros(len(counts), np.int64)], [counts])
        )

    @staticmethod
    def empty(arena: Arena, width: int, *, weighed: bool = False) -> SupportState:
        """The state of a head of this many columns that no assignment supports yet. `weighed`: rows
        are found by the number of an assignment too.
        """
        keys = max(1, width)
        return SupportState(
            Tree.empty(arena, keys, 1, aggregates=weight_kept(keys) if weighed else ())
        )

    def holding(self, columns: Sequence[np.ndarray], counts: np.ndarray) -> SupportState:
        """The state of these rows, as of `build`, kept as this one is, which has none. O(n)."""
        return SupportState(self.tree.apply([*columns, counts]))

    def update(
        self, columns: Sequence[np.ndarray], signed: np.ndarray
    ) -> tuple[SupportState, Delta]:
        """The state after signed assignments, rows in any order, repeated or not; and the rows that
        appear and vanish. O(δ log n).

        ValueRangeError when a count leaves int64; AssertionError when more is taken away than there
        was.
        """
        rows, net = net_changes(columns, signed)
        if not len(net):
            return self, Delta.empty(self.tree.key_width)
        change = self.moved(rows, net)
        return SupportState(change.tree), Delta(Lines(change.fresh), Lines(change.gone))

    def moved(self, rows: np.ndarray, net: np.ndarray) -> Recounted:
        """As `update`, for what `net_changes` made of a change: the tree of the state after it, and
        what became of the rows.
        """
        try:
            return add_counts(self.tree, rows, net)
        except OverflowError:
            raise too_many() from None
        except ValueError:
            raise AssertionError("more assignments were erased than had been inserted") from None

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def __len__(self) -> int:
        return len(self.tree)

    def counts(self) -> tuple[Columns, np.ndarray]:
        """The rows, sorted, and the support count of each. O(n)."""
        *columns, counts = self.tree.columns()
        return columns, counts

    def rows(self) -> Columns:
        """The rows, sorted. O(n)."""
        return self.counts()[0]

    @property
    def memory(self) -> int:
        """Bytes of the rows and counts, without the pages' free room."""
        return 8 * len(self.tree) * (self.tree.key_width + 1)
