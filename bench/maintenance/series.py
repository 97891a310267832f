"""A series of commits of one size on a graph, and how long each took."""

from __future__ import annotations

import time

import numpy as np

from bench.maintenance.edit import Edits
from bench.maintenance.graph import Graph

WARM = 6  # first commits of a series that are not counted
PATIENCE = 180.0  # seconds after which a series ends, however few its commits
LEAST = 4


def seconds_of_commits(graph: Graph, edits: Edits, size: int, commits: int) -> np.ndarray:
    """Processor seconds of `commits` commits of `size` edges each, after WARM others; fewer when
    they take longer than PATIENCE.
    """
    taken = []
    begin = time.monotonic()
    for number in range(WARM + commits):
        taken.append(graph.commit(edits.of_size(size, number)))
        if time.monotonic() - begin > PATIENCE and number >= WARM + LEAST:
            break
    return np.array(taken[WARM:])
