# SPDX-License-Identifier: Apache-2.0
"""Cardinalities from samples: distinct values of columns, keys, shares of rows that pass tests, and
pairs of rows of two atoms that agree.

A wrong estimate costs time, never an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Protocol

import numpy as np

from lftj.join.kernels.statistics_kernels import count_values
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, Value
from lftj.program.statistics_hints import Size
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import stored_width
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from lftj.types import encode_constant
from lftj.types.dictionary import Dictionary
from lftj.types.sources import Role, Source

_FREQUENT_TIMES = 4
"""Times that a sample has a value from which on its own share counts, not the mean."""
_SPREAD_VALUES = 33
"""Values at equal distances that comparisons are tried on: time of planning against accuracy of
ranges.
"""
_AGREEING_PAIRS = 10
"""Pairs of sampled rows that have to agree before a join is taken for skewed: fewer may be chance.
"""
_STALE_STATISTICS = 1.5
"""Growth or shrinkage after which a relation is sampled again: time of sampling against bad orders.
"""


class Sample:
    """Rows, and the values of each column in ascending order, of which some facts are looked for
    only when a plan asks.

    `pairs`: how many pairs of a column's values are equal.
    """

    __slots__ = ("_frequent", "_ordered", "_pairs", "_rows")

    def __init__(self, rows: np.ndarray, ordered: np.ndarray, pairs: Sequence[int]):
        self._rows = rows
        self._ordered = ordered
        self._pairs = pairs
        self._frequent: dict[int, Mapping[int, float]] = {}

    def frequent(self, column: int) -> Mapping[int, float]:
        """The codes that many rows have, and about how large a share of the rows each has.
        O(sample), then O(1).
        """
        if (found := self._frequent.get(column)) is None:
            often = _FREQUENT_TIMES
            found = self._frequent[column] = (
                self._found_often(column) if 2 * self._pairs[column] >= often * (often - 1) else {}
            )
        return found

    def agreeing(self, column: int, other: int) -> float | None:
        """Share of the rows that have one value in two columns; None where these are too few to
        tell. O(sample).
        """
        return self._share(self._rows[column] == self._rows[other])

    def having(self, column: int, code: int) -> float | None:
        """Share of the rows with a code in a column; None where these are too few to tell.
        O(sample).
        """
        return self._share(self._rows[column] == code)

    def _share(self, rows: np.ndarray) -> float | None:
        found = int(np.count_nonzero(rows))
        return found / len(rows) if found >= _FREQUENT_TIMES else None

    def spread(self, column: int) -> Sequence[int]:
        """Codes at equal distances in the ascending order, the least and the greatest among them.
        O(1).
        """
        values = self._ordered[column]
        places = np.linspace(0, len(values) - 1, min(_SPREAD_VALUES, len(values))).astype(np.int64)
        return values[places].tolist()  # type: ignore[no-any-return]

    def _found_often(self, column: int) -> Mapping[int, float]:
        values = self._ordered[column]
        starts = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
        times = np.diff(starts, append=len(values))
        often = np.flatnonzero(times >= _FREQUENT_TIMES)
        return dict(
            zip(values[starts[often]].tolist(), (times[often] / len(values)).tolist(), strict=True)
        )


@frozen(slots=True)
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


def estimate(relation: RelationVersion, tuning: Tuning = DEFAULT) -> RelationStatistics:
    """Sample a relation. O(sample · log n).

    Rows side by side bound the values of each column, and tell how often the first repeats: of one
    that ascends with the rows, a sample at equal distances may have each value once.
    """
    rows = np.array(relation.sample(tuning.sampled_rows), np.int64)
    sample = np.sort(rows, axis=1)
    counts = np.empty((len(sample), 3), np.int64)
    count_values(sample, counts)
    distinct = [
        _distinct(values, once, relation.count, sample.shape[1])
        for values, once, _ in counts.tolist()
    ]
    crowds = [_crowd(pairs, relation.count, sample.shape[1]) for pairs in counts[:, 2].tolist()]
    if relation.count > tuning.sampled_rows and (known := relation.side_by_side()) is not None:
        about, most = known
        distinct = [max(1.0, min(pair)) for pair in zip(distinct, most, strict=True)]
        distinct[0] = max(about, distinct[0])
        least = [relation.count / about, *[relation.count / each for each in most[1:]]]
        crowds = [max(pair) for pair in zip(crowds, least, strict=True)]
    return RelationStatistics(
        relation.count,
        tuple(distinct),
        tuple(crowds),
        Sample(rows, sample, counts[:, 2].tolist()),
    )


def _distinct(values: int, once: int, rows: int, sampled: int) -> float:
    """Chao's estimator [1984]: the more of the sampled values come again, the fewer there are that
    were not seen. All values that come again count as if they came twice: a few that many rows have
    do not tell of the others.
    """
    if sampled >= rows:
        return float(values)
    return float(min(rows, values + once * (once - 1) / (2 * (values - once + 1))))


def _crowd(pairs: int, rows: int, sampled: int) -> float:
    """A row and those with its value: of two rows as many are alike as of those sampled."""
    return 1.0 + (rows - 1) * pairs / (sampled * (sampled - 1) / 2) if sampled > 1 else float(rows)


class Present(Protocol):
    """Relations by name."""

    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> RelationVersion: ...


def tells(relation: RelationVersion, tuning: Tuning) -> bool:
    """Test for a relation with enough rows to choose a rule's evaluation by."""
    return relation.count >= tuning.telling_rows


