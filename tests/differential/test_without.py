"""Views are the same whichever strategies and aids are switched off: random histories, each with a
random subset of them, against the reference engine.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.tuning.aids import AIDS
from lftj.views.switchable import OPTIONAL
from tests.oracle.pair import Pair, run
from tests.oracle.test_best_values import SPECS
from tests.oracle.test_best_values import histories as steps_of_best_values
from tests.oracle.test_recursion import recursive_histories
from tests.strategies.histories import History, Step, histories

SUBSETS = st.frozensets(st.sampled_from([*OPTIONAL, *AIDS]), min_size=1)
EAGER = {"compiled_patience": 1, "chain_iterations": 1, "chain_rest": 0}
"""Thresholds by which strategies for many rows are tried on few."""


def _workspace(without: frozenset[str], eager: bool) -> lftj.Workspace:
    return lftj.connect(tuning=lftj.Tuning(without=without, **(EAGER if eager else {})))


@given(histories(), SUBSETS, st.booleans())
@settings(max_examples=2 * settings().max_examples)
def test_differential_histories_without_some_strategies(
    history: History, without: frozenset[str], eager: bool
):
    run(history, _workspace(without, eager))


@given(recursive_histories(), SUBSETS, st.booleans())
@settings(max_examples=2 * settings().max_examples)
def test_differential_recursive_strata_without_some_strategies(
    history: History, without: frozenset[str], eager: bool
):
    run(history, _workspace(without, eager))


@given(steps_of_best_values(), SUBSETS, st.booleans())
def test_differential_best_values_without_some_strategies(
    steps: list[Step], without: frozenset[str], eager: bool
):
    pair = Pair(SPECS, _workspace(without, eager))
    for step in steps:
        pair.step(step)
    assert pair.workspace.verify() == []
