# SPDX-License-Identifier: Apache-2.0
"""Estimates of cardinalities as plain data."""

from __future__ import annotations

from typing import Any

from lftj.join.plan.cardinality import RelationStatistics, Statistics
from lftj.tuning import DEFAULT, Tuning
from lftj.types.sources import read_name


def statistics_data(statistics: Statistics) -> dict[str, Any]:
    """Estimates as data."""
    return {
        name: [about.rows, list(about.distinct), list(about.crowds)]
        for name, about in dict(statistics.known).items()
    }


def statistics_of(data: dict[str, Any], tuning: Tuning = DEFAULT) -> Statistics:
    """The estimates again."""
    return Statistics(
        {
            read_name(name): RelationStatistics(rows, tuple(distinct), tuple(crowds))
            for name, (rows, distinct, crowds) in data.items()
        },
        tuning,
    )
