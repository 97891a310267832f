"""Trees stored beside a part's rows come back unchanged."""

from __future__ import annotations

import json

from lftj.join.plan.cardinality import RelationStatistics, Statistics
from lftj.views.stored.stored_statistics import statistics_data, statistics_of


def test_estimates_are_opened_as_they_were_stored() -> None:
    known = {
        "e@0": RelationStatistics(12, (3.0, 7.0), (2.5, 1.5)),
        "q@all": RelationStatistics(0, (), ()),
    }
    assert (
        dict(statistics_of(json.loads(json.dumps(statistics_data(Statistics(known))))).known)
        == known
    )
