# SPDX-License-Identifier: Apache-2.0
"""Rows too wide to pack into a word, in the hash table that also counts proofs: adding rows costs
in proportion to the added rows, not to the rows in the table.
"""

from __future__ import annotations

import numpy as np

from lftj.maintenance.semi_naive.proof_table import ProofTable
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Columns


class WideRows:
    """A set of rows of `width` columns; `take_fresh` gives those that are new since the
    last call.
    """

    def __init__(self, width: int):
        self._table = ProofTable(width)

    @property
    def count(self) -> int:
        """Number of rows."""
        return self._table.count

    @property
    def fresh(self) -> int:
        """The rows that are new since they were taken last."""
        return self._table.fresh

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates: column i of a row is `rows[picks[i]]`. O(n) expected."""
        proofs = np.zeros((1, rows.shape[1]), np.int64)  # nobody asks how many
        self._table.add(np.concatenate([rows, proofs]), picks)

    def take_fresh(self, ordered: bool = False) -> Columns:
        """The rows that were new since the last call, in ascending order if asked for."""
        return self._table.take_fresh(ordered)

    def columns(self) -> Columns:
        """All rows, sorted; nothing is taken. O(n log n)."""
        return sort_rows(self._table.rows())
