"""Choices of the planner, their reasons, and the memory budget that it keeps to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lftj.sensitivity import EXACT, NONE, AtomShape, BodyShape, Constant, hull
from lftj.sensitivity.estimate import (
    AtomStatistics,
    BodyEstimate,
    Option,
    PositionEstimate,
    _Model,
    estimate,
)
from lftj.sensitivity.granularity_choice import choose_granularities
from tests.unit.sensitivity.bodies import BODIES, body

EDGES = AtomStatistics(1e6, (3e4, 3e4))
FEW = AtomStatistics(500, (500,))
PLENTY = 1e9


def test_a_connected_body_keeps_no_index() -> None:
    about = estimate(body(3, "E 0 1, E 1 2, E 0 2").shape, [EDGES] * 3)
    chosen = choose_granularities(about, PLENTY)
    assert {str(choice.granularity) for choice in chosen.values()} == {"none"}
    assert all("delta query of about" in choice.reason for choice in chosen.values())
    assert all(
        choice.bytes == 0 and choice.steps < about.full_steps / 1000 for choice in chosen.values()
    )


def test_what_changes_is_joined_in_its_own_order_where_no_index_is_kept() -> None:
    """Along a cycle of five, the order in which all of it is found leads from a change in its
    middle to everything before that.
    """
    about = estimate(
        body(5, "E 0 1, E 1 2, E 2 3, E 3 4, E 0 4").shape, [AtomStatistics(1e4, (3e3, 3e3))] * 5
    )
    chosen = choose_granularities(about, PLENTY)
    assert {str(choice.granularity) for choice in chosen.values()} == {"none"}
    assert all(choice.steps < 1000 for choice in chosen.values())


def test_a_long_body_is_looked_at_once_for_all_that_ask_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each column of a chain's atoms knows its neighbours alone; without memory 40 atoms took
    226,585 looks.
    """
    looks = 0
    look = _Model._branching

    def counted(*args) -> float:
        nonlocal looks
        looks += 1
        return look(*args)

    monkeypatch.setattr(_Model, "_branching", counted)
    chain = body(41, ", ".join(f"E {level} {level + 1}" for level in range(40))).shape
    positions = estimate(chain, [EDGES] * 40).positions
    assert looks <= 10 * len(positions)


def test_an_existential_block_is_worth_an_index() -> None:
    shape = body(3, "E 0 1, F 1 2, G 2", exists_from=1).shape
    about = estimate(shape, [EDGES, EDGES, FEW])
    chosen = choose_granularities(about, PLENTY)
    assert chosen[1, 1].granularity == hull()  # per (y, x) one interval says it all
    assert chosen[1, 0].granularity == EXACT
    assert all(
        choice.steps < about.full_steps / 5 and choice.bytes < PLENTY for choice in chosen.values()
    )
    assert "with" in chosen[1, 1].reason
    assert "of index" in chosen[1, 1].reason


def test_a_budget_is_kept_to_and_named() -> None:
    shape = body(3, "E 0 1, F 1 2, G 2", exists_from=1).shape
    about = estimate(shape, [EDGES, EDGES, FEW])
    free = choose_granularities(about, PLENTY)
    for budget in (1e8, 3e6, 1e5, 0):
        chosen = choose_granularities(about, budget)
        assert sum(choice.bytes for choice in chosen.values()) <= budget
        assert all(choice.steps >= free[key].steps for key, choice in chosen.items())
    assert {choice.granularity for choice in chosen.values()} == {NONE}
    assert "the indices may take 0 bytes together" in chosen[1, 1].reason
    assert choose_granularities(about, -1e6) == chosen, "as where others have overdrawn it"


def test_what_saves_most_bytes_for_a_step_goes_first() -> None:
    positions = body(3, "G 0 2, H 1 2, I 0 1 2, R 2").shape.indexable[:2]
    dear = PositionEstimate(positions[0], (Option(NONE, 0, 9e6), Option(EXACT, 5e6, 10)))
    cheap = PositionEstimate(positions[1], (Option(NONE, 0, 8e5), Option(hull(), 4e6, 20)))
    chosen = choose_granularities(BodyEstimate(1e7, (dear, cheap)), 6e6)
    assert [chosen[p.position.key].granularity for p in (dear, cheap)] == [EXACT, NONE]
    assert chosen[positions[1].key].reason == (
        "hull(1) would take 4 MB, the indices may take 6 MB together; so a change costs about "
        "800,000 steps instead of 20 steps"
    )


