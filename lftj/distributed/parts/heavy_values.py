# SPDX-License-Identifier: Apache-2.0
"""Values that have a good share of the rows of a part, counted in a sample of these."""

from __future__ import annotations

import numpy as np

from lftj.distributed.partitioning.cuts import Hub
from lftj.program import RelationSchema
from lftj.scantree import distinct_values, frozen
from lftj.storage import Columns
from lftj.types import NULL_CODE, Dictionary

_SAMPLED = 200_000  # rows of a relation that are counted, over all parts
_SHARE = 2  # a hub has at least half as many rows as a part
MISSED = 1 / 8
"""Share of a hub's rows in parts of which it has but a small share."""

Counted = dict[tuple[str, int], dict[Hub, int]]
"""Rows by value, by relation and column."""


@frozen(slots=True)
class Sample:
    """Sample of a relation: one row of so many (`step`), and the share of all rows that makes a
    hub.
    """

    step: int
    share: float


def least_rows(rows: int, parts: int, hub_rows: int) -> float:
    """The rows of a hub in a relation of so many rows; `hub_rows`: it has no fewer."""
    return max(hub_rows, rows / (_SHARE * parts))


def sample_of(schema: RelationSchema, rows: int, parts: int, hub_rows: int) -> Sample | None:
    """The sample of a relation of so many rows; None where hubs would change nothing."""
    if parts == 1 or rows < hub_rows or not rows or schema.arity < 2:
        return None
    return Sample(1 + rows // _SAMPLED, least_rows(rows, parts, hub_rows) / rows)


def heavy_values(
    schema: RelationSchema,
    columns: Columns,
    signs: np.ndarray | None,
    sample: Sample,
    dictionary: Dictionary,
) -> Counted:
    """The rows, in the whole relation, of values with a good share of these sampled rows of a part,
    which all came where there are no signs. O(n log n).
    """
    found: Counted = {}
    for column, (_, type) in enumerate(schema.columns):
        values = distinct_values(columns[column])
        places = np.searchsorted(values, columns[column])
        counts = np.bincount(places, weights=signs, minlength=len(values))
        rows = counts.astype(np.int64) * sample.step
        # Rows may have gone in another part than that in which they came, where another cut was
        # the home.
        fewest = max(1, sample.share * MISSED * len(places) * sample.step)
        many = np.flatnonzero(np.abs(rows) >= fewest)
        if type.optional:
            many = many[values[many] != NULL_CODE]
        hubs = (
            dictionary.decode(values[many]).to_pylist()
            if type.name == "str"
            else values[many].tolist()
        )
        found[schema.name, column] = dict(zip(hubs, rows[many].tolist(), strict=True))
    return found


def add_counts(sums: Counted, more: Counted) -> None:
    """Add the counts of another part to these."""
    for place, values in more.items():
        of = sums.setdefault(place, {})
        for value, rows in values.items():
            of[value] = of.get(value, 0) + rows
