"""Places: as many as local mode has cores, none on a cluster."""

from __future__ import annotations

import pytest

from partition.executor import usable_cores
from partition.places import places_of


@pytest.mark.parametrize(("master", "places"), [("local", 1), ("local[3]", 3), ("local[2,4]", 2), ("local[*]", usable_cores())])
def test_local_mode_has_a_place_for_each_core(master: str, places: int) -> None:
    assert places_of(master) == places


@pytest.mark.parametrize("master", ["local-cluster[2,1,1024]", "spark://host:7077", "yarn", "k8s://https://host"])
def test_a_cluster_has_none(master: str) -> None:
    assert places_of(master) is None
