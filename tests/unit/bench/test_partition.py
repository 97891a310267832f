"""The benchmark of parts is cut into what can be asked for alone."""

from __future__ import annotations

import bench.partition
from bench.bars import BARS


def test_every_figure_has_one_part() -> None:
    assert sorted(figure for _, figures in bench.partition.PARTS for figure in figures) == sorted(
        BARS["partition"]
    )
