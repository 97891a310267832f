"""Prices of what updates and evaluations do besides kernel steps."""

from __future__ import annotations

import pytest

import lftj
from lftj.maintenance.cost.cost_model import LOOK_UP, ROW_ALONE, ROW_MARKED, looked_up
from lftj.maintenance.counting.stratum_state import Uncounted
from tests.unit.recursion.following import CLOSURE, change

NODES = 60


def test_rows_that_are_looked_up_together_share_pages() -> None:
    assert looked_up(0, 1_000_000) == 0
    assert looked_up(1, 1_000_000) == LOOK_UP
    assert looked_up(100, 10_000_000) == 100 * LOOK_UP, "each on a page of its own"
    assert 5 * looked_up(19_000, 2_000) < 19_000 * LOOK_UP, "all on eight pages"


@pytest.mark.usefixtures("unsearched")
def test_an_evaluation_counts_rows_in_a_bitmap_as_less_than_those_in_a_hash_table() -> None:
    works: list[int] = []
    for scale in (1, 10**10):
        workspace = lftj.connect()
        workspace.add_rules(CLOSURE)
        ring = [(x * scale, (x + 1) % NODES * scale) for x in range(NODES)]
        change(workspace, {"e": ring}, {})
        (state,) = [
            state
            for state in workspace._backend.state.view_states.values()
            if isinstance(state, Uncounted)
        ]
        works.append(state.work)
    assert works[1] - works[0] == (ROW_ALONE - ROW_MARKED) * NODES**2