def test_an_index_that_is_hardly_smaller_saves_little_however_large_it_is() -> None:
    positions = body(3, "G 0 2, H 1 2, I 0 1 2, R 2").shape.indexable[:2]
    large = PositionEstimate(
        positions[0], (Option(NONE, 0, 1e6), Option(hull(), 4.9e6, 5e5), Option(EXACT, 5e6, 10))
    )
    other = PositionEstimate(positions[1], (Option(NONE, 0, 2e6), Option(EXACT, 4e6, 10)))
    chosen = choose_granularities(BodyEstimate(1e7, (large, other)), 8.9e6)
    assert [chosen[p.position.key].granularity for p in (large, other)] == [NONE, EXACT]


def test_computed_levels_cost_a_look_up() -> None:
    shape = BodyShape(3, (AtomShape((0, 2)), AtomShape((1,))), 3, {0: Constant(5)})
    about = estimate(shape, [EDGES, FEW])
    assert about.full_steps == pytest.approx(1 + 1 + 501 + 500 * (1 + 1e6 / 3e4), rel=0.01)


def test_a_leap_is_a_step_of_each_atom_that_takes_part() -> None:
    about = estimate(body(3, "E 0 1, E 1 2, E 0 2").shape, [EDGES] * 3)
    degree = 1e6 / 3e4
    assert about.full_steps == pytest.approx(
        1 + 2 * (1 + 3e4) + 2 * 3e4 * (1 + degree) + 2 * 1e6 * (1 + degree)
    )


@settings(max_examples=60)
@given(st.sampled_from(sorted(BODIES)), st.data())
def test_estimates_are_sane_and_choices_fit(name: str, data: st.DataObject) -> None:
    shape = BODIES[name][0].shape
    statistics = []
    for atom in shape.atoms:
        rows = data.draw(st.sampled_from([0.0, 1.0, 50.0, 1e4, 1e7]))
        statistics.append(
            AtomStatistics(
                rows,
                tuple(
                    min(rows, data.draw(st.sampled_from([1.0, 30.0, 1e5]))) for _ in atom.columns
                ),
            )
        )
    about = estimate(shape, statistics)
    assert about.full_steps >= 1
    for position in about.positions:
        assert [option.granularity.kept for option in position.options] == [False] + [True] * (
            len(position.options) - 1
        )
        assert position.options[0].bytes == 0
        assert all(option.steps >= 1 and option.bytes >= 0 for option in position.options)
    budget = data.draw(st.sampled_from([0.0, 1e4, 1e7]))
    chosen = choose_granularities(about, budget)
    assert set(chosen) == {position.key for position in shape.indexable}
    assert sum(choice.bytes for choice in chosen.values()) <= budget


@pytest.mark.parametrize("name", BODIES)
def test_a_region_takes_the_steps_of_its_levels_one_by_one(name: str) -> None:
    shape = BODIES[name][0].shape
    about = [AtomStatistics(1e4, (300.0,) * max(1, len(atom.columns))) for atom in shape.atoms]
    model = _Model(shape, about, lambda _: None)
    for position in shape.positions:
        pinned = frozenset(position.pinned)
        if position.level >= shape.exists_from:
            pinned = frozenset(level for level in pinned if level < shape.exists_from)
        alive, steps, bound = [1.0], [0.0] * shape.levels, set(pinned)
        for level in range(shape.levels):
            leaps, matches = (0.0, 1.0) if level in pinned else model._level(level, bound)
            steps[level] = alive[-1] * leaps * max(1, len(model._offers[level]))
            alive.append(alive[-1] * matches)
            bound.add(level)
        block = shape.exists_from
        proofs = max(1.0, alive[-1] / max(alive[block], 1e-9))
        expected = 1.0 + len(pinned) + sum(steps[:block]) + sum(steps[block:]) / proofs
        assert model.steps(pinned) == pytest.approx(expected)


def test_a_budget_too_small_for_all_goes_where_it_saves_most() -> None:
    """Positions give up their index one by one, the one that saves most for a step lost first."""
    positions = tuple(
        PositionEstimate(
            body(3, "E 0 1, E 1 2, E 0 2").shape.positions[number],
            (Option(NONE, 0.0, 1e6 * (number + 1)), Option(EXACT, 100.0, 1.0)),
        )
        for number in range(3)
    )
    for budget, kept in ((300.0, 3), (299.0, 2), (100.0, 1), (99.0, 0)):
        chosen = choose_granularities(BodyEstimate(1e9, positions), budget)
        granularities = [choice.granularity for choice in chosen.values()]
        assert granularities == [NONE] * (3 - kept) + [EXACT] * kept
