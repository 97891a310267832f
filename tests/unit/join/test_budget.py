"""Budget of kernel steps."""

from __future__ import annotations

import pytest

from lftj.join.budget import AllowanceSpentError, Budget


def test_more_steps_than_a_block_is_allowed_end_it():
    budget = Budget()
    with budget.allow(10):
        budget.charge(10)
        with pytest.raises(AllowanceSpentError):
            budget.charge(1)
    assert budget.left is None
    assert budget.spent == 11


def test_what_held_before_holds_again_after_a_block():
    budget = Budget(100)
    budget.charge(30)
    with budget.allow(5) as grant:
        budget.charge(4)
        assert budget.left == 1
    assert (grant.allowed, grant.spent, budget.left) == (5, 4, 70)


def test_what_held_before_holds_again_after_an_exception():
    budget = Budget(100)
    with pytest.raises(AllowanceSpentError):
        _charge_within(budget, allowed=5, steps=6)
    assert (budget.spent, budget.left) == (6, 100)


def _charge_within(budget: Budget, allowed: int, steps: int) -> None:
    with budget.allow(allowed):
        budget.charge(steps)


def test_blocks_nest():
    budget = Budget()
    with budget.allow(50) as outer:
        with pytest.raises(AllowanceSpentError), budget.allow(3):
            budget.charge(4)
        assert budget.left == 50
        with budget.allow(None):
            budget.charge(1000)
        assert budget.left == 50
    assert outer.spent == 1004


@pytest.mark.parametrize(("left", "slice"), [(None, 7), (100, 7), (3, 4), (0, 1)])
def test_a_kernel_runs_no_further_than_one_step_beyond(left: int | None, slice: int):
    assert Budget(left).slice(7) == slice


@pytest.mark.parametrize(("left", "counted"), [(None, 7), (100, 7), (3, 4), (0, 1)])
def test_steps_of_threads_count_up_to_one_beyond(left: int | None, counted: int):
    assert Budget(left).within(7) == counted
