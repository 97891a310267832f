"""How many distinct values the columns of a relation have, from a sample: all that the choice of a variable order looks at.

A wrong estimate costs time, never an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lftj.storage.relation import RelationVersion

_SAMPLE = 1024
_MOSTLY = 1.25  # rows for each value of a column that hardly repeats
_STALE = 1.5  # growth or shrinkage after which a relation is sampled again


@dataclass(frozen=True, slots=True)
class RelationStatistics:
    """`rows` and, per column, an estimate of the number of distinct values."""

    rows: int
    distinct: tuple[float, ...]

    def combinations(self, columns: frozenset[int]) -> float:
        """Estimated number of distinct combinations of values in `columns`."""
        product = 1.0
        for column in columns:
            product *= self.distinct[column]
        return min(product, float(max(self.rows, 1)))


def estimate(relation: RelationVersion) -> RelationStatistics:
    """Sample a relation. O(sample · log n).

    A first column that hardly repeats, an identifier, is known from rows side by side; a sample alone cannot tell that.
    """
    distinct = [_distinct(column, relation.count) for column in relation.sample(_SAMPLE)]
    if distinct and relation.count > _SAMPLE and distinct[0] < relation.count < _MOSTLY * (leading := relation.leading_values()):
        distinct[0] = leading
    return RelationStatistics(relation.count, tuple(distinct))


def _distinct(sample: np.ndarray, rows: int) -> float:
    """The guaranteed-error estimator of Charikar et al. (PODS 2000): values seen once stand for √(n/s) others each."""
    if len(sample) == 0:
        return 0.0
    ordered = np.sort(sample)
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    once = int(np.count_nonzero(np.diff(np.append(starts, len(ordered))) == 1))
    scale = (rows / len(sample)) ** 0.5
    return float(min(rows, scale * once + len(starts) - once))


class Statistics:
    """Remembers estimates by relation name until the relation has changed much in size."""

    def __init__(self, known: Mapping[str, RelationStatistics] | None = None) -> None:
        self._known: dict[str, RelationStatistics] = dict(known or {})

    @property
    def known(self) -> Mapping[str, RelationStatistics]:
        """The estimates that are remembered."""
        return self._known

    def of(self, relation: RelationVersion) -> RelationStatistics:
        """The statistics of a relation, sampled anew when it has grown or shrunk by half since."""
        known = self._known.get(relation.schema.name)
        rows = relation.count
        if known is None or rows > known.rows * _STALE or rows * _STALE < known.rows:
            known = estimate(relation)
            self._known[relation.schema.name] = known
        return known
