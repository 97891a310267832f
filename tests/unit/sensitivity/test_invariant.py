"""The coverage invariant itself, by brute force, after every step of random histories, at mixed
granularities [docs/sensitivity.md].
"""

from __future__ import annotations

import random

import pytest

from lftj.sensitivity import EXACT, NONE, Granularity, hull, projected
from lftj.sensitivity.shape import BodyShape, PositionKey
from tests.unit.sensitivity.bodies import BODIES
from tests.unit.sensitivity.maintained import Maintained
from tests.unit.sensitivity.triejoin import Body, Row

MIXED = (EXACT, hull(1), hull(2), projected(0), projected(1), NONE)


def arities(body: Body) -> dict[str, int]:
    """Columns of each relation; a negated atom that looks at fewer than all does not say."""
    found: dict[str, int] = {}
    for name, order in body.reads:
        found[name] = max(found.get(name, 0), len(order))
    return found


def drawn(
    shape: BodyShape, rng: random.Random, among: tuple[Granularity, ...]
) -> dict[PositionKey, Granularity]:
    return {position.key: rng.choice(among) for position in shape.indexable}


def some_rows(rng: random.Random, arity: int, values: int) -> set[Row]:
    return {
        tuple(rng.randrange(values) for _ in range(arity))
        for _ in range(rng.randrange(1, values * values // 2 + 2))
    }


def changed(
    relations: dict[str, set[Row]], rng: random.Random, widths: dict[str, int], values: int
) -> dict[str, set[Row]]:
    """A few inserts and erases, in any relation."""
    after = {name: set(rows) for name, rows in relations.items()}
    for _ in range(rng.randrange(1, 4)):
        name = rng.choice(sorted(after))
        if rng.random() < 0.5 and after[name]:
            after[name].discard(rng.choice(sorted(after[name])))
        else:
            after[name].add(tuple(rng.randrange(values) for _ in range(widths[name])))
    return after


def history(
    body: Body, values: int, seed: int, among: tuple[Granularity, ...], steps: int = 10
) -> Maintained:
    """A random history, checked at every step."""
    rng = random.Random(seed)
    widths = arities(body)
    relations = {name: some_rows(rng, arity, values) for name, arity in widths.items()}
    kept = Maintained(body, relations, drawn(body.shape, rng, among))
    kept.check_invariant(range(values))
    for _ in range(steps):
        relations = changed(relations, rng, widths, values)
        kept.step(relations)
        kept.check_result()
        kept.check_invariant(range(values))
    return kept


@pytest.mark.parametrize("name", BODIES)
def test_every_live_value_is_covered_and_the_result_is_right_after_every_step(name: str) -> None:
    body, values = BODIES[name]
    for seed in range(12):
        history(body, values, seed, MIXED)


@pytest.mark.parametrize("granularity", MIXED, ids=str)
def test_one_granularity_everywhere(granularity: Granularity) -> None:
    for name in (
        "triangle over one",
        "two sides and no third",
        "∃ two levels, negated",
        "repeated variable",
    ):
        body, values = BODIES[name]
        history(body, values, 11, (granularity,))


@pytest.mark.parametrize("name", BODIES)
def test_removing_everything_and_putting_it_back(name: str) -> None:
    body, values = BODIES[name]
    rng = random.Random(3)
    widths = arities(body)
    relations = {relation: some_rows(rng, arity, values) for relation, arity in widths.items()}
    kept = Maintained(body, relations, drawn(body.shape, rng, MIXED))
    for emptied in sorted(widths):
        kept.step({**relations, emptied: set()})
        kept.check_result()
        kept.check_invariant(range(values))
        kept.step(relations)
        kept.check_result()
        kept.check_invariant(range(values))
