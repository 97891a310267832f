"""How many distinct values the columns of a relation have, from a sample: all that the choice of a
variable order looks at.

A wrong estimate costs time, never an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lftj.join.kernels.statistics_kernels import count_values
from lftj.storage.delta import stored_width
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import LooseRows

_SAMPLE = 1024
_MOSTLY = 1.25  # rows for each value of a column that hardly repeats
_FEW = 100
_SEVERAL = 2.0  # rows for each value of one that repeats
_OFTEN = 4
"""Times that a sample has a value which says more of how many rows have it than the mean."""
_PAIRS = _OFTEN * (_OFTEN - 1) // 2
_SPREAD = 33
_LOOSE = "#loose"
_STALE = 1.5  # growth or shrinkage after which a relation is sampled again


class Sample:
    """Values of each column in ascending order, of which some facts are looked for only when a plan
    asks.

    `pairs`: how many pairs of a column's values are equal.
    """

    __slots__ = ("_frequent", "_ordered", "_pairs")

    def __init__(self, ordered: np.ndarray, pairs: Sequence[int]):
        self._ordered = ordered
        self._pairs = pairs
        self._frequent: dict[int, Mapping[int, float]] = {}

    def frequent(self, column: int) -> Mapping[int, float]:
        """The codes that many rows have, and about how large a share of the rows each has.
        O(sample), then O(1).
        """
        if (found := self._frequent.get(column)) is None:
            found = self._frequent[column] = (
                self._found_often(column) if self._pairs[column] >= _PAIRS else {}
            )
        return found

    def spread(self, column: int) -> Sequence[int]:
        """Codes at equal distances in the ascending order, the least and the greatest among them.
        O(1).
        """
        values = self._ordered[column]
        places = np.linspace(0, len(values) - 1, min(_SPREAD, len(values))).astype(np.int64)
        return values[places].tolist()  # type: ignore[no-any-return]

    def _found_often(self, column: int) -> Mapping[int, float]:
        values = self._ordered[column]
        starts = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
        times = np.diff(starts, append=len(values))
        often = np.flatnonzero(times >= _OFTEN)
        return dict(
            zip(values[starts[often]].tolist(), (times[often] / len(values)).tolist(), strict=True)
        )


@dataclass(frozen=True, slots=True)
class RelationStatistics:
    """`rows` and, per column, an estimate of the number of distinct values.

    `crowds`: per column, how many rows have the value that a row drawn at random has. That is the
    mean number of rows per value where all have as many, and far more where a few have most; empty
    where nobody knows.
    """

    rows: int
    distinct: tuple[float, ...]
    crowds: tuple[float, ...] = ()
    sample: Sample | None = field(default=None, compare=False, repr=False)

    def combinations(self, columns: Iterable[int]) -> float:
        """Estimated number of distinct combinations of values in `columns`."""
        product = 1.0
        for column in columns:
            product *= self.distinct[column]
        return min(product, float(max(self.rows, 1)))


def estimate(relation: RelationVersion) -> RelationStatistics:
    """Sample a relation. O(sample · log n).

    How often the first column repeats is known from rows side by side: a sample at equal distances
    may have each value once.
    """
    sample = np.array(relation.sample(_SAMPLE), np.int64)
    sample.sort(axis=1)
    counts = np.empty((len(sample), 3), np.int64)
    count_values(sample, counts)
    distinct = [
        _distinct(values, once, relation.count, sample.shape[1])
        for values, once, _ in counts.tolist()
    ]
    crowds = [_crowd(pairs, relation.count, sample.shape[1]) for pairs in counts[:, 2].tolist()]
    if relation.count > _SAMPLE and (leading := relation.leading_values()) is not None:
        about, most = leading
        crowds[0] = float(max(crowds[0], relation.count / about))
        distinct[0] = (
            about if distinct[0] < relation.count < _MOSTLY * about else min(distinct[0], most)
        )
    return RelationStatistics(
        relation.count, tuple(distinct), tuple(crowds), Sample(sample, counts[:, 2].tolist())
    )


def _distinct(values: int, once: int, rows: int, sampled: int) -> float:
    """The guaranteed-error estimator of Charikar et al. (PODS 2000): values seen once stand for
    √(n/s) others each.
    """
    return float(min(rows, (rows / sampled) ** 0.5 * once + values - once)) if sampled else 0.0


def _crowd(pairs: int, rows: int, sampled: int) -> float:
    """A row and those with its value: of two rows as many are alike as of those sampled."""
    return 1.0 + (rows - 1) * pairs / (sampled * (sampled - 1) / 2) if sampled > 1 else float(rows)


class Present(Protocol):
    """Relations by name."""

    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> RelationVersion: ...


def tells(relation: RelationVersion) -> bool:
    """Whether there are rows enough to tell from them how a rule is best evaluated."""
    return relation.count >= _FEW


class Statistics:
    """Remembers estimates by relation name until the relation has changed much in size.

    Loose rows are a few of a relation, or what changes in it, even where they have its name: they
    are remembered apart.
    """

    def __init__(self, known: Mapping[str, RelationStatistics] | None = None) -> None:
        self._known: dict[str, RelationStatistics] = dict(known or {})

    @property
    def known(self) -> Mapping[str, RelationStatistics]:
        """The estimates that are remembered."""
        return self._known

    def of(self, relation: RelationVersion) -> RelationStatistics:
        """The statistics of a relation, sampled anew when it has grown or shrunk by half since."""
        name = (
            relation.schema.name + _LOOSE
            if isinstance(relation, LooseRows)
            else relation.schema.name
        )
        known = self._known.get(name)
        rows = relation.count
        # A hidden relation of a rule that was refused had its name, and maybe other columns.
        fits = known is not None and len(known.distinct) == stored_width(relation.schema.arity)
        if known is None or not fits or rows > known.rows * _STALE or rows * _STALE < known.rows:
            known = self._known[name] = estimate(relation)
        return known

    def repeats(self, relations: Present, name: str, column: int) -> bool | None:
        """Whether a value of a column has two rows or more, as a row drawn at random finds it; None
        where there are few rows to tell.
        """
        if name not in relations or not tells(relations[name]):
            return None
        return self.of(relations[name]).crowds[column] >= _SEVERAL
