# SPDX-License-Identifier: Apache-2.0
"""Regions: the parts of a body's search space that a change can touch, as sets of
pinned bindings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from lftj.scantree.columns import as_matrix
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.sensitivity.region_kernels import mark_outside

Words = np.ndarray


@frozen(slots=True)
class Regions:
    """Regions of one shape: each row pins the levels `levels` (ascending) to its values, the other
    levels are free.

    They are evaluated in the old and in the new version; in the new one, levels from `log_from` on
    are logged. Rows are sorted and distinct, one column per level. No levels: the one region is the
    whole body.
    """

    levels: tuple[int, ...]
    log_from: int
    columns: tuple[Words, ...]

    def __len__(self) -> int:
        return len(self.columns[0]) if self.levels else 1

    def holds(self, bindings: Mapping[int, Words]) -> np.ndarray:
        """Mark the bindings, given by level (all of `levels` among them), that one of these regions
        holds. O(log n) each.

        Regions of several shapes may overlap: what a later one finds and an earlier one holds was
        found before.
        """
        rows = len(next(iter(bindings.values()), ()))
        if not self.levels:
            return np.ones(rows, np.bool_)
        outside = np.ones(rows, np.bool_)
        picked = as_matrix([bindings[level] for level in self.levels], len(self.levels))
        mark_outside(
            picked, np.arange(len(self.levels)), as_matrix(self.columns, len(self.levels)), outside
        )
        return ~outside

    def inside(self, other: Regions) -> bool:
        """Test by shape for regions each of which could lie in one of `other`."""
        return other.log_from <= self.log_from and set(other.levels) <= set(self.levels)


def gathered(pieces: Iterable[tuple[tuple[int, ...], int, list[Words]]]) -> tuple[Regions, ...]:
    """Pieces (levels, log_from, rows in any order) as regions, each once, none inside another one
    of fewer levels. O(n log n).
    """
    by_shape: dict[tuple[tuple[int, ...], int], list[list[Words]]] = {}
    for levels, log_from, columns in pieces:
        by_shape.setdefault((levels, log_from), []).append(columns)
    shapes = sorted(by_shape, key=lambda shape: (len(shape[0]), shape[1], shape[0]))
    found: list[Regions] = []
    for levels, log_from in shapes:
        alike = by_shape[levels, log_from]
        joined = (
            alike[0]
            if len(alike) == 1 or not levels
            else [np.concatenate(column) for column in zip(*alike, strict=True)]
        )
        regions = _outside(
            Regions(levels, log_from, tuple(sort_rows(joined)) if levels else ()), found
        )
        if regions is not None:
            found.append(regions)
    return tuple(found)


def _outside(regions: Regions, coarser: list[Regions]) -> Regions | None:
    """Drop the regions that lie in a coarser one; None when all do."""
    for other in coarser:
        if not regions.inside(other):
            continue
        if not other.levels:
            return None
        outside = np.ones(len(regions), np.bool_)
        picks = np.array([regions.levels.index(level) for level in other.levels], np.int64)
        mark_outside(
            as_matrix(regions.columns, len(regions.levels)),
            picks,
            as_matrix(other.columns, len(other.levels)),
            outside,
        )
        if not outside.any():
            return None
        if not outside.all():
            regions = Regions(
                regions.levels,
                regions.log_from,
                tuple(column[outside] for column in regions.columns),
            )
    return regions
