"""Random programs and histories against the reference, after every step."""

from __future__ import annotations

from hypothesis import given, settings

from tests.oracle.pair import run
from tests.strategies.histories import History, histories


@given(histories())
@settings(max_examples=3 * settings().max_examples)
def test_oracle_views_changes_and_snapshots_equal_the_reference(history: History):
    run(history)
