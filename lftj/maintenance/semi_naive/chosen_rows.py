# SPDX-License-Identifier: Apache-2.0
"""The rows of a relation with choice domains during a fixpoint: each iteration accepts some of its
new candidates (`heads.choice`).
"""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from lftj.heads.choice import Chooser
from lftj.maintenance.semi_naive.fixpoint import Table
from lftj.program.normal_form import RelationSchema
from lftj.scantree.rows import sort_with
from lftj.storage.delta import Columns
from lftj.types.dictionary import Dictionary

T = TypeVar("T", bound=Table)


class ChosenRows(Generic[T]):
    """The rows of a relation with choice domains during a fixpoint; used like the table in which it
    keeps all `candidates`.
    """

    def __init__(self, candidates: T, schema: RelationSchema, dictionary: Dictionary):
        self.candidates = candidates
        self._chooser = Chooser(schema, dictionary)
        self._rows: list[Columns] = []

    def add(self, rows: np.ndarray, picks: np.ndarray) -> None:
        """Add candidates."""
        self.candidates.add(rows, picks)

    def take_fresh(self, ordered: bool = False) -> Columns:
        """Accepted candidates that were new since the last call, in ascending order of codes in any
        case.
        """
        accepted = self._chooser.accepted(self.candidates.take_fresh())
        self._rows.append(accepted)
        return accepted

    def columns(self) -> Columns:
        """All rows accepted so far, sorted."""
        return self.counted()[0]

    def counted(self) -> tuple[Columns, np.ndarray]:
        """All rows accepted so far, sorted, and the iteration in which each was."""
        iterations = np.repeat(np.arange(len(self._rows)), [len(rows[0]) for rows in self._rows])
        return sort_with(
            [np.concatenate(parts) for parts in zip(*self._rows, strict=True)], iterations
        )