class Statistics:
    """Remembers estimates by relation name until the relation has changed much in size.

    Loose rows are a few of a relation, or what changes in it, even where they have its name: they
    are remembered apart.
    """

    def __init__(
        self, known: Mapping[str, RelationStatistics] | None = None, tuning: Tuning = DEFAULT
    ) -> None:
        self.tuning = tuning
        self.known: dict[str, RelationStatistics] = dict(known or {})
        """The estimates that are remembered."""

    def of(self, relation: RelationVersion) -> RelationStatistics:
        """The statistics of a relation, sampled anew when it has grown or shrunk by half since."""
        name = (
            Source(relation.schema.name, Role.TRANSIENT)
            if isinstance(relation, TransientRelation)
            else relation.schema.name
        )
        known = self.known.get(name)
        rows = relation.count
        # A hidden relation of a rule that was refused had its name, and maybe other columns.
        fits = known is not None and len(known.distinct) == stored_width(relation.schema.arity)
        if known is None or not fits or stale(rows, known.rows, _STALE_STATISTICS):
            known = self.known[name] = estimate(relation, self.tuning)
        return known

    def size(self, relations: Present, name: str) -> Size | None:
        """The size of a relation; None for one without rows."""
        if name not in relations or not relations[name].count:
            return None
        relation = relations[name]
        about = self.of(relation)
        distinct, crowds = tuple(map(float, about.distinct)), tuple(map(float, about.crowds))
        return Size(int(about.rows), distinct, crowds, not tells(relation, self.tuning))


def stale(now: int, planned: int, times: float, few: int = 0) -> bool:
    """Tell whether a size has grown, or shrunk, to more than so many times what was planned for. Up
    to `few` rows no growth matters.
    """
    return max(now, planned) > few and (now > planned * times or planned > now * times)


def seems_key(relation: RelationVersion, columns: Iterable[int], tuning: Tuning) -> bool:
    """Tell whether no two rows of a sample have the same values in these columns, nor any two that
    lie side by side where one column is meant. O(sample · log n).
    """
    columns = list(columns)
    known = relation.side_by_side() if len(columns) == 1 else None
    if known is not None and known[1][columns[0]] < relation.count:
        return False
    sample = relation.sample(tuning.sampled_rows)
    sought = [sample[column] for column in columns]
    return len(sort_rows(sought)[0]) == len(sought[0])


def sampled(relation: RelationVersion, tuning: Tuning) -> Mapping[int, np.ndarray]:
    """Rows of a sample, by column: to count those that pass a test. O(sample · log n)."""
    return dict(enumerate(relation.sample(tuning.sampled_rows)))


def unevenness(
    rule: NormalRule,
    relations: Mapping[str, RelationVersion],
    statistics: Statistics,
    dictionary: Dictionary,
) -> float:
    """Factor by which more pairs of rows of two atoms agree than would if all values had as many
    rows, for the two where it is greatest; at least 1.

    The choice of a variable order takes all values to have as many rows. Where a few items have
    most of the trades and most of the prices, there are far more pairs of a trade and a price of
    one item than the mean number of prices for each trade. Samples of both tell: the share of their
    pairs that agree is that of all pairs. O(atoms² · sample + atoms · sample · log n).
    """
    drawn = [
        (_columns(atom), _drawn(atom, relations[atom.relation], dictionary, statistics.tuning))
        for atom in rule.atoms
    ]
    found = [1.0]
    for one, other in combinations(range(len(drawn)), 2):
        (columns, rows), (others, their) = drawn[one], drawn[other]
        shared = [variable for variable in columns if variable in others]
        here = Counter([tuple([row[columns[v]] for v in shared]) for row in rows])
        there = Counter([tuple([row[others[v]] for v in shared]) for row in their])
        agree = sum([count * there[values] for values, count in here.items()])
        if shared and agree >= _AGREEING_PAIRS:
            ends = ((rule.atoms[one], columns), (rule.atoms[other], others))
            values = max(
                [
                    statistics.of(relations[atom.relation]).combinations([at[v] for v in shared])
                    for atom, at in ends
                ]
            )
            found.append(agree * values / (len(rows) * len(their)))
    return max(found)


def _columns(atom: PositiveAtom) -> dict[int, int]:
    """The column of each variable, the last where it has several."""
    return {
        argument.variable: column
        for column, argument in enumerate(atom.args)
        if isinstance(argument, Ref)
    }


def _drawn(
    atom: PositiveAtom, relation: RelationVersion, dictionary: Dictionary, tuning: Tuning
) -> Sequence[tuple[int, ...]]:
    """Rows of the sample that have an atom's constants."""
    rows = zip(*[column.tolist() for column in relation.sample(tuning.sampled_rows)], strict=True)
    fixed = [
        (column, encode_constant(argument.type, argument.value, dictionary))
        for column, argument in enumerate(atom.args)
        if isinstance(argument, Value)
    ]
    return [row for row in rows if all(row[column] == code for column, code in fixed)]
